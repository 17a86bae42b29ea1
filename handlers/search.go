package handlers

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/views"
)

func (s *Server) searchRoutes() []route {
	return []route{{Method: get, Path: views.SearchPath, Role: viewer, Handler: s.search}}
}

const (
	searchPlans = 8   // how many plans the palette shows
	searchWords = 200 // characters that are looked for; the palette's field takes no more
)

// GET /search?q=, the palette's plans: those with the words in title or goal,
// the newest first, or the newest of all. Without scripts the list of plans
// answers.
func (s *Server) search(c echo.Context) error {
	words := strings.TrimSpace(strings.ToValidUTF8(c.QueryParam("q"), ""))
	if r := []rune(words); len(r) > searchWords {
		words = string(r[:searchWords])
	}
	if !wantsFragment(c) {
		return c.Redirect(http.StatusFound, views.PlansSearchPath(words))
	}
	rows, _, err := s.Reader.Plans(c.Request().Context(), models.PlanFilter{Search: words, Limit: searchPlans})
	if err != nil {
		return err
	}
	found := views.FoundPlans{Words: words}
	for _, r := range rows {
		found.Rows = append(found.Rows, views.FoundPlan{ID: r.ID, Title: r.Title, Project: r.ProjectName, Status: r.Status})
	}
	return s.fragment(c, http.StatusOK, views.FoundPlansPart(found))
}
