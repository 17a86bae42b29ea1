package store

import (
	"errors"
	"slices"
	"testing"
	"time"

	"donewhen/models"
)

func TestMissingRows(t *testing.T) {
	s := open(t)
	for name, read := range map[string]func() error{
		"plan":             func() error { _, err := s.Plan(ctx, "01NONE"); return err },
		"phase":            func() error { _, err := s.Phase(ctx, 9); return err },
		"pass":             func() error { _, err := s.Pass(ctx, 9); return err },
		"run":              func() error { _, err := s.Run(ctx, 9); return err },
		"project":          func() error { _, err := s.Project(ctx, 9); return err },
		"evaluation":       func() error { _, err := s.Evaluation(ctx, 9); return err },
		"verdict":          func() error { _, err := s.Verdict(ctx, 9); return err },
		"template version": func() error { _, err := s.TemplateVersion(ctx, 9); return err },
	} {
		t.Run(name, func(t *testing.T) { wantCode(t, read(), models.CodeNotFound) })
	}
	for name, read := range map[string]func() (bool, error){
		"verdict":    func() (bool, error) { v, err := s.LatestVerdict(ctx, 9); return v == nil, err },
		"evaluation": func() (bool, error) { v, err := s.LatestEvaluation(ctx, "x"); return v == nil, err },
		"attempt":    func() (bool, error) { v, err := s.UnfinishedAttempt(ctx, "x"); return v == nil, err },
		"plan":       func() (bool, error) { v, err := s.PlanByFormKey(ctx, "x"); return v == nil, err },
		"due":        func() (bool, error) { v, err := s.NextDue(ctx, time.Now()); return v == nil, err },
	} {
		if none, err := read(); !none || err != nil {
			t.Errorf("%s: none = %v, %v", name, none, err)
		}
	}
	// A fault is no "not found".
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.close = func() error { return nil }
	if _, err := s.Plan(ctx, "01NONE"); models.CodeOf(err) != models.CodeInternal {
		t.Errorf("a closed database says %v", err)
	}
}

func TestUniqueness(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	insert := func(f func(tx *Tx) error) error { return s.InTx(ctx, f) }

	t.Run("a form that was sent twice", func(t *testing.T) {
		form := func(key string) (models.Plan, error) {
			p := models.Plan{ProjectID: d.project.ID, TargetBranch: "main", FormKey: key}
			return p, insert(func(tx *Tx) error { return tx.InsertPlan(ctx, &p, []models.Phase{{}}) })
		}
		if _, err := form("k1"); err != nil {
			t.Fatal(err)
		}
		plans, phases := count(t, s, "plans"), count(t, s, "phases")
		_, err := form("k1")
		wantCode(t, err, models.CodeConflict)
		if count(t, s, "plans") != plans || count(t, s, "phases") != phases {
			t.Error("the second form left rows")
		}
		for range 2 {
			if _, err := form(""); err != nil {
				t.Errorf("plans without a form: %v", err)
			}
		}
		if p := must(s.PlanByFormKey(ctx, "k1"))(t); p == nil || p.FormKey != "k1" {
			t.Errorf("found %+v", p)
		}
		if p := must(s.PlanByFormKey(ctx, ""))(t); p != nil {
			t.Errorf("the empty key found %+v", p)
		}
	})
	t.Run("pass and run", func(t *testing.T) {
		again := models.Pass{PhaseID: d.pass.PhaseID, PlanID: d.plan.ID}
		wantCode(t, insert(func(tx *Tx) error { return tx.InsertPass(ctx, &again, nil) }), models.CodeConflict)
		run := models.Run{PassID: d.pass.ID, PhaseID: d.pass.PhaseID, PlanID: d.plan.ID, Position: 1}
		wantCode(t, insert(func(tx *Tx) error { return tx.InsertRun(ctx, &run) }), models.CodeConflict)
		run.Try = 2
		if err := insert(func(tx *Tx) error { return tx.InsertRun(ctx, &run) }); err != nil {
			t.Error(err)
		}
	})
	t.Run("phase position", func(t *testing.T) {
		p := models.Plan{ProjectID: d.project.ID, TargetBranch: "main"}
		if err := insert(func(tx *Tx) error { return tx.InsertPlan(ctx, &p, []models.Phase{{Position: 1}, {Position: 1}}) }); err == nil {
			t.Error("two phases have one position")
		}
	})
	t.Run("project", func(t *testing.T) {
		for field, p := range map[string]models.Project{
			"name": {Name: d.project.Name, Path: "/other"},
			"path": {Name: "other", Path: d.project.Path},
		} {
			err := insert(func(tx *Tx) error { return tx.InsertProject(ctx, &p) })
			wantCode(t, err, models.CodeInvalid)
			if e, _ := errors.AsType[*models.Error](err); e.Fields[field] == "" || len(e.Fields) != 1 {
				t.Errorf("the message is not at the field %s: %+v", field, e)
			}
		}
		if list := must(s.Projects(ctx))(t); len(list) != 1 {
			t.Errorf("projects %+v", list)
		}
	})
	t.Run("apply", func(t *testing.T) {
		a := models.ApplyAttempt{PlanID: d.plan.ID}
		if err := insert(func(tx *Tx) error { return tx.InsertApplyAttempt(ctx, &a) }); err != nil {
			t.Fatal(err)
		}
		if got := must(s.UnfinishedAttempt(ctx, d.plan.ID))(t); got == nil || got.ID != a.ID {
			t.Errorf("unfinished %+v", got)
		}
		wantCode(t, insert(func(tx *Tx) error { return tx.InsertApplyAttempt(ctx, &models.ApplyAttempt{PlanID: d.plan.ID}) }), models.CodeConflict)
		if err := insert(func(tx *Tx) error {
			return tx.MoveApply(ctx, a.ID, models.ApplyStarted, models.ApplyRefused, ApplySet{Reason: new("conflict")}, Why{})
		}); err != nil {
			t.Fatal(err)
		}
		if got := must(s.UnfinishedAttempt(ctx, d.plan.ID))(t); got != nil {
			t.Errorf("unfinished after its end %+v", got)
		}
		if err := insert(func(tx *Tx) error { return tx.InsertApplyAttempt(ctx, &models.ApplyAttempt{PlanID: d.plan.ID}) }); err != nil {
			t.Errorf("a new try after the first has ended: %v", err)
		}
	})
}

func TestPassBefore(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	phase := d.phases[1]
	passes := map[string]models.Pass{}
	tx(t, s, func(tx *Tx) error {
		for _, p := range []struct {
			name               string
			attempt, iteration int
			status             models.PassStatus
		}{
			{"1.0", 1, 0, models.PassNotMet}, {"1.1", 1, 1, models.PassNotMet}, {"1.2", 1, 2, models.PassSuperseded}, {"1.3", 1, 3, models.PassRunning},
			{"2.0", 2, 0, models.PassNotMet}, {"2.1", 2, 1, models.PassJudging},
		} {
			pass := models.Pass{PhaseID: phase.ID, PlanID: d.plan.ID, Attempt: p.attempt, Iteration: p.iteration, Status: p.status}
			if err := tx.InsertPass(ctx, &pass, nil); err != nil {
				return err
			}
			passes[p.name] = pass
		}
		return nil
	})
	for of, want := range map[string]string{"1.0": "", "1.1": "1.0", "1.2": "1.1", "1.3": "1.1", "2.0": "", "2.1": "2.0"} {
		got := must(s.PassBefore(ctx, passes[of]))(t)
		switch {
		case want == "" && got != nil:
			t.Errorf("before %s: pass %d.%d, want none", of, got.Attempt, got.Iteration)
		case want != "" && (got == nil || got.ID != passes[want].ID):
			t.Errorf("before %s: %+v, want %s", of, got, want)
		}
	}
}

func TestDue(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	// The same moments in other zones and with odd fractions: as text they must
	// still be in order.
	berlin := time.FixedZone("", 2*3600)
	due := []time.Time{
		noon.Add(-time.Hour).In(berlin), noon.Add(-time.Second), noon.Add(-100 * time.Millisecond), noon.Add(-99 * time.Millisecond).In(berlin),
		noon.In(berlin), noon.Add(time.Microsecond), noon.Add(10 * time.Millisecond), noon.Add(time.Hour).In(berlin),
	}
	var ids []int64
	tx(t, s, func(tx *Tx) error {
		p := models.Plan{ProjectID: d.project.ID, TargetBranch: "main", Status: models.PlanRunning}
		phases := make([]models.Phase, len(due))
		for i := range phases { // stored in another order than they are due in
			phases[i].DueAt = &due[(i*3)%len(due)]
		}
		if err := tx.InsertPlan(ctx, &p, phases); err != nil {
			return err
		}
		ids = make([]int64, len(due))
		for i, ph := range phases {
			ids[(i*3)%len(due)] = ph.ID
		}
		return nil
	})
	if due[0].Location() != berlin {
		t.Error("the caller's times were changed")
	}
	var got []int64
	for _, p := range must(s.DuePhases(ctx, noon, 100))(t) {
		got = append(got, p.ID)
	}
	if !slices.Equal(got, ids[:5]) {
		t.Errorf("due are %v, want %v", got, ids[:5])
	}
	if list := must(s.DuePhases(ctx, noon.In(berlin), 2))(t); len(list) != 2 || list[0].ID != ids[0] || !list[0].DueAt.Equal(due[0]) {
		t.Errorf("the first two: %+v", list)
	}
	for at := -1; at < len(due); at++ {
		after := noon.Add(-24 * time.Hour)
		if at >= 0 {
			after = due[at]
		}
		next := must(s.NextDue(ctx, after))(t)
		switch {
		case at == len(due)-1 && next != nil:
			t.Errorf("after the last: %v", next)
		case at < len(due)-1 && (next == nil || !next.Equal(due[at+1])):
			t.Errorf("after %v: %v, want %v", after, next, due[at+1])
		}
	}
}

func TestWhatRecoveryAsks(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	paused := plant(t, s)
	var queued, running models.Evaluation
	tx(t, s, func(tx *Tx) error {
		queued, running = models.Evaluation{PlanID: d.plan.ID}, models.Evaluation{PlanID: paused.plan.ID}
		for _, e := range []*models.Evaluation{&running, &queued, {PlanID: d.plan.ID, Status: models.EvaluationDone}} {
			if err := tx.InsertEvaluation(ctx, e); err != nil {
				return err
			}
		}
		if err := tx.MoveEvaluation(ctx, running.ID, models.EvaluationQueued, models.EvaluationRunning, EvaluationSet{}, Why{}); err != nil {
			return err
		}
		if err := tx.MoveRun(ctx, d.run.ID, models.RunQueued, models.RunRunning, RunSet{Pid: new(7)}, Why{}); err != nil {
			return err
		}
		return tx.MovePlan(ctx, paused.plan.ID, models.PlanRunning, models.PlanPaused, PlanSet{}, Why{})
	})
	if list := must(s.QueuedEvaluations(ctx, 10))(t); len(list) != 1 || list[0].ID != queued.ID {
		t.Errorf("queued %+v", list)
	}
	if list := must(s.RunningEvaluations(ctx))(t); len(list) != 1 || list[0].ID != running.ID {
		t.Errorf("running %+v", list)
	}
	if list := must(s.RunningRuns(ctx))(t); len(list) != 1 || list[0].ID != d.run.ID || list[0].Pid != 7 {
		t.Errorf("runs %+v", list)
	}
	var live []int64
	for _, p := range must(s.LivePhases(ctx))(t) {
		live = append(live, p.ID)
	}
	if want := []int64{d.phases[0].ID, d.phases[1].ID}; !slices.Equal(live, want) {
		t.Errorf("live phases %v, want %v", live, want)
	}
	if list := must(s.ApplyingPlans(ctx))(t); len(list) != 0 {
		t.Errorf("applying %+v", list)
	}
	tx(t, s, func(tx *Tx) error {
		if err := tx.MovePlan(ctx, d.plan.ID, models.PlanRunning, models.PlanFinished, PlanSet{}, Why{}); err != nil {
			return err
		}
		return tx.MovePlan(ctx, d.plan.ID, models.PlanFinished, models.PlanApplying, PlanSet{}, Why{})
	})
	if list := must(s.ApplyingPlans(ctx))(t); len(list) != 1 || list[0].ID != d.plan.ID {
		t.Errorf("applying %+v", list)
	}
}

func TestVoidDecisions(t *testing.T) {
	s := open(t)
	d, other := plant(t, s), plant(t, s)
	tx(t, s, func(tx *Tx) error {
		for _, x := range []models.Decision{
			{PlanID: d.plan.ID, PhaseID: &d.phases[0].ID, Kind: models.DecisionApprove, Reason: "one"},
			{PlanID: d.plan.ID, PhaseID: &d.phases[1].ID, Kind: models.DecisionApprove, Reason: "two"},
			{PlanID: d.plan.ID, Kind: models.DecisionWaive, Criterion: 2, Reason: "plan"},
			{PlanID: other.plan.ID, Kind: models.DecisionWaive, Criterion: 1, Reason: "other"},
		} {
			if err := tx.InsertDecision(ctx, &x); err != nil {
				return err
			}
		}
		return nil
	})
	left := func(planID string) (got []string) {
		for _, x := range must(s.DecisionsOf(ctx, planID))(t) {
			got = append(got, x.Reason)
		}
		return got
	}
	for _, step := range []struct {
		phases []int64
		plan   bool
		want   []string
	}{
		{nil, false, []string{"one", "two", "plan"}},
		{[]int64{d.phases[1].ID, other.phases[0].ID}, false, []string{"one", "plan"}},
		{nil, true, []string{"one"}},
		{[]int64{d.phases[0].ID}, true, nil},
	} {
		tx(t, s, func(tx *Tx) error { return tx.VoidDecisions(ctx, d.plan.ID, step.phases, step.plan) })
		if got := left(d.plan.ID); !slices.Equal(got, step.want) {
			t.Errorf("after voiding %v, %v: %v, want %v", step.phases, step.plan, got, step.want)
		}
	}
	if got := left(other.plan.ID); !slices.Equal(got, []string{"other"}) {
		t.Errorf("another plan's decisions: %v", got)
	}
}

func TestInsertPlanFillsIn(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	p := models.Plan{ProjectID: d.project.ID, TargetBranch: "main"}
	phases := []models.Phase{{Name: "a"}, {Name: "b"}}
	tx(t, s, func(tx *Tx) error { return tx.InsertPlan(ctx, &p, phases) })
	if len(p.ID) != 26 || p.Status != models.PlanDraft || p.CreatedAt.IsZero() {
		t.Errorf("plan %+v", p)
	}
	for i, ph := range must(s.PhasesOf(ctx, p.ID))(t) {
		if ph.ID != phases[i].ID || ph.ID == 0 || ph.Name != phases[i].Name || ph.Position != i+1 || ph.Attempt != 1 || ph.Iteration != 0 ||
			ph.Status != models.PhasePending || ph.MaxIterations != 1 || ph.PassID != nil || ph.DueAt != nil {
			t.Errorf("phase %+v", ph)
		}
	}
	// A plan of a project that is not there is a fault, not a row.
	bad := models.Plan{ProjectID: 999, TargetBranch: "main"}
	if err := s.InTx(ctx, func(tx *Tx) error { return tx.InsertPlan(ctx, &bad, nil) }); models.CodeOf(err) != models.CodeInternal {
		t.Errorf("a plan without a project: %v", err)
	}
}
