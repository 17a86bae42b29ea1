package handlers

import (
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
)

// A page whose server has gone says so where it covers and moves nothing, its
// times stand still, and both end when the server is back.
func TestPageSaysThatItsConnectionIsLost(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Title: "Watched", Phases: []engine.NewPhase{sh("one", "echo x >> a.txt")}})
	b := w.browser(t)
	is := func(js string) bool { t.Helper(); return browsertest.Get(b, chromedp.Evaluate[bool](js)) }
	until := func(js string) {
		t.Helper()
		browsertest.Get(b, chromedp.Poll[bool](js, chromedp.WithPollingTimeout(40*time.Second)))
	}
	const says = `!document.querySelector("#connection p").hidden`
	b.View(1440, 900, false)
	b.Do(chromedp.Navigate(w.http.URL+"/plans/"+id), chromedp.WaitVisible(chromedp.CSS("#plan-activity")))
	until(`performance.getEntriesByType("resource").some(r => r.name.includes("part="))`) // the stream has opened
	if is(says) {
		t.Error("a connection that is there is said to be lost")
	}
	addr := w.http.Listener.Addr().String()
	w.http.CloseClientConnections()
	w.http.Close()
	// An hour goes by for the page: what its times say shows whether they go on.
	b.Do(chromedp.Evaluate[chromedp.Void](`
		window.at = document.createElement("time"); at.dataset.relative = ""; at.dateTime = document.querySelector('meta[name="server-now"]').content
		document.querySelector("main").append(at)
		document.querySelector("main a").focus()
		window.focused = document.activeElement
		const now = Date.now.bind(Date)
		window.hour = 0
		Date.now = () => now() + hour * 3600000
		window.look = () => document.dispatchEvent(new Event("visibilitychange"))
		look()
		window.size = [document.documentElement.scrollWidth, document.documentElement.scrollHeight, document.querySelector("h1").getBoundingClientRect().top].join()`))
	until(says)
	_ = b.Complaints() // what was just being asked for
	text := browsertest.Get(b, chromedp.Evaluate[string](`document.querySelector("#connection[role=status]").innerText.trim()`))
	if !regexp.MustCompile(`^Connection lost at \d\d:\d\d\. What you see may be old; trying again\.$`).MatchString(text) {
		t.Errorf("it says %q", text)
	}
	for what, js := range map[string]string{
		"the focus stays":        `document.activeElement === focused`,
		"the page does not move": `[document.documentElement.scrollWidth, document.documentElement.scrollHeight, document.querySelector("h1").getBoundingClientRect().top].join() === size`,
		"it is on the screen":    `(r => r.width > 0 && r.bottom <= innerHeight && r.top > innerHeight / 2)(document.querySelector("#connection p").getBoundingClientRect())`,
		"it takes no click":      `getComputedStyle(document.querySelector("#connection p")).pointerEvents === "none"`,
		"the times stand still":  `hour = 1, look(), at.textContent === "just now"`,
		"all times of the page":  `[...document.querySelectorAll("time[data-relative]")].every(t => !t.textContent.includes("1 h"))`,
	} {
		if !is(js) {
			t.Error("not true:", what)
		}
	}
	look(t, b, "connection-lost")

	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	again := &httptest.Server{Listener: l, Config: &http.Server{Handler: w.srv}}
	again.Start()
	t.Cleanup(func() { again.CloseClientConnections(); again.Close() })
	until(`document.querySelector("#connection p").hidden`)
	if !is(`hour = 1, look(), at.isConnected === false || at.textContent === "1 h ago"`) {
		t.Error("the times do not go on")
	}
	_ = b.Complaints() // the refused connections themselves
}
