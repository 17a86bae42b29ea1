package handlers

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
)

// A required line of a started plan is taken out: the preview says so while it is
// typed, without a reason it is refused and what was typed stays, and then the gate
// names it.
func TestTakingALineOutInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Title: "Docs come later", Dod: "- (must) The guide is there -> file: docs/guide.md\n- The code is there -> file: made.txt",
		Phases: []engine.NewPhase{sh("one", "echo x > made.txt")}})
	w.settle()
	b := w.browser(t)
	b.Do(chromedp.Navigate(w.http.URL+"/plans/"+id+"/dod"), chromedp.WaitVisible(chromedp.CSS("#field-dod")))
	if browsertest.Get(b, chromedp.Evaluate[bool](`!!document.querySelector("[data-drops]")`)) {
		t.Error("nothing is taken out yet, and the preview says it is")
	}
	b.Do(chromedp.Evaluate[chromedp.Void](`{ const t = document.querySelector("#field-dod"); t.value = "- The code is there -> file: made.txt"; t.focus() }`), chromedp.SendKeys(chromedp.CSS("#field-dod"), " "), chromedp.WaitVisible(chromedp.CSS("[data-drops]")))
	look(t, b, "dod-edit-drops")
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#field-reason").form.requestSubmit()`), chromedp.WaitVisible(chromedp.CSS("#field-reason-error")))
	if got := browsertest.Get(b, chromedp.Evaluate[string](`document.querySelector("#field-dod").value + "|" + document.querySelector("#field-reason-error").innerText`)); !strings.HasPrefix(got, "- The code is there -> file: made.txt") || !strings.Contains(got, "The guide is there") {
		t.Errorf("refused with %q", got)
	}
	for _, c := range b.Complaints() {
		if !strings.Contains(c, "422") { // the browser names each refusal
			t.Error(c)
		}
	}
	look(t, b, "dod-edit-refused")
	b.Do(chromedp.SendKeys(chromedp.CSS("#field-reason"), "The guide comes with the next release."), chromedp.Evaluate[chromedp.Void](`document.querySelector("#field-reason").form.requestSubmit()`), chromedp.WaitVisible(chromedp.CSS("#gate")))
	if got := browsertest.Get(b, chromedp.Evaluate[string](`document.querySelector("#gate").innerText`)); !strings.Contains(got, "The guide comes with the next release.") {
		t.Errorf("the gate says %q", got)
	}
	if err := w.eng.Evaluate(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	w.settle()
	b.Do(chromedp.Navigate(w.http.URL+"/plans/"+id), chromedp.WaitVisible(chromedp.CSS("#gate")))
	look(t, b, "gate-taken-out")
}
