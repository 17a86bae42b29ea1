package gallery_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/chromedp/chromedp"

	"donewhen/internal/browsertest"
	"donewhen/static"
	"donewhen/views"
	"donewhen/views/gallery"
)

// policy is the product's content security policy, under which the components must work.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// serve is a server with the two gallery pages and an event stream that says nothing.
func serve(t *testing.T, more map[string]http.HandlerFunc) *httptest.Server {
	t.Helper()
	if err := static.Check(); err != nil {
		browsertest.Missing(t, err.Error())
	}
	mux := http.NewServeMux()
	mux.Handle("/static/", static.Handler())
	mux.Handle("/{$}", templ.Handler(gallery.Components()))
	mux.Handle(views.InboxCountPath, templ.Handler(views.InboxCount(0))) // the live part of every page
	mux.Handle("/login", templ.Handler(gallery.Login()))
	if more["/events"] == nil {
		mux.HandleFunc("/events", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
	}
	for pattern, h := range more {
		mux.HandleFunc(pattern, h)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	return srv
}

// TestGallery looks at all components at desktop and phone width, light and
// dark: nothing complains, axe finds nothing, nothing is wider than the screen.
func TestGallery(t *testing.T) {
	b := browsertest.New(t)
	srv := serve(t, nil)
	for _, page := range []struct{ path, name string }{{"/", "components"}, {"/login", "login"}} {
		for _, width := range []int{1440, 390} {
			for _, dark := range []bool{false, true} {
				name := fmt.Sprintf("%s-%d-%s", page.name, width, map[bool]string{false: "light", true: "dark"}[dark])
				b.View(width, 900, dark)
				b.Do(chromedp.Navigate(srv.URL+page.path), chromedp.WaitVisible(chromedp.CSS("main")))
				if wide := browsertest.Get(b, chromedp.Evaluate[int]("document.documentElement.scrollWidth - innerWidth")); wide > 0 {
					t.Errorf("%s: the page is %d px wider than the screen", name, wide)
				}
				if icon := browsertest.Get(b, chromedp.Evaluate[float64](`new Promise(done => requestAnimationFrame(() => done(document.querySelector("main svg use").getBBox().width)))`, chromedp.EvalAwaitPromise)); icon == 0 {
					t.Errorf("%s: icons are not drawn", name)
				}
				b.Shot(name)
				for _, found := range b.Axe() {
					t.Errorf("%s: axe: %s", name, found)
				}
				for _, c := range b.Complaints() {
					t.Errorf("%s: %s", name, c)
				}
			}
		}
	}
}

// TestMenuAndDialog opens the phone's menu and a question with real clicks.
func TestMenuAndDialogInABrowser(t *testing.T) {
	b := browsertest.New(t)
	srv := serve(t, nil)
	b.View(390, 844, false)
	b.Do(chromedp.Navigate(srv.URL),
		chromedp.Click(chromedp.CSS("summary[data-menu]")),
		chromedp.WaitVisible(chromedp.CSS(`header nav a[href="/plans"]`)))
	b.Shot("menu-390-light")
	b.Do(chromedp.Navigate(srv.URL),
		chromedp.Click(chromedp.CSS("button[commandfor=cancel-plan]")),
		chromedp.WaitVisible(chromedp.CSS("#cancel-plan[open] textarea")))
	b.Shot("dialog-390-light")
	for _, found := range b.Axe() {
		t.Errorf("axe: %s", found)
	}
	b.Do(chromedp.Click(chromedp.CSS("#cancel-plan button[command=close]")), chromedp.WaitNotVisible(chromedp.CSS("#cancel-plan textarea")))
	if got := strings.Join(b.Complaints(), "\n"); got != "" {
		t.Error(got)
	}
}
