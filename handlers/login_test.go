package handlers

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
)

func TestA9_01_NewCookieAtLogin(t *testing.T) {
	s := newSite(t, nil)
	ada := s.people()[models.RoleAdmin]
	planted := s.client()
	planted.cookies[cookieName] = &http.Cookie{Name: cookieName, Value: "planted-by-somebody"}
	logged := s.as(ada)
	for what, c := range map[string]*client{"planted": planted, "logged in before": logged} {
		s1 := c.cookies[cookieName].Value
		if what == "planted" {
			c.get("/login")
		}
		want(t, c.post("/login", "name", "ada", "password", password), http.StatusSeeOther, "/")
		s2 := c.cookies[cookieName].Value
		if s1 == s2 {
			t.Errorf("%s: the id stayed the same", what)
		}
		want(t, c.get("/account"), http.StatusOK)
		c.cookies[cookieName] = &http.Cookie{Name: cookieName, Value: s1}
		want(t, c.get("/account"), http.StatusFound, "/login?next=%2Faccount")
	}
}

func TestA9_02_EndedSessionLeadsToTheLoginPage(t *testing.T) {
	s := newSite(t, nil)
	c := s.as(s.people()[models.RoleViewer])
	want(t, c.get("/account"), http.StatusOK)
	if err := s.accounts.EndSession(t.Context(), c.cookies[cookieName].Value); err != nil {
		t.Fatal(err)
	}
	want(t, c.get("/account?tab=1"), http.StatusFound, "/login?next=%2Faccount%3Ftab%3D1")
	a := c.get("/account?tab=1", "HX-Request", "true")
	want(t, a, http.StatusUnauthorized)
	// What a page asks for by itself never moves it.
	if a.Header.Get("HX-Redirect") != "" || a.Header.Get("Location") != "" || a.body != "" {
		t.Errorf("HX-Redirect %q, body %q", a.Header.Get("HX-Redirect"), a.body)
	}
	// A form leads back to its page, and says that it did nothing.
	a = c.do(post, "/account/password", nil, "Referer", s.http.URL+"/account?x=1#y")
	want(t, a, http.StatusSeeOther, "/login?next=%2Faccount%3Fx%3D1&note=ended")
	shows(t, c.get(a.location()), "nothing was recorded of what you just sent", `value="/account?x=1"`)
	want(t, c.do(post, "/account/password", nil, "Referer", "https://other.example/trap"), http.StatusSeeOther, "/login?note=ended")
}

func TestA9_03_NextStaysHere(t *testing.T) {
	s := newSite(t, nil)
	s.people()
	for next, to := range map[string]string{
		"//evil.example":           "/",
		`/\evil.example`:           "/",
		`\/evil.example`:           "/",
		"https://evil.example":     "/",
		"https:/evil.example":      "/",
		"javascript:alert(1)":      "/",
		"/\t/evil.example":         "/",
		"/\r\nSet-Cookie: a=b":     "/",
		"evil.example":             "/",
		"///evil.example":          "/",
		"/login":                   "/",
		"/login?next=/login":       "/",
		"/logout":                  "/",
		"":                         "/",
		"/%zz":                     "/",
		"/plans/7":                 "/plans/7",
		"/plans?status=failed&q=ä": "/plans?status=failed&q=ä",
	} {
		c := s.client()
		a := c.post("/login", "name", "ada", "password", password, "next", next)
		if a.StatusCode != http.StatusSeeOther || a.location() != to {
			t.Errorf("next %q: %d to %q, want %q", next, a.StatusCode, a.location(), to)
		}
		a = c.do(get, "/login?"+map[bool]string{true: "next=%2Fplans%2F7", false: "next=%2F%2Fevil.example"}[to == "/plans/7"], nil)
		want(t, a, http.StatusSeeOther, map[bool]string{true: "/plans/7", false: "/"}[to == "/plans/7"]) // logged in already
	}
}

func TestLoginPageKeepsNameAndNext(t *testing.T) {
	s := newSite(t, nil)
	s.people()
	a := s.client().get("/login?next=%2Fplans%2F7")
	shows(t, a, `name="next" value="/plans/7"`)
	a = s.client().post("/login", "name", `le"a`, "password", "wrong password", "next", "/plans/7")
	want(t, a, http.StatusUnprocessableEntity)
	shows(t, a, `value="le&#34;a"`, `name="next" value="/plans/7"`, "Name or password is wrong", `role="alert"`)
	if strings.Contains(a.body, "wrong password") {
		t.Error("the password came back")
	}
	if len(s.client().get("/login").Cookies()) > 0 {
		t.Error("the login page sets a cookie")
	}
}

func TestA9_04_LongPasswordsNeverFail(t *testing.T) {
	s := newSite(t, nil)
	ada := s.people()[models.RoleAdmin]
	long := strings.Repeat("0123456789abcde", 10)
	want(t, s.client().post("/login", "name", "ada", "password", long), http.StatusUnprocessableEntity)
	c := s.as(ada)
	old := password
	for _, next := range []string{long, strings.Repeat("😀😁😂", 10)} {
		want(t, c.post("/account/password", "old", old, "password", next), http.StatusSeeOther, "/account")
		want(t, s.client().post("/login", "name", "ada", "password", next), http.StatusSeeOther, "/")
		old = next
	}
	a := c.post("/account/password", "old", old, "password", strings.Repeat("ab", 501))
	want(t, a, http.StatusUnprocessableEntity)
	shows(t, a, "1002 bytes")
}

func TestA9_05_CookieFlags(t *testing.T) {
	for _, row := range []struct {
		name, base string
		headers    []string
		secure     bool
	}{
		{"plain http on an address", "", []string{"Host", "192.0.2.10:8080"}, false},
		{"behind https", "", []string{"Host", "done.example", "X-Forwarded-Proto", "https"}, true},
		{"behind a proxy that says nothing, address configured", "https://done.example", []string{"Host", "done.example"}, true},
		{"past that proxy, on plain http", "https://done.example", []string{"Host", "192.0.2.10:8080"}, false},
		{"configured for http", "http://done.example", []string{"Host", "done.example"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newSite(t, func(d *Deps) { d.BaseURL = row.base })
			s.people()
			c := s.client()
			a := c.do(post, "/login", map[string][]string{"name": {"ada"}, "password": {password}}, row.headers...)
			want(t, a, http.StatusSeeOther, "/")
			cookies := a.Cookies()
			if len(cookies) != 1 {
				t.Fatal(cookies)
			}
			got := cookies[0]
			if got.Secure != row.secure || !got.HttpOnly || got.SameSite != http.SameSiteLaxMode || got.Path != "/" || got.Domain != "" {
				t.Errorf("%+v", got)
			}
			if got.MaxAge != int(engine.SessionAbsolute.Seconds()) {
				t.Errorf("Max-Age %d", got.MaxAge)
			}
			want(t, c.get("/account", row.headers...), http.StatusOK)
		})
	}
}

func TestA9_12_ThrottledInSpiteOfForgedAddress(t *testing.T) {
	s := newSite(t, func(d *Deps) {
		d.ClientAddr = ForwardedAddr([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")})
	})
	s.people()
	login := func(pass, forged, from string) answer {
		t.Helper()
		// The proxy (127.0.0.1) adds the address it sees behind what the client made up.
		return s.client().do(post, "/login", map[string][]string{"name": {"lea"}, "password": {pass}}, "X-Forwarded-For", forged+", "+from)
	}
	for i := 1; i <= 12; i++ {
		a := login("wrong password", fmt.Sprint("203.0.113.", i), "192.0.2.1")
		if i <= 5 {
			want(t, a, http.StatusUnprocessableEntity)
			continue
		}
		want(t, a, http.StatusTooManyRequests)
		shows(t, a, "Wait 30 seconds")
		if a.Header.Get("Retry-After") != "30" {
			t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
		}
	}
	want(t, login(password, "203.0.113.99", "192.0.2.2"), http.StatusSeeOther)
	want(t, login(password, "203.0.113.99", "192.0.2.1"), http.StatusTooManyRequests)
	s.pass(30 * time.Second)
	want(t, login(password, "203.0.113.99", "192.0.2.1"), http.StatusSeeOther)
}

func TestForwardedAddr(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for _, row := range []struct{ remote, header, want string }{
		{"192.0.2.1:5", "203.0.113.9", "192.0.2.1"}, // not from a proxy: not believed
		{"10.0.0.1:5", "", "10.0.0.1"},
		{"10.0.0.1:5", "203.0.113.9", "203.0.113.9"},
		{"10.0.0.1:5", "1.1.1.1, 203.0.113.9, 10.0.0.2", "203.0.113.9"},
		{"10.0.0.1:5", "nonsense", "10.0.0.1"},
		{"10.0.0.1:5", "203.0.113.9, nonsense", "10.0.0.1"},
		{"[::1]:5", "2001:db8::7", "2001:db8::7"},
		{"[::ffff:10.0.0.1]:5", "203.0.113.9", "203.0.113.9"},
	} {
		r, _ := http.NewRequest(get, "/", nil)
		r.RemoteAddr = row.remote
		if row.header != "" {
			r.Header.Set("X-Forwarded-For", row.header)
		}
		if got := ForwardedAddr(proxies)(r); got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
}

func TestLogout(t *testing.T) {
	s := newSite(t, nil)
	vic := s.people()[models.RoleViewer]
	c, other := s.as(vic), s.as(vic)
	token := c.cookies[cookieName].Value
	a := c.post("/logout")
	want(t, a, http.StatusSeeOther, "/login?note=out")
	if _, there := c.cookies[cookieName]; there {
		t.Error("the cookie stays")
	}
	shows(t, c.get("/login?note=out"), "You are logged out.")
	c.cookies[cookieName] = &http.Cookie{Name: cookieName, Value: token}
	want(t, c.get("/account"), http.StatusFound)
	want(t, other.get("/account"), http.StatusOK)
	third := s.as(vic)
	want(t, other.post("/account/sessions/end"), http.StatusSeeOther, "/login?note=all")
	want(t, third.get("/account"), http.StatusFound)
}
