package handlers

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// built starts a plan of one shell phase with a condition and settles it.
func (w *works) built(title, command, doneWhen string) models.PlanDetail {
	w.t.Helper()
	id, err := w.eng.CreatePlan(w.t.Context(), w.lead(), engine.NewPlan{ProjectID: w.project.ID, Title: title, Phases: []engine.NewPhase{
		{Name: "build", Task: "Build it.", DoneWhen: doneWhen, MaxIterations: 1, Agents: []models.AgentSpec{{Runtime: "shell", Command: command}}}}})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.eng.StartPlan(w.t.Context(), w.lead(), id); err != nil {
		w.t.Fatal(err)
	}
	w.settle()
	d, err := w.st.PlanDetail(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func TestReplayOffersEveryEvaluator(t *testing.T) {
	w := newPanel(t)
	d := w.built("Work", "echo built", "- It is done well")
	pass := strconv.FormatInt(d.Phases[0].Passes[0].Pass.ID, 10)
	var values []string
	for _, o := range doc(t, w.lea.get(views.ReplayPath)).Find(`[name="evaluator"] option`).EachIter() {
		values = append(values, o.AttrOr("value", ""))
	}
	if got := strings.Join(values, "; "); got != "as configured; text; runtime:careful" {
		t.Errorf("offered: %s", got)
	}
	a := w.lea.post(views.ReplayPath, "done_when", "- It is done well", "pass", pass, "evaluator", "runtime:careful")
	page := doc(t, a)
	if a.StatusCode != http.StatusOK || page.Find("[data-replayed]").AttrOr("data-change", "") != "Would have been held back by line 1" ||
		!strings.Contains(page.Find("[data-cost]").Text(), "runtime:careful") || value(page, "evaluator") != "runtime:careful" || !strings.Contains(page.Find("#condition").Text(), "questions to runtime:careful") {
		t.Errorf("%d: %s", a.StatusCode, page.Find("#result, #condition").Text())
	}
	a = w.lea.post(views.ReplayPath, "done_when", "- It is done well", "pass", pass, "evaluator", "openai:nobody")
	if a.StatusCode != http.StatusUnprocessableEntity || marked(doc(t, a), "evaluator") == "" {
		t.Errorf("an unknown evaluator: %d", a.StatusCode)
	}
}

func TestReplayPage(t *testing.T) {
	w := newWorks(t, nil)
	empty := w.lea.get(views.ReplayPath)
	if empty.StatusCode != http.StatusOK || !strings.Contains(doc(t, empty).Text(), "No pass was decided yet") {
		t.Errorf("before anything: %d", empty.StatusCode)
	}
	if none := doc(t, w.lea.get(views.ReplayPath+"?name=nowhere")).Find("#none").Text(); !strings.Contains(none, "No decided pass fits") || !strings.Contains(none, "All passes") {
		t.Errorf("of a phase that is not there: %q", none)
	}
	clean := w.built("Clean work", "echo built; echo lint clean", "- Built -> match: /built/")
	sloppy := w.built("Sloppy work", "echo built", "- Built -> match: /built/")
	cleanPass, sloppyPass := clean.Phases[0].Passes[0].Pass.ID, sloppy.Phases[0].Passes[0].Pass.ID

	page := doc(t, w.lea.get(views.ReplayPhasePath(clean.Phases[0].Phase.ID)))
	if value(page, "done_when") != "- Built -> match: /built/" || value(page, "name") != "build" || value(page, "project") != strconv.FormatInt(w.project.ID, 10) {
		t.Errorf("from a phase: %q %q %q", value(page, "done_when"), value(page, "name"), value(page, "project"))
	}
	if n := page.Find(`input[name="pass"][checked]`).Length(); n != 2 {
		t.Errorf("%d passes are chosen, want 2", n)
	}

	text := "- Built -> match: /built/\n- Clean -> match: /lint clean/"
	a := w.lea.do(http.MethodPost, views.ReplayPath, url.Values{"project": {"0"}, "name": {"build"}, "last": {"20"}, "done_when": {text},
		"pass": {strconv.FormatInt(cleanPass, 10), strconv.FormatInt(sloppyPass, 10)}})
	if a.StatusCode != http.StatusOK {
		t.Fatalf("%d: %s", a.StatusCode, a.body)
	}
	d := doc(t, a)
	rows := d.Find("[data-replayed]")
	if rows.Length() != 2 || rows.First().AttrOr("data-replayed", "") != strconv.FormatInt(sloppyPass, 10) ||
		rows.First().AttrOr("data-change", "") != "Would have been held back by line 2" || rows.Last().AttrOr("data-change", "") != "The same" {
		t.Errorf("rows: %s", rows.Text())
	}
	if value(d, "done_when") != text || !strings.Contains(d.Find("#result").Text(), "1 of 2 passes would have been held back, 0 let through.") {
		t.Errorf("the result: %s", d.Find("#result").Text())
	}

	a = w.lea.post(views.ReplayPath, "done_when", text)
	if a.StatusCode != http.StatusUnprocessableEntity || value(doc(t, a), "done_when") != text || !strings.Contains(doc(t, a).Find("#passes-error").Text(), "at least one pass") {
		t.Errorf("no pass chosen: %d", a.StatusCode)
	}
	a = w.lea.post(views.ReplayPath, "done_when", "- x -> human", "pass", strconv.FormatInt(cleanPass, 10))
	if a.StatusCode != http.StatusUnprocessableEntity || marked(doc(t, a), "done_when") == "" {
		t.Errorf("a condition that cannot be taken: %d", a.StatusCode)
	}
	if a := w.vic.post(views.ReplayPath, "done_when", text); a.StatusCode != http.StatusForbidden {
		t.Errorf("a viewer: %d", a.StatusCode)
	}
}
