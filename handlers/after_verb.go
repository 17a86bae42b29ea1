package handlers

import (
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/views"
)

// isVerb says whether the address is one that a form posts to.
func (s *Server) isVerb(c echo.Context) bool {
	_, ok := s.byRoute[post+" "+strings.Replace(c.Path(), ":verb", c.Param("verb"), 1)]
	return ok
}

var errNoVerb error = models.Errorf(models.CodeNotFound, "There is nothing at this address. It may have been typed wrongly.")

// GET of a verb of a plan or of one of its criteria
func (s *Server) afterPlanVerb(c echo.Context) error {
	id, err := planParam(c)
	if err != nil {
		return err
	}
	if !s.isVerb(c) {
		return errNoVerb
	}
	return seeOther(c, views.PlanPath(id))
}

// GET of a verb of a phase
func (s *Server) afterPhaseVerb(c echo.Context) error {
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	if !s.isVerb(c) {
		return errNoVerb
	}
	ph, err := s.Reader.Phase(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return seeOther(c, views.PhasePath(ph.PlanID, id))
}
