package handlers

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// A form that came back refused stays for what others do, not for its own buttons:
// a phase is added to a new plan whose first try had no title.
func TestARefusedFormGoesOnInABrowser(t *testing.T) {
	w := newDesk(t)
	b := w.browser(t)
	b.Do(chromedp.Navigate(w.http.URL+"/plans/new"), chromedp.WaitVisible(css("#plan-form")))
	b.Do(chromedp.Click(css("#create-plan")), chromedp.WaitReady(css("[aria-invalid=true]")))
	until(t, b, `document.querySelectorAll("fieldset[data-phase]").length === 1`)
	b.Do(chromedp.Click(css("#phase-add")))
	until(t, b, `document.querySelectorAll("fieldset[data-phase]").length === 2`)
}
