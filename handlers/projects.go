package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"donewhen/views"
)

func (s *Server) projectRoutes() []route {
	return []route{
		{Method: get, Path: "/projects", Role: viewer, Handler: s.showProjects},
		{Method: get, Path: "/projects/new", Role: admin, Handler: s.showNewProject},
		{Method: post, Path: "/projects/new", Role: admin, Handler: s.addProject},
	}
}

// GET /projects
func (s *Server) showProjects(c echo.Context) error {
	list, err := s.Reader.Projects(c.Request().Context())
	if err != nil {
		return err
	}
	role := s.user(c).Role
	v := views.ProjectsView{CanAdd: role.Can(admin), CanPlan: role.Can(lead)}
	for _, p := range list {
		v.Rows = append(v.Rows, views.ProjectRow{ID: p.ID, Name: p.Name, Path: p.Path, Branch: p.TargetBranch, NeedsDod: p.RequireDoD, Example: p.Example, Missing: s.Engine.ProjectMissing(p)})
	}
	if v.Meta, err = s.meta(c, "Projects", views.NavProjects); err != nil {
		return err
	}
	return s.page(c, http.StatusOK, views.ProjectsPage(v))
}

// GET /projects/new
func (s *Server) showNewProject(c echo.Context) error {
	return s.projectFormPage(c, http.StatusOK, views.ProjectForm{NeedsDod: true})
}

// POST /projects/new
func (s *Server) addProject(c echo.Context) error {
	f := views.ProjectForm{Name: field(c, "name"), Path: field(c, "path"), Branch: field(c, "target_branch"), NeedsDod: field(c, "require_dod") != ""}
	p, err := s.Engine.AddProject(c.Request().Context(), s.actor(c), f.Name, f.Path, f.Branch, f.NeedsDod)
	if e, status, ok := refusal(err); ok {
		f.Message, f.Errors = e.Message, e.Fields
		return s.projectFormPage(c, status, f)
	}
	if err != nil {
		return err
	}
	if err := s.flash(c, views.FlashDone, "The project %s is registered.", p.Name); err != nil {
		return err
	}
	return seeOther(c, views.ProjectsPath)
}

func (s *Server) projectFormPage(c echo.Context, status int, f views.ProjectForm) error {
	var err error
	if f.Meta, err = s.meta(c, "New project", views.NavProjects); err != nil {
		return err
	}
	return s.page(c, status, views.ProjectFormPage(f))
}
