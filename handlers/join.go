package handlers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// GET /setup/:token
func (s *Server) showSetup(c echo.Context) error {
	return s.showJoin(c, engine.LinkSetup, views.SetupPath(c.Param("token")))
}

// POST /setup/:token
func (s *Server) setup(c echo.Context) error {
	return s.join(c, engine.LinkSetup, views.SetupPath(c.Param("token")), s.Accounts.Setup)
}

// GET /invite/:token
func (s *Server) showInvite(c echo.Context) error {
	return s.showJoin(c, engine.LinkInvite, views.InvitePath(c.Param("token")))
}

// POST /invite/:token
func (s *Server) acceptInvite(c echo.Context) error {
	return s.join(c, engine.LinkInvite, views.InvitePath(c.Param("token")), s.Accounts.AcceptInvite)
}

func (s *Server) showJoin(c echo.Context, kind, action string) error {
	link, err := s.Accounts.Link(c.Request().Context(), kind, c.Param("token"))
	if err != nil {
		return err
	}
	return s.joinPage(c, http.StatusOK, link, views.JoinView{Action: action})
}

// join makes the user and logs in.
func (s *Server) join(c echo.Context, kind, action string, verb func(ctx context.Context, token, name, password string) (models.User, error)) error {
	ctx, token, name := c.Request().Context(), c.Param("token"), field(c, "name")
	user, err := verb(ctx, token, name, secret(c, "password"))
	if e, ok := invalid(err); ok {
		link, err := s.Accounts.Link(ctx, kind, token)
		if err != nil {
			return err
		}
		return s.joinPage(c, http.StatusUnprocessableEntity, link, views.JoinView{Action: action, Name: name, Errors: e.Fields})
	}
	if err != nil {
		return err
	}
	if err := s.sessions.start(c, user, s.Now()); err != nil {
		return err
	}
	return seeOther(c, views.HomePath())
}

func (s *Server) joinPage(c echo.Context, status int, link models.Invite, v views.JoinView) error {
	v.Setup, v.Role = link.Kind == engine.LinkSetup, string(link.Role)
	v.Meta = views.PageMeta{Title: "Welcome", Now: s.Now()}
	return s.page(c, status, views.JoinPage(v))
}

// GET /reset/:token
func (s *Server) showReset(c echo.Context) error { return s.resetPage(c, http.StatusOK, nil) }

// POST /reset/:token
func (s *Server) reset(c echo.Context) error {
	_, err := s.Accounts.SetPassword(c.Request().Context(), c.Param("token"), secret(c, "password"))
	if e, ok := invalid(err); ok {
		return s.resetPage(c, http.StatusUnprocessableEntity, e.Fields)
	}
	if err != nil {
		return err
	}
	return seeOther(c, loginNote("password"))
}

func (s *Server) resetPage(c echo.Context, status int, errs map[string]string) error {
	token := c.Param("token")
	name, err := s.Accounts.ResetName(c.Request().Context(), token)
	if err != nil {
		return err
	}
	return s.page(c, status, views.ResetPage(views.ResetView{
		Meta: views.PageMeta{Title: "New password", Now: s.Now()}, Name: name, Action: views.ResetPath(token), Errors: errs,
	}))
}
