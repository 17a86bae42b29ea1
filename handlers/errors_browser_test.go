package handlers

import (
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/models"
)

// in makes the tab one in which this client is logged in.
func (a *album) in(c *client) {
	a.t.Helper()
	a.b.Do(chromedp.Navigate("about:blank")) // what the page asks for is asked as who opened it
	cookie := c.cookies[cookieName]
	if _, err := chromedp.Call(a.b.Context(), network.SetCookie, network.SetCookieParams{Name: cookieName, Value: cookie.Value, URL: a.site}); err != nil {
		a.t.Fatal(err)
	}
}

// Pages that say no: each leads somewhere.
func TestRefusalsInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	a := w.album(t)
	a.refused("error-404", "/plans/01ARZ3NDEKTSV4RRFFQ69G5FAV", "404")
	a.refused("error-403", "/users", "403")
	a.in(w.vic)
	id := w.done(engine.NewPlan{Title: "For reading", Dod: "- It is fine -> human: lead", Phases: []engine.NewPhase{sh("Do", "echo 1 > b.txt")}})
	a.page("plan-for-a-viewer", "/plans/"+id, "#gate")
	a.page("inbox-for-a-viewer", "/", "#inbox")
	a.refused("error-403-viewer", "/plans/new", "403")

	// Somebody started what this page still offers to start.
	a.in(w.lea)
	draft := w.create(engine.NewPlan{Title: "Twice opened", Phases: []engine.NewPhase{sh("Do", "true")}})
	want(t, w.lea.post("/plans/"+draft+"/start"), http.StatusSeeOther)
	a.b.Do(chromedp.Navigate(a.site+"/account"), chromedp.WaitVisible(css("#password")), chromedp.Evaluate[chromedp.Void](`{
		const f = document.createElement("form"); f.method = "post"; f.action = "/plans/`+draft+`/start"
		document.querySelector("main").append(f); HTMLFormElement.prototype.submit.call(f) }`), chromedp.WaitVisible(css("main [role=alert]")))
	a.forgive("409")
	a.look("error-409")

	// A link that was used, and a login that has ended.
	token, err := w.accounts.Invite(t.Context(), engine.ActorOf(w.people[models.RoleAdmin]), models.RoleViewer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.accounts.AcceptInvite(t.Context(), token, "tess", password); err != nil {
		t.Fatal(err)
	}
	gone := w.client()
	gone.cookies[cookieName] = &http.Cookie{Value: "ended"}
	a.in(gone)
	a.refused("error-link-used", "/invite/"+token, "404")
	a.page("login-ended", "/login?note=ended&next=%2Fplans", "#login")
	a.page("login-first", "/plans/"+id, "#login")
}
