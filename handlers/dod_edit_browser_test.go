package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
	"donewhen/models"
	"donewhen/views"
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

// While lou types, tess saves: the page that lou had open is a page behind, lou is
// told so with what is there now, and what lou typed stays. In the form of a
// phase's condition, which stands on a live page, too.
func TestTwoLeadsEditAtOnceInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	p := sh("one", "true")
	p.DoneWhen, p.NeedsApproval = "- fine -> run: true", true
	id := w.done(engine.NewPlan{Title: "Two at once", Dod: "- fine -> run: true", Phases: []engine.NewPhase{p}})
	page := "/plans/" + id + "/dod"
	seen := value(doc(t, w.lea.get(page)), "seen")
	want(t, w.lea.post(page, "dod", "- fine -> run: true\n- (must) reviewed -> human", "seen", seen), http.StatusSeeOther)
	a := w.lea.post(page, "dod", "- mine -> run: true", "reason", "wording", "seen", seen)
	want(t, a, http.StatusConflict)
	d := doc(t, a)
	if got := d.Find("[data-now]").Text(); !strings.Contains(got, "reviewed") || value(d, "dod") != "- mine -> run: true" || value(d, "reason") != "wording" || value(d, "seen") == seen {
		t.Errorf("it shows %q; dod %q, reason %q", got, value(d, "dod"), value(d, "reason"))
	}
	want(t, w.lea.post(page, "dod", "- mine -> run: true", "reason", "wording", "seen", value(d, "seen")), http.StatusSeeOther)
	want(t, w.lea.post(page, "dod", "- mine -> run: true"), http.StatusUnprocessableEntity)

	ph := w.detail(id).Phases[0].Phase
	form := fmt.Sprintf(`form[action="%s"]`, views.PhaseVerbPath(ph.ID, views.VerbCondition))
	b := w.browser(t)
	b.Do(chromedp.Navigate(w.http.URL+"/plans/"+id), chromedp.WaitReady(chromedp.CSS(form)),
		chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const f = document.querySelector(%q); f.closest("details").open = true; f.elements.done_when.value = "- lou's -> run: true"; f.elements.done_when.focus() }`, form)))
	err := w.eng.EditCondition(t.Context(), w.lead(), ph.ID, *ph.PassID, engine.Condition{DoneWhen: "- tess's -> run: true", MaxIterations: 2, Reason: "asked otherwise"})
	if err != nil {
		t.Fatal(err)
	}
	until(t, b, `document.body.textContent.includes("tess's")`)
	b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector(%q).requestSubmit()`, form)), chromedp.WaitReady(chromedp.CSS("[aria-invalid]")))
	told := func(when string) {
		t.Helper()
		if got := browsertest.Get(b, chromedp.Evaluate[string](fmt.Sprintf(`document.querySelector(%q).innerText + "|" + document.querySelector(%q).elements.done_when.value`, form, form))); !strings.Contains(got, "changed it meanwhile") || !strings.HasSuffix(got, "|- lou's -> run: true") {
			t.Errorf("%s the form says %q", when, got)
		}
	}
	told("refused,")

	// News of others do not take the answer away, nor the text when the form goes.
	if err := w.eng.SetBudget(t.Context(), w.lead(), id, models.Budget{Runs: 77}, "more"); err != nil {
		t.Fatal(err)
	}
	until(t, b, `document.body.textContent.includes("77 runs")`)
	told("after news of somebody else")
	if err := w.eng.CancelPlan(t.Context(), w.lead(), id, "enough"); err != nil {
		t.Fatal(err)
	}
	until(t, b, `document.querySelector("#flash [data-typed]")?.textContent.includes("- lou's -> run: true")`)
	if got := w.detail(id).Phases[0].Phase.DoneWhen; got != "- tess's -> run: true" {
		t.Errorf("the condition is %q", got)
	}
}
