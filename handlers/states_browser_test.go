package handlers

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/internal/browsertest"
)

// album is a browser that goes from page to page and looks at each.
type album struct {
	t    *testing.T
	b    *browsertest.Browser
	site string
}

func (w *works) album(t *testing.T) *album {
	t.Helper()
	return &album{t, w.browser(t), w.http.URL}
}

// page opens an address, waits for what must stand there, and looks at it.
func (a *album) page(name, path, selector string) {
	a.t.Helper()
	a.b.Do(chromedp.Navigate(a.site+path), chromedp.WaitVisible(chromedp.CSS(selector)))
	look(a.t, a.b, name)
}

// refused is page for an address that answers with a status of its own, which
// the browser names as a complaint.
func (a *album) refused(name, path, status string) {
	a.t.Helper()
	a.b.Do(chromedp.Navigate(a.site+path), chromedp.WaitVisible(chromedp.CSS("main [role=alert]")))
	a.forgive(status)
	look(a.t, a.b, name)
}

// forgive takes the browser's naming of a status that was meant.
func (a *album) forgive(status string) {
	a.t.Helper()
	for _, c := range a.b.Complaints() {
		if !strings.Contains(c, status) {
			a.t.Errorf("%s", c)
		}
	}
}
