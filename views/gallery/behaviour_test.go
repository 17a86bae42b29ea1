package gallery_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/chromedp/chromedp"

	"donewhen/internal/browsertest"
	"donewhen/views"
	"donewhen/views/gallery"
)

// page answers with the frame around body.
func page(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	ctx := templ.WithChildren(context.Background(), templ.Raw(body))
	_ = views.Page(gallery.Meta()).Render(ctx, w)
}

const form = `<form id="f" method="post" action="/save"><input id="in" name="text" value=""><button id="go" class="btn" name="do" value="save">Save</button> <button id="other" class="btn">Other</button></form>`

// until waits for a condition of the page.
func until(b *browsertest.Browser, js string) {
	browsertest.Get(b, chromedp.Poll[bool](js, chromedp.WithPollingTimeout(20*time.Second)))
}

// TestForms posts the ordinary form through the script: the server sees an
// ordinary post, the buttons rest meanwhile, and nothing typed is lost.
func TestForms(t *testing.T) {
	b := browsertest.New(t)
	var (
		posts  atomic.Int32
		mode   atomic.Value
		hold   = make(chan struct{})
		mu     sync.Mutex
		header http.Header
		sent   string
	)
	mode.Store("")
	srv := serve(t, map[string]http.HandlerFunc{
		"/form": func(w http.ResponseWriter, _ *http.Request) { page(w, 200, form) },
		"/done": func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			header = r.Header.Clone()
			mu.Unlock()
			page(w, 200, `<p id="saved">Saved.</p>`)
		},
		"/save": func(w http.ResponseWriter, r *http.Request) {
			posts.Add(1)
			mu.Lock()
			sent = r.FormValue("text") + "/" + r.FormValue("do")
			mu.Unlock()
			switch mode.Load() {
			case "hold":
				<-hold
				http.Redirect(w, r, "/done", http.StatusSeeOther)
			case "refuse":
				page(w, http.StatusUnprocessableEntity, strings.Replace(form, `value=""`, `value="`+templ.EscapeString(r.FormValue("text"))+`"`, 1)+`<p id="why">Too short.</p>`)
			case "conflict":
				page(w, http.StatusConflict, `<p id="why">The gate is closed.</p>`)
			case "break":
				http.Error(w, "boom", http.StatusInternalServerError)
			case "cut":
				panic(http.ErrAbortHandler)
			case "session":
				http.Redirect(w, r, "/login", http.StatusSeeOther)
			}
		},
	})
	b.View(1000, 800, false)
	open := func(m string) {
		mode.Store(m)
		posts.Store(0)
		b.Do(chromedp.Navigate(srv.URL+"/form"), chromedp.SendKeys(chromedp.CSS("#in"), "abc"))
	}

	t.Run("buttons rest while the request is open, two clicks are one post", func(t *testing.T) {
		open("hold")
		b.Do(chromedp.Click(chromedp.CSS("#go")))
		until(b, `document.querySelector("#go").disabled && document.querySelector("#other").disabled`)
		b.Do(chromedp.Evaluate[chromedp.Void](`setTimeout(() => { go.click(); other.click() })`))
		close(hold)
		b.Do(chromedp.WaitVisible(chromedp.CSS("#saved")))
		if n := posts.Load(); n != 1 {
			t.Errorf("%d posts", n)
		}
		if at := browsertest.Get(b, chromedp.Location()); at != srv.URL+"/done" {
			t.Errorf("the address is %s", at)
		}
		mu.Lock()
		defer mu.Unlock()
		if sent != "abc/save" {
			t.Errorf("sent %q: the pressed button's name and value belong to it", sent)
		}
		if header.Get("HX-Request") != "" {
			t.Error("a form's answer is a page: the server must not be asked for a fragment")
		}
	})
	t.Run("a refused form comes back with what was typed", func(t *testing.T) {
		open("refuse")
		b.Do(chromedp.Click(chromedp.CSS("#go")), chromedp.WaitVisible(chromedp.CSS("#why")))
		if v := browsertest.Get(b, chromedp.Value(chromedp.CSS("#in"))); v != "abc" {
			t.Errorf("typed %q", v)
		}
		// The form of the answer works like the first one.
		mode.Store("conflict")
		b.Do(chromedp.Click(chromedp.CSS("#go")))
		until(b, `document.querySelector("#why").textContent.includes("gate")`)
	})
	for m, want := range map[string]string{"break": "error (500)", "cut": "could not be reached", "session": "session has ended"} {
		t.Run("failure: "+m, func(t *testing.T) {
			open(m)
			b.Do(chromedp.Click(chromedp.CSS("#go")), chromedp.WaitVisible(chromedp.CSS("[data-request-error]")))
			if text := browsertest.Get(b, chromedp.Text(chromedp.CSS("[data-request-error]"))); !strings.Contains(text, want) {
				t.Errorf("message %q", text)
			}
			until(b, `!document.querySelector("#go").disabled && !document.querySelector("#other").disabled`)
			if v := browsertest.Get(b, chromedp.Value(chromedp.CSS("#in"))); v != "abc" {
				t.Errorf("typed %q", v)
			}
			if at := browsertest.Get(b, chromedp.Location()); at != srv.URL+"/form" {
				t.Errorf("the address is %s", at)
			}
		})
	}
	for _, c := range b.Complaints() {
		// The refused and broken requests are errors on the console by themselves.
		if !strings.Contains(c, "/save") && !strings.Contains(c, "Response Status Error") && !strings.Contains(c, "htmx:") {
			t.Error(c)
		}
	}
}

// TestLive: the stream says what changed, the part fetches itself, and what the
// reader did meanwhile stays: an open fold, a typed text, an open question.
func TestLive(t *testing.T) {
	b := browsertest.New(t)
	var (
		version, streams, fetches atomic.Int32
		say                       = make(chan string)
	)
	part := func() string {
		return fmt.Sprintf(`<p id="v">version %d</p><details id="fold"><summary>more</summary><p>inside</p></details><form><input id="typed" value="old"><textarea id="area">old</textarea></form>
<dialog id="dlg"><p>Sure?</p></dialog><button id="ask" type="button" command="show-modal" commandfor="dlg">Ask</button>`, version.Load())
	}
	srv := serve(t, map[string]http.HandlerFunc{
		"/live": func(w http.ResponseWriter, _ *http.Request) {
			page(w, 200, `<section id="part" data-live="plan:1" hx-get="/live/part" hx-trigger="live" hx-swap="morph:innerHTML">`+part()+`</section>`)
		},
		"/live/part": func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("HX-Request") != "true" {
				t.Error("a live part asks for a fragment")
			}
			fetches.Add(1)
			fmt.Fprint(w, part())
		},
		"/events": func(w http.ResponseWriter, r *http.Request) {
			streams.Add(1)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, ": hello\n\n")
			w.(http.Flusher).Flush()
			for {
				select {
				case names := <-say:
					fmt.Fprintf(w, "event: changed\ndata: %s\n\n", names)
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					return
				}
			}
		},
	})
	b.View(1000, 800, false)
	b.Do(chromedp.Navigate(srv.URL + "/live"))

	// On connect everything is looked at once.
	deadline := time.Now().Add(20 * time.Second)
	for fetches.Load() == 0 {
		if time.Now().After(deadline) {
			t.Fatal("nothing was fetched when the stream opened")
		}
		time.Sleep(10 * time.Millisecond)
	}
	b.Do(chromedp.Click(chromedp.CSS("#fold summary")),
		chromedp.SetValue(chromedp.CSS("#area"), "mine"),
		chromedp.SendKeys(chromedp.CSS("#typed"), "+new"),
		chromedp.Click(chromedp.CSS("#ask")), chromedp.WaitVisible(chromedp.CSS("#dlg")))

	version.Store(7)
	before := fetches.Load()
	for range 20 {
		say <- "run:9 plan:1"
	}
	say <- "plan:2"
	until(b, `document.querySelector("#v").textContent === "version 7"`)
	if n := fetches.Load() - before; n > 3 {
		t.Errorf("20 changes at once made %d requests", n)
	}
	for what, js := range map[string]string{
		"the fold is open":           `document.querySelector("#fold").open`,
		"the typed text stays":       `document.querySelector("#typed").value.includes("+new")`,
		"the typed long text stays":  `document.querySelector("#area").value === "mine"`,
		"the question is still open": `document.querySelector("#dlg").open && document.querySelector("#dlg").matches(":modal") && document.querySelector("#dlg").checkVisibility()`,
	} {
		if !browsertest.Get(b, chromedp.Evaluate[bool](js)) {
			t.Error("not true any more:", what)
		}
	}
	if n := streams.Load(); n != 1 {
		t.Errorf("%d streams are open", n)
	}
	for _, c := range b.Complaints() {
		t.Error(c)
	}
}

// TestLiveSharesOneStream opens a second tab: no second stream.
func TestLiveSharesOneStream(t *testing.T) {
	b := browsertest.New(t)
	var streams, parts atomic.Int32
	srv := serve(t, map[string]http.HandlerFunc{
		"/live": func(w http.ResponseWriter, _ *http.Request) {
			page(w, 200, `<section data-live="plan:1" hx-get="/live/part" hx-trigger="live" hx-swap="morph:innerHTML"></section>`)
		},
		"/live/part": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintf(w, `<p id="v">%d</p>`, parts.Add(1)) },
		"/events": func(w http.ResponseWriter, r *http.Request) {
			streams.Add(1)
			w.Header().Set("Content-Type", "text/event-stream")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	})
	b.Do(chromedp.Navigate(srv.URL+"/live"), chromedp.WaitVisible(chromedp.CSS("#v")))
	second, stop := chromedp.NewContext(b.Context())
	defer stop()
	if err := chromedp.Do(second, chromedp.Navigate(srv.URL+"/live"), chromedp.WaitReady(chromedp.CSS("#v"))); err != nil {
		t.Fatal(err)
	}
	if n := streams.Load(); n != 1 {
		t.Errorf("two tabs opened %d streams", n)
	}
}
