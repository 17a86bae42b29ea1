package handlers

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
)

// A page whose server has gone says so where it covers and moves nothing, its
// times stand still, and both end when the server is back.
func TestPageSaysThatItsConnectionIsLostInABrowser(t *testing.T) {
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

// A server that hangs closes nothing: the stream is silent for longer than it
// said, and that is a lost connection too.
func TestPageSaysThatItsServerHangs(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Title: "Watched", Phases: []engine.NewPhase{sh("one", "echo x >> a.txt")}})
	var streams atomic.Int32
	back := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/events" {
			w.srv.ServeHTTP(rw, r)
			return
		}
		if streams.Add(1) > 1 {
			select {
			case <-back:
			case <-r.Context().Done():
				return
			}
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		every := 300
		select {
		case <-back:
			every = 60_000
		default:
		}
		fmt.Fprintf(rw, "event: alive\ndata: %d\n\nevent: changed\ndata: *\n\n", every)
		rw.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(func() { hanging.CloseClientConnections(); hanging.Close() })
	b := w.browser(t)
	b.Do(chromedp.Navigate(hanging.URL+"/plans/"+id), chromedp.WaitVisible(chromedp.CSS("#plan-activity")))
	until(t, b, `!document.querySelector("#connection p").hidden`)
	if n := streams.Load(); n < 2 {
		t.Errorf("%d streams: nobody tried again", n)
	}
	close(back)
	until(t, b, `document.querySelector("#connection p").hidden`)
	for _, c := range b.Complaints() {
		t.Error(c)
	}
}
