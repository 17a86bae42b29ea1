package handlers

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/static"
)

// route is one thing that can be asked for.
type route struct {
	Method  string
	Path    string
	Role    models.Role // who may: users with this role or a higher one
	Handler echo.HandlerFunc
	Open    bool // needs no login; Role is empty
	Stream  bool // an event stream: answers 401 instead of leading to the login, ends with the session
}

// Short forms for the list.
const (
	get    = http.MethodGet
	post   = http.MethodPost
	viewer = models.RoleViewer
	lead   = models.RoleLead
	admin  = models.RoleAdmin
)

// routes is everything, noun by noun. GET and HEAD change nothing; everything
// that changes something is a POST.
func (s *Server) routes() []route {
	return slices.Concat(s.accountRoutes(), s.planRoutes(), s.planFormRoutes(), s.templateRoutes(), s.projectRoutes(), s.overviewRoutes(), s.insightRoutes(), s.replayRoutes(), s.judgeRoutes(), s.searchRoutes())
}

// accountRoutes are files, health, getting in, the reader's own account and users.
func (s *Server) accountRoutes() []route {
	return []route{
		// Open: files, health, getting in.
		{Method: get, Path: static.Prefix + "*", Handler: echo.WrapHandler(static.Handler()), Open: true},
		{Method: get, Path: "/healthz", Handler: s.health, Open: true},
		{Method: get, Path: "/login", Handler: s.showLogin, Open: true},
		{Method: post, Path: "/login", Handler: s.login, Open: true},
		{Method: get, Path: "/setup/:token", Handler: s.showSetup, Open: true},
		{Method: post, Path: "/setup/:token", Handler: s.setup, Open: true},
		{Method: get, Path: "/invite/:token", Handler: s.showInvite, Open: true},
		{Method: post, Path: "/invite/:token", Handler: s.acceptInvite, Open: true},
		{Method: get, Path: "/reset/:token", Handler: s.showReset, Open: true},
		{Method: post, Path: "/reset/:token", Handler: s.reset, Open: true},

		// The reader's own account.
		{Method: post, Path: "/logout", Role: viewer, Handler: s.logout},
		{Method: get, Path: "/account", Role: viewer, Handler: s.showAccount},
		{Method: post, Path: "/account/password", Role: viewer, Handler: s.changePassword},
		{Method: post, Path: "/account/sessions/end", Role: viewer, Handler: s.logoutEverywhere},

		// Users.
		{Method: get, Path: "/users", Role: admin, Handler: s.showUsers},
		{Method: post, Path: "/users/invites", Role: admin, Handler: s.inviteUser},
		{Method: post, Path: "/users/invites/:id/withdraw", Role: admin, Handler: s.withdrawInvite},
		{Method: post, Path: "/users/:id/role", Role: admin, Handler: s.changeRole},
		{Method: post, Path: "/users/:id/disable", Role: admin, Handler: s.disableUser},
		{Method: post, Path: "/users/:id/enable", Role: admin, Handler: s.enableUser},
		{Method: post, Path: "/users/:id/reset", Role: admin, Handler: s.resetUser},
	}
}

// health says that the server answers and its database does.
func (s *Server) health(c echo.Context) error {
	if s.Health != nil {
		if err := s.Health(c.Request().Context()); err != nil {
			s.Log.Error("health", "err", err)
			return c.String(http.StatusServiceUnavailable, "not healthy: the log says why\n")
		}
	}
	return c.String(http.StatusOK, "ok\n")
}
