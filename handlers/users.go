package handlers

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// GET /users
func (s *Server) showUsers(c echo.Context) error {
	return s.usersPage(c, http.StatusOK, views.UsersView{})
}

// POST /users/invites
func (s *Server) inviteUser(c echo.Context) error {
	role := field(c, "role")
	token, err := s.Accounts.Invite(c.Request().Context(), s.actor(c), models.Role(role))
	if err != nil {
		return s.usersRefused(c, err, role)
	}
	return s.usersPage(c, http.StatusCreated, views.UsersView{Role: role, Link: &views.NewLink{
		URL: s.absolute(c.Request(), views.InvitePath(token)), For: "a new " + role, Expires: s.Now().Add(engine.InviteLinkLife),
	}})
}

// POST /users/invites/:id/withdraw
func (s *Server) withdrawInvite(c echo.Context) error {
	return s.changeUser(c, s.Accounts.WithdrawInvite, "The invitation is withdrawn: its link does not work any more.")
}

// POST /users/:id/role
func (s *Server) changeRole(c echo.Context) error {
	role := models.Role(field(c, "role"))
	return s.changeUser(c, func(ctx context.Context, a models.Actor, id int64) error {
		return s.Accounts.ChangeRole(ctx, a, id, role)
	}, "The role is changed to "+string(role)+".")
}

// POST /users/:id/disable
func (s *Server) disableUser(c echo.Context) error {
	return s.changeUser(c, s.Accounts.Disable, "The account is disabled and its logins have ended.")
}

// POST /users/:id/enable
func (s *Server) enableUser(c echo.Context) error {
	return s.changeUser(c, s.Accounts.Enable, "The account is enabled.")
}

// POST /users/:id/reset
func (s *Server) resetUser(c echo.Context) error {
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	name, token, err := s.Accounts.ResetLinkOf(c.Request().Context(), s.actor(c), id)
	if err != nil {
		return s.usersRefused(c, err, "")
	}
	return s.usersPage(c, http.StatusCreated, views.UsersView{Link: &views.NewLink{
		URL: s.absolute(c.Request(), views.ResetPath(token)), For: name + " to set a new password", Expires: s.Now().Add(engine.ResetLinkLife),
	}})
}

// changeUser does one thing to what the address names and shows the list again.
func (s *Server) changeUser(c echo.Context, verb func(context.Context, models.Actor, int64) error, done string) error {
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	if err := verb(c.Request().Context(), s.actor(c), id); err != nil {
		return s.usersRefused(c, err, "")
	}
	if err := s.flash(c, views.FlashDone, "%s", done); err != nil {
		return err
	}
	return seeOther(c, views.UsersPath())
}

// usersRefused shows the list with the reason.
func (s *Server) usersRefused(c echo.Context, err error, role string) error {
	e, status, ok := refusal(err)
	if !ok {
		return err
	}
	return s.usersPage(c, status, views.UsersView{Role: role, Error: e.Message})
}

func (s *Server) usersPage(c echo.Context, status int, v views.UsersView) error {
	ctx, actor := c.Request().Context(), s.actor(c)
	users, err := s.Accounts.Users(ctx, actor)
	if err != nil {
		return err
	}
	names := map[int64]string{}
	for _, u := range users {
		names[u.ID] = u.Name
		row := views.UserRow{ID: u.ID, Name: u.Name, Role: string(u.Role), Self: u.ID == actor.ID, Disabled: u.DisabledAt != nil}
		if u.LastSeenAt != nil {
			row.LastSeen = *u.LastSeenAt
		}
		v.Users = append(v.Users, row)
	}
	invites, err := s.Accounts.OpenInvites(ctx, actor)
	if err != nil {
		return err
	}
	for _, i := range invites {
		v.Invites = append(v.Invites, views.InviteRow{ID: i.ID, Role: string(i.Role), By: names[i.CreatedBy], Made: i.CreatedAt, Expires: i.ExpiresAt})
	}
	if v.Role == "" {
		v.Role = string(models.RoleLead)
	}
	if v.Meta, err = s.meta(c, "Users", views.NavUsers); err != nil {
		return err
	}
	return s.page(c, status, views.UsersPage(v))
}
