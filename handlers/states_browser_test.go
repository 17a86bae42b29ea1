package handlers

import (
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/internal/browsertest"
)

// album is a browser that goes from page to page and looks at each. Where no
// pictures are wanted it looks at the narrow screen alone: what does not fit shows
// there, and other tests look at the same pages in both widths.
type album struct {
	t    *testing.T
	b    *browsertest.Browser
	site string

	// known says that other tests look at pages of the same make: where no pictures
	// are wanted it is only seen whether everything fits.
	known bool
}

func (w *works) album(t *testing.T) *album {
	t.Helper()
	return &album{t: t, b: w.browser(t), site: w.http.URL}
}

func (a *album) look(name string) {
	a.t.Helper()
	switch quick := os.Getenv("DONEWHEN_SHOTS") == ""; {
	case quick && a.known:
		a.b.View(390, 900, true)
		fits(a.t, a.b, name)
		for _, c := range a.b.Complaints() {
			a.t.Errorf("%s: %s", name, c)
		}
	case quick:
		lookAt(a.t, a.b, name, 390)
	default:
		look(a.t, a.b, name)
	}
}

// page opens an address, waits for what must stand there, and looks at it.
func (a *album) page(name, path, selector string) {
	a.t.Helper()
	a.b.Do(chromedp.Navigate(a.site+path), chromedp.WaitVisible(chromedp.CSS(selector)))
	a.look(name)
}

// refused is page for an address that answers with a status of its own, which
// the browser names as a complaint.
func (a *album) refused(name, path, status string) {
	a.t.Helper()
	a.b.Do(chromedp.Navigate(a.site+path), chromedp.WaitVisible(chromedp.CSS("main [role=alert]")))
	a.forgive(status)
	a.look(name)
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
