package handlers

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
)

// The menu's number and the title of the tab follow what waits on the reader,
// on a page that shows nothing of it, without another stream.
func TestMenuCountInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	b := w.browser(t)
	if d := doc(t, w.lea.get("/templates")); d.Find("title").Text() != "Templates · donewhen" || strings.TrimSpace(d.Find("[data-inbox-count]").Text()) != "" {
		t.Errorf("nothing waits, and the page says %q", d.Find("title").Text())
	}
	if doc(t, w.vic.get("/templates")).Find("[data-inbox-live]").Length() != 0 {
		t.Error("a viewer's page asks for what waits on leads")
	}
	b.Do(chromedp.Navigate(w.http.URL+"/templates"), chromedp.WaitReady(chromedp.CSS("[data-inbox-live]")))
	ph := sh("one", "true")
	ph.NeedsApproval = true
	id := w.done(engine.NewPlan{Title: "Waits", Phases: []engine.NewPhase{ph}})
	b.Do(chromedp.WaitVisible(chromedp.CSS("div[data-frame] nav [data-inbox-count] > span")))
	says := func() string {
		return browsertest.Get(b, chromedp.Evaluate[string](`document.title + " | " + document.querySelector("div[data-frame] [data-inbox-count]").innerText.split("\n")[0].trim().slice(0, 1)`))
	}
	if got := says(); got != "(1) Templates · donewhen | 1" {
		t.Errorf("while one waits: %q", got)
	}
	if got := doc(t, w.lea.get("/templates")).Find("title").Text(); got != "(1) Templates · donewhen" {
		t.Errorf("without scripts: %q", got)
	}
	look(t, b, "menu-count")
	if err := w.eng.CancelPlan(t.Context(), w.lead(), id, "enough"); err != nil {
		t.Fatal(err)
	}
	b.Do(chromedp.WaitNotPresent(chromedp.CSS("div[data-frame] nav [data-inbox-count] > span")))
	if got := browsertest.Get(b, chromedp.Evaluate[string](`document.title`)); got != "Templates · donewhen" {
		t.Errorf("when nothing waits: %q", got)
	}
	want(t, w.vic.get("/inbox/count", "HX-Request", "true"), http.StatusForbidden)
}

// A plan's definition of done is read while it is typed, as the template's is.
func TestDodPreview(t *testing.T) {
	w := newWorks(t, nil)
	v, err := w.eng.PublishTemplate(t.Context(), w.lead(), engine.TemplateDraft{Name: "Ours", Text: "- {word} is there -> run: true"})
	if err != nil {
		t.Fatal(err)
	}
	id := w.create(engine.NewPlan{Title: "Export", Phases: []engine.NewPhase{sh("one", "true")}, Dod: "- All tests pass -> run: true"})
	page := "/plans/" + id + "/dod"
	if got := doc(t, w.lea.get(page)).Find("#dod-preview").Text(); !strings.Contains(got, "All tests pass") {
		t.Errorf("the page's preview: %q", got)
	}
	for _, tc := range []struct {
		pairs []string
		want  string
	}{
		{[]string{"dod", "- (must) <b>New</b> one -> human"}, "<b>New</b> one"},
		{[]string{"dod", "- not this", "template", doc(t, w.lea.get(page)).Find(`select[name="template"] option`).Last().AttrOr("value", ""), "dod_args.word", "ledger"}, "ledger is there"},
		{[]string{"dod", ""}, "Without a definition of done"},
	} {
		a := w.lea.post(page+"/preview", tc.pairs...)
		want(t, a, http.StatusOK)
		d := doc(t, a)
		if got := d.Find("#dod-preview").Text(); !strings.Contains(got, tc.want) || d.Find("#dod-preview b").Length() != 0 {
			t.Errorf("%v reads %q, want %q", tc.pairs, got, tc.want)
		}
	}
	if got := w.detail(id).Plan.DodText; got != "- All tests pass -> run: true" {
		t.Errorf("a preview stored %q", got)
	}
	want(t, w.vic.post(page+"/preview", "dod", "- x"), http.StatusForbidden)
	// An archived template is no choice, unless the plan has it.
	if err := w.eng.ArchiveTemplate(t.Context(), w.lead(), v.TemplateID, true, "old"); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(doc(t, w.lea.get(page)).Find(`select[name="template"]`).Text(), "Ours") {
		t.Error("an archived template is offered")
	}
}

func TestDodPreviewInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	id := w.create(engine.NewPlan{Title: "Export", Phases: []engine.NewPhase{sh("one", "true")}, Dod: "- All tests pass -> run: true"})
	b := w.browser(t)
	b.Do(chromedp.Navigate(w.http.URL+"/plans/"+id+"/dod"), chromedp.WaitVisible(chromedp.CSS("#dod-preview li")),
		chromedp.SendKeys(chromedp.CSS("#field-dod"), "- (must) "+strings.Repeat("unverwechselbarerlangesWort", 4)+" -> human\n- Ends with -> nonsense: x\n"),
		chromedp.WaitVisible(chromedp.CSS(`#dod-preview [data-criterion="3"]`)))
	look(t, b, "dod-form-preview")
}
