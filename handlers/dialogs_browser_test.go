package handlers

import (
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/engine"
)

// What is asked before it is done, and the forms that a verb unfolds into.
func TestDialogsInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	a := w.album(t)
	ask := func(name, path, key string) {
		t.Helper()
		a.b.Do(chromedp.Navigate(a.site+path), chromedp.WaitVisible(css(`button[data-verb="`+key+`"]`)), chromedp.SendKeys(css(`button[data-verb="`+key+`"]`), "\r"), chromedp.WaitVisible(css("#"+key+"[open]")))
		a.look(name)
	}
	unfold := chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details[data-verb]").forEach(d => d.open = true)`)
	stuck := states["exhausted"](w)
	ask("dialog-cancel", "/plans/"+stuck, "plan-cancel")
	ask("dialog-discard", "/plans/"+stuck, "plan-discard")
	a.b.Do(chromedp.Navigate(a.site+"/plans/"+stuck), chromedp.WaitVisible(css("#gate")), unfold)
	a.look("plan-verbs-unfolded")
	// A reason that is needed, sent empty as a browser without scripts may.
	key := phaseKey(w.onePhase(stuck).Phase.ID, "accept")
	a.b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#`+key+` form").noValidate = true; document.querySelector("#`+key+` form").requestSubmit()`), chromedp.WaitVisible(css("#"+key+` [role="alert"]`)))
	a.forgive("422")
	a.look("plan-verb-refused")

	over := w.done(engine.NewPlan{Title: "Over", Phases: []engine.NewPhase{sh("one", "true")}})
	if err := w.eng.CancelPlan(t.Context(), w.lead(), over, ""); err != nil {
		t.Fatal(err)
	}
	ask("dialog-clean-up", "/plans/"+over, "plan-clean")

	h := hold(t)
	burning := w.running(sh("Dig", h.command()))
	w.once()
	h.wait()
	a.b.Do(chromedp.Navigate(a.site+"/plans/"+burning), chromedp.WaitVisible(css("#gate")), unfold)
	a.look("plan-stop-unfolded")
	h.release()
	w.settle()
}
