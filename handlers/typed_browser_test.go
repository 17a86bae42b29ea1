package handlers

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
	"donewhen/models"
)

// What somebody is writing is not lost when another decides, when the page is
// loaded anew, or when the session ends meanwhile.
func TestTypedTextOutlivesItsFormInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	b := w.browser(t)
	id := w.done(engine.NewPlan{Title: "Looked at", Dod: "- somebody looked -> human\n- another looked -> human", Phases: []engine.NewPhase{sh("Do", "echo 1 > b.txt")}})
	write := func(n int, text string) {
		t.Helper()
		key := criterionKey(n, "reject")
		b.Do(chromedp.WaitReady(chromedp.CSS("#"+key+"-reason")), chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
			`(f => { f.closest("details").open = true; f.value = %q; f.dispatchEvent(new Event("input", { bubbles: true })) })(document.getElementById("%s-reason"))`, text, key)))
	}
	send := func() {
		t.Helper()
		b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#` + criterionKey(2, "reject") + ` form button.btn").click()`))
	}
	typed := func(n int) string {
		return browsertest.Get(b, chromedp.Value(chromedp.CSS("#"+criterionKey(n, "reject")+"-reason")))
	}
	b.Do(chromedp.Navigate(w.http.URL + "/plans/" + id))
	b.Do(chromedp.WaitVisible(chromedp.CSS("#gate")))
	write(1, "The title is wrong.")
	write(2, "And so is the end.")

	// Loaded anew, both are where they were.
	b.Do(chromedp.Reload(), chromedp.WaitVisible(chromedp.CSS("#"+criterionKey(2, "reject")+"-reason")))
	if typed(1) != "The title is wrong." || typed(2) != "And so is the end." {
		t.Fatalf("after a reload: %q, %q", typed(1), typed(2))
	}

	// Somebody else approves the first: its form goes, its text does not.
	b.Do(chromedp.SendKeys(chromedp.CSS("#"+criterionKey(1, "reject")+"-reason"), " Really."))
	if err := w.eng.SignOff(t.Context(), w.lead(), id, 1, w.detail(id).Evaluation.ID, true, ""); err != nil {
		t.Fatal(err)
	}
	until(t, b, `document.querySelector("#flash [data-typed][role=alert]")?.textContent.includes("What you had typed:\nThe title is wrong. Really.")`)
	// The reader's hands type on: no shortcut leads away (g i would, to the inbox).
	b.Do(chromedp.KeyEvent("giving way?"))
	if at := browsertest.Get(b, chromedp.Evaluate[string](`location.pathname + " " + document.querySelectorAll("dialog:modal").length + " " + document.activeElement.hasAttribute("data-typed")`)); at != "/plans/"+id+" 0 true" {
		t.Errorf("the keys led to %q", at)
	}
	if typed(2) != "And so is the end." {
		t.Errorf("the other form has %q", typed(2))
	}

	// The session ends: the page stays, says so, and keeps what is typed.
	if err := w.accounts.EndSession(t.Context(), w.lea.cookies[cookieName].Value); err != nil {
		t.Fatal(err)
	}
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector("[data-inbox-live]").dispatchEvent(new Event("live"))`))
	until(t, b, `document.querySelectorAll("[data-signed-out] a[href^='/login?next=']").length === 1`)
	b.View(390, 900, true)
	fits(t, b, "session-ended")
	b.Shot("session-ended-390-dark")
	b.View(1440, 900, false)
	fits(t, b, "session-ended")
	b.Shot("session-ended-1440-light")
	if typed(2) != "And so is the end." {
		t.Errorf("signed out, the form has %q", typed(2))
	}
	send()
	until(t, b, `document.querySelector("[data-request-error]")?.textContent.includes("nothing was changed")`)

	// After the login in the same tab the text is back, and is sent.
	b.Do(chromedp.Click(chromedp.CSS("[data-signed-out] a")), chromedp.WaitVisible(chromedp.CSS("#login form")))
	b.Do(chromedp.SendKeys(chromedp.CSS(`#login [name="name"]`), "lea"), chromedp.SendKeys(chromedp.CSS(`#login [name="password"]`), password), chromedp.Click(chromedp.CSS("#login button.btn")))
	b.Do(chromedp.WaitVisible(chromedp.CSS("#" + criterionKey(2, "reject") + "-reason")))
	if typed(2) != "And so is the end." {
		t.Errorf("after the login the form has %q", typed(2))
	}
	send()
	until(t, b, `document.querySelector('#gate [data-said-against]')?.textContent.includes("And so is the end.")`)
	if browsertest.Get(b, chromedp.Evaluate[bool](`!!document.querySelector("[data-typed]")`)) {
		t.Error("what was sent is called lost")
	}
	want(t, w.vic.get("/plans/"+id), http.StatusOK)
}

// A refused form leads to the first field that is to be mended.
func TestRefusedFormLeadsToItsField(t *testing.T) {
	w := newWorks(t, nil)
	w.lea = w.as(w.people[models.RoleAdmin])
	b := w.browser(t)
	b.Do(chromedp.Navigate(w.http.URL+"/projects/new"), chromedp.WaitVisible(chromedp.CSS(`main [name="path"]`)))
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector('main [name="path"]').value = "/nowhere/at/all"; document.querySelector('main [name="name"]').value = "x"; document.querySelector("main form button.btn").click()`))
	until(t, b, `document.activeElement.name === "path" && document.activeElement.getAttribute("aria-invalid") === "true"`)
}

// What a decision of one's own takes away was not decided by somebody else: the
// news of it may come before its answer does.
func TestOnesOwnDecisionIsNotSomebodyElses(t *testing.T) {
	w := newWorks(t, nil)
	b := w.browser(t)
	id := w.done(engine.NewPlan{Title: "Looked at", Dod: "- never seen", Phases: []engine.NewPhase{sh("Do", "true")}})
	answer := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.srv.ServeHTTP(rw, r)
			return
		}
		rec := httptest.NewRecorder()
		w.srv.ServeHTTP(rec, r)
		<-answer
		maps.Copy(rw.Header(), rec.Header())
		rw.WriteHeader(rec.Code)
		_, _ = rw.Write(rec.Body.Bytes())
	}))
	t.Cleanup(func() { slow.CloseClientConnections(); slow.Close() })
	key := criterionKey(1, "waive")
	b.Do(chromedp.Navigate(slow.URL+"/plans/"+id), chromedp.WaitVisible(chromedp.CSS("#gate")))
	until(t, b, `performance.getEntriesByType("resource").some(r => r.name.includes("part="))`) // the stream has opened
	b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(at => {
		const f = at.querySelector("textarea")
		at.open = true
		f.value = "Nobody needs it."
		f.dispatchEvent(new Event("input", { bubbles: true }))
		at.querySelector("form button.btn").click()
	})(document.getElementById(%q))`, key)))
	const told = `document.querySelectorAll("[data-typed]").length > 0`
	until(t, b, `!document.getElementById("`+key+`")`)
	if browsertest.Get(b, chromedp.Evaluate[bool](told)) {
		t.Error("one's own decision is said to be somebody else's")
	}
	close(answer)
	until(t, b, `document.querySelector("#flash")?.textContent.includes("The criterion is waived.")`)
	if browsertest.Get(b, chromedp.Evaluate[bool](told)) {
		t.Error("in the end one's own decision is said to be somebody else's")
	}
}
