package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
	"donewhen/views"
)

// past is a phase that came to its end, for pages that count.
type past struct {
	plan, phase, runtime string
	version              *int64 // of the template
	passes               int
	met                  bool
	failing              []string // criteria that failed in all passes but the met one
	took                 time.Duration
	cost                 float64
	noCondition          bool
}

// ended writes phases that ended at the site's clock.
func (s *site) ended(project int64, list ...past) {
	s.t.Helper()
	ctx := s.t.Context()
	err := s.st.InTx(ctx, func(tx *store.Tx) error {
		for _, p := range list {
			agent := models.AgentSpec{Runtime: p.runtime}
			condition := strings.Join(p.failing, "\n") + "\nit works"
			if p.noCondition {
				condition = ""
			}
			status := models.PhaseExhausted
			if p.met {
				status = models.PhaseCompleted
			}
			plan := models.Plan{ProjectID: project, Title: p.plan, Status: models.PlanRunning, TargetBranch: "main", TemplateVersionID: p.version}
			phases := []models.Phase{{Name: p.phase, Task: "Do it.", DoneWhen: condition, MaxIterations: 20, Iteration: p.passes - 1, Status: status, Agents: []models.AgentSpec{agent}}}
			if err := tx.InsertPlan(ctx, &plan, phases); err != nil {
				return err
			}
			for i := range p.passes {
				if err := endedPass(tx, s.now(), p, plan, phases[0], i); err != nil {
					return fmt.Errorf("pass %d of %s: %w", i+1, p.phase, err)
				}
			}
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func endedPass(tx *store.Tx, now time.Time, p past, plan models.Plan, ph models.Phase, i int) error {
	ctx := context.Background()
	pass := models.Pass{PhaseID: ph.ID, PlanID: plan.ID, Iteration: i}
	runs := []models.Run{{Agent: ph.Agents[0]}}
	if err := tx.InsertPass(ctx, &pass, runs); err != nil {
		return err
	}
	began := now.Add(-p.took)
	if err := tx.MoveRun(ctx, runs[0].ID, models.RunQueued, models.RunRunning, store.RunSet{StartedAt: &began}, store.Why{}); err != nil {
		return err
	}
	used := store.RunSet{EndedAt: &now, CostUSD: &p.cost, InputTokens: new(int64(120_000)), OutputTokens: new(int64(4_500))}
	if err := tx.MoveRun(ctx, runs[0].ID, models.RunRunning, models.RunSucceeded, used, store.Why{}); err != nil {
		return err
	}
	if err := tx.MovePass(ctx, pass.ID, models.PassQueued, models.PassRunning, store.PassSet{}, store.Why{}); err != nil {
		return err
	}
	to := models.PassNotMet
	if p.met && i == p.passes-1 {
		to = models.PassMet
	}
	if err := tx.MovePass(ctx, pass.ID, models.PassRunning, to, store.PassSet{EndedAt: &now}, store.Why{}); err != nil {
		return err
	}
	if p.noCondition {
		return nil
	}
	var results []dod.Result
	for _, c := range dod.ParseCriteria(ph.DoneWhen) {
		r := dod.Result{Criterion: c, Status: dod.Failed}
		if to == models.PassMet || c.Text == "it works" {
			r.Status = dod.Passed
		}
		results = append(results, r)
	}
	b, err := json.Marshal(results)
	if err != nil {
		return err
	}
	return tx.InsertVerdict(ctx, &models.Verdict{PassID: pass.ID, PhaseID: ph.ID, PlanID: plan.ID, Kind: models.VerdictGiven, Met: to == models.PassMet, ResultsJSON: string(b)})
}

// user is a user by name.
func (s *site) user(name string) models.User {
	s.t.Helper()
	u, err := s.st.UserByName(s.t.Context(), name)
	if err != nil || u == nil {
		s.t.Fatalf("user %s: %v", name, err)
	}
	return *u
}

// library is a site with a project and a template, and a reader.
func library(t *testing.T) (s *site, project int64, version *int64, c *client) {
	s = newSite(t, nil)
	people := s.people()
	pr := models.Project{Name: "home", Path: "/repo/home", TargetBranch: "main"}
	tpl := models.Template{Name: "Bug fix"}
	var v models.TemplateVersion
	err := s.st.InTx(t.Context(), func(tx *store.Tx) error {
		if err := tx.InsertProject(t.Context(), &pr); err != nil {
			return err
		}
		if err := tx.InsertTemplate(t.Context(), &tpl); err != nil {
			return err
		}
		v = models.TemplateVersion{TemplateID: tpl.ID, Text: "done"}
		return tx.InsertTemplateVersion(t.Context(), &v)
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, pr.ID, &v.ID, s.as(people[models.RoleViewer])
}

// tableOf is a table's body by its caption, cell by cell.
func tableOf(t *testing.T, d *goquery.Document, caption string) [][]string {
	t.Helper()
	table := d.Find("table").FilterFunction(func(_ int, s *goquery.Selection) bool { return strings.TrimSpace(s.Find("caption").Text()) == caption })
	if table.Length() != 1 {
		t.Fatalf("%d tables %q", table.Length(), caption)
	}
	var out [][]string
	table.Find("tbody tr").Each(func(_ int, tr *goquery.Selection) {
		var row []string
		tr.Children().Each(func(_ int, c *goquery.Selection) { row = append(row, strings.Join(strings.Fields(c.Text()), " ")) })
		out = append(out, row)
	})
	return out
}

func wantTable(t *testing.T, d *goquery.Document, caption string, want ...string) {
	t.Helper()
	var got []string
	for _, row := range tableOf(t, d, caption) {
		got = append(got, strings.Join(row, " | "))
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant\n%s", caption, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func insightPast(version *int64) []past {
	return []past{
		{plan: "Mend the export", phase: "Fix", runtime: "claude", version: version, passes: 3, met: true, failing: []string{"the tests pass", "documented"}, took: 4 * time.Minute, cost: 0.5},
		{plan: "Mend the import", phase: "Fix", runtime: "claude", version: version, passes: 1, met: true, took: 2 * time.Minute, cost: 0.25},
		{plan: "Tidy", phase: "Fix", runtime: "shell", passes: 2, met: false, failing: []string{"the tests pass"}, took: 10 * time.Second},
		{plan: "Prepare", phase: "Set up", runtime: "shell", passes: 1, met: true, took: time.Hour, noCondition: true},
		{plan: "Long", phase: "Fix", runtime: "claude", passes: 9, met: true, failing: []string{"the tests pass"}, took: time.Minute},
	}
}

func TestInsight(t *testing.T) {
	s, project, version, _ := library(t)
	s.ended(project, past{plan: "Before", phase: "Old", runtime: "shell", passes: 1, met: true, took: time.Hour})
	s.pass(40 * 24 * time.Hour)
	c := s.as(s.user("vic")) // the library's own login has ended
	s.ended(project, insightPast(version)...)
	s.pass(time.Minute)

	a := c.get("/insight")
	want(t, a, http.StatusOK)
	d := doc(t, a)
	wantTable(t, d, "Passes until met, by template",
		"Bug fix | 2 | 2.0 | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0",
		"No template | 1 | 9.0 | 0 | 0 | 0 | 0 | 0 | 0 | 0 | 1")
	wantTable(t, d, "Passes decided and met",
		"1 | 4 | 1 | 25%", "2 | 3 | 0 | 0%", "3 | 2 | 1 | 50%", "4 | 1 | 0 | 0%", "5 | 1 | 0 | 0%", "6 | 1 | 0 | 0%", "7 | 1 | 0 | 0%", "8+ | 2 | 1 | 50%")
	wantTable(t, d, "Time and money by phase and runtime",
		"Set up | shell | 1 | 1 h 00 min | 1 h 00 min | 120,000 | 4,500 | –",
		"Fix | claude | 13 | 23 min 00 s | 1 min 46 s | 1,560,000 | 58,500 | $1.75",
		"Fix | shell | 2 | 20 s | 10 s | 240,000 | 9,000 | –")
	criteria := tableOf(t, d, "Criteria that failed")
	if len(criteria) != 2 || criteria[0][1] != "12" || criteria[1][1] != "2" || !strings.HasPrefix(criteria[0][0], "the tests pass") ||
		criteria[0][2] != "LongTidyMend the export" || criteria[1][2] != "Mend the export" {
		t.Errorf("criteria: %q", criteria)
	}
	for figure, value := range map[string]string{"Phases met": "3", "Passes until met": "4.3", "Time of runs": "1 h 23 min", "Money": "$1.75"} {
		if got := d.Find("[data-figures] > div").FilterFunction(func(_ int, f *goquery.Selection) bool { return f.Find("dt").Text() == figure }).Find("dd").First().Text(); got != value {
			t.Errorf("%s is %q, want %q", figure, got, value)
		}
	}
	if n := d.Find("[data-notes]").Length(); n != 0 {
		t.Error("something was left out")
	}
	// A chart says in words what it draws, and draws a bar for what is not nothing.
	for id, desc := range map[string]string{
		"chart-until-met": "1: 1; 2: 0; 3: 1; 4: 0; 5: 0; 6: 0; 7: 0; 8+: 1.",
		"chart-templates": "Bug fix: 2.0; No template: 9.0.",
		"chart-money":     "Fix (claude): $1.75.",
		"chart-time":      "Set up (shell): 1 h 00 min; Fix (claude): 23 min 00 s; Fix (shell): 20 s.",
	} {
		svg := d.Find(`svg[data-chart="` + id + `"]`)
		if got := svg.Find("desc").Text(); got != desc {
			t.Errorf("%s says %q, want %q", id, got, desc)
		}
		for _, ref := range strings.Fields(svg.AttrOr("aria-labelledby", "")) {
			if svg.Find("#"+ref).Length() != 1 {
				t.Errorf("%s: no %s", id, ref)
			}
		}
	}
	if n := d.Find(`svg[data-chart="chart-until-met"] rect`).Length(); n != 3 {
		t.Errorf("%d bars, want 3", n)
	}
	if height := d.Find(`svg[data-chart="chart-share"] rect`).First().AttrOr("height", ""); height != "34" { // a quarter of 136
		t.Errorf("a share of 25%% is %s high", height)
	}

	// The range is in the address.
	all := doc(t, c.get("/insight?days=90"))
	if row := tableOf(t, all, "Passes decided and met")[0]; row[1] != "5" {
		t.Errorf("90 days: %v", row)
	}
	if got := all.Find(`nav[aria-label="Range of time"] a[aria-current]`).Text(); got != "90 days" {
		t.Errorf("current range: %q", got)
	}
	odd := c.get("/insight?days=31")
	want(t, odd, http.StatusOK)
	shows(t, odd, "so the last 30 days are shown")

	// What was counted is shown for a minute, and then counted anew.
	s.ended(project, past{plan: "New", phase: "Fix", runtime: "shell", passes: 1, met: true})
	if row := tableOf(t, doc(t, c.get("/insight")), "Passes decided and met")[0]; row[1] != "4" {
		t.Errorf("counted at once: %v", row)
	}
	s.pass(2 * time.Minute)
	if row := tableOf(t, doc(t, c.get("/insight")), "Passes decided and met")[0]; row[1] != "5" {
		t.Errorf("after two minutes: %v", row)
	}
}

func TestInsightSaysWhatIsLeftOut(t *testing.T) {
	then := time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
	var v views.InsightView
	fillInsight(&v, counted{passes: models.PassStats{Counts: []models.PassCount{{Number: 1, Met: true, Count: 1}}, CutAt: &then}, cutAt: &then})
	if len(v.Notes) != 2 || v.Notes[0] != "Of passes, the newest 20,000 are counted: those since 1 Mar 2026 11:00 UTC." || !strings.Contains(v.Notes[1], "the newest 2,000") {
		t.Errorf("%q", v.Notes)
	}
	var b strings.Builder
	if err := views.InsightPage(v).Render(t.Context(), &b); err != nil || !strings.Contains(b.String(), v.Notes[0]) {
		t.Errorf("the page does not say it: %v", err)
	}
}

func TestInsightEmpty(t *testing.T) {
	s, project, _, c := library(t)
	a := c.get("/insight")
	shows(t, a, "Nothing to count yet", "A lead has to write the first plan")
	if strings.Contains(a.body, "<svg class=\"block") {
		t.Error("an empty chart")
	}
	lea := s.as(s.user("lea"))
	if d := doc(t, lea.get("/insight")); d.Find(`main a[href="/plans/new"]`).Length() != 1 {
		t.Error("a lead is not led to the first plan")
	}
	s.ended(project, past{plan: "Before", phase: "Old", runtime: "shell", passes: 1, met: true, took: time.Hour})
	s.pass(10 * 24 * time.Hour)
	c = s.as(s.user("vic"))
	shows(t, c.get("/insight?days=7"), "Nothing ended in the last 7 days", `href="/insight?days=90"`)
	shows(t, c.get("/insight?days=30"), "Old")
	s.pass(100 * 24 * time.Hour)
	shows(t, s.as(s.user("vic")).get("/insight?days=90"), "Nothing ended in the last 90 days", `href="/plans"`)
}

// Runs alone, phases that were never met and names of others: no table is
// missing, nothing is taken for markup.
func TestInsightOddContents(t *testing.T) {
	s, project, _, c := library(t)
	name := hostile + strings.Repeat("長い名前", 30)
	s.ended(project,
		past{plan: name, phase: name, runtime: "shell", passes: 2, met: false, failing: []string{"A8-04 " + hostile}, took: time.Second},
		past{plan: "x", phase: "x", runtime: "shell", passes: 1, met: true, noCondition: true, cost: 0.0001})
	a := c.get("/insight")
	want(t, a, http.StatusOK)
	d := doc(t, a)
	if n := d.Find("main img, main b").Length(); n != 0 {
		t.Errorf("A8-04: %d elements were made of names", n)
	}
	shows(t, a, "No phase with a completion condition was met", "&lt; $0.01")
	if got := tableOf(t, d, "Time and money by phase and runtime")[0][0]; got != name {
		t.Errorf("the table shows %q", got)
	}
}

func TestInsightInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	b := w.browser(t)
	b.Do(chromedp.Navigate(w.http.URL+"/insight"), chromedp.WaitVisible(chromedp.CSS("main .empty")))
	look(t, b, "insight-empty")
	list := insightPast(nil)
	for i := range 12 {
		list = append(list, past{plan: fmt.Sprintf("Plan %d with a title that says what it is about", i), phase: []string{"Write the code", "Write the notes", "Review the whole change with the eyes of somebody else 日本語"}[i%3],
			runtime: []string{"claude", "codex"}[i%2], passes: 1 + i%4, met: i%5 > 0, failing: []string{"The build is green", "Every exported thing has a comment that says what goes in and what comes out, in which units, and which errors there are"}[:1+i%2],
			took: time.Duration(i+1) * 3 * time.Minute, cost: float64(i) / 7})
	}
	w.ended(w.project.ID, list...)
	w.pass(2 * time.Minute)
	b.Do(chromedp.Navigate(w.http.URL+"/insight"), chromedp.WaitVisible(chromedp.CSS("[data-chart]")))
	look(t, b, "insight")
	b.Do(chromedp.Click(chromedp.CSS(`a[href="/insight?days=7"]`)), chromedp.WaitVisible(chromedp.CSS(`a[href="/insight?days=7"][aria-current]`)))
	for _, c := range b.Complaints() {
		t.Error(c)
	}
}
