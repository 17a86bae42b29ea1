package handlers

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"donewhen/views"
)

// eventsPage is how many events stand on one page of a plan's activity.
const eventsPage = 60

// GET /plans/:id/activity?before=
func (s *Server) showPlanActivity(c echo.Context) error {
	id, err := planParam(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	b, err := s.planBuilder(c, id, nil)
	if err != nil {
		return err
	}
	v := views.ActivityPage{Plan: b.plan().Title, PlanID: id}
	before := int64(0)
	if given := c.QueryParam("before"); given != "" {
		if before, err = strconv.ParseInt(given, 10, 64); err != nil || before < 1 {
			before, v.Message = 0, "The place that the address names does not exist. These are the newest events."
		}
	}
	if v.Card, err = b.activity(ctx, before, eventsPage); err != nil {
		return err
	}
	if len(v.Card.Events) == 0 && before > 0 {
		before, v.Message = 0, "There is nothing behind the place that the address names. These are the newest events."
		if v.Card, err = b.activity(ctx, 0, eventsPage); err != nil {
			return err
		}
	}
	if before > 0 {
		v.Card.Newest = views.PlanActivityPath(id, 0)
	}
	if v.PageMeta, err = s.meta(c, "Activity of "+v.Plan, views.NavPlans); err != nil {
		return err
	}
	return s.page(c, http.StatusOK, views.PlanActivityPage(v))
}
