package handlers

import (
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/views"
)

// Trying conditions and the scorecard, looked at in a real browser; the form is
// sent by the browser itself, as it is without scripts.
func TestJudgingPagesInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	b := w.browser(t)
	open := func(path, selector string) {
		t.Helper()
		b.Do(chromedp.Navigate(w.http.URL+path), chromedp.WaitVisible(chromedp.CSS(selector)))
	}
	open(views.JudgesPath, "#scorecard")
	look(t, b, "judges-empty")
	open(views.ReplayPath, "#none")
	look(t, b, "replay-empty")

	condition := "- It is built -> match: /(?m)^built/\n- The list is there -> file: list.txt"
	w.built("Move the invoice export to the new ledger", "echo built; echo lint clean; echo x > list.txt", condition)
	w.built("Tidy the flaky upload tests", "echo built; echo 3 warnings; echo x > list.txt", condition)
	w.built("averyveryverylongwordthatisthetitleofthisplanandneverendsbecausenobodyputablankintoit", "echo nothing; echo lint clean", condition)
	last := w.built("Read the budget from the file", "echo built; echo x > list.txt; exit 1", condition)
	open(views.JudgesPath, "[data-judge]")
	look(t, b, "judges")
	open(views.ReplayPhasePath(last.Phases[0].Phase.ID), "#try-it")
	look(t, b, "replay")
	b.Do(chromedp.SetValue(chromedp.CSS("#field-done_when"), condition+"\n- Lint is clean -> match: /lint clean/\n- It compiles -> run: go build ./..."),
		chromedp.Click(chromedp.CSS("#try-it")), chromedp.WaitVisible(chromedp.CSS("[data-replayed]")),
		chromedp.Click(chromedp.CSS("[data-replayed] summary")))
	look(t, b, "replay-result")
}
