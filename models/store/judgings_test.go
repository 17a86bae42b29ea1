package store

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"donewhen/models"
)

func TestJudgeStats(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s, err := Open(ctx, filepath.Join(t.TempDir(), "main.db"), Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d := plant(t, s)
	insert := func(v models.Verdict) int64 {
		t.Helper()
		v.PassID, v.PhaseID, v.PlanID, v.Evaluator = d.pass.ID, d.pass.PhaseID, d.plan.ID, "openai:m"
		tx(t, s, func(tx *Tx) error { return tx.InsertVerdict(ctx, &v) })
		now = now.Add(time.Minute)
		return v.ID
	}
	decide := func(kind models.DecisionKind) {
		t.Helper()
		tx(t, s, func(tx *Tx) error {
			return tx.InsertDecision(ctx, &models.Decision{PlanID: d.plan.ID, PhaseID: &d.pass.PhaseID, Kind: kind, Reason: "x", UserName: "lea"})
		})
		now = now.Add(time.Minute)
	}
	insert(models.Verdict{Kind: models.VerdictGiven}) // before the range
	decide(models.DecisionAccept)
	now = now.AddDate(0, 0, 10)
	since := now
	notMet := insert(models.Verdict{Kind: models.VerdictGiven, Millis: 1200, ResultsJSON: `[{"criterion":{"text":"a"},"status":"failed"}]`,
		AnswersJSON: `[{"prompt_version":2,"reasked":true,"verdict":{"kind":"verdict","met":false},"input_tokens":7,"output_tokens":3,"cost_usd":0.5},
			{"prompt_version":2,"verdict":{"kind":"invalid_reply"},"reasked":true,"input_tokens":1},{"prompt_version":2,"verdict":{"kind":"evaluator_error"}}]`})
	decide(models.DecisionAccept)
	decide(models.DecisionAccept) // twice about one verdict
	insert(models.Verdict{Kind: models.VerdictTrouble})
	decide(models.DecisionAccept) // nothing was judged: nobody is overruled
	met := insert(models.Verdict{Kind: models.VerdictGiven, Met: true, ResultsJSON: "broken", AnswersJSON: "broken"})
	stats, err := s.JudgeStats(ctx, since, 10)
	if err != nil || len(stats.Judgings) != 3 || stats.CutAt != nil || len(stats.Overrulings) != 1 {
		t.Fatalf("%v %+v", err, stats)
	}
	if o := stats.Overrulings[0]; o.VerdictID != notMet || o.Against != models.OverruledAccepted {
		t.Errorf("%+v", o)
	}
	j := stats.Judgings[2]
	if j.VerdictID != notMet || j.PromptVersion != 2 || j.Replies != 5 || j.Invalid != 3 || j.Errors != 1 || j.InputTokens != 8 || j.CostUSD != 0.5 || j.Millis != 1200 || j.AskedHash == "" {
		t.Errorf("%+v", j)
	}
	tx(t, s, func(tx *Tx) error { // a lead wants another pass after the met one
		return tx.InsertPass(ctx, &models.Pass{PhaseID: d.pass.PhaseID, PlanID: d.plan.ID, Iteration: d.pass.Iteration + 1}, nil)
	})
	if stats, err = s.JudgeStats(ctx, since, 10); err != nil || len(stats.Overrulings) != 2 || stats.Overrulings[1] != (models.Overruling{VerdictID: met, Against: models.OverruledSentBack}) {
		t.Errorf("%v %+v", err, stats.Overrulings)
	}
	if stats, err = s.JudgeStats(ctx, since, 2); err != nil || len(stats.Judgings) != 2 || stats.CutAt == nil {
		t.Errorf("cut: %v %+v", err, stats)
	}

	lines := strings.Join(plansOf(t, s, func(r Reader) error { _, err := r.JudgeStats(ctx, since, 10); return err }), "\n")
	for _, want := range []string{"judgings_created (created_at>?)", "decisions_on_phases (created_at>?)", "judgings_phase (phase_id=? AND created_at<?)", "sqlite_autoindex_passes_1 (phase_id=? AND attempt=? AND iteration=?)"} {
		if !strings.Contains(lines, want) {
			t.Errorf("nothing uses %q:\n%s", want, lines)
		}
	}
	if strings.Contains(lines, "SCAN judgings") || strings.Contains(lines, "SCAN decisions") || strings.Contains(lines, "SCAN passes") {
		t.Errorf("it reads a whole table:\n%s", lines)
	}
	lines = strings.Join(plansOf(t, s, func(r Reader) error { _, err := r.DecidedPasses(ctx, models.PassFilter{Limit: 5}); return err }), "\n")
	if !strings.Contains(lines, "passes_ended") || strings.Contains(lines, "SCAN phases") {
		t.Errorf("the decided passes:\n%s", lines)
	}
}

// Verdicts from before the table are counted when it is made.
func TestJudgingsOfOldVerdicts(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	for _, answers := range []string{"", "null", "{broken", `[{"reasked":true,"verdict":{"kind":"invalid_reply"},"input_tokens":5,"cost_usd":0.25},{"verdict":{"kind":"evaluator_error"}}]`} {
		tx(t, s, func(tx *Tx) error {
			return tx.InsertVerdict(ctx, &models.Verdict{PassID: d.pass.ID, PhaseID: d.pass.PhaseID, PlanID: d.plan.ID, Kind: models.VerdictGiven, Evaluator: "text", AnswersJSON: answers})
		})
	}
	kept := func(db *sql.DB) (rows []string) {
		t.Helper()
		r, err := db.Query("SELECT verdict_id || ' ' || replies || ' ' || invalid || ' ' || errors || ' ' || input_tokens || ' ' || cost_usd || ' ' || created_at FROM judgings ORDER BY verdict_id")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for r.Next() {
			var line string
			if err := r.Scan(&line); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, line)
		}
		return rows
	}
	db := raw(t, s)
	want := kept(db)
	if _, err := db.Exec("DROP TABLE judgings; DROP INDEX decisions_on_phases;"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"00130_judgings.sql", "00151_judgings_each.sql"} {
		sqlText, err := migrationFiles.ReadFile("migrations/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(string(sqlText)); err != nil {
			t.Fatal(err)
		}
	}
	got := kept(db)
	if len(want) != 4 || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("made again\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
