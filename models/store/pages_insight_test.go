package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"donewhen/models"
)

// doneLike is a plan with one phase that ended with the given pass, each pass
// before it not met, all at the store's clock.
func doneLike(t *testing.T, s *Store, p models.Plan, name, doneWhen string, passes int, met bool) (models.Plan, models.Phase) {
	t.Helper()
	agent := models.AgentSpec{Runtime: "shell", Command: "make " + name}
	phases := []models.Phase{{Name: name, Task: "Do it.", DoneWhen: doneWhen, MaxIterations: 9, Agents: []models.AgentSpec{agent}, Iteration: passes - 1,
		Status: map[bool]models.PhaseStatus{true: models.PhaseCompleted, false: models.PhaseExhausted}[met]}}
	p.Title, p.Status, p.TargetBranch = name+" plan", models.PlanRunning, "main"
	tx(t, s, func(tx *Tx) error {
		if err := tx.InsertPlan(ctx, &p, phases); err != nil {
			return err
		}
		for i := range passes {
			last := met && i == passes-1
			pass := models.Pass{PhaseID: phases[0].ID, PlanID: p.ID, Iteration: i}
			runs := []models.Run{{Agent: agent}}
			if err := tx.InsertPass(ctx, &pass, runs); err != nil {
				return err
			}
			began, ended := tx.now.Add(-90*time.Second), tx.now
			if err := tx.MoveRun(ctx, runs[0].ID, models.RunQueued, models.RunRunning, RunSet{StartedAt: &began}, Why{}); err != nil {
				return err
			}
			if err := tx.MoveRun(ctx, runs[0].ID, models.RunRunning, models.RunSucceeded, RunSet{EndedAt: &ended, InputTokens: new(int64(100)), OutputTokens: new(int64(10)), CostUSD: new(0.25)}, Why{}); err != nil {
				return err
			}
			if err := tx.MovePass(ctx, pass.ID, models.PassQueued, models.PassRunning, PassSet{}, Why{}); err != nil {
				return err
			}
			to := map[bool]models.PassStatus{true: models.PassMet, false: models.PassNotMet}[last]
			if err := tx.MovePass(ctx, pass.ID, models.PassRunning, to, PassSet{EndedAt: &ended}, Why{}); err != nil {
				return err
			}
			v := models.Verdict{PassID: pass.ID, PhaseID: phases[0].ID, PlanID: p.ID, Kind: models.VerdictGiven, Met: last, ResultsJSON: fmt.Sprintf(`[{"n":%d}]`, i)}
			if err := tx.InsertVerdict(ctx, &v); err != nil {
				return err
			}
		}
		return nil
	})
	return p, phases[0]
}

// templated adds a template with one version and returns the version's id.
func templated(t *testing.T, s *Store, name string) *int64 {
	t.Helper()
	tpl := models.Template{Name: name}
	var v models.TemplateVersion
	tx(t, s, func(tx *Tx) error {
		if err := tx.InsertTemplate(ctx, &tpl); err != nil {
			return err
		}
		v = models.TemplateVersion{TemplateID: tpl.ID, Text: "done"}
		return tx.InsertTemplateVersion(ctx, &v)
	})
	return &v.ID
}

func insightLibrary(t *testing.T) (*Store, *time.Time, models.Project) {
	now := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	s, _ := openAt(t, filepath.Join(t.TempDir(), "main.db"), func() time.Time { return now })
	pr := models.Project{Name: "home", Path: "/repo/home", TargetBranch: "main"}
	tx(t, s, func(tx *Tx) error { return tx.InsertProject(ctx, &pr) })
	return s, &now, pr
}

func TestPassStats(t *testing.T) {
	s, now, pr := insightLibrary(t)
	bug := templated(t, s, "bug fix")
	at := models.Plan{ProjectID: pr.ID}
	doneLike(t, s, at, "old", "sorted", 4, true)
	*now = now.AddDate(0, 0, 10)
	since := now.Add(-time.Hour)
	doneLike(t, s, at, "sort", "sorted", 2, true)
	doneLike(t, s, at, "sort", "sorted", 3, false)
	doneLike(t, s, at, "sort", "", 1, true) // no condition: nothing was judged
	at.TemplateVersionID = bug
	doneLike(t, s, at, "sort", "sorted", 1, true)
	doneLike(t, s, at, "sort", "sorted", 1, true)
	got := must(s.PassStats(ctx, since, 100))(t)
	want := []models.PassCount{
		{Number: 1, Count: 2}, {Number: 2, Count: 1}, {Number: 2, Met: true, Count: 1}, {Number: 3, Count: 1},
		{Template: "bug fix", Number: 1, Met: true, Count: 2},
	}
	if !slices.Equal(got.Counts, want) || got.CutAt != nil {
		t.Errorf("%+v, cut at %v\nwant %+v", got.Counts, got.CutAt, want)
	}
	if all := must(s.PassStats(ctx, now.AddDate(0, 0, -30), 100))(t); len(all.Counts) != 6 {
		t.Errorf("with the old one: %+v", all.Counts)
	}
	cut := must(s.PassStats(ctx, now.AddDate(0, 0, -30), 8))(t)
	if cut.CutAt == nil || !cut.CutAt.Equal(now.AddDate(0, 0, -10)) || !slices.Equal(cut.Counts, want) {
		t.Errorf("cut: %+v at %v", cut.Counts, cut.CutAt)
	}
	if none := must(s.PassStats(ctx, now.Add(time.Hour), 100))(t); len(none.Counts) != 0 || none.CutAt != nil {
		t.Errorf("in the future: %+v", none)
	}
}

func TestRunStats(t *testing.T) {
	s, now, pr := insightLibrary(t)
	at := models.Plan{ProjectID: pr.ID}
	doneLike(t, s, at, "old", "sorted", 1, true)
	*now = now.AddDate(0, 0, 10)
	doneLike(t, s, at, "sweep", "", 1, true)
	doneLike(t, s, at, "sort", "sorted", 2, true)
	plant(t, s) // its run is queued: it has not ended
	got := must(s.RunStats(ctx, now.Add(-time.Hour), 100))(t)
	want := []models.RunGroup{
		{Phase: "sort", Runtime: "shell", Runs: 2, Time: 3 * time.Minute, InputTokens: 200, OutputTokens: 20, CostUSD: 0.5},
		{Phase: "sweep", Runtime: "shell", Runs: 1, Time: 90 * time.Second, InputTokens: 100, OutputTokens: 10, CostUSD: 0.25},
	}
	if !slices.Equal(got.Groups, want) || got.CutAt != nil {
		t.Errorf("%+v, cut at %v", got.Groups, got.CutAt)
	}
	if cut := must(s.RunStats(ctx, now.AddDate(0, 0, -30), 3))(t); !slices.Equal(cut.Groups, want) || cut.CutAt == nil {
		t.Errorf("cut: %+v at %v", cut.Groups, cut.CutAt)
	}
}

func TestNotMetVerdicts(t *testing.T) {
	s, now, pr := insightLibrary(t)
	p, ph := doneLike(t, s, models.Plan{ProjectID: pr.ID}, "sort", "sorted", 4, true)
	tx(t, s, func(tx *Tx) error { // a judge in trouble says nothing about criteria
		pass := models.Pass{PhaseID: ph.ID, PlanID: p.ID, Iteration: 7}
		if err := tx.InsertPass(ctx, &pass, nil); err != nil {
			return err
		}
		return tx.InsertVerdict(ctx, &models.Verdict{PassID: pass.ID, PhaseID: ph.ID, PlanID: p.ID, Kind: models.VerdictTrouble})
	})
	got := must(s.NotMetVerdicts(ctx, now.Add(-time.Minute), 10))(t)
	if len(got.Verdicts) != 3 || got.CutAt != nil || got.Verdicts[0].PlanID != p.ID || !strings.HasPrefix(got.Verdicts[0].ResultsJSON, `[{"n":`) {
		t.Errorf("%+v", got)
	}
	if cut := must(s.NotMetVerdicts(ctx, now.Add(-time.Minute), 2))(t); len(cut.Verdicts) != 2 || cut.CutAt == nil {
		t.Errorf("%+v", cut)
	}
	if titles := must(s.PlanTitles(ctx, []string{p.ID, "nobody"}))(t); len(titles) != 1 || titles[p.ID] != "sort plan" {
		t.Errorf("%v", titles)
	}
}

func TestPassesUntilMet(t *testing.T) {
	s, now, pr := insightLibrary(t)
	add := func(p models.Plan, name, doneWhen string, passes int, met bool) models.Phase {
		*now = now.Add(time.Second) // ids go up with the time
		_, ph := doneLike(t, s, p, name, doneWhen, passes, met)
		return ph
	}
	other := models.Project{Name: "other", Path: "/repo/other", TargetBranch: "main"}
	tx(t, s, func(tx *Tx) error { return tx.InsertProject(ctx, &other) })
	bug := templated(t, s, "bug fix")
	plain, fix := models.Plan{ProjectID: pr.ID}, models.Plan{ProjectID: pr.ID, TemplateVersionID: bug}
	for i, n := range []int{5, 2, 3} {
		add(plain, "sort", "sorted", n, true)
		add(fix, "sort", "sorted", 6+i, true)
	}
	add(plain, "sweep", "sorted", 1, true)
	add(plain, "sort", "sorted", 9, false)
	add(plain, "sort", "", 1, true)
	add(models.Plan{ProjectID: other.ID}, "sort", "sorted", 8, true)
	taken := add(plain, "sort", "sorted", 1, true)
	tx(t, s, func(tx *Tx) error { return tx.SetPhase(ctx, taken.ID, "", PhaseSet{Overridden: new(true)}) })
	ph := add(plain, "sort", "sorted", 4, false)
	if got := must(s.PassesUntilMet(ctx, ph, 100))(t); !slices.Equal(got, []int{3, 2, 5}) {
		t.Errorf("%v", got)
	}
	if got := must(s.PassesUntilMet(ctx, ph, 6))(t); !slices.Equal(got, []int{3}) {
		t.Errorf("of six plans: %v", got)
	}
	ph = add(fix, "sort", "sorted", 1, false)
	if got := must(s.PassesUntilMet(ctx, ph, 100))(t); !slices.Equal(got, []int{8, 7, 6}) {
		t.Errorf("with the template: %v", got)
	}
}

// Insight and forecasts read ranges of indexes.
func TestInsightQueryPlans(t *testing.T) {
	s, now, pr := insightLibrary(t)
	p, ph := doneLike(t, s, models.Plan{ProjectID: pr.ID}, "sort", "sorted", 2, true)
	for name, tc := range map[string]struct {
		read  func(r Reader) error
		index []string
	}{
		"PassStats":      {func(r Reader) error { _, err := r.PassStats(ctx, *now, 9); return err }, []string{"passes USING COVERING INDEX passes_ended (ended_at>?)"}},
		"RunStats":       {func(r Reader) error { _, err := r.RunStats(ctx, *now, 9); return err }, []string{"runs USING INDEX runs_ended (ended_at>?)"}},
		"NotMetVerdicts": {func(r Reader) error { _, err := r.NotMetVerdicts(ctx, *now, 9); return err }, []string{"verdicts USING INDEX verdicts_not_met (created_at>?)"}},
		"PlanTitles":     {func(r Reader) error { _, err := r.PlanTitles(ctx, []string{p.ID}); return err }, []string{"sqlite_autoindex_plans_1 (id=?)"}},
		"PassesUntilMet": {func(r Reader) error { _, err := r.PassesUntilMet(ctx, ph, 9); return err }, []string{"plans_project (project_id=?)", "sqlite_autoindex_phases_1 (plan_id=?)"}},
	} {
		lines := plansOf(t, s, tc.read)
		shown := strings.Join(lines, "\n")
		for _, want := range tc.index {
			if !strings.Contains(shown, want) {
				t.Errorf("%s does not use %q:\n%s", name, want, shown)
			}
		}
		for _, l := range lines { // c, p and r are the bounded groups and rows of the queries themselves
			if strings.HasPrefix(l, "SCAN ") && !slices.Contains([]string{"SCAN c", "SCAN p", "SCAN r", "SCAN CONSTANT ROW"}, l) {
				t.Errorf("%s: %q reads a whole table:\n%s", name, l, shown)
			}
		}
	}
}
