package store

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"donewhen/models"
)

// movers is one of each kind of row in its first state, with a legal and a
// forbidden move.
func movers(t *testing.T, s *Store) (seed, []mover) {
	d := plant(t, s)
	eval := models.Evaluation{PlanID: d.plan.ID}
	attempt := models.ApplyAttempt{PlanID: d.plan.ID, TargetBranch: "main"}
	tx(t, s, func(tx *Tx) error {
		if err := tx.InsertEvaluation(ctx, &eval); err != nil {
			return err
		}
		return tx.InsertApplyAttempt(ctx, &attempt)
	})
	who := Why{Actor: models.Actor{ID: 7, Name: "Ada"}, Reason: "because"}
	return d, []mover{
		{"plan", "plan.waiting", "running", "waiting", "draft",
			func(tx *Tx, from, to string) error {
				return tx.MovePlan(ctx, d.plan.ID, models.PlanStatus(from), models.PlanStatus(to), PlanSet{}, who)
			},
			func() string { return string(must(s.Plan(ctx, d.plan.ID))(t).Status) }, [3]int64{}},
		{"phase", "phase.judging", "running", "judging", "running",
			func(tx *Tx, from, to string) error {
				return tx.MovePhase(ctx, d.phases[0].ID, models.PhaseStatus(from), models.PhaseStatus(to), PhaseSet{}, who)
			},
			func() string { return string(must(s.Phase(ctx, d.phases[0].ID))(t).Status) }, [3]int64{d.phases[0].ID, d.pass.ID}},
		{"pass", "pass.running", "queued", "running", "met",
			func(tx *Tx, from, to string) error {
				return tx.MovePass(ctx, d.pass.ID, models.PassStatus(from), models.PassStatus(to), PassSet{}, who)
			},
			func() string { return string(must(s.Pass(ctx, d.pass.ID))(t).Status) }, [3]int64{d.phases[0].ID, d.pass.ID}},
		{"run", "run.running", "queued", "running", "succeeded",
			func(tx *Tx, from, to string) error {
				return tx.MoveRun(ctx, d.run.ID, models.RunStatus(from), models.RunStatus(to), RunSet{}, who)
			},
			func() string { return string(must(s.Run(ctx, d.run.ID))(t).Status) }, [3]int64{d.phases[0].ID, d.pass.ID, d.run.ID}},
		{"evaluation", "evaluation.running", "queued", "running", "done",
			func(tx *Tx, from, to string) error {
				return tx.MoveEvaluation(ctx, eval.ID, models.EvaluationStatus(from), models.EvaluationStatus(to), EvaluationSet{}, who)
			},
			func() string { return string(must(s.Evaluation(ctx, eval.ID))(t).Status) }, [3]int64{}},
		{"try to apply the plan", "apply.refused", "started", "refused", "",
			func(tx *Tx, from, to string) error {
				return tx.MoveApply(ctx, attempt.ID, models.ApplyStatus(from), models.ApplyStatus(to), ApplySet{}, who)
			},
			func() string { return string(must(s.AttemptsOf(ctx, d.plan.ID))(t)[0].Status) }, [3]int64{}},
	}
}

type mover struct {
	noun, kind, from, to, forbidden string
	move                            func(tx *Tx, from, to string) error
	status                          func() string
	refs                            [3]int64 // phase, pass, run of the event
}

func TestMoves(t *testing.T) {
	s := open(t)
	d, list := movers(t, s)
	for _, m := range list {
		t.Run(m.noun, func(t *testing.T) {
			events, version := count(t, s, "events"), must(s.PlanVersion(ctx, d.plan.ID))(t)
			same := func(what string) {
				t.Helper()
				if got := m.status(); got != m.from {
					t.Errorf("%s: it is now %s", what, got)
				}
				if got := count(t, s, "events"); got != events {
					t.Errorf("%s wrote %d events", what, got-events)
				}
				if got := must(s.PlanVersion(ctx, d.plan.ID))(t); got != version {
					t.Errorf("%s raised the version", what)
				}
			}
			// Forbidden moves are our fault, not a person's.
			for _, to := range []string{m.forbidden, m.from, "nonsense"} {
				err := s.InTx(ctx, func(tx *Tx) error { return m.move(tx, m.from, to) })
				if models.CodeOf(err) != models.CodeInternal {
					t.Fatalf("%s -> %q: %v, want a plain error", m.from, to, err)
				}
				same("a forbidden move")
			}

			tx(t, s, func(tx *Tx) error { return m.move(tx, m.from, m.to) })
			if got := m.status(); got != m.to {
				t.Errorf("it is %s, want %s", got, m.to)
			}
			if got := must(s.PlanVersion(ctx, d.plan.ID))(t); got != version+1 {
				t.Errorf("version %d, want %d", got, version+1)
			}
			e := must(s.EventsOf(ctx, d.plan.ID, 0, 1))(t)[0]
			if e.Kind != m.kind || e.From != m.from || e.To != m.to || e.ActorID != 7 || e.Actor != "Ada" || e.Reason != "because" || e.CreatedAt.IsZero() {
				t.Errorf("event %+v", e)
			}
			for i, got := range []*int64{e.PhaseID, e.PassID, e.RunID} {
				if (got == nil) != (m.refs[i] == 0) || got != nil && *got != m.refs[i] {
					t.Errorf("reference %d of the event is %v, want %d", i, got, m.refs[i])
				}
			}

			// The second who clicked is told, and nothing is overwritten.
			events, version = events+1, version+1
			err := s.InTx(ctx, func(tx *Tx) error { return m.move(tx, m.from, m.to) })
			wantCode(t, err, models.CodeConflict)
			if want := fmt.Sprintf("The %s changed meanwhile: it is now %s. Look at it again.", m.noun, m.to); err.Error() != want {
				t.Errorf("message %q, want %q", err, want)
			}
			m.from = m.to
			same("a conflict")
		})
	}
}

func TestMoveOfNothing(t *testing.T) {
	s := open(t)
	plant(t, s)
	wantCode(t, s.InTx(ctx, func(tx *Tx) error {
		return tx.MoveRun(ctx, 999, models.RunQueued, models.RunRunning, RunSet{}, Why{})
	}), models.CodeNotFound)
	wantCode(t, s.InTx(ctx, func(tx *Tx) error { return tx.SetPlan(ctx, "01NONE", "", PlanSet{}) }), models.CodeNotFound)
}

func TestConflictNamesTheStateInWords(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	move := func(from, to models.PhaseStatus) error {
		return s.InTx(ctx, func(tx *Tx) error { return tx.MovePhase(ctx, d.phases[0].ID, from, to, PhaseSet{}, Why{}) })
	}
	if err := move(models.PhaseRunning, models.PhaseAwaitingApproval); err != nil {
		t.Fatal(err)
	}
	if err := move(models.PhaseRunning, models.PhaseJudging); err == nil || !strings.Contains(err.Error(), "it is now awaiting approval.") {
		t.Errorf("message %v", err)
	}
}

func TestWhy(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	tx(t, s, func(tx *Tx) error {
		return tx.MovePhase(ctx, d.phases[0].ID, models.PhaseRunning, models.PhaseCompleted, PhaseSet{}, Why{Kind: "phase.accepted", Reason: "good enough"})
	})
	e := newestEvent(t, s)
	if e.Kind != "phase.accepted" || e.ActorID != 0 || e.Actor != models.Server.Name || e.Reason != "good enough" {
		t.Errorf("event %+v", e)
	}
}

// One transaction raises a plan's version once, however much it changes, and
// leaves other plans alone.
func TestVersion(t *testing.T) {
	s := open(t)
	d, other := plant(t, s), plant(t, s)
	a, b := must(s.PlanVersion(ctx, d.plan.ID))(t), must(s.PlanVersion(ctx, other.plan.ID))(t)
	writes := map[string]func(tx *Tx) error{
		"move": func(tx *Tx) error {
			return tx.MoveRun(ctx, d.run.ID, models.RunQueued, models.RunRunning, RunSet{}, Why{})
		},
		"set": func(tx *Tx) error { return tx.SetRun(ctx, d.run.ID, "", RunSet{Activity: new("reading")}) },
		"verdict": func(tx *Tx) error {
			return tx.InsertVerdict(ctx, &models.Verdict{PassID: d.pass.ID, PhaseID: d.pass.PhaseID, PlanID: d.plan.ID, Kind: models.VerdictGiven})
		},
		"evaluation": func(tx *Tx) error { return tx.InsertEvaluation(ctx, &models.Evaluation{PlanID: d.plan.ID}) },
		"decision": func(tx *Tx) error {
			return tx.InsertDecision(ctx, &models.Decision{PlanID: d.plan.ID, Kind: models.DecisionWaive})
		},
		"void":    func(tx *Tx) error { return tx.VoidDecisions(ctx, d.plan.ID, nil, true) },
		"attempt": func(tx *Tx) error { return tx.InsertApplyAttempt(ctx, &models.ApplyAttempt{PlanID: d.plan.ID}) },
		"event":   func(tx *Tx) error { return tx.InsertEvent(ctx, models.Event{PlanID: d.plan.ID, Kind: "plan.noted"}) },
		"two": func(tx *Tx) error {
			if err := tx.SetPlan(ctx, d.plan.ID, "", PlanSet{Title: new("x")}); err != nil {
				return err
			}
			return tx.SetPass(ctx, d.pass.ID, "", PassSet{Note: new("y")})
		},
	}
	for name, f := range writes {
		tx(t, s, f)
		a++
		if got := must(s.PlanVersion(ctx, d.plan.ID))(t); got != a {
			t.Errorf("after %s the version is %d, want %d", name, got, a)
			a = got
		}
	}
	if got := must(s.PlanVersion(ctx, other.plan.ID))(t); got != b {
		t.Errorf("another plan's version went from %d to %d", b, got)
	}
}

// TestA5_06_ZeroValuesAreWritten sets every field of every set to a value and
// then to its zero value, and reads both back from the column of that name.
func TestA5_06_ZeroValuesAreWritten(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	eval := models.Evaluation{PlanID: d.plan.ID}
	attempt := models.ApplyAttempt{PlanID: d.plan.ID}
	tx(t, s, func(tx *Tx) error {
		tpl := models.Template{Name: "done"}
		if err := tx.InsertTemplate(ctx, &tpl); err != nil {
			return err
		}
		if err := tx.InsertTemplateVersion(ctx, &models.TemplateVersion{TemplateID: tpl.ID}); err != nil {
			return err
		}
		if err := tx.InsertEvaluation(ctx, &eval); err != nil {
			return err
		}
		return tx.InsertApplyAttempt(ctx, &attempt)
	})
	for _, tc := range []struct {
		set   any
		write func(tx *Tx, set any) error
		read  func() any
	}{
		{PlanSet{}, func(tx *Tx, v any) error { return tx.SetPlan(ctx, d.plan.ID, models.PlanRunning, v.(PlanSet)) },
			func() any { return must(s.Plan(ctx, d.plan.ID))(t) }},
		{PhaseSet{}, func(tx *Tx, v any) error { return tx.SetPhase(ctx, d.phases[0].ID, models.PhaseRunning, v.(PhaseSet)) },
			func() any { return must(s.Phase(ctx, d.phases[0].ID))(t) }},
		{PassSet{}, func(tx *Tx, v any) error { return tx.SetPass(ctx, d.pass.ID, models.PassQueued, v.(PassSet)) },
			func() any { return must(s.Pass(ctx, d.pass.ID))(t) }},
		{RunSet{}, func(tx *Tx, v any) error { return tx.SetRun(ctx, d.run.ID, models.RunQueued, v.(RunSet)) },
			func() any { return must(s.Run(ctx, d.run.ID))(t) }},
		{EvaluationSet{}, func(tx *Tx, v any) error {
			return update(ctx, tx, evaluationsTable, eval.ID, models.EvaluationQueued, v.(EvaluationSet).columns(), nil)
		}, func() any { return must(s.Evaluation(ctx, eval.ID))(t) }},
		{ApplySet{}, func(tx *Tx, v any) error { return tx.SetApply(ctx, attempt.ID, v.(ApplySet)) },
			func() any { return must(s.AttemptsOf(ctx, d.plan.ID))(t)[0] }},
	} {
		typ := reflect.TypeOf(tc.set)
		for i := range typ.NumField() {
			f := typ.Field(i)
			if f.Type.Kind() != reflect.Pointer {
				continue // ClearEnded, NoDue and NoTemplate have their own test
			}
			full, zero := sample(t, f), reflect.Zero(f.Type.Elem())
			if f.Name == "Attempt" || f.Name == "MaxIterations" || f.Name == "Opinions" || f.Name == "DodOpinions" || f.Name == "PassID" || f.Name == "TemplateVersionID" {
				zero = reflect.ValueOf(1).Convert(f.Type.Elem()) // the smallest that is allowed
			}
			if f.Type.Elem() == reflect.TypeFor[time.Time]() {
				zero = reflect.ValueOf(time.Date(2020, 2, 2, 0, 0, 0, 0, time.UTC))
			}
			for _, v := range []reflect.Value{full, zero} {
				before := reflect.ValueOf(tc.read())
				set := reflect.New(typ).Elem()
				p := reflect.New(f.Type.Elem())
				p.Elem().Set(v)
				set.Field(i).Set(p)
				tx(t, s, func(tx *Tx) error { return tc.write(tx, set.Interface()) })

				after := reflect.ValueOf(tc.read())
				got := reflect.Indirect(after.FieldByName(f.Name))
				if !got.IsValid() || !reflect.DeepEqual(got.Interface(), v.Interface()) {
					t.Errorf("%s.%s = %v is stored as %v", typ.Name(), f.Name, v, got)
				}
				for j := range after.NumField() {
					name := after.Type().Field(j).Name
					if name != f.Name && name != "Version" && name != "UpdatedAt" && !reflect.DeepEqual(before.Field(j).Interface(), after.Field(j).Interface()) {
						t.Errorf("%s.%s changed %s too", typ.Name(), f.Name, name)
					}
				}
			}
		}
	}
}

// sample is a value of a field that is not zero.
func sample(t *testing.T, f reflect.StructField) reflect.Value {
	switch f.Type.Elem() {
	case reflect.TypeFor[string]():
		return reflect.ValueOf("it's \"quoted\"?\n" + f.Name)
	case reflect.TypeFor[bool]():
		return reflect.ValueOf(true)
	case reflect.TypeFor[int]():
		return reflect.ValueOf(2)
	case reflect.TypeFor[int64]():
		return reflect.ValueOf(int64(1)) // PassID must exist
	case reflect.TypeFor[float64]():
		return reflect.ValueOf(0.25)
	case reflect.TypeFor[time.Time]():
		return reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC))
	case reflect.TypeFor[map[string]string]():
		return reflect.ValueOf(map[string]string{"PATH": "a b", "": "%"})
	case reflect.TypeFor[models.Budget]():
		return reflect.ValueOf(models.Budget{Runs: 3, Minutes: 90, Tokens: 1_000_000_000, USD: 2.5})
	case reflect.TypeFor[[]models.UnrecordedFile]():
		return reflect.ValueOf([]models.UnrecordedFile{{Path: "a/b", Why: "a socket"}})
	}
	t.Fatalf("no sample for %s %s", f.Name, f.Type)
	return reflect.Value{}
}

func TestA5_06_InsertedZeroValues(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	v := models.Verdict{PassID: d.pass.ID, PhaseID: d.pass.PhaseID, PlanID: d.plan.ID, Kind: models.VerdictGiven, Met: true, Reason: "all there"}
	w := v
	w.Met, w.Reason = false, ""
	tx(t, s, func(tx *Tx) error {
		if err := tx.InsertVerdict(ctx, &v); err != nil {
			return err
		}
		return tx.InsertVerdict(ctx, &w)
	})
	got := must(s.LatestVerdict(ctx, d.pass.ID))(t)
	if got.ID != w.ID || got.Met || got.Reason != "" {
		t.Errorf("the second pass's verdict is stored as %+v", got)
	}
}

// Only a verdict in the strict form can be met.
func TestOnlyAVerdictIsMet(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	for _, kind := range constants(t, "../status.go", "VerdictKind") {
		err := s.InTx(ctx, func(tx *Tx) error {
			return tx.InsertVerdict(ctx, &models.Verdict{PassID: d.pass.ID, PhaseID: d.pass.PhaseID, PlanID: d.plan.ID, Kind: models.VerdictKind(kind), Met: true})
		})
		if (err == nil) != (kind == string(models.VerdictGiven)) {
			t.Errorf("a met verdict of kind %s: %v", kind, err)
		}
	}
}

func TestNulls(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	now := time.Now()
	tx(t, s, func(tx *Tx) error {
		if err := tx.SetPlan(ctx, d.plan.ID, "", PlanSet{EndedAt: &now}); err != nil {
			return err
		}
		tpl := models.Template{Name: "done"}
		if err := tx.InsertTemplate(ctx, &tpl); err != nil {
			return err
		}
		v := models.TemplateVersion{TemplateID: tpl.ID}
		if err := tx.InsertTemplateVersion(ctx, &v); err != nil {
			return err
		}
		if err := tx.SetPlan(ctx, d.plan.ID, "", PlanSet{TemplateVersionID: &v.ID}); err != nil {
			return err
		}
		return tx.SetPhase(ctx, d.phases[0].ID, "", PhaseSet{DueAt: &now})
	})
	if p := must(s.Plan(ctx, d.plan.ID))(t); p.EndedAt == nil || p.TemplateVersionID == nil || must(s.Phase(ctx, d.phases[0].ID))(t).DueAt == nil {
		t.Fatal("they were not written")
	}
	tx(t, s, func(tx *Tx) error {
		if err := tx.SetPlan(ctx, d.plan.ID, "", PlanSet{ClearEnded: true, NoTemplate: true}); err != nil {
			return err
		}
		return tx.SetPhase(ctx, d.phases[0].ID, "", PhaseSet{NoDue: true})
	})
	if p := must(s.Plan(ctx, d.plan.ID))(t); p.EndedAt != nil || p.TemplateVersionID != nil || must(s.Phase(ctx, d.phases[0].ID))(t).DueAt != nil {
		t.Error("they are still there")
	}
}

// A set that expects another status changes nothing and says so.
func TestSetConflicts(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	for name, f := range map[string]func(tx *Tx) error{
		"plan": func(tx *Tx) error {
			return tx.SetPlan(ctx, d.plan.ID, models.PlanDraft, PlanSet{Title: new("TOO LATE")})
		},
		"phase": func(tx *Tx) error {
			return tx.SetPhase(ctx, d.phases[0].ID, models.PhasePending, PhaseSet{Note: new("TOO LATE")})
		},
		"pass": func(tx *Tx) error {
			return tx.SetPass(ctx, d.pass.ID, models.PassJudging, PassSet{Note: new("TOO LATE")})
		},
		"run": func(tx *Tx) error {
			return tx.SetRun(ctx, d.run.ID, models.RunRunning, RunSet{Reason: new("TOO LATE")})
		},
		"none": func(tx *Tx) error { return tx.SetRun(ctx, d.run.ID, models.RunRunning, RunSet{}) },
	} {
		t.Run(name, func(t *testing.T) { wantCode(t, s.InTx(ctx, f), models.CodeConflict) })
	}
	if got := fmt.Sprintf("%+v", must(s.PlanDetail(ctx, d.plan.ID))(t)); strings.Contains(got, "TOO LATE") {
		t.Errorf("it was written: %s", got)
	}
	tx(t, s, func(tx *Tx) error { return tx.SetRun(ctx, d.run.ID, models.RunQueued, RunSet{}) })
}

// Each column that a set writes is the column of the field of that name.
func TestSetColumnsAreFields(t *testing.T) {
	for set, want := range map[any]any{PhaseSet{}: models.Phase{}, PassSet{}: models.Pass{}, RunSet{}: models.Run{}, EvaluationSet{}: models.Evaluation{}, ApplySet{}: models.ApplyAttempt{}, PlanSet{}: models.Plan{}} {
		row := reflect.TypeOf(want)
		for i := range reflect.TypeOf(set).NumField() {
			f := reflect.TypeOf(set).Field(i)
			if f.Type.Kind() != reflect.Pointer {
				continue
			}
			if _, ok := row.FieldByName(f.Name); !ok {
				t.Errorf("%T.%s: %s has no such field", set, f.Name, row.Name())
			}
		}
	}
	if got := naming.ColumnName("", "RequireDoD"); got != "require_dod" {
		t.Errorf("RequireDoD is stored as %s", got)
	}
}
