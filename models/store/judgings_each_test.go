package store

import (
	"testing"

	"donewhen/models"
)

// Of several judges each is counted with what it said itself.
func TestEachJudgeIsCountedWithItsOwnAnswers(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	v := models.Verdict{PassID: d.pass.ID, PhaseID: d.pass.PhaseID, PlanID: d.plan.ID, Kind: models.VerdictGiven, Evaluator: "openai:a + openai:b", Opinions: 2, Millis: 9000,
		ResultsJSON: `[{"criterion":{"index":1,"level":"required"},"status":"failed","kind":"verdict"},{"criterion":{"index":2,"level":"required"},"status":"passed","kind":"verdict"},
			{"criterion":{"index":3,"level":"required"},"status":"passed"}]`,
		AnswersJSON: `[{"criterion":{"index":1,"level":"required"},"evaluator":"openai:a","verdict":{"kind":"verdict","met":true},"cost_usd":0.5,"millis":100},
			{"criterion":{"index":1,"level":"required"},"evaluator":"openai:b","opinion":1,"verdict":{"kind":"verdict","met":false},"cost_usd":0.25,"millis":300},
			{"criterion":{"index":2,"level":"required"},"evaluator":"openai:a","verdict":{"kind":"verdict","met":true},"cost_usd":0.5,"millis":100},
			{"criterion":{"index":2,"level":"required"},"evaluator":"openai:b","opinion":1,"reasked":true,"verdict":{"kind":"verdict","met":true},"millis":400}]`}
	tx(t, s, func(tx *Tx) error { return tx.InsertVerdict(ctx, &v) })
	tx(t, s, func(tx *Tx) error {
		return tx.InsertDecision(ctx, &models.Decision{PlanID: d.plan.ID, PhaseID: &d.pass.PhaseID, Kind: models.DecisionAccept, Reason: "x", UserName: "lea"})
	})
	stats, err := s.JudgeStats(ctx, v.CreatedAt.Add(-1), 10)
	if err != nil || len(stats.Judgings) != 2 {
		t.Fatalf("%v %+v", err, stats)
	}
	b, a := stats.Judgings[0], stats.Judgings[1]
	if a.Evaluator != "openai:a" || a.Opinion != 0 || !a.Met || a.Replies != 2 || a.CostUSD != 1 || a.Millis != 200 || a.Invalid != 0 {
		t.Errorf("the first: %+v", a)
	}
	if b.Evaluator != "openai:b" || b.Opinion != 1 || b.Met || b.Replies != 3 || b.Invalid != 1 || b.CostUSD != 0.25 || b.Millis != 700 {
		t.Errorf("the second: %+v", b)
	}
	if len(stats.Overrulings) != 1 || stats.Overrulings[0].Against != models.OverruledAccepted {
		t.Errorf("the whole was not met, and accepted: %+v", stats.Overrulings)
	}
	// The next pass follows a verdict that was not met as a whole: nobody sent it back.
	tx(t, s, func(tx *Tx) error {
		return tx.InsertPass(ctx, &models.Pass{PhaseID: d.pass.PhaseID, PlanID: d.plan.ID, Iteration: d.pass.Iteration + 1}, nil)
	})
	if stats, err = s.JudgeStats(ctx, v.CreatedAt.Add(-1), 10); err != nil || len(stats.Overrulings) != 1 {
		t.Errorf("%v %+v", err, stats.Overrulings)
	}
}

// A further judge's trouble is not the first one's.
func TestTroubleIsCountedWhereItWas(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	v := models.Verdict{PassID: d.pass.ID, PhaseID: d.pass.PhaseID, PlanID: d.plan.ID, Kind: models.VerdictTrouble, Evaluator: "openai:a + openai:b",
		AnswersJSON: `[{"criterion":{"index":1},"evaluator":"openai:a","verdict":{"kind":"verdict","met":true}},
			{"criterion":{"index":1},"evaluator":"openai:b","opinion":1,"verdict":{"kind":"evaluator_error"}}]`}
	tx(t, s, func(tx *Tx) error { return tx.InsertVerdict(ctx, &v) })
	stats, err := s.JudgeStats(ctx, v.CreatedAt.Add(-1), 10)
	if err != nil || len(stats.Judgings) != 2 {
		t.Fatalf("%v %+v", err, stats)
	}
	if b, a := stats.Judgings[0], stats.Judgings[1]; a.Kind != models.VerdictGiven || !a.Met || a.Errors != 0 || b.Kind != models.VerdictTrouble || b.Met || b.Errors != 1 {
		t.Errorf("%+v", stats.Judgings)
	}
}

// Out of range is brought into range at insert, and refused by the table itself.
func TestOpinionsStayBetweenOneAndThree(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	for _, tc := range []struct{ given, want int }{{-5, 1}, {0, 1}, {2, 2}, {9, 3}} {
		p, ph := d.plan, models.Phase{Name: "x", Opinions: tc.given}
		p.ID, p.DodOpinions, p.FormKey = "", tc.given, ""
		phases := []models.Phase{ph}
		v := models.TemplateVersion{Opinions: tc.given, Text: "x"}
		tx(t, s, func(tx *Tx) error {
			if err := tx.InsertPlan(ctx, &p, phases); err != nil {
				return err
			}
			tpl := models.Template{Name: "t" + p.ID}
			if err := tx.InsertTemplate(ctx, &tpl); err != nil {
				return err
			}
			v.TemplateID = tpl.ID
			return tx.InsertTemplateVersion(ctx, &v)
		})
		if p.DodOpinions != tc.want || phases[0].Opinions != tc.want || v.Opinions != tc.want {
			t.Errorf("%d became %d, %d and %d, want %d", tc.given, p.DodOpinions, phases[0].Opinions, v.Opinions, tc.want)
		}
		n := tc.given
		tx(t, s, func(tx *Tx) error { return tx.SetPhase(ctx, phases[0].ID, "", PhaseSet{Opinions: &n}) })
		if got, err := s.Phase(ctx, phases[0].ID); err != nil || got.Opinions != tc.want {
			t.Errorf("set to %d: %d, %v", tc.given, got.Opinions, err)
		}
	}
	for _, q := range []string{"UPDATE phases SET opinions = 4", "UPDATE phases SET opinions = 0", "UPDATE plans SET dod_opinions = 4"} {
		if _, err := raw(t, s).Exec(q); err == nil {
			t.Errorf("%s was taken", q)
		}
	}
}
