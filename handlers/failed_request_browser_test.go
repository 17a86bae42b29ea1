package handlers

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
	"donewhen/models"
)

// spoiler stands before the site and spoils its POSTs: "break" answers 500
// and "cut" closes the connection; "" lets them through.
func spoiler(t *testing.T, w *works) (*httptest.Server, *atomic.Value, *atomic.Int32) {
	t.Helper()
	var mode atomic.Value
	var last atomic.Int32 // the site's own answer to a POST
	mode.Store("")
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			switch mode.Load() {
			case "break":
				http.Error(rw, "boom", http.StatusInternalServerError)
				return
			case "cut":
				panic(http.ErrAbortHandler)
			}
			seen := &statusWriter{ResponseWriter: rw}
			w.srv.ServeHTTP(seen, r)
			last.Store(int32(seen.status))
			return
		}
		w.srv.ServeHTTP(rw, r)
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv, &mode, &last
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// The real buttons of a real plan: each failure is said beside the button, the
// button works again, and what was typed is still there.
func TestA8_12_FailedRequestsLeaveTheButtonAliveInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	b := w.browser(t)
	srv, mode, last := spoiler(t, w)
	cookie := w.lea.cookies[cookieName]
	if _, err := chromedp.Call(b.Context(), network.SetCookie, network.SetCookieParams{Name: cookie.Name, Value: cookie.Value, URL: srv.URL}); err != nil {
		t.Fatal(err)
	}
	until := func(what, js string) {
		t.Helper()
		if _, err := chromedp.Run(b.Context(), chromedp.Poll[bool](js, chromedp.WithPollingTimeout(20*time.Second))); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	// fails presses a form's button and wants one message right beside it, and
	// the button alive.
	fails := func(form, want string) {
		t.Helper()
		b.Do(chromedp.Click(chromedp.CSS(form + " button.btn:not([type=button])")))
		until(want, fmt.Sprintf(`(m => m.length === 1 && m[0].textContent.includes(%q))([...document.querySelectorAll("[data-request-error][role=alert]")])`, want))
		until("the button is dead", fmt.Sprintf(`[...document.querySelectorAll(%q)].every(b => !b.disabled && !("busy" in b.dataset))`, form+" button"))
		near := fmt.Sprintf(`(() => { const f = document.querySelector(%q), m = document.querySelector("[data-request-error]").getBoundingClientRect(), b = f.querySelector("button.btn:not([type=button])").getBoundingClientRect();
			return m.height > 0 && Math.abs(m.top - b.bottom) < 60 && m.left < b.right && m.right > b.left })()`, form)
		if wide := browsertest.Get(b, chromedp.Evaluate[int]("document.documentElement.scrollWidth - innerWidth")); wide > 0 {
			t.Errorf("%s: the message makes the page %d px wider than the screen", want, wide)
		}
		if !browsertest.Get(b, chromedp.Evaluate[bool](near)) {
			t.Errorf("%s: the message is not near the button", want)
		}
	}

	draft := w.create(engine.NewPlan{Title: "To be started", Phases: []engine.NewPhase{sh("one", "true")}})
	b.Do(chromedp.Navigate(srv.URL+"/plans/"+draft), chromedp.WaitVisible(chromedp.CSS(`form[data-verb="plan-start"]`)))
	b.View(1440, 900, false)
	start := `form[data-verb="plan-start"]`
	mode.Store("break")
	fails(start, "error (500)")
	b.Shot("request-failed-1440-light")
	mode.Store("")
	w.git(t, "-C", w.repo, "branch", "-m", "main", "elsewhere") // the site itself refuses then
	b.Do(chromedp.Click(chromedp.CSS(start+" button.btn")), chromedp.WaitVisible(chromedp.CSS(`[data-refused="plan-start"] [role=alert]`)))
	if n := last.Load(); n != http.StatusUnprocessableEntity && n != http.StatusConflict {
		t.Errorf("the refusal was answered with %d", n)
	}
	until("the button is dead", fmt.Sprintf(`!document.querySelector(%q).disabled`, start+" button"))
	mode.Store("cut")
	fails(start, "could not be reached")
	mode.Store("")
	w.git(t, "-C", w.repo, "branch", "-m", "elsewhere", "main")
	b.Do(chromedp.Click(chromedp.CSS(start + " button.btn")))
	for end := time.Now().Add(time.Minute); w.detail(draft).Plan.Status != models.PlanRunning; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in the end the plan is %s", w.detail(draft).Plan.Status)
		}
	}

	// A form with typed values: each failure keeps them, the site's 422 too.
	impossible := sh("Impossible", "echo trying")
	impossible.DoneWhen = "- the moon is reached"
	spent := w.done(engine.NewPlan{Phases: []engine.NewPhase{impossible}})
	key := phaseKey(w.detail(spent).Phases[0].Phase.ID, "accept")
	b.Do(chromedp.Navigate(srv.URL+"/plans/"+spent), chromedp.WaitVisible(chromedp.CSS("#"+key+" > summary")))
	b.Do(chromedp.Click(chromedp.CSS("#"+key+" > summary")), chromedp.WaitVisible(chromedp.CSS("#"+key+"-reason")), chromedp.SendKeys(chromedp.CSS("#"+key+"-reason"), "   "))
	typed := func() string { return browsertest.Get(b, chromedp.Value(chromedp.CSS("#"+key+"-reason"))) }
	form := "#" + key + " form"
	b.Do(chromedp.Click(chromedp.CSS(form+" button.btn")), chromedp.WaitVisible(chromedp.CSS("#"+key+"-reason-error")))
	if n := last.Load(); n != http.StatusUnprocessableEntity {
		t.Errorf("a blank reason was answered with %d", n)
	}
	until("the button is dead", fmt.Sprintf(`!document.querySelector(%q).disabled`, form+" button"))
	b.Do(chromedp.SetValue(chromedp.CSS("#"+key+"-reason"), "Nobody needs it."))
	for m, want := range map[string]string{"break": "error (500)", "cut": "could not be reached"} {
		mode.Store(m)
		fails(form, want)
		if got := typed(); got != "Nobody needs it." {
			t.Errorf("%s: typed is %q", m, got)
		}
	}
	mode.Store("")
	b.Do(chromedp.Click(chromedp.CSS(form + " button.btn")))
	for end := time.Now().Add(time.Minute); w.detail(spent).Phases[0].Phase.Status != models.PhaseCompleted; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in the end the phase is %s", w.detail(spent).Phases[0].Phase.Status)
		}
	}
	for _, c := range b.Complaints() {
		// The refused and broken requests are errors on the console by themselves.
		if !strings.Contains(c, "/start") && !strings.Contains(c, "/accept") && !strings.Contains(c, "Response Status Error") && !strings.Contains(c, "htmx:") {
			t.Error(c)
		}
	}
}
