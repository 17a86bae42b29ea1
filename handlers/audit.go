package handlers

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// auditPage is how many events stand on one page.
const auditPage = 100

// auditNouns are what the audit log can be narrowed to.
var auditNouns = []string{"plan", "phase", "pass", "run", "evaluation", "criterion", "apply", "judge", "template", "project", "user"}

// GET /audit?about=&who=&q=&before=ID. What is odd in the address is left out.
func (s *Server) showAudit(c echo.Context) error {
	before, err := strconv.ParseInt(c.QueryParam("before"), 10, 64)
	if err != nil || before < 1 {
		before = 0 // an odd address is the newest page
	}
	f := models.EventFilter{Words: strings.TrimSpace(strings.ToValidUTF8(c.QueryParam("q"), "")), People: c.QueryParam("who") == "people"}
	if noun := c.QueryParam("about"); slices.Contains(auditNouns, noun) {
		f.Noun = noun
	}
	events, older, err := s.Reader.Events(c.Request().Context(), f, before, auditPage)
	if err != nil {
		return err
	}
	v := views.AuditView{About: f.Noun, Words: f.Words, Filtered: f != (models.EventFilter{}), Abouts: []ui.Option{{Value: "", Label: "Anything"}}}
	for _, noun := range auditNouns {
		v.Abouts = append(v.Abouts, ui.Option{Value: noun, Label: noun})
	}
	if f.People {
		v.Who = "people"
	}
	if older > 0 {
		v.Older = v.At(older)
	}
	if before > 0 {
		v.Newest = v.At(0)
	}
	for _, e := range events {
		v.Rows = append(v.Rows, auditRow(e))
	}
	if v.Meta, err = s.meta(c, "Audit", views.NavAudit); err != nil {
		return err
	}
	return s.page(c, http.StatusOK, views.AuditPage(v))
}

func auditRow(e models.Event) views.AuditRow {
	r := views.AuditRow{ID: e.ID, At: e.CreatedAt, Actor: e.Actor, Server: e.ActorID == 0, Kind: e.Kind, From: views.Word(e.From), To: views.Word(e.To), Reason: e.Reason}
	if e.PlanID != "" {
		r.PlanID, r.Href = e.PlanID, views.PlanPath(e.PlanID)
		if e.PhaseID != nil {
			r.Href = views.PhasePath(e.PlanID, *e.PhaseID)
		}
	}
	return r
}
