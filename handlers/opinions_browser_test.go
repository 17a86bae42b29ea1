package handlers

import (
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/views"
)

// Several judges, looked at in a real browser: who is asked in the forms, and
// what they said side by side.
func TestOpinionsInABrowser(t *testing.T) {
	w := newPanel(t)
	b := w.browser(t)
	open := func(path, selector string) {
		t.Helper()
		b.Do(chromedp.Navigate(w.http.URL+path), chromedp.WaitVisible(chromedp.CSS(selector)))
	}
	open("/plans/new", `[name="phases.0.opinions"]`)
	look(t, b, "opinions-form")
	published, err := w.eng.PublishTemplate(t.Context(), w.lead(), engine.TemplateDraft{Name: "Looked at twice", Text: "- The change is easy to read -> judge\n- It is built -> match: /built/", Opinions: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.eng.PublishTemplate(t.Context(), w.lead(), engine.TemplateDraft{TemplateID: published.TemplateID, Base: 1, Text: published.Text, Why: "More eyes.", Opinions: 3}); err != nil {
		t.Fatal(err)
	}
	open(views.TemplateEditPath(published.TemplateID), `[name="opinions"]`)
	look(t, b, "opinions-template-form")
	open(views.TemplateDiffPath(published.TemplateID, 2, 1), "#difference")
	look(t, b, "opinions-template")

	p := sh("Handle the empty file", "echo built; echo x > made.txt")
	p.DoneWhen, p.Opinions = "- The empty file is handled\n- It is built -> match: /built/", 2
	q := sh("Write it down", "echo built; echo y > y.txt")
	id := w.create(engine.NewPlan{Title: "Imports take empty files", TemplateVersionID: published.ID, Phases: []engine.NewPhase{q, p}})
	if err := w.eng.StartPlan(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	w.settle()
	d, err := w.st.PlanDetail(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	last := d.Phases[1]
	open(views.PlanPath(id), "[data-opinions]")
	look(t, b, "opinions-plan")
	open(views.VerdictPath(last.Passes[0].Verdict.ID), "[data-opinions]")
	look(t, b, "opinions-verdict")
	if err := w.eng.AcceptPhase(t.Context(), w.lead(), last.Phase.ID, *last.Phase.PassID, "good enough"); err != nil {
		t.Fatal(err)
	}
	w.settle()
	open(views.PlanPath(id), "#dod [data-opinions]")
	look(t, b, "opinions-dod")
}
