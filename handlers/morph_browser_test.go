package handlers

import (
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/internal/browsertest"
)

// A live part with dialogs is merged into the page without two elements of one
// id, of which the one in <noscript> is seen only in what was fetched.
func TestDialogsComeOnceInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	id := w.running(sh("one", "true"))
	b := w.browser(t)
	b.Do(chromedp.Navigate(w.http.URL+"/plans/"+id), chromedp.WaitReady(chromedp.CSS("#plan-cancel")))
	until(t, b, `document.documentElement.classList.contains("js")`)
	for _, verb := range []struct {
		do   func() error
		then string
	}{
		{func() error { return w.eng.PausePlan(t.Context(), w.lead(), id) }, `[data-verb="plan-resume"]`},
		{func() error { return w.eng.ResumePlan(t.Context(), w.lead(), id) }, `[data-verb="plan-pause"]`},
	} {
		if err := verb.do(); err != nil {
			t.Fatal(err)
		}
		b.Do(chromedp.WaitReady(chromedp.CSS(verb.then)))
		for _, twice := range browsertest.Get(b, chromedp.Evaluate[[]string](`[...document.querySelectorAll("[id]")].map(e => e.id).filter((id, i, all) => all.indexOf(id) !== i)`)) {
			t.Errorf("%s is there twice", twice)
		}
	}
	for _, c := range b.Complaints() {
		t.Error(c)
	}
}
