package handlers

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// What the template's editor says against a text while it is typed, and when it is
// refused.
func TestTemplateWarningsInABrowser(t *testing.T) {
	w := newDesk(t)
	a := w.album(t)
	a.b.Do(chromedp.Navigate(a.site+"/templates/new"), chromedp.WaitVisible(css("#template-form")),
		chromedp.SendKeys(css("#field-text"), "- All tests pass\n- {page} is there -> file: {page}\n- Lint -> match: /a(/\n- It reads well -> judge\n- (info)\n- Built -> run: make"))
	until(t, a.b, `document.querySelectorAll("#template-preview [data-warning]").length > 2`)
	a.look("template-warnings")
	a.b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#template-form").noValidate = true; document.querySelector("#template-form button[data-variant=primary], #template-form .btn[type=submit]:not([name])").click()`), chromedp.WaitVisible(css("main [role=alert]")))
	a.forgive("422")
	a.look("template-refused")
}
