package handlers

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

// inBackground makes a page believe that it is in a background tab until
// comeToFront() is called. A headless browser takes each tab for one that is
// looked at.
const inBackground = `(() => {
	let hidden = true
	Object.defineProperty(document, 'hidden', { get: () => hidden })
	window.comeToFront = () => { hidden = false; document.dispatchEvent(new Event('visibilitychange')) }
})()`

// Fifty tabs of one browser on one plan, of which twenty things a second
// change: one stream serves them all, the tabs that are looked at ask at a bounded
// rate, the ones in the background do not ask, and whichever comes to the front
// shows the last state, without being loaded anew.
func TestFiftyTabsInABrowser(t *testing.T) {
	const (
		tabs, front = 50, 3
		parts       = 8 // live parts of a plan's page, at most
		seconds     = 4
	)
	w := newWorks(t, nil)
	id := w.create(engine.NewPlan{Title: "Watched", Phases: []engine.NewPhase{sh("Wait", "true")}})
	var asked, streams atomic.Int64
	w.http.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Query().Has("part"):
			asked.Add(1)
		case r.URL.Path == "/events":
			streams.Add(1)
		}
		w.srv.ServeHTTP(rw, r)
	})
	b := w.browser(t)
	all := make([]context.Context, tabs)
	for i := range all {
		ctx, stop := chromedp.NewContext(b.Context())
		t.Cleanup(stop)
		all[i] = ctx
		if err := chromedp.Do(ctx); err != nil {
			t.Fatal(err)
		}
		if i >= front {
			if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: inBackground}); err != nil {
				t.Fatal(err)
			}
		}
		if err := chromedp.Do(ctx, chromedp.Navigate(w.http.URL+"/plans/"+id), chromedp.WaitVisible(chromedp.CSS("#plan-activity"))); err != nil {
			t.Fatal(err)
		}
	}
	shows := func(ctx context.Context, text string) bool {
		t.Helper()
		all, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector("#plan-activity").innerText`))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(all, text)
	}

	asked.Store(0)
	began, n := time.Now(), 0
	for ; time.Since(began) < seconds*time.Second; n++ {
		if err := w.st.InTx(t.Context(), func(tx *store.Tx) error {
			return tx.InsertEvent(t.Context(), models.Event{PlanID: id, Kind: "plan.noted", ActorID: 1, Actor: "ada", Reason: fmt.Sprintf("change %d.", n)})
		}); err != nil {
			t.Fatal(err)
		}
		w.eng.Hub().Publish("plan:" + id)
		time.Sleep(time.Second / 20)
	}
	last := fmt.Sprintf("change %d.", n-1)
	took := time.Since(began)
	// Two a second for each part that is looked at, and one more at both ends.
	if most := int64(front * parts * (2*took.Seconds() + 2)); asked.Load() > most {
		t.Errorf("%d requests for parts in %v, want %d at most", asked.Load(), took, most)
	}
	if streams.Load() != 1 {
		t.Errorf("%d streams for one browser", streams.Load())
	}
	ended, slow := time.Now(), time.Duration(0)
	for i, ctx := range all {
		if i >= front {
			if shows(ctx, last) {
				t.Fatalf("tab %d was not in the background: it asked", i)
			}
			ended = time.Now()
			if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](`window.comeToFront()`)); err != nil {
				t.Fatal(err)
			}
		}
		for !shows(ctx, last) {
			if time.Since(ended) > time.Minute {
				t.Fatalf("tab %d shows an old state", i)
			}
			time.Sleep(20 * time.Millisecond)
		}
		slow = max(slow, time.Since(ended))
	}
	t.Logf("%d changes, %d requests for parts; the slowest tab showed the last change after %v", n, asked.Load(), slow)
}
