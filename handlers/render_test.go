package handlers

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/views"
)

// probe adds a route to a site for the time of a test and asks for it as a viewer.
func (s *site) probe(h echo.HandlerFunc) *client {
	s.t.Helper()
	s.srv.register(route{Method: get, Path: "/probe", Role: viewer, Handler: h})
	return s.as(s.people()[models.RoleViewer])
}

func text(body string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error { _, err := io.WriteString(w, body); return err })
}

func TestA8_02_PageOrFragment(t *testing.T) {
	s := newSite(t, nil)
	c := s.probe(func(c echo.Context) error {
		return s.srv.pageOrFragment(c,
			func() (templ.Component, error) {
				meta, err := s.srv.meta(c, "Probe", "")
				return views.ErrorPage(views.ErrorView{Meta: meta, Title: "Probe"}), err
			},
			func() (templ.Component, error) { return text("<p>part</p>"), nil })
	})
	for _, row := range []struct {
		name    string
		headers []string
		whole   bool
	}{
		{"none", nil, true},
		{"HX-Request", []string{"HX-Request", "true"}, false},
		{"history restore", []string{"HX-Request", "true", "HX-History-Restore-Request", "true"}, true},
	} {
		a := c.get("/probe", row.headers...)
		want(t, a, http.StatusOK)
		if strings.Contains(a.body, "<html") != row.whole {
			t.Errorf("%s: %.200s", row.name, a.body)
		}
		if !slices.Contains(a.Header.Values("Vary"), "HX-Request") {
			t.Errorf("%s: Vary %q", row.name, a.Header.Values("Vary"))
		}
		if cache := a.Header.Get("Cache-Control"); !row.whole && cache != "no-store" || row.whole && cache != "private, no-cache" {
			t.Errorf("%s: Cache-Control %q", row.name, cache)
		}
	}
}

func TestVersionedPartIsRenderedOncePerVersion(t *testing.T) {
	s := newSite(t, nil)
	version, rendered := "1", 0
	c := s.probe(func(c echo.Context) error {
		return s.srv.versioned(c, version, func() (templ.Component, error) { rendered++; return text("part " + version), nil })
	})
	a := c.get("/probe")
	want(t, a, http.StatusOK)
	tag := a.Header.Get("ETag")
	a = c.get("/probe", "If-None-Match", `W/"other", `+tag)
	want(t, a, http.StatusNotModified)
	if rendered != 1 || a.body != "" || a.Header.Get("ETag") != tag {
		t.Errorf("rendered %d times, body %q", rendered, a.body)
	}
	version = "2"
	want(t, c.get("/probe", "If-None-Match", tag), http.StatusOK)
	// Another role sees other buttons.
	admin := s.client()
	admin.post("/login", "name", "ada", "password", password)
	want(t, admin.get("/probe", "If-None-Match", c.get("/probe").Header.Get("ETag")), http.StatusOK)
}

func TestErrorsBecomeAnswers(t *testing.T) {
	secret := errors.New("open /var/lib/secret: disk on fire")
	var now error
	s := newSite(t, nil)
	c := s.probe(func(echo.Context) error {
		if now == nil {
			panic("out of tea")
		}
		return now
	})
	for _, row := range []struct {
		err    error
		status int
		text   string
	}{
		{models.Invalid("a", "Type a number."), 422, "Type a number."},
		{models.Errorf(models.CodeNotFound, "There is no plan 7."), 404, "There is no plan 7."},
		{&models.Error{Code: models.CodeConflict, Message: "The gate is closed.", Details: []string{"2 of 5 failed", "<b>one</b>"}}, 409, "2 of 5 failed</li>"},
		{models.Errorf(models.CodeForbidden, "Ask an admin."), 403, "Ask an admin."},
		{models.Errorf(models.CodeUnavailable, "Try again later."), 503, "Try again later."},
		{errors.Join(errors.New("context"), models.Errorf(models.CodeConflict, "It moved.")), 409, "It moved."},
		{echo.NewHTTPError(http.StatusTeapot), 418, "teapot"},
		{secret, 500, "Reference "},
		{&models.Error{Code: models.CodeInternal, Message: "disk on fire"}, 500, "Reference "},
		{nil, 500, "Reference "},
	} {
		now = row.err
		page := c.get("/probe")
		want(t, page, row.status)
		shows(t, page, row.text, "<html", `role="alert"`, "vic") // with the menu
		part := c.get("/probe", "HX-Request", "true")
		want(t, part, row.status)
		shows(t, part, row.text, `role="alert"`)
		if strings.Contains(part.body, "<html") {
			t.Errorf("%v: a whole page for a part", row.err)
		}
		stream := c.get("/probe", "Accept", "text/event-stream")
		want(t, stream, row.status)
		for _, a := range []answer{page, part, stream} {
			if strings.Contains(a.body, "disk on fire") || strings.Contains(a.body, "out of tea") || strings.Contains(a.body, "<b>one") {
				t.Errorf("%v: shown as it is: %.300s", row.err, a.body)
			}
			if a.Header.Get("Cache-Control") != "no-store" && a.Request.Header.Get("HX-Request") != "" {
				t.Errorf("%v: Cache-Control %q", row.err, a.Header.Get("Cache-Control"))
			}
		}
	}
	for _, logged := range []string{"disk on fire", "out of tea"} {
		if !strings.Contains(s.logs.String(), logged) {
			t.Errorf("%q is not in the log", logged)
		}
	}
	if strings.Contains(s.logs.String(), "Type a number") {
		t.Error("a refusal is logged as a fault")
	}
}

func TestFailingComponentLeavesNoHalfPage(t *testing.T) {
	s := newSite(t, nil)
	c := s.probe(func(c echo.Context) error {
		return s.srv.page(c, http.StatusOK, templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
			_, _ = io.WriteString(w, "first half")
			return errors.New("torn")
		}))
	})
	a := c.get("/probe")
	want(t, a, http.StatusInternalServerError)
	if strings.Contains(a.body, "first half") {
		t.Error("half a page")
	}
}

func TestStreamEndsWithTheSession(t *testing.T) {
	s := newSite(t, nil)
	opened, ended := make(chan struct{}), make(chan struct{})
	s.srv.register(route{Method: get, Path: "/probe/stream", Role: viewer, Stream: true, Handler: func(c echo.Context) error {
		c.Response().WriteHeader(http.StatusOK)
		c.Response().Flush()
		close(opened)
		<-c.Request().Context().Done()
		close(ended)
		return nil
	}})
	c := s.as(s.people()[models.RoleViewer])
	token := c.cookies[cookieName].Value
	done := make(chan answer, 1)
	go func() { done <- c.get("/probe/stream", "Accept", "text/event-stream") }()
	<-opened
	select {
	case <-ended:
		t.Fatal("the stream of a good session ended by itself")
	default:
	}
	if err := s.accounts.EndSession(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	<-ended
	want(t, <-done, http.StatusOK)
	want(t, c.get("/probe/stream", "Accept", "text/event-stream"), http.StatusUnauthorized)
}

func TestSecurityHeadersAreEverywhere(t *testing.T) {
	s := newSite(t, nil)
	c := s.as(s.people()[models.RoleAdmin])
	for _, a := range []answer{
		c.get("/users"), c.get("/login"), c.get("/nothing"), c.get("/healthz"), c.get("/static/none.css"), s.client().get("/users"),
		c.do(post, "/users/invites", nil, "Sec-Fetch-Site", "cross-site"),
	} {
		for name, value := range map[string]string{
			"Content-Security-Policy": contentPolicy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "X-Frame-Options": "DENY",
		} {
			if got := a.Header.Get(name); got != value {
				t.Errorf("%s: %s is %q", a.Request.URL.Path, name, got)
			}
		}
		if strings.Contains(a.body, "<style") || strings.Contains(a.body, " style=") || strings.Contains(a.body, " onclick") || strings.Contains(a.body, "<script>") {
			t.Errorf("%s: something inline", a.Request.URL.Path)
		}
	}
}

func TestTooLargeAndBrokenForms(t *testing.T) {
	s := newSite(t, nil)
	c := s.as(s.people()[models.RoleAdmin])
	big := strings.Repeat("x", 5<<20)
	want(t, c.post("/users/invites", "role", big), http.StatusRequestEntityTooLarge)
	r := httptest.NewRequest(post, "/users/invites", io.MultiReader(strings.NewReader("role="), strings.NewReader(big))) // of unknown length
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.AddCookie(c.cookies[cookieName])
	w := httptest.NewRecorder()
	s.srv.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("of unknown length: %d", w.Code)
	}
	r = httptest.NewRequest(post, "/users/invites", strings.NewReader("role=%zz"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.AddCookie(c.cookies[cookieName])
	w = httptest.NewRecorder()
	s.srv.ServeHTTP(w, r)
	if w.Code != http.StatusBadRequest {
		t.Errorf("broken: %d", w.Code)
	}
}

func TestHealth(t *testing.T) {
	var sick error
	s := newSite(t, func(d *Deps) { d.Health = func(context.Context) error { return sick } })
	want(t, s.client().get("/healthz"), http.StatusOK)
	sick = errors.New("disk on fire")
	a := s.client().get("/healthz")
	want(t, a, http.StatusServiceUnavailable)
	if strings.Contains(a.body, "fire") {
		t.Error("the reason is shown to anybody")
	}
}
