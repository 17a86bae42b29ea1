package handlers

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

// site is a whole server over a real database, with a clock that stands still.
type site struct {
	t        testing.TB
	srv      *Server
	http     *httptest.Server
	st       *store.Store
	accounts *engine.Accounts
	logs     *lockedBuilder
	mu       sync.Mutex
	clock    time.Time
}

const password = "four words in a row"

// newSite starts a server; change, when not nil, adjusts what it is made of.
func newSite(t testing.TB, change func(*Deps)) *site {
	t.Helper()
	return newSiteOver(t, filepath.Join(t.TempDir(), "main.db"), change)
}

// newSiteOver is newSite over the database at path, which is made when it is not
// there.
func newSiteOver(t testing.TB, path string, change func(*Deps)) *site {
	t.Helper()
	s := &site{t: t, clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), logs: &lockedBuilder{}}
	st, err := store.Open(t.Context(), path, store.Options{Now: s.now})
	if err != nil {
		t.Fatal(err)
	}
	s.st, s.accounts = st, engine.NewAccounts(st, s.now)
	s.accounts.SetPasswordCost(64, 1) // its cost is not what is tested
	d := Deps{Accounts: s.accounts, Reader: st, Now: s.now, ColourTime: time.Minute, Log: slog.New(slog.NewTextHandler(s.logs, nil))}
	if change != nil {
		change(&d)
	}
	if s.srv, err = New(d); err != nil {
		t.Fatal(err)
	}
	s.http = httptest.NewServer(s.srv)
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
		_ = st.Close()
	})
	return s
}

func (s *site) now() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.clock }

func (s *site) pass(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.clock = s.clock.Add(d) }

// people makes one user of each role: ada the admin, lea, vic.
func (s *site) people() map[models.Role]models.User {
	s.t.Helper()
	token, _, err := s.accounts.SetupToken(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	ada, err := s.accounts.Setup(s.t.Context(), token, "ada", password)
	if err != nil {
		s.t.Fatal(err)
	}
	out := map[models.Role]models.User{models.RoleAdmin: ada}
	for name, role := range map[string]models.Role{"lea": models.RoleLead, "vic": models.RoleViewer} {
		token, err := s.accounts.Invite(s.t.Context(), engine.ActorOf(ada), role)
		if err != nil {
			s.t.Fatal(err)
		}
		if out[role], err = s.accounts.AcceptInvite(s.t.Context(), token, name, password); err != nil {
			s.t.Fatal(err)
		}
	}
	return out
}

// client is a browser: it keeps cookies, and follows no redirect by itself.
type client struct {
	*site
	cookies map[string]*http.Cookie
}

func (s *site) client() *client { return &client{site: s, cookies: map[string]*http.Cookie{}} }

// as is a browser in which a user is logged in.
func (s *site) as(u models.User) *client {
	s.t.Helper()
	c := s.client()
	token, _, err := s.accounts.StartSession(s.t.Context(), u.ID, "")
	if err != nil {
		s.t.Fatal(err)
	}
	c.cookies[cookieName] = &http.Cookie{Name: cookieName, Value: token}
	return c
}

// answer is a response with its body read.
type answer struct {
	*http.Response
	body string
}

func (a answer) location() string { return a.Header.Get("Location") }

// do sends a request; headers are pairs, one with the value "" is removed.
func (c *client) do(method, path string, form url.Values, headers ...string) answer {
	c.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.http.URL+path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if method != http.MethodGet {
		r.Header.Set("Sec-Fetch-Site", "same-origin") // as browsers do
	}
	for i := 0; i+1 < len(headers); i += 2 {
		switch {
		case headers[i+1] == "":
			r.Header.Del(headers[i])
		case headers[i] == "Host":
			r.Host = headers[i+1]
		default:
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	for _, cookie := range c.cookies {
		r.AddCookie(cookie)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, cookie := range res.Cookies() {
		if cookie.MaxAge < 0 {
			delete(c.cookies, cookie.Name)
		} else {
			c.cookies[cookie.Name] = cookie
		}
	}
	return answer{res, string(b)}
}

func (c *client) get(path string, headers ...string) answer {
	c.t.Helper()
	return c.do(http.MethodGet, path, nil, headers...)
}

// post sends a form of names and values.
func (c *client) post(path string, pairs ...string) answer {
	c.t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return c.do(http.MethodPost, path, form)
}

// want fails unless the answer has the status, and the redirect where one is named.
func want(t testing.TB, a answer, status int, location ...string) {
	t.Helper()
	if a.StatusCode != status {
		t.Errorf("%s %s: status %d, want %d\n%.400s", a.Request.Method, a.Request.URL.Path, a.StatusCode, status, a.body)
	}
	if len(location) > 0 && a.location() != location[0] {
		t.Errorf("%s %s: leads to %q, want %q", a.Request.Method, a.Request.URL.Path, a.location(), location[0])
	}
}

// shows fails unless the body has each text.
func shows(t testing.TB, a answer, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("%s %s does not show %q:\n%.2000s", a.Request.Method, a.Request.URL.Path, text, a.body)
		}
	}
}

type lockedBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuilder) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuilder) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }
