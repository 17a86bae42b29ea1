package handlers

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/views"
)

// Archiving hides a template from new plans and touches nothing else; it is in
// the audit log with who and why, and can be taken back.
func TestArchiveTemplate(t *testing.T) {
	w := newWorks(t, nil)
	v, err := w.eng.PublishTemplate(t.Context(), w.lead(), engine.TemplateDraft{Name: "Ours <b>", Text: "- Tests -> run: true"})
	if err != nil {
		t.Fatal(err)
	}
	plan := w.create(engine.NewPlan{Title: "Began before", Phases: []engine.NewPhase{sh("one", "true")}, TemplateVersionID: v.ID})
	page, choice := views.TemplatePath(v.TemplateID), "Ours <b>, version 1"
	offered := func() bool {
		return strings.Contains(doc(t, w.lea.get("/plans/new")).Find(`select[name="template"]`).Text(), "Ours <b>")
	}
	if !offered() {
		t.Fatalf("%s is not offered", choice)
	}
	// Without a reason, by somebody who may not, twice: refused, nothing lost.
	a := w.lea.post(page+"/archive", "why", " \n")
	want(t, a, http.StatusUnprocessableEntity)
	if d := doc(t, a); d.Find("#archive[open] [aria-invalid]").Length() != 1 {
		t.Error("the missing reason is not said at its field")
	}
	want(t, w.vic.post(page+"/archive", "why", "mine"), http.StatusForbidden)
	if !offered() {
		t.Error("a refused archiving archived")
	}
	want(t, w.lea.post(page+"/archive", "why", "Nobody uses <it>"), http.StatusSeeOther, page)
	want(t, w.lea.post(page+"/archive", "why", "again"), http.StatusConflict)

	if offered() {
		t.Error("new plans can begin with it")
	}
	if d := doc(t, w.vic.get(page)); d.Find("[data-archived]").Length() != 1 || d.Find(`[data-archived] form`).Length() != 0 || !strings.Contains(d.Find("#criteria").Text(), "Tests") {
		t.Error("a viewer does not see that it is archived, sees the button, or misses the text")
	}
	if d := doc(t, w.lea.get("/templates")); !strings.Contains(d.Find("#archived").Text(), "Ours <b>") || strings.Contains(d.Find("main table").Text(), "Ours <b>") {
		t.Error("the list does not set it apart")
	} else if strings.Contains(d.Text(), "No template yet") {
		t.Error("the list says that there was never one")
	}
	if p := w.detail(plan).Plan; p.TemplateVersionID == nil || *p.TemplateVersionID != v.ID || p.DodText == "" {
		t.Error("the plan that pins it changed")
	}
	shows(t, w.as(w.people["admin"]).get("/audit"), "Nobody uses &lt;it&gt;")

	want(t, w.lea.post(page+"/restore"), http.StatusSeeOther, page)
	want(t, w.lea.post(page+"/restore"), http.StatusConflict)
	if !offered() {
		t.Error("it does not come back")
	}
	want(t, w.lea.post("/templates/99/archive", "why", "x"), http.StatusNotFound)
}

func TestArchiveTemplateInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	v, err := w.eng.PublishTemplate(t.Context(), w.lead(), engine.TemplateDraft{Name: "Ausfuhr " + strings.Repeat("unverwechselbarerlangesWort", 3), Description: "日本語の説明。", Text: "- Tests -> run: true"})
	if err != nil {
		t.Fatal(err)
	}
	b := w.browser(t)
	b.Do(chromedp.Navigate(w.http.URL+views.TemplatePath(v.TemplateID)), chromedp.WaitVisible(chromedp.CSS("#archive > summary")),
		chromedp.SendKeys(chromedp.CSS("#archive > summary"), "\r"), chromedp.WaitVisible(chromedp.CSS("#field-why")))
	look(t, b, "template-archive")
	b.Do(chromedp.SendKeys(chromedp.CSS("#field-why"), "Replaced."), chromedp.SendKeys(chromedp.CSS("#archive form button.btn"), "\r"), chromedp.WaitVisible(chromedp.CSS("[data-archived]")))
	look(t, b, "template-archived")
	b.Do(chromedp.Navigate(w.http.URL+"/templates"), chromedp.WaitVisible(chromedp.CSS("#archived > summary")), chromedp.SendKeys(chromedp.CSS("#archived > summary"), "\r"), chromedp.WaitVisible(chromedp.CSS("#archived li")))
	look(t, b, "templates-archived")
}
