package handlers

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

const (
	saysMet    = `{"met":true,"reason":"The output of the tests is there."}`
	saysNotMet = `{"met":false,"reason":"No test covers the empty file."}`
)

// newPanel is a desk with a judge that calls everything met, and a stricter one.
func newPanel(t *testing.T) *desk {
	t.Helper()
	w := newDeskWith(t, always("openai:quick", saysMet))
	w.eng.MoreJudges = []dod.Asker{always("runtime:careful", saysNotMet)}
	return w
}

func TestTheFormSaysWhoIsAskedAndKeepsTheChoice(t *testing.T) {
	w := newPanel(t)
	d := doc(t, w.lea.get("/plans/new"))
	var labels []string
	for _, o := range d.Find(`[name="phases.0.opinions"] option`).EachIter() {
		labels = append(labels, strings.TrimSpace(o.Text()))
	}
	if got := strings.Join(labels, "; "); got != "1 judge: openai:quick; 2 judges: openai:quick, then runtime:careful; 3 judges: openai:quick, then runtime:careful, then openai:quick again" {
		t.Errorf("%s", got)
	}
	_, phases := w.createPlan(w.filled("phases.0.opinions", "2"))
	if phases[0].Opinions != 2 {
		t.Errorf("%+v", phases[0])
	}
	if got := value(doc(t, w.lea.get("/plans/new?from="+phases[0].PlanID)), "phases.0.opinions"); got != "2" {
		t.Errorf("the copy has %s", got)
	}
	for _, odd := range []string{"4", "0", "many"} {
		a := w.lea.do(post, "/plans", w.filled("form_key", "odd-"+odd, "phases.0.opinions", odd))
		want(t, a, http.StatusUnprocessableEntity)
		if marked(doc(t, a), "phases.0.opinions") == "" {
			t.Errorf("%s: no message at the field", odd)
		}
	}
	if without := newDesk(t); doc(t, without.lea.get("/plans/new")).Find(`select[name="phases.0.opinions"]`).Length() != 0 {
		t.Error("without a judge a number of judges is offered")
	}
}

func TestDisagreementStandsSideBySide(t *testing.T) {
	w := newPanel(t)
	id := w.create(engine.NewPlan{Phases: []engine.NewPhase{func() engine.NewPhase {
		p := sh("build", "echo x > made.txt")
		p.DoneWhen, p.Opinions = "- The empty file is handled", 2
		return p
	}()}})
	if err := w.eng.StartPlan(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	w.settle()
	detail, err := w.st.PlanDetail(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	pass := detail.Phases[0].Passes[0]
	for _, path := range []string{views.PlanPath(id), views.PassPath(pass.Pass.ID), views.VerdictPath(pass.Verdict.ID)} {
		d := doc(t, w.vic.get(path))
		side := strings.Join(strings.Fields(d.Find("[data-opinions]").First().Text()), " ")
		if side != "openai:quick metThe output of the tests is there.runtime:careful not metNo test covers the empty file." {
			t.Errorf("%s: %q", path, side)
		}
	}
	d := doc(t, w.vic.get(views.VerdictPath(pass.Verdict.ID)))
	if d.Find("#answer-2").Length() != 1 || !strings.Contains(d.Find("#answer-2").Text(), "Question 1, judge 2") || !strings.Contains(d.Find("#answer-2").Text(), saysNotMet) {
		t.Errorf("the second raw reply: %s", d.Find("#answer-2").Text())
	}
	if says := d.Find("#answer-1").Text(); strings.Contains(says, "openai:quick, openai:quick") || !strings.Contains(says, "tokens in / out") {
		t.Errorf("who answered, and for how much: %s", says)
	}
	if crumb := "Pass 1 of build"; !strings.Contains(d.Find("main").Text(), crumb) {
		t.Errorf("the way back is not called %q", crumb)
	}
	if d := doc(t, w.vic.get(views.JudgesPath)); d.Find(`[data-judge="openai:quick"]`).Length() != 1 || d.Find(`[data-judge="runtime:careful"]`).Length() != 1 {
		t.Errorf("the scorecard: %s", d.Find("#scorecard").Text())
	}
	// The condition's form carries the number, and changes it.
	a := w.lea.get(views.PlanPath(id))
	if value(doc(t, a), "opinions") != "2" {
		t.Errorf("the form has %q", value(doc(t, a), "opinions"))
	}
	ph := detail.Phases[0].Phase
	a = w.lea.post(views.PhaseVerbPath(ph.ID, views.VerbCondition), "pass", strconv.FormatInt(*ph.PassID, 10), "done_when", ph.DoneWhen, "max_iterations", "1", "opinions", "7")
	if a.StatusCode != http.StatusUnprocessableEntity || marked(doc(t, a), "opinions") == "" {
		t.Errorf("seven judges: %d", a.StatusCode)
	}
	want(t, w.lea.post(views.PhaseVerbPath(ph.ID, views.VerbCondition), "pass", strconv.FormatInt(*ph.PassID, 10), "done_when", ph.DoneWhen, "max_iterations", "1", "opinions", "1", "reason", "One is enough."), http.StatusSeeOther)
	if got, err := w.st.Phase(t.Context(), ph.ID); err != nil || got.Opinions != 1 {
		t.Errorf("%v %d", err, got.Opinions)
	}
}

func TestATemplateAsksForJudges(t *testing.T) {
	w := newPanel(t)
	f := url.Values{"name": {"Careful"}, "text": {"- It is good -> judge"}, "opinions": {"3"}, "op": {"publish"}}
	a := w.lea.do(post, "/templates", f)
	want(t, a, http.StatusSeeOther)
	at := a.location()
	if got := value(doc(t, w.lea.get(at+"/edit")), "opinions"); got != "3" {
		t.Errorf("the editor has %q", got)
	}
	if says := doc(t, w.vic.get(at)).Find("#criteria").Text(); !strings.Contains(says, "Asked of openai:quick first.") || !strings.Contains(says, "3 judges") || !strings.Contains(says, "openai:quick again") {
		t.Errorf("the page: %q", says)
	}
	want(t, w.lea.do(post, at+"/versions", url.Values{"base": {"1"}, "text": f["text"], "opinions": {"2"}, "why": {"cheaper"}, "op": {"publish"}}), http.StatusSeeOther)
	if says := doc(t, w.vic.get(at+"?version=2&against=1")).Find("[data-diff-opinions]").Text(); !strings.Contains(says, "3 judges → 2 judges") {
		t.Errorf("the difference: %q", says)
	}
	a = w.lea.do(post, at+"/versions", url.Values{"base": {"2"}, "text": f["text"], "opinions": {"9"}, "why": {"x"}, "op": {"publish"}})
	want(t, a, http.StatusUnprocessableEntity)
	if marked(doc(t, a), "opinions") == "" {
		t.Error("nine judges: no message at the field")
	}
	list, err := w.st.Templates(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	newest, err := w.st.LatestTemplateVersion(t.Context(), list[len(list)-1].ID)
	if err != nil {
		t.Fatal(err)
	}
	version := strconv.FormatInt(newest.ID, 10)
	p, _ := w.createPlan(w.filled("template", version, "dod", ""))
	if p.DodOpinions != 2 || *p.TemplateVersionID != newest.ID {
		t.Errorf("%+v", p)
	}
	if says := doc(t, w.lea.get("/plans/new?from="+p.ID)).Find("[data-dod-panel]").Text(); !strings.Contains(says, "2 judges") {
		t.Errorf("the plan's form: %q", says)
	}
	if p.Status != models.PlanDraft {
		t.Errorf("%s", p.Status)
	}
}
