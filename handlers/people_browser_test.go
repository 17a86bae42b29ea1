package handlers

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/models"
)

// Users who were disabled, invitations that are open, a reset, and too many tries.
func TestPeopleInABrowser(t *testing.T) {
	w := newDesk(t)
	a := w.album(t)
	admin := engine.ActorOf(w.people[models.RoleAdmin])
	for _, name := range []string{"Muhammad ibn Musa al-Khwarizmi of the house of wisdom", "صوفيا"} {
		token, err := w.accounts.Invite(t.Context(), admin, models.RoleLead)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.accounts.AcceptInvite(t.Context(), token, name, password); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.accounts.Invite(t.Context(), admin, models.RoleViewer); err != nil {
		t.Fatal(err)
	}
	if err := w.accounts.Disable(t.Context(), admin, w.people[models.RoleViewer].ID); err != nil {
		t.Fatal(err)
	}
	a.in(w.ada)
	a.page("users-every-state", "/users", "#invites")
	link, err := w.accounts.ResetLink(t.Context(), admin, "lea")
	if err != nil {
		t.Fatal(err)
	}
	gone := w.client()
	gone.cookies[cookieName] = &http.Cookie{Value: "ended"}
	a.in(gone)
	a.page("reset", "/reset/"+link, "#field-password")
	for range 20 {
		if strings.Contains(w.client().post("/login", "name", "lea", "password", "wrong").body, "Too many") {
			break
		}
	}
	a.b.Do(chromedp.Navigate(a.site+"/login"), chromedp.WaitVisible(css("#login")), chromedp.SendKeys(css("#field-name"), "lea"), chromedp.SendKeys(css("#field-password"), "wrong again"),
		chromedp.Click(css("#login button.btn")), chromedp.WaitVisible(css("#login .alert[role=alert]")))
	a.forgive("429")
	a.look("login-too-many-tries")
}
