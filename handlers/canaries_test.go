package handlers

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"donewhen/models"
	"donewhen/views"
)

func TestPlantedPassesOnThePages(t *testing.T) {
	if d := doc(t, newDesk(t).lea.get(views.JudgesPath)); d.Find("[data-nothing-to-test]").Length() != 1 || d.Find(`[action="`+views.PlantPath+`"]`).Length() != 0 {
		t.Errorf("with text alone: %s", d.Find("#planted").Text())
	}
	w := newPanel(t)
	w.eng.Canaries = 1
	d := doc(t, w.lea.get(views.JudgesPath))
	if d.Find("[data-trust]").Length() != 2 || d.Find(`form[action="`+views.PlantPath+`"]`).Length() != 2 || d.Find("[data-canary]").Length() != 0 {
		t.Errorf("before: %s", d.Find("#planted").Text())
	}
	if d := doc(t, w.vic.get(views.JudgesPath)); d.Find("form").FilterFunction(func(_ int, f *goquery.Selection) bool { return strings.Contains(f.AttrOr("action", ""), "/judges/") }).Length() != 0 {
		t.Error("a viewer is offered to give one")
	}
	want(t, w.vic.post(views.PlantPath, "evaluator", "openai:quick"), http.StatusForbidden)
	want(t, w.lea.post(views.PlantPath, "evaluator", "openai:quick"), http.StatusSeeOther)
	w.eng.Drain()
	want(t, w.lea.post(views.PlantPath, "evaluator", "runtime:careful"), http.StatusSeeOther)
	w.eng.Drain()
	d = doc(t, w.lea.get(views.JudgesPath))
	if d.Find(`[data-canary="missed"]`).Length() != 1 || d.Find(`[data-canary="caught"]`).Length() != 1 || d.Find(`[data-trust="openai:quick"] form[action="`+views.TrustPath+`"]`).Length() != 1 {
		t.Errorf("after: %s", d.Find("#planted").Text())
	}
	if row := d.Find(`#scorecard [data-judge="openai:quick"]`).Text(); !strings.Contains(row, "not trusted") || !strings.Contains(row, "1 (100 %)") {
		t.Errorf("the scorecard: %s", row)
	}
	page := doc(t, w.vic.get(d.Find(`[data-canary="missed"] a`).AttrOr("href", "")))
	if !strings.Contains(page.Text(), saysMet) || !strings.Contains(page.Find("#answer-1").Text(), "BEGIN EVIDENCE") || !strings.Contains(page.Text(), "given by lea") {
		t.Errorf("its page: %s", page.Find("main").Text())
	}

	// What it says carries the mark wherever it is shown.
	b := w.built("Greeter", "echo built", "- It is done well")
	pass := b.Phases[0].Passes[0]
	if b.Phases[0].Phase.Status != models.PhaseAwaitingApproval {
		t.Fatalf("%+v", b.Phases[0].Phase)
	}
	for _, path := range []string{views.PlanPath(b.Plan.ID), views.PassPath(pass.Pass.ID), views.VerdictPath(pass.Verdict.ID)} {
		if says := doc(t, w.vic.get(path)).Find("[data-distrusted]").First().Text(); !strings.Contains(says, "openai:quick") {
			t.Errorf("%s: %q", path, says)
		}
	}
	shows(t, w.lea.get("/"), "missed a planted pass and is not trusted")

	a := w.lea.post(views.TrustPath, "evaluator", "openai:quick", "reason", " ")
	want(t, a, http.StatusUnprocessableEntity)
	if marked(doc(t, a), "reason") == "" {
		t.Error("no reason: no message at the field")
	}
	want(t, w.vic.post(views.TrustPath, "evaluator", "openai:quick", "reason", "x"), http.StatusForbidden)
	want(t, w.lea.post(views.TrustPath, "evaluator", "openai:quick", "reason", "another model by now"), http.StatusSeeOther)
	if d := doc(t, w.lea.get(views.JudgesPath)); strings.Contains(d.Find(`[data-trust="openai:quick"]`).Text(), "not trusted") {
		t.Error("it is still marked")
	}
	shows(t, w.vic.get("/audit"), "another model by now", "judge trusted again", "judge distrusted")
}

func TestPlantedPassesInABrowser(t *testing.T) {
	w := newPanel(t)
	b := w.browser(t)
	open := func(path, selector string) {
		t.Helper()
		b.Do(chromedp.Navigate(w.http.URL+path), chromedp.WaitVisible(chromedp.CSS(selector)))
	}
	for _, spec := range w.eng.Evaluators() {
		if err := w.eng.GivePlanted(t.Context(), w.lead(), spec); err != nil {
			t.Fatal(err)
		}
		w.eng.Drain()
	}
	d := w.built("Handle the empty file", "echo built", "- The empty file is handled")
	open(views.JudgesPath, "[data-canary]")
	look(t, b, "judges-planted")
	list, err := w.st.Canaries(t.Context(), 5)
	if err != nil {
		t.Fatal(err)
	}
	open(views.CanaryPath(list[1].ID), "#answer-1")
	look(t, b, "planted-pass")
	open(views.VerdictPath(d.Phases[0].Passes[0].Verdict.ID), "[data-distrusted]")
	look(t, b, "verdict-distrusted")
}
