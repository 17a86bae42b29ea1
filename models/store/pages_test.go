package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"donewhen/models"
)

// ticking is a clock that goes on by a second each time it is read.
func ticking() func() time.Time {
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	return func() time.Time { at = at.Add(time.Second); return at }
}

// library is a store with a ticking clock and a project, and a function that
// inserts plans into it.
func library(t *testing.T) (*Store, func(title string, status models.PlanStatus, phases ...models.Phase) models.Plan) {
	s, _ := openAt(t, filepath.Join(t.TempDir(), "main.db"), ticking())
	pr := models.Project{Name: "home", Path: "/repo/home", TargetBranch: "main"}
	tx(t, s, func(tx *Tx) error { return tx.InsertProject(ctx, &pr) })
	return s, func(title string, status models.PlanStatus, phases ...models.Phase) models.Plan {
		t.Helper()
		p := models.Plan{ProjectID: pr.ID, Title: title, Status: status, TargetBranch: "main"}
		tx(t, s, func(tx *Tx) error { return tx.InsertPlan(ctx, &p, phases) })
		return p
	}
}

func titles(list []models.PlanRow) (got []string) {
	for _, r := range list {
		got = append(got, r.Title)
	}
	return got
}

// Pages neither skip nor repeat a plan while new ones come in, with each kind
// of filter.
func TestPlansKeyset(t *testing.T) {
	for name, f := range map[string]models.PlanFilter{
		"no filter":     {},
		"one status":    {Status: []models.PlanStatus{models.PlanRunning}},
		"two statuses":  {Status: []models.PlanStatus{models.PlanRunning, models.PlanApplied, models.PlanRunning}},
		"project":       {ProjectID: 1},
		"all of it":     {ProjectID: 1, Status: []models.PlanStatus{models.PlanApplied, models.PlanRunning}, Search: "plan"},
		"other project": {ProjectID: 2},
	} {
		t.Run(name, func(t *testing.T) {
			s, add := library(t)
			var want []string
			for i := range 53 {
				status := []models.PlanStatus{models.PlanRunning, models.PlanApplied, models.PlanDraft}[i%3]
				title := fmt.Sprint("Plan ", i)
				add(title, status)
				if (len(f.Status) == 0 || slices.Contains(f.Status, status)) && f.ProjectID != 2 {
					want = append([]string{title}, want...)
				}
			}
			var got []string
			f := f
			f.Limit = 5
			for page := 0; ; page++ {
				if page > 20 {
					t.Fatal("the pages do not end")
				}
				list, next, err := s.Plans(ctx, f)
				if err != nil {
					t.Fatal(err)
				}
				if len(list) > f.Limit {
					t.Fatalf("a page has %d plans, wanted %d at most", len(list), f.Limit)
				}
				got = append(got, titles(list)...)
				if next == "" {
					break
				}
				if next != list[len(list)-1].ID {
					t.Errorf("the cursor is %s, the last plan is %s", next, list[len(list)-1].ID)
				}
				f.Before = next
				add("Plan that came in meanwhile", models.PlanRunning)
			}
			if !slices.Equal(got, want) {
				t.Errorf("pages show\n%v\nwant\n%v", got, want)
			}
		})
	}
}

func TestPlansLastPageHasNoCursor(t *testing.T) {
	s, add := library(t)
	for i := range 4 {
		add(fmt.Sprint(i), models.PlanDraft)
	}
	if list, next, err := s.Plans(ctx, models.PlanFilter{Limit: 4}); len(list) != 4 || next != "" || err != nil {
		t.Errorf("%d plans, next %q, %v", len(list), next, err)
	}
	if list, next, err := s.Plans(ctx, models.PlanFilter{Limit: 3}); len(list) != 3 || next == "" || err != nil {
		t.Errorf("%d plans, next %q, %v", len(list), next, err)
	}
}

// What a person types is looked for as it is typed.
func TestPlansSearch(t *testing.T) {
	s, add := library(t)
	for _, title := range []string{"100% done", "100 done", "a_b", "axb", `back\slash`, "Über alles", "it's", `"quoted"`} {
		add(title, models.PlanDraft)
	}
	p := add("has a goal", models.PlanDraft)
	tx(t, s, func(tx *Tx) error { return tx.SetPlan(ctx, p.ID, "", PlanSet{Goal: new("Reach 50%_of it")}) })
	for search, want := range map[string][]string{
		"100%":      {"100% done"},
		"%":         {"has a goal", "100% done"},
		"_":         {"has a goal", "a_b"},
		"a_b":       {"a_b"},
		`\`:         {`back\slash`},
		"DONE":      {"100 done", "100% done"},
		"Über":      {"Über alles"},
		"it's":      {"it's"},
		`"`:         {`"quoted"`},
		"%_of":      {"has a goal"},
		"1%d":       nil,
		"' OR 1=1 ": nil,
	} {
		list, _, err := s.Plans(ctx, models.PlanFilter{Search: search})
		if err != nil {
			t.Fatal(err)
		}
		if got := titles(list); !slices.Equal(got, want) {
			t.Errorf("search for %q finds %q, want %q", search, got, want)
		}
	}
}

func TestPlanRows(t *testing.T) {
	s, add := library(t)
	ph := func(name string, status models.PhaseStatus, reason string) models.Phase {
		return models.Phase{Name: name, Status: status, Reason: reason, MaxIterations: 1}
	}
	done := models.PhaseCompleted
	add("finished", models.PlanFinished, ph("one", done, "met"), ph("two", done, "met"))
	add("waits", models.PlanWaiting, ph("one", done, "met"), ph("two", models.PhaseStalled, "nothing moved"), ph("three", models.PhasePending, ""))
	add("empty", models.PlanDraft)
	list, _, err := s.Plans(ctx, models.PlanFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []models.PlanRow{
		{Title: "empty", Status: models.PlanDraft},
		{Title: "waits", Status: models.PlanWaiting, PhaseCount: 3, PhasesDone: 1, Current: "two", Phase: models.PhaseStalled, Reason: "nothing moved"},
		{Title: "finished", Status: models.PlanFinished, PhaseCount: 2, PhasesDone: 2},
	} {
		got := list[i]
		if got.ID == "" || got.CreatedAt.IsZero() || got.UpdatedAt.IsZero() {
			t.Errorf("row without id or times: %+v", got)
		}
		want.ProjectName, want.ID, want.CreatedAt, want.UpdatedAt = "home", got.ID, got.CreatedAt, got.UpdatedAt
		if got != want {
			t.Errorf("row %d\n%+v\nwant\n%+v", i, got, want)
		}
	}
	if running := must(s.WorkingPlans(ctx, 10))(t); len(running) != 0 {
		t.Errorf("running: %v", titles(running))
	}
	add("at work", models.PlanRunning, ph("one", models.PhaseRunning, ""))
	if running := must(s.WorkingPlans(ctx, 10))(t); !slices.Equal(titles(running), []string{"at work"}) {
		t.Errorf("running: %v", titles(running))
	}
}

// The inbox has what waits for a person, and what has waited longest is first.
func TestInbox(t *testing.T) {
	s, add := library(t)
	ph := func(status models.PhaseStatus) models.Phase {
		return models.Phase{Name: string(status), Status: status, Agents: []models.AgentSpec{{Runtime: "shell"}}}
	}
	old := add("old plan, waits since just now", models.PlanRunning, ph(models.PhaseJudging), ph(models.PhasePending))
	add("failed", models.PlanFailed, ph(models.PhaseCompleted), ph(models.PhaseFailed))
	for _, s := range []models.PlanStatus{models.PlanDraft, models.PlanRunning, models.PlanPaused, models.PlanApplying, models.PlanApplied, models.PlanCancelled, models.PlanDiscarded} {
		add(string(s), s, ph(models.PhasePending))
	}
	fin := add("finished", models.PlanFinished, ph(models.PhaseCompleted))
	phase := must(s.PhasesOf(ctx, old.ID))(t)[0]
	tx(t, s, func(tx *Tx) error {
		if err := tx.MovePhase(ctx, phase.ID, models.PhaseJudging, models.PhaseExhausted, PhaseSet{Reason: new("not met")}, Why{}); err != nil {
			return err
		}
		return tx.MovePlan(ctx, old.ID, models.PlanRunning, models.PlanWaiting, PlanSet{}, Why{})
	})
	// A note or a page's change to the plan does not make it wait anew.
	tx(t, s, func(tx *Tx) error {
		if err := tx.SetPhase(ctx, phase.ID, "", PhaseSet{Note: new("look")}); err != nil {
			return err
		}
		return tx.SetPlan(ctx, fin.ID, "", PlanSet{Goal: new("renamed")})
	})
	items := must(s.Inbox(ctx, 10))(t)
	var got []string
	for _, it := range items {
		line := it.Plan.Title + ": "
		if it.Phase != nil {
			line += it.Phase.Name + " " + string(it.Phase.Status) + " " + it.Plan.Reason
			if it.Phase.PlanID != it.Plan.ID || !it.Since.Equal(it.Phase.UpdatedAt) {
				t.Errorf("phase %+v of item %+v", it.Phase, it)
			}
		}
		got = append(got, line)
	}
	if want := []string{"failed: failed failed ", "finished: ", "old plan, waits since just now: judging exhausted not met"}; !slices.Equal(got, want) {
		t.Errorf("inbox\n%q\nwant\n%q", got, want)
	}
	if n := must(s.InboxCount(ctx, 10))(t); n != len(items) {
		t.Errorf("counted %d, listed %d", n, len(items))
	}
	if n := must(s.InboxCount(ctx, 1))(t); n != 1 {
		t.Errorf("counted %d of at most 1", n)
	}
	if items := must(s.Inbox(ctx, 1))(t); len(items) != 1 {
		t.Errorf("%d items, wanted 1", len(items))
	}
	if !items[1].Since.Equal(fin.CreatedAt) {
		t.Errorf("finished since %v, want %v", items[1].Since, fin.CreatedAt)
	}
}

// The count, the list and what a row says agree about who has to move next, for
// every state of a plan with every state of its newest evaluation, while an older
// one has ended or hangs.
func TestInboxCountsWhatItLists(t *testing.T) {
	s, add := library(t)
	newest := []models.EvaluationStatus{"", models.EvaluationQueued, models.EvaluationRunning, models.EvaluationDone, models.EvaluationErrored}
	all := []models.PlanStatus{models.PlanDraft, models.PlanRunning, models.PlanPaused, models.PlanWaiting, models.PlanFailed,
		models.PlanFinished, models.PlanApplying, models.PlanApplied, models.PlanCancelled, models.PlanDiscarded}
	for _, status := range all {
		for _, ev := range newest {
			for _, older := range newest[:3] {
				p := add(fmt.Sprintf("%s, %s after %s", status, ev, older), status)
				for _, e := range []models.EvaluationStatus{older, ev} {
					if e != "" {
						tx(t, s, func(tx *Tx) error {
							return tx.InsertEvaluation(ctx, &models.Evaluation{PlanID: p.ID, Status: e})
						})
					}
				}
			}
		}
	}
	listed, working := map[string]bool{}, map[string]bool{}
	for _, it := range must(s.Inbox(ctx, 500))(t) {
		listed[it.Plan.ID] = true
	}
	for _, row := range must(s.WorkingPlans(ctx, 500))(t) {
		working[row.ID] = true
	}
	if n := must(s.InboxCount(ctx, 500))(t); n != len(listed) || n == 0 {
		t.Errorf("counted %d, listed %d", n, len(listed))
	}
	rows, _, err := s.Plans(ctx, models.PlanFilter{Limit: 500})
	if err != nil || len(rows) != len(all)*len(newest)*3 {
		t.Fatal(len(rows), err)
	}
	for _, row := range rows {
		latest := must(s.LatestEvaluation(ctx, row.ID))(t)
		evaluating := latest != nil && (latest.Status == models.EvaluationQueued || latest.Status == models.EvaluationRunning)
		if row.Evaluating != evaluating {
			t.Errorf("%s: evaluating is %v", row.Title, row.Evaluating)
		}
		if row.NeedsPerson() != listed[row.ID] {
			t.Errorf("%s: the row says %v, the inbox %v", row.Title, row.NeedsPerson(), listed[row.ID])
		}
		if listed[row.ID] && working[row.ID] {
			t.Errorf("%s: it waits and is at work", row.Title)
		}
		if row.Status == models.PlanFinished && !listed[row.ID] && !working[row.ID] {
			t.Errorf("%s: it is nowhere", row.Title)
		}
	}
}

// A paused plan is at work as long as a worker or a judge has one of its passes.
func TestPausedPlanAtWork(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	tx(t, s, func(tx *Tx) error {
		if ok, err := tx.ClaimPass(ctx, d.pass.ID, d.pass.Status, "worker 1"); err != nil || !ok {
			return fmt.Errorf("claimed: %v, %w", ok, err)
		}
		return tx.MovePlan(ctx, d.plan.ID, models.PlanRunning, models.PlanPaused, PlanSet{}, Why{})
	})
	if list := must(s.WorkingPlans(ctx, 10))(t); len(list) != 1 || !list[0].InHand || list[0].Status != models.PlanPaused {
		t.Errorf("with a claimed pass: %+v", list)
	}
	tx(t, s, func(tx *Tx) error { return tx.SetPass(ctx, d.pass.ID, "", PassSet{ClaimedBy: new("")}) })
	if list := must(s.WorkingPlans(ctx, 10))(t); len(list) != 0 {
		t.Errorf("with none: %+v", list)
	}
}

func TestPlanDetail(t *testing.T) {
	s := open(t)
	plant(t, s) // another plan, which must not show
	d := plant(t, s)
	other := plant(t, s)
	var version models.TemplateVersion
	user := models.User{Name: "Ada", Role: models.RoleLead, PasswordHash: "x"}
	tx(t, s, func(tx *Tx) error {
		if err := tx.InsertUser(ctx, &user); err != nil {
			return err
		}
		tpl := models.Template{Name: "usual"}
		if err := tx.InsertTemplate(ctx, &tpl); err != nil {
			return err
		}
		for range 2 {
			version = models.TemplateVersion{TemplateID: tpl.ID, Text: "Tests are green"}
			if err := tx.InsertTemplateVersion(ctx, &version); err != nil {
				return err
			}
		}
		p := models.Plan{ProjectID: d.project.ID, Title: "detailed", TargetBranch: "main", TemplateVersionID: &version.ID, CreatedBy: user.ID, DodArgs: map[string]string{"a": "b"}}
		phases := []models.Phase{{Name: "one"}, {Name: "two"}}
		if err := tx.InsertPlan(ctx, &p, phases); err != nil {
			return err
		}
		d.plan, d.phases = p, phases
		for i := range 2 {
			pass := models.Pass{PhaseID: phases[0].ID, PlanID: p.ID, Iteration: i}
			runs := []models.Run{{}, {}, {Position: 1, Try: 2}}
			if err := tx.InsertPass(ctx, &pass, runs); err != nil {
				return err
			}
			for j := range 2 {
				v := models.Verdict{PassID: pass.ID, PhaseID: pass.PhaseID, PlanID: p.ID, Kind: models.VerdictGiven, Reason: fmt.Sprint(i, j), Evidence: "long", AnswersJSON: "[]"}
				if err := tx.InsertVerdict(ctx, &v); err != nil {
					return err
				}
			}
			if err := tx.InsertEvaluation(ctx, &models.Evaluation{PlanID: p.ID, Error: fmt.Sprint(i)}); err != nil {
				return err
			}
			if err := tx.InsertDecision(ctx, &models.Decision{PlanID: p.ID, PhaseID: &phases[i].ID, Kind: models.DecisionApprove}); err != nil {
				return err
			}
			a := models.ApplyAttempt{PlanID: p.ID, Reason: fmt.Sprint(i)}
			if err := tx.InsertApplyAttempt(ctx, &a); err != nil {
				return err
			}
			if err := tx.MoveApply(ctx, a.ID, models.ApplyStarted, models.ApplyRefused, ApplySet{}, Why{}); err != nil {
				return err
			}
		}
		if err := tx.InsertDecision(ctx, &models.Decision{PlanID: p.ID, Kind: models.DecisionWaive, Criterion: 1}); err != nil {
			return err
		}
		return tx.VoidDecisions(ctx, p.ID, []int64{phases[0].ID}, false)
	})
	check := func(got models.PlanDetail) {
		t.Helper()
		if got.Plan.Title != "detailed" || got.Plan.DodArgs["a"] != "b" || got.Project.Name != d.project.Name || got.Creator != "Ada" {
			t.Errorf("plan %+v of %+v by %q", got.Plan, got.Project, got.Creator)
		}
		if got.Template == nil || *got.Template != (models.TemplateRef{ID: version.TemplateID, Name: "usual", Version: 2}) {
			t.Errorf("template %+v", got.Template)
		}
		if len(got.Phases) != 2 || got.Phases[0].Phase.Name != "one" || got.Phases[1].Phase.Name != "two" || len(got.Phases[1].Passes) != 0 || len(got.Phases[0].Passes) != 2 {
			t.Fatalf("phases %+v", got.Phases)
		}
		for i, p := range got.Phases[0].Passes {
			var places []string
			for _, r := range p.Runs {
				places = append(places, fmt.Sprint(r.Position, ".", r.Try))
			}
			if p.Pass.Iteration != i || !slices.Equal(places, []string{"1.1", "1.2", "2.1"}) {
				t.Errorf("pass %d has the runs %v", p.Pass.Iteration, places)
			}
			if p.Verdict == nil || p.Verdict.Reason != fmt.Sprint(i, 1) || p.Verdict.PassID != p.Pass.ID {
				t.Errorf("pass %d has the verdict %+v, want the newest", i, p.Verdict)
			}
			if p.Verdict.Evidence != "" || must(s.LatestVerdict(ctx, p.Pass.ID))(t).Evidence != "long" {
				t.Error("the page carries the evidence, or the verdict has lost it")
			}
		}
		if got.Evaluation == nil || got.Evaluation.Error != "1" {
			t.Errorf("evaluation %+v, want the newest", got.Evaluation)
		}
		if len(got.Decisions) != 2 || *got.Decisions[0].PhaseID != d.phases[1].ID || got.Decisions[1].Criterion != 1 {
			t.Errorf("decisions %+v", got.Decisions)
		}
		if len(got.Attempts) != 2 || got.Attempts[0].Reason != "1" {
			t.Errorf("attempts %+v, want the newest first", got.Attempts)
		}
	}
	check(must(s.PlanDetail(ctx, d.plan.ID))(t))
	if n := count(t, s, "decisions"); n != 3 {
		t.Errorf("%d decisions are left of 3", n)
	}
	if got := must(s.PlanDetail(ctx, other.plan.ID))(t); got.Template != nil || got.Evaluation != nil || len(got.Phases) != 2 || got.Creator != "" {
		t.Errorf("a plan with little: %+v", got)
	}
	_, err := s.PlanDetail(ctx, "01NONE")
	wantCode(t, err, models.CodeNotFound)
	_, err = s.PlanVersion(ctx, "01NONE")
	wantCode(t, err, models.CodeNotFound)
}

func TestRunDetail(t *testing.T) {
	s := open(t)
	plant(t, s)
	d := plant(t, s)
	got := must(s.RunDetail(ctx, d.run.ID))(t)
	if got.Run.ID != d.run.ID || got.Pass.ID != d.pass.ID || got.Phase.ID != d.phases[0].ID || got.Plan.ID != d.plan.ID || got.Run.Agent.Command != "sort" {
		t.Errorf("%+v", got)
	}
	_, err := s.RunDetail(ctx, 999)
	wantCode(t, err, models.CodeNotFound)
}

func TestEvents(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	tx(t, s, func(tx *Tx) error {
		for i := range 10 {
			e := models.Event{Kind: fmt.Sprint("test.", i)}
			if i%2 == 0 {
				e.PlanID = d.plan.ID
			}
			if err := tx.InsertEvent(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	kinds := func(read func(before int64) ([]models.Event, error)) (got []string) {
		for before := int64(0); ; {
			page := must(read(before))(t)
			if len(page) == 0 {
				return got
			}
			for _, e := range page {
				got, before = append(got, e.Kind[5:]), e.ID
			}
		}
	}
	if got := kinds(func(b int64) ([]models.Event, error) { return s.EventsOf(ctx, d.plan.ID, b, 2) }); fmt.Sprint(got) != "[8 6 4 2 0]" {
		t.Errorf("the plan's events: %v", got)
	}
	if got := kinds(func(b int64) ([]models.Event, error) {
		list, _, err := s.Events(ctx, models.EventFilter{}, b, 3)
		return list, err
	}); fmt.Sprint(got) != "[9 8 7 6 5 4 3 2 1 0]" {
		t.Errorf("all events: %v", got)
	}
}

func TestTemplates(t *testing.T) {
	s := open(t)
	var a, b models.Template
	tx(t, s, func(tx *Tx) error {
		old := models.Template{Name: "aa old", ArchivedAt: new(time.Now())}
		a, b = models.Template{Name: "b usual"}, models.Template{Name: "a strict"}
		for _, tpl := range []*models.Template{&old, &a, &b} {
			if err := tx.InsertTemplate(ctx, tpl); err != nil {
				return err
			}
		}
		for i, text := range []string{"one", "two", "three"} {
			v := models.TemplateVersion{TemplateID: a.ID, Text: text, PublisherName: "Ada", Args: []models.TemplateArg{{Name: "what", Required: true}}, Version: 77}
			if err := tx.InsertTemplateVersion(ctx, &v); err != nil {
				return err
			}
			if v.Version != i+1 {
				t.Errorf("version %d, want %d", v.Version, i+1)
			}
		}
		return nil
	})
	list := must(s.Templates(ctx))(t)
	if len(list) != 3 || list[0].Name != "a strict" || list[1].Name != "b usual" || list[2].Name != "aa old" {
		t.Fatalf("templates %+v", list)
	}
	if list[0].Latest != 0 || list[0].PublishedAt != nil || list[0].PublishedBy != "" {
		t.Errorf("a template without versions: %+v", list[0])
	}
	if list[1].Latest != 3 || list[1].PublishedAt == nil || list[1].PublishedBy != "Ada" || list[1].ID != a.ID {
		t.Errorf("a template with versions: %+v", list[1])
	}
	detail := must(s.TemplateDetail(ctx, a.ID))(t)
	if len(detail.Versions) != 3 || detail.Versions[0].Text != "three" || !detail.Versions[0].Args[0].Required {
		t.Errorf("detail %+v", detail)
	}
	if v := must(s.LatestTemplateVersion(ctx, a.ID))(t); v.Text != "three" {
		t.Errorf("latest %+v", v)
	}
	_, err := s.LatestTemplateVersion(ctx, b.ID)
	wantCode(t, err, models.CodeNotFound)
	_, err = s.TemplateDetail(ctx, 999)
	wantCode(t, err, models.CodeNotFound)
	if got := must(s.TemplateByName(ctx, "b usual"))(t); got == nil || got.ID != a.ID {
		t.Errorf("by name: %+v", got)
	}
	if got := must(s.TemplateByName(ctx, "B usual"))(t); got != nil {
		t.Errorf("by another name: %+v", got)
	}
	err = s.InTx(ctx, func(tx *Tx) error { return tx.InsertTemplate(ctx, &models.Template{Name: "b usual"}) })
	wantCode(t, err, models.CodeInvalid)
}
