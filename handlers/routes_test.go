package handlers

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"donewhen/models"
)

var param = regexp.MustCompile(`:[a-z]+|\*`)

// concrete is an address of a route.
func concrete(r route) string { return param.ReplaceAllString(r.Path, "1") }

// open is everything that needs no login, and nothing else ever does.
var open = []string{
	"GET /healthz", "GET /invite/:token", "GET /login", "GET /reset/:token", "GET /setup/:token", "GET /static/*",
	"POST /invite/:token", "POST /login", "POST /reset/:token", "POST /setup/:token",
}

func TestOnlyTheseRoutesAreOpen(t *testing.T) {
	s := newSite(t, nil)
	var got []string
	for _, r := range s.srv.routes() {
		if r.Open {
			got = append(got, r.Method+" "+r.Path)
		}
		if r.Open == (r.Role != "") || r.Handler == nil {
			t.Errorf("%s %s: open %v, role %q, handler there: %v", r.Method, r.Path, r.Open, r.Role, r.Handler != nil)
		}
		if !r.Open && !r.Role.Can(models.RoleViewer) {
			t.Errorf("%s %s: unknown role %q", r.Method, r.Path, r.Role)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, open) {
		t.Errorf("open are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(open, "\n"))
	}
	// Nothing is served that is not in the list.
	for _, r := range s.srv.echo.Routes() {
		if _, known := s.srv.byRoute[r.Method+" "+r.Path]; !known {
			t.Errorf("%s %s is served and not in the list", r.Method, r.Path)
		}
	}
}

func TestRouteWalk_AnonymousIsRefused(t *testing.T) {
	s := newSite(t, nil)
	s.people()
	for _, r := range s.srv.routes() {
		if r.Open {
			continue
		}
		path := concrete(r)
		for _, cookie := range []string{"", "made-up", "donewhen"} {
			c := s.client()
			if cookie != "" {
				c.cookies[cookieName] = &http.Cookie{Name: cookieName, Value: cookie}
			}
			switch a := c.do(r.Method, path, nil); {
			case r.Stream:
				want(t, a, http.StatusUnauthorized)
			case r.Method == get:
				want(t, a, http.StatusFound)
				if !strings.HasPrefix(a.location(), "/login") {
					t.Errorf("%s leads to %q", path, a.location())
				}
			default:
				want(t, a, http.StatusSeeOther, "/login?note=ended")
			}
			a := c.do(r.Method, path, nil, "HX-Request", "true")
			want(t, a, http.StatusUnauthorized)
			if got := a.Header.Get("HX-Redirect"); got != "" {
				t.Errorf("%s: HX-Redirect %q", path, got)
			}
			want(t, c.do(r.Method, path, nil, "Accept", "text/event-stream"), http.StatusUnauthorized)
			if r.Method == get && !r.Stream {
				want(t, c.do(http.MethodHead, path, nil), http.StatusFound)
			}
		}
	}
	for _, unknown := range []string{"/nothing", "/plans/../users", "//users", "/users/", "/Users", "/loginx", "/static", "/healthz/x"} {
		if a := s.client().get(unknown); a.StatusCode != http.StatusFound {
			t.Errorf("%s: %d", unknown, a.StatusCode)
		}
	}
}

func TestRouteWalk_RolesBelowAreRefused(t *testing.T) {
	s := newSite(t, nil)
	people := s.people()
	for _, r := range s.srv.routes() {
		for role, user := range people {
			if r.Open || role.Can(r.Role) {
				continue
			}
			c := s.as(user)
			a := c.do(r.Method, concrete(r), nil)
			want(t, a, http.StatusForbidden)
			shows(t, a, "This needs the role "+string(r.Role))
		}
	}
}

func TestA8_06_RouteWalk_WritesFromElsewhereAreRefused(t *testing.T) {
	s := newSite(t, nil)
	ada := s.people()[models.RoleAdmin]
	c := s.as(ada)
	before := s.events(t)
	for _, r := range s.srv.routes() {
		if r.Method == get {
			continue
		}
		path := concrete(r)
		for what, headers := range map[string][]string{
			"Origin of another site":      {"Origin", "https://other.example", "Sec-Fetch-Site", ""},
			"Origin null":                 {"Origin", "null", "Sec-Fetch-Site", ""},
			"no Origin, cross-site":       {"Sec-Fetch-Site", "cross-site"},
			"no Origin, same-site":        {"Sec-Fetch-Site", "same-site"},
			"neither header":              {"Sec-Fetch-Site", ""},
			"text/plain from another one": {"Origin", "https://other.example", "Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"},
			"our name on another port":    {"Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", ""},
		} {
			if a := c.do(r.Method, path, nil, headers...); a.StatusCode != http.StatusForbidden {
				t.Errorf("%s %s, %s: %d", r.Method, path, what, a.StatusCode)
			}
		}
	}
	if got := s.events(t); got != before {
		t.Errorf("%d events before, %d after", before, got)
	}
	if _, _, ok, _ := s.accounts.FindSession(t.Context(), c.cookies[cookieName].Value, false); !ok {
		t.Error("the session was ended from elsewhere")
	}
	// The same requests from our own pages work.
	for _, headers := range [][]string{
		{"Sec-Fetch-Site", "same-origin"},
		{"Origin", s.http.URL, "Sec-Fetch-Site", ""}, // plain http, not localhost: no Sec-Fetch-Site
	} {
		a := c.do(post, "/users/invites", map[string][]string{"role": {"viewer"}}, headers...)
		want(t, a, http.StatusCreated)
	}
}

func (s *site) events(t *testing.T) int {
	t.Helper()
	events, _, err := s.st.Events(t.Context(), models.EventFilter{}, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return len(events)
}

func TestBaseURLIsOurOrigin(t *testing.T) {
	s := newSite(t, func(d *Deps) { d.BaseURL = "https://done.example" })
	c := s.as(s.people()[models.RoleAdmin])
	form := map[string][]string{"role": {"viewer"}}
	a := c.do(post, "/users/invites", form, "Origin", "https://done.example", "Sec-Fetch-Site", "", "Host", "10.0.0.1:8080")
	want(t, a, http.StatusCreated)
	shows(t, a, "https://done.example/invite/")
	want(t, c.do(post, "/users/invites", form, "Origin", "https://done.example.evil", "Sec-Fetch-Site", ""), http.StatusForbidden)
	for _, bad := range []string{"done.example", "ftp://done.example", "https://done.example/path", "https://", "://"} {
		if _, err := New(Deps{Accounts: s.accounts, BaseURL: bad}); err == nil {
			t.Errorf("base URL %q is taken", bad)
		}
	}
}

// What each role gets from the routes of accounts and users.
func TestRolesOfAccountRoutes(t *testing.T) {
	s := newSite(t, nil)
	people := s.people()
	for _, row := range []struct {
		method, path        string
		viewer, lead, admin int
	}{
		{get, "/account", 200, 200, 200},
		{post, "/account/password", 422, 422, 422},
		{get, "/users", 403, 403, 200},
		{post, "/users/invites", 403, 403, 422},
		{post, "/users/invites/999/withdraw", 403, 403, 409},
		{post, "/users/999/role", 403, 403, 422},
		{post, "/users/999/disable", 403, 403, 404},
		{post, "/users/999/enable", 403, 403, 404},
		{post, "/users/999/reset", 403, 403, 404},
		{post, "/users/x/reset", 403, 403, 404},
		{post, "/account/sessions/end", 303, 303, 303},
		{post, "/logout", 303, 303, 303},
		{get, "/nothing", 404, 404, 404},
	} {
		for role, status := range map[models.Role]int{viewer: row.viewer, lead: row.lead, admin: row.admin} {
			if a := s.as(people[role]).do(row.method, row.path, map[string][]string{}); a.StatusCode != status {
				t.Errorf("%s %s as %s: %d, want %d", row.method, row.path, role, a.StatusCode, status)
			}
		}
	}
}
