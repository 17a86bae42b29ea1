package handlers

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/views"
)

// requireLogin lets a request through when its route is declared open, or when
// somebody is logged in whose role reaches the route's. Everything else is
// refused, addresses that do not exist too.
func (s *Server) requireLogin(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		route, known := s.byRoute[r.Method+" "+c.Path()]
		if known && route.Open {
			return next(c)
		}
		in, ok, err := s.who(c)
		if err != nil {
			return err
		}
		if !ok {
			return s.askForLogin(c, route.Stream || wantsStream(r))
		}
		if known && !in.user.Role.Can(route.Role) {
			return models.Errorf(models.CodeForbidden, "This needs the role %s; yours is %s. Ask somebody who has it.", route.Role, in.user.Role)
		}
		if !known || !route.Stream {
			return next(c)
		}
		sess, err := s.session(c)
		if err != nil {
			return err
		}
		ctx, stop := s.Accounts.Watch(r.Context(), sess.ID, in.session)
		defer stop()
		c.SetRequest(r.WithContext(ctx))
		return next(c)
	}
}

// askForLogin leads to the login page and back: a page or a form by a redirect.
// A part of a page and a stream get a plain 401: the page says so and stays, with
// what is typed on it.
func (s *Server) askForLogin(c echo.Context, stream bool) error {
	r := c.Request()
	h := c.Response().Header()
	h.Set("Cache-Control", "no-store")
	switch {
	case stream:
		return c.String(http.StatusUnauthorized, "Log in first.\n")
	case r.Header.Get("HX-Request") == "true":
		return c.NoContent(http.StatusUnauthorized)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		return c.Redirect(http.StatusFound, views.LoginNextPath(safeNext(r.URL.RequestURI())))
	default: // a write cannot be repeated after the login
		return c.Redirect(http.StatusSeeOther, views.LoginEndedPath(sentFrom(r)))
	}
}

// sentFrom is the page that a form was sent from, the start page when it is not known.
func sentFrom(r *http.Request) string {
	if at, err := url.Parse(r.Header.Get("Referer")); err == nil && at.Host == r.Host {
		return safeNext(at.RequestURI())
	}
	return views.HomePath()
}

// safeNext returns next when it is a path of this server that a login may lead
// to, and the start page otherwise. Browsers take "//", "/\" and paths with
// control characters for other sites' addresses.
func safeNext(next string) string {
	u, err := url.Parse(next)
	if err != nil || len(next) > 2000 || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") ||
		u.Host != "" || u.Scheme != "" || strings.ContainsFunc(next, func(r rune) bool { return r < ' ' || r == '\\' || r == 0x7f }) {
		return views.HomePath()
	}
	switch u.Path {
	case views.LoginPath(), views.LogoutPath():
		return views.HomePath()
	}
	return next
}

func wantsStream(r *http.Request) bool {
	return strings.HasPrefix(r.Header.Get("Accept"), "text/event-stream")
}
