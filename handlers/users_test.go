package handlers

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
)

var inviteLink = regexp.MustCompile(`http://[^"<>\s]+/(?:invite|reset)/[A-Za-z0-9_-]+`)

// linkIn is the path of the one-time link that a page shows.
func linkIn(t *testing.T, a answer) string {
	t.Helper()
	found := inviteLink.FindString(a.body)
	u, err := url.Parse(found)
	if found == "" || err != nil {
		t.Fatalf("no link on the page:\n%.3000s", a.body)
	}
	return u.Path
}

func TestSetupOnThePages(t *testing.T) {
	s := newSite(t, nil)
	token, _, err := s.accounts.SetupToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := s.client()
	want(t, c.get("/setup/wrong"), http.StatusNotFound)
	shows(t, c.get("/setup/wrong"), "Start the server again")
	shows(t, c.get("/setup/"+token), "first admin", `autocomplete="new-password"`)
	a := c.post("/setup/"+token, "name", "Ada & Co", "password", "short")
	want(t, a, http.StatusUnprocessableEntity)
	shows(t, a, "The character", "take at least 10", `value="Ada &amp; Co"`, `aria-invalid="true"`)
	if strings.Contains(a.body, `value="short"`) {
		t.Error("the password came back")
	}
	want(t, c.post("/setup/"+token, "name", "Ada", "password", password), http.StatusSeeOther, "/")
	shows(t, c.get("/users"), "Ada", "you") // logged in at once, as an admin
	want(t, s.client().get("/setup/"+token), http.StatusNotFound)
	want(t, s.client().post("/setup/"+token, "name", "Eve", "password", password), http.StatusNotFound)
}

func TestInvitingOnThePages(t *testing.T) {
	s := newSite(t, nil)
	c := s.as(s.people()[models.RoleAdmin])
	a := c.post("/users/invites", "role", "lead")
	want(t, a, http.StatusCreated)
	link := linkIn(t, a)
	if again := c.get("/users"); strings.Contains(again.body, link) {
		t.Error("the link is shown again")
	} else {
		shows(t, again, "Open invitations", "by ada")
	}
	guest := s.client()
	shows(t, guest.get(link), "invited as a lead")
	a = guest.post(link, "name", "LEA", "password", password)
	want(t, a, http.StatusUnprocessableEntity)
	shows(t, a, "The name lea is taken", `value="LEA"`)
	want(t, guest.post(link, "name", "Luc", "password", password), http.StatusSeeOther, "/")
	want(t, guest.get("/account"), http.StatusOK)
	want(t, guest.get("/users"), http.StatusForbidden)
	want(t, s.client().get(link), http.StatusNotFound)

	a = c.post("/users/invites", "role", "owner")
	want(t, a, http.StatusUnprocessableEntity)
	shows(t, a, "Choose a role")

	link = linkIn(t, c.post("/users/invites", "role", "viewer"))
	withdraw := regexp.MustCompile(`/users/invites/\d+/withdraw`).FindString(c.get("/users").body)
	want(t, c.post(withdraw), http.StatusSeeOther, "/users")
	shows(t, c.get("/users"), "The invitation is withdrawn")
	if strings.Contains(c.get("/users").body, "is withdrawn") {
		t.Error("the message is shown twice")
	}
	want(t, s.client().get(link), http.StatusNotFound)
}

func TestManagingUsersOnThePages(t *testing.T) {
	s := newSite(t, nil)
	people := s.people()
	c, lea := s.as(people[models.RoleAdmin]), s.as(people[models.RoleLead])
	path := "/users/" + itoa(people[models.RoleLead].ID)

	want(t, c.post(path+"/role", "role", "admin"), http.StatusSeeOther, "/users")
	want(t, lea.get("/users"), http.StatusOK) // at once
	want(t, c.post(path+"/role", "role", "lead"), http.StatusSeeOther, "/users")

	a := c.post("/users/" + itoa(people[models.RoleAdmin].ID) + "/disable")
	want(t, a, http.StatusConflict)
	shows(t, a, "This is the last admin", "<html")

	a = c.post(path + "/reset")
	want(t, a, http.StatusCreated)
	link := linkIn(t, a)
	guest := s.client()
	shows(t, guest.get(link), "For lea.")
	a = guest.post(link, "password", "short")
	want(t, a, http.StatusUnprocessableEntity)
	shows(t, a, "take at least 10")
	want(t, guest.post(link, "password", "another good one"), http.StatusSeeOther, "/login?note=password")
	want(t, lea.get("/account"), http.StatusFound) // logged out by it
	want(t, guest.post("/login", "name", "lea", "password", "another good one"), http.StatusSeeOther, "/")

	want(t, c.post(path+"/disable"), http.StatusSeeOther, "/users")
	want(t, guest.get("/account"), http.StatusFound)
	a = guest.post("/login", "name", "lea", "password", "another good one")
	want(t, a, http.StatusForbidden)
	shows(t, a, "This account is disabled", `value="lea"`)
	shows(t, c.get("/users"), "disabled")
	want(t, c.post(path+"/enable"), http.StatusSeeOther, "/users")
	want(t, guest.post("/login", "name", "lea", "password", "another good one"), http.StatusSeeOther, "/")
}

func TestChangingThePasswordOnThePage(t *testing.T) {
	s := newSite(t, nil)
	c := s.as(s.people()[models.RoleViewer])
	a := c.post("/account/password", "old", "wrong password", "password", "another good one")
	want(t, a, http.StatusUnprocessableEntity)
	shows(t, a, "This is not your password", `id="field-old-error"`)
	for range 5 {
		a = c.post("/account/password", "old", "wrong password", "password", "another good one")
	}
	want(t, a, http.StatusTooManyRequests)
	shows(t, a, "Too many wrong tries")
	s.pass(30 * time.Second)
	want(t, c.post("/account/password", "old", password, "password", "another good one"), http.StatusSeeOther, "/account")
	shows(t, c.get("/account"), "Your password is changed")
}

func TestNamesAreTextOnThePages(t *testing.T) {
	s := newSite(t, nil)
	ada := s.people()[models.RoleAdmin]
	token, _ := s.accounts.Invite(t.Context(), engine.ActorOf(ada), models.RoleViewer)
	if _, err := s.accounts.AcceptInvite(t.Context(), token, "o'neil", password); err != nil {
		t.Fatal(err)
	}
	shows(t, s.as(ada).get("/users"), "o&#39;neil")
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
