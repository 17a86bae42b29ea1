package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"donewhen/views"
)

// loginNotes are what the login page says when another page led to it.
var loginNotes = map[string]string{
	"out":      "You are logged out.",
	"all":      "You are logged out everywhere.",
	"ended":    "Your session has ended: nothing was recorded of what you just sent. Log in, then send it once more.",
	"password": "Your new password is set. Log in with it.",
}

// loginNote is the login page with one of loginNotes.
func loginNote(note string) string { return views.LoginPath() + "?note=" + note }

// GET /login
func (s *Server) showLogin(c echo.Context) error {
	next := safeNext(c.QueryParam("next"))
	if _, ok, err := s.who(c); err != nil {
		return err
	} else if ok {
		return seeOther(c, next)
	}
	return s.loginPage(c, http.StatusOK, views.LoginView{Next: next, Note: loginNotes[c.QueryParam("note")]})
}

// POST /login
func (s *Server) login(c echo.Context) error {
	r := c.Request()
	name, next := field(c, "name"), safeNext(field(c, "next"))
	user, err := s.Accounts.Login(r.Context(), name, secret(c, "password"), s.ClientAddr(r))
	if err == nil {
		err = s.sessions.start(c, user, s.Now())
	}
	if err == nil {
		return seeOther(c, next)
	}
	e, status, ok := refusal(err)
	if !ok {
		return err
	}
	setRetryAfter(c, e)
	return s.loginPage(c, status, views.LoginView{Name: name, Next: next, Error: e.Message})
}

func (s *Server) loginPage(c echo.Context, status int, v views.LoginView) error {
	any, err := s.Accounts.Any(c.Request().Context())
	if err != nil {
		return err
	}
	v.Meta, v.First = views.PageMeta{Title: "Log in", Now: s.Now()}, !any
	if v.Next == views.HomePath() {
		v.Next = ""
	}
	return s.page(c, status, views.LoginPage(v))
}

// POST /logout
func (s *Server) logout(c echo.Context) error {
	if err := s.sessions.end(c); err != nil {
		return err
	}
	return seeOther(c, loginNote("out"))
}
