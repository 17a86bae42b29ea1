package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/views"
)

// GET /account
func (s *Server) showAccount(c echo.Context) error {
	return s.accountPage(c, http.StatusOK, views.AccountView{})
}

// POST /account/password
func (s *Server) changePassword(c echo.Context) error {
	r := c.Request()
	sess, err := s.session(c)
	if err != nil {
		return err
	}
	err = s.Accounts.ChangePassword(r.Context(), s.user(c).ID, secret(c, "old"), secret(c, "password"), s.ClientAddr(r), sess.ID)
	if e, ok := invalid(err); ok {
		return s.accountPage(c, http.StatusUnprocessableEntity, views.AccountView{Errors: e.Fields})
	}
	if e, status, ok := refusal(err); ok && e.Code == models.CodeTooMany {
		setRetryAfter(c, e)
		return s.accountPage(c, status, views.AccountView{Error: e.Message})
	}
	if err != nil {
		return err
	}
	if err := s.flash(c, views.FlashDone, "Your password is changed. Your other logins have ended."); err != nil {
		return err
	}
	return seeOther(c, views.AccountPath())
}

// POST /account/sessions/end
func (s *Server) logoutEverywhere(c echo.Context) error {
	if err := s.Accounts.EndSessionsOf(c.Request().Context(), s.user(c).ID); err != nil {
		return err
	}
	if err := s.sessions.end(c); err != nil {
		return err
	}
	return seeOther(c, loginNote("all"))
}

func (s *Server) accountPage(c echo.Context, status int, v views.AccountView) error {
	meta, err := s.meta(c, "Your account", "")
	if err != nil {
		return err
	}
	v.Meta = meta
	return s.page(c, status, views.AccountPage(v))
}
