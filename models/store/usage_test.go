package store

import (
	"math"
	"testing"
	"time"

	"donewhen/models"
)

func TestUsageOf(t *testing.T) {
	s := open(t)
	d, other := plant(t, s), plant(t, s)
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	used := func(now time.Time) models.Usage {
		t.Helper()
		return must(s.UsageOf(ctx, d.plan.ID, now))(t)
	}
	if got := used(at); got != (models.Usage{}) {
		t.Errorf("a queued run has used %+v", got)
	}
	run := func(position int, set RunSet) {
		t.Helper()
		r := models.Run{PassID: d.pass.ID, PhaseID: d.pass.PhaseID, PlanID: d.plan.ID, Position: position}
		tx(t, s, func(tx *Tx) error {
			if err := tx.InsertRun(ctx, &r); err != nil {
				return err
			}
			return tx.SetRun(ctx, r.ID, "", set)
		})
	}
	asked := func(planID string, q models.Spending) {
		t.Helper()
		q.PlanID, q.Questions = planID, 1
		tx(t, s, func(tx *Tx) error { return tx.InsertSpending(ctx, &q) })
	}
	later := func(minutes int) *time.Time { return new(at.Add(time.Duration(minutes) * time.Minute)) }
	run(2, RunSet{StartedAt: later(0), EndedAt: later(7), InputTokens: new(int64(100)), OutputTokens: new(int64(20)), CostUSD: new(0.25)})
	run(3, RunSet{StartedAt: later(10)})
	asked(d.plan.ID, models.Spending{InputTokens: 1000, OutputTokens: 50, CostUSD: 0.5})
	asked(other.plan.ID, models.Spending{InputTokens: 7, CostUSD: 7})
	want := models.Usage{Runs: 2, Wall: 12 * time.Minute, Questions: 1, Tokens: 1170, USD: 0.75, Working: true, Since: *later(10)}
	if got := used(*later(15)); got != want {
		t.Errorf("used %+v, want %+v", got, want)
	}
	if got := used(*later(5)); got.Wall != 7*time.Minute {
		t.Errorf("a run that begins in the future has worked for %s", got.Wall-7*time.Minute)
	}

	// Nobody gives back what others used, and nothing runs over.
	run(4, RunSet{StartedAt: later(0), EndedAt: later(-9), InputTokens: new(int64(-5000)), OutputTokens: new(int64(1)), CostUSD: new(-100.0)})
	asked(d.plan.ID, models.Spending{InputTokens: -9000, CostUSD: math.NaN()})
	asked(d.plan.ID, models.Spending{CostUSD: math.Inf(1)})
	want = models.Usage{Runs: 3, Wall: 12 * time.Minute, Questions: 3, Tokens: 1171, USD: 0.75, Working: true, Since: *later(10)}
	if got := used(*later(15)); got != want {
		t.Errorf("used %+v, want %+v", got, want)
	}
	run(5, RunSet{StartedAt: later(0), EndedAt: later(0), InputTokens: new(int64(math.MaxInt64)), OutputTokens: new(int64(math.MaxInt64))})
	if got := used(*later(15)); got.Tokens != math.MaxInt64 {
		t.Errorf("the sum ran over: %d", got.Tokens)
	}
}

// The database refuses limits that make no sense, on whichever way they come.
func TestBudgetIsChecked(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	for _, q := range []string{
		"budget_runs = -1", "budget_runs = 1000001", "budget_minutes = -1", "budget_tokens = -1", "budget_usd = -0.01", "budget_usd = 9e999", "budget_usd = NULL",
	} {
		if _, err := raw(t, s).Exec("UPDATE plans SET " + q); err == nil {
			t.Errorf("%s: went through", q)
		}
	}
	b := models.Budget{Runs: 1, Minutes: 2, Tokens: 3, USD: 0.5}
	tx(t, s, func(tx *Tx) error { return tx.SetPlan(ctx, d.plan.ID, "", PlanSet{Budget: &b}) })
	if got := must(s.Plan(ctx, d.plan.ID))(t).Budget; got != b {
		t.Errorf("stored %+v", got)
	}
}

// A phase is over the budget as long as it stays where that put it.
func TestOverBudgetEndsWithItsState(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	id := d.phases[0].ID
	over := func() bool { t.Helper(); return must(s.Phase(ctx, id))(t).OverBudget }
	tx(t, s, func(tx *Tx) error {
		return tx.MovePhase(ctx, id, models.PhaseRunning, models.PhaseNeedsAttention, PhaseSet{OverBudget: true}, Why{})
	})
	tx(t, s, func(tx *Tx) error { return tx.SetPhase(ctx, id, "", PhaseSet{Reason: new("x")}) })
	if !over() {
		t.Error("it is not over the budget")
	}
	tx(t, s, func(tx *Tx) error {
		return tx.MovePhase(ctx, id, models.PhaseNeedsAttention, models.PhaseRunning, PhaseSet{}, Why{})
	})
	if over() {
		t.Error("it is over the budget after it went on")
	}
}

// What was asked before questions were counted one by one is counted when the
// table is made.
func TestSpendingsOfOldQuestions(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	const answers = `[{"reasked":true,"input_tokens":5,"output_tokens":1,"cost_usd":0.25},{"input_tokens":-3,"cost_usd":-1},{}]`
	tx(t, s, func(tx *Tx) error {
		for _, a := range []string{"", "{broken", answers} {
			v := models.Verdict{PassID: d.pass.ID, PhaseID: d.pass.PhaseID, PlanID: d.plan.ID, Kind: models.VerdictGiven, Evaluator: "judge", AnswersJSON: a}
			if err := tx.InsertVerdict(ctx, &v); err != nil {
				return err
			}
			ev := models.Evaluation{PlanID: d.plan.ID, Evaluator: "evaluator", AnswersJSON: a}
			if err := tx.InsertEvaluation(ctx, &ev); err != nil {
				return err
			}
		}
		return nil
	})
	db := raw(t, s)
	_, err := db.Exec(`DROP TABLE spendings; DROP INDEX runs_usage;
		ALTER TABLE plans DROP COLUMN budget_runs; ALTER TABLE plans DROP COLUMN budget_minutes; ALTER TABLE plans DROP COLUMN budget_tokens;
		ALTER TABLE plans DROP COLUMN budget_usd; ALTER TABLE phases DROP COLUMN over_budget; ALTER TABLE evaluations DROP COLUMN over_budget;`)
	if err != nil {
		t.Fatal(err)
	}
	sqlText := must(migrationFiles.ReadFile("migrations/00140_budgets.sql"))(t)
	if _, err := db.Exec(string(sqlText)); err != nil {
		t.Fatal(err)
	}
	got := must(s.UsageOf(ctx, d.plan.ID, time.Now()))(t)
	// Judgings keep sums: the row that claims less than nothing is in one of them.
	if want := (models.Usage{Questions: 8, Tokens: 3 + 6, USD: 0 + 0.25}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if n := count(t, s, "spendings"); n != 2 {
		t.Errorf("%d rows, want one of the verdict and one of the evaluation", n)
	}
	if p := must(s.Plan(ctx, d.plan.ID))(t); p.Budget != (models.Budget{}) {
		t.Errorf("an old plan has the budget %+v", p.Budget)
	}
}
