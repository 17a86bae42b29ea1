package store

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"donewhen/models"
)

// recorder keeps the statements that gorm sends, with their values still bound:
// a plan for a literal says nothing about the plan for a bound value.
type recorder struct {
	logger.Interface
	mu   sync.Mutex
	list []statement
}

type statement struct {
	sql  string
	args []any
}

func (r *recorder) ParamsFilter(_ context.Context, sql string, args ...any) (string, []any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, statement{sql, args})
	return sql, args
}

func (r *recorder) Trace(_ context.Context, _ time.Time, sql func() (string, int64), _ error) { sql() }

// part is the name of a branch of the list's query, which is cut at a page.
var part = regexp.MustCompile(`SCAN (part\d+|CONSTANT ROW)`)

// plansOf returns how SQLite carries out what f reads, a line for each step.
func plansOf(t *testing.T, s *Store, f func(r Reader) error) []string {
	t.Helper()
	rec := &recorder{Interface: logger.Discard}
	if err := f(Reader{db: s.db.Session(&gorm.Session{Logger: rec})}); err != nil {
		t.Fatal(err)
	}
	if len(rec.list) == 0 {
		t.Fatal("it read nothing")
	}
	var lines []string
	for _, st := range rec.list {
		explained, err := raw(t, s).Query("EXPLAIN QUERY PLAN "+st.sql, st.args...)
		if err != nil {
			t.Fatalf("%s: %v", st.sql, err)
		}
		for explained.Next() {
			var id, parent, unused int
			var detail string
			if err := explained.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, detail)
		}
		if err := explained.Err(); err != nil {
			t.Fatal(err)
		}
		explained.Close()
	}
	return lines
}

// What the sweep, recovery and the lists ask is a range of an index, in the
// index's order, for every question and whatever is stored.
func TestQueryPlans(t *testing.T) {
	s, _ := openAt(t, filepath.Join(t.TempDir(), "main.db"), nil)
	d := plant(t, s)
	now := time.Now()
	due := PhaseSet{DueAt: &now}
	tx(t, s, func(tx *Tx) error { // so that pages have something to show and ask everything
		if err := tx.SetPhase(ctx, d.phases[0].ID, "", due); err != nil {
			return err
		}
		return tx.InsertVerdict(ctx, &models.Verdict{PassID: d.pass.ID, PhaseID: d.pass.PhaseID, PlanID: d.plan.ID, Kind: models.VerdictGiven})
	})
	waiting := plant(t, s)
	tx(t, s, func(tx *Tx) error {
		return tx.MovePlan(ctx, waiting.plan.ID, models.PlanRunning, models.PlanWaiting, PlanSet{}, Why{})
	})
	list := func(f models.PlanFilter) func(r Reader) error {
		return func(r Reader) error { _, _, err := r.Plans(ctx, f); return err }
	}
	for _, tc := range []struct {
		name   string
		read   func(r Reader) error
		index  []string // each is in a line of the plan
		sorted bool     // no step sorts
	}{
		{"DuePhases", func(r Reader) error { _, err := r.DuePhases(ctx, now, 10); return err }, []string{"phases USING INDEX phases_due (due_at<?)"}, true},
		{"NextDue", func(r Reader) error { _, err := r.NextDue(ctx, now); return err }, []string{"phases USING COVERING INDEX phases_due (due_at>?)"}, true},
		{"QueuedEvaluations", func(r Reader) error { _, err := r.QueuedEvaluations(ctx, 10); return err }, []string{"evaluations USING INDEX evaluations_queued (status=?)"}, true},
		{"RunningEvaluations", func(r Reader) error { _, err := r.RunningEvaluations(ctx); return err }, []string{"evaluations USING INDEX evaluations_running (status=?)"}, true},
		{"CutRuns", func(r Reader) error { _, err := r.CutRuns(ctx); return err }, []string{"runs USING INDEX runs_cut (status=?)"}, true},
		{"RunningRuns", func(r Reader) error { _, err := r.RunningRuns(ctx); return err }, []string{"runs USING INDEX runs_running (status=?)"}, true},
		{"ClaimedPasses", func(r Reader) error { _, err := r.ClaimedPasses(ctx); return err }, []string{"passes USING INDEX passes_claimed (claimed_by>?)"}, true},
		{"ApplyingPlans", func(r Reader) error { _, err := r.ApplyingPlans(ctx); return err }, []string{"plans USING INDEX plans_status (status=?)"}, true},
		{"LivePhases", func(r Reader) error { _, err := r.LivePhases(ctx); return err }, []string{"plans_status (status=?)", "phases USING INDEX sqlite_autoindex_phases_1 (plan_id=?)"}, false},
		{"UnfinishedAttempt", func(r Reader) error { _, err := r.UnfinishedAttempt(ctx, d.plan.ID); return err }, []string{"apply_attempts_started (plan_id=?)"}, true},
		{"PlanByFormKey", func(r Reader) error { _, err := r.PlanByFormKey(ctx, "k"); return err }, []string{"plans_form_key (form_key=?)"}, true},
		{"PlanVersion", func(r Reader) error { _, err := r.PlanVersion(ctx, d.plan.ID); return err }, []string{"sqlite_autoindex_plans_1 (id=?)"}, true},
		{"PassBefore", func(r Reader) error {
			_, err := r.PassBefore(ctx, models.Pass{PhaseID: 1, Attempt: 1, Iteration: 3})
			return err
		}, []string{"sqlite_autoindex_passes_1 (phase_id=? AND attempt=? AND iteration<?)"}, true},
		{"RunsOf", func(r Reader) error { _, err := r.RunsOf(ctx, 1); return err }, []string{"sqlite_autoindex_runs_1 (pass_id=?)"}, true},
		{"PhasesOf", func(r Reader) error { _, err := r.PhasesOf(ctx, d.plan.ID); return err }, []string{"sqlite_autoindex_phases_1 (plan_id=?)"}, true},
		{"PassesOf", func(r Reader) error { _, err := r.PassesOf(ctx, 1); return err }, []string{"sqlite_autoindex_passes_1 (phase_id=?)"}, false},
		{"UsageOf", func(r Reader) error { _, err := r.UsageOf(ctx, d.plan.ID, now); return err }, []string{"runs USING COVERING INDEX runs_usage (plan_id=?", "spendings USING COVERING INDEX spendings_usage (plan_id=?)"}, true},
		{"LatestVerdict", func(r Reader) error { _, err := r.LatestVerdict(ctx, 1); return err }, []string{"verdicts_pass (pass_id=?)"}, true},
		{"LatestEvaluation", func(r Reader) error { _, err := r.LatestEvaluation(ctx, d.plan.ID); return err }, []string{"evaluations_plan (plan_id=?)"}, true},
		{"EvaluationsOf", func(r Reader) error { _, _, err := r.EvaluationsOf(ctx, d.plan.ID, 10); return err }, []string{"evaluations_plan (plan_id=?)", "COVERING INDEX evaluations_plan"}, true},
		{"DecisionsOf", func(r Reader) error { _, err := r.DecisionsOf(ctx, d.plan.ID); return err }, []string{"decisions_plan (plan_id=?)"}, true},
		{"AttemptsOf", func(r Reader) error { _, err := r.AttemptsOf(ctx, d.plan.ID); return err }, []string{"apply_attempts_plan (plan_id=?)"}, true},
		{"EventsOf", func(r Reader) error { _, err := r.EventsOf(ctx, d.plan.ID, 0, 10); return err }, []string{"events_plan (plan_id=? AND id<?)"}, true},
		{"Events", func(r Reader) error { _, _, err := r.Events(ctx, models.EventFilter{}, 0, 10); return err }, []string{"events USING INTEGER PRIMARY KEY (rowid<?)"}, true},
		{"Events that fit", func(r Reader) error {
			_, _, err := r.Events(ctx, models.EventFilter{Noun: "plan", People: true, Words: "x"}, 0, 10)
			return err
		}, []string{"events USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"}, true},
		{"Plans", list(models.PlanFilter{}), []string{"plans USING COVERING INDEX sqlite_autoindex_plans_1 (id<?)", "sqlite_autoindex_phases_1 (plan_id=?)", "projects USING INTEGER PRIMARY KEY"}, true},
		{"Plans of a status", list(models.PlanFilter{Status: []models.PlanStatus{models.PlanRunning}}), []string{"plans USING COVERING INDEX plans_status (status=? AND id<?)"}, true},
		{"Plans of a project", list(models.PlanFilter{ProjectID: 1}), []string{"plans USING COVERING INDEX plans_project (project_id=? AND id<?)"}, true},
		{"Plans of both", list(models.PlanFilter{ProjectID: 1, Status: []models.PlanStatus{models.PlanRunning}}), []string{"plans USING COVERING INDEX plans_project_status (project_id=? AND status=? AND id<?)"}, true},
		{"Plans of two statuses", list(models.PlanFilter{Status: []models.PlanStatus{models.PlanRunning, models.PlanWaiting}}), []string{"plans USING COVERING INDEX plans_status (status=? AND id<?)"}, false},
		// A search goes through the words of all plans: one narrow table, and no long text.
		{"Plans by words", list(models.PlanFilter{Search: "tidy"}), []string{"plans USING INDEX sqlite_autoindex_plans_1 (id<?)", "SCAN plan_words", "verdicts_pass (pass_id=?)"}, true},
		{"WorkingPlans", func(r Reader) error { _, err := r.WorkingPlans(ctx, 10); return err }, []string{"plans USING COVERING INDEX plans_status (status=? AND id<?)", "evaluations_queued", "evaluations_running", "passes_claimed"}, false},
		{"Inbox", func(r Reader) error { _, err := r.Inbox(ctx, 10); return err }, []string{"plans USING COVERING INDEX plans_status (status=? AND id<?)", "evaluations_queued", "phases USING INTEGER PRIMARY KEY"}, false},
		{"PlanDetail", func(r Reader) error { _, err := r.PlanDetail(ctx, d.plan.ID); return err }, []string{"sqlite_autoindex_phases_1", "sqlite_autoindex_passes_1", "sqlite_autoindex_runs_1", "verdicts_pass", "evaluations_plan"}, false},
		{"RunDetail", func(r Reader) error { _, err := r.RunDetail(ctx, d.run.ID); return err }, []string{"runs USING INTEGER PRIMARY KEY"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lines := plansOf(t, s, tc.read)
			shown := strings.Join(lines, "\n")
			for _, l := range lines {
				if strings.Contains(l, "SCAN") && !part.MatchString(l) && !strings.Contains(l, "plan_words") {
					t.Errorf("%q reads a whole table:\n%s", l, shown)
				}
				if tc.sorted && strings.Contains(l, "TEMP B-TREE") {
					t.Errorf("%q sorts:\n%s", l, shown)
				}
			}
			for _, want := range tc.index {
				if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, want) }) {
					t.Errorf("nothing uses %q:\n%s", want, shown)
				}
			}
		})
	}
}

// The check above can fail: without its index a question is a scan.
func TestQueryPlansSeeAScan(t *testing.T) {
	s := open(t)
	plant(t, s)
	if _, err := raw(t, s).Exec("DROP INDEX phases_due"); err != nil {
		t.Fatal(err)
	}
	lines := plansOf(t, s, func(r Reader) error { _, err := r.DuePhases(ctx, time.Now(), 10); return err })
	if shown := fmt.Sprint(lines); !strings.Contains(shown, "SCAN phases") {
		t.Errorf("without its index: %s", shown)
	}
}
