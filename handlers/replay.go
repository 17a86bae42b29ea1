package handlers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// replayReader is what the page reads to choose passes.
type replayReader interface {
	DecidedPasses(ctx context.Context, f models.PassFilter) ([]models.DecidedPass, error)
	Phase(ctx context.Context, id int64) (models.Phase, error)
	Plan(ctx context.Context, id string) (models.Plan, error)
	Projects(ctx context.Context) ([]models.Project, error)
}

const replayUsual = 20 // passes, or plans, unless another number is wanted

func (s *Server) replayRoutes() []route {
	return []route{
		{Method: get, Path: views.ReplayPath, Role: lead, Handler: s.showReplay},
		{Method: post, Path: views.ReplayPath, Role: lead, Handler: s.replay},
	}
}

// replayDraft is the form as it was sent.
type replayDraft struct {
	filter               models.PassFilter
	condition, evaluator string
	passes               []int64 // chosen; nil = all that are listed
}

func replayFilter(project, name, last string) models.PassFilter {
	f := models.PassFilter{Phase: strings.TrimSpace(name), Limit: replayUsual}
	if n, err := strconv.Atoi(last); err == nil {
		f.Limit = min(max(n, 1), engine.MaxReplay)
	}
	f.ProjectID, _ = strconv.ParseInt(project, 10, 64) // anything else is all of them
	return f
}

// GET /replay?phase=ID or ?project=&name=&last=
func (s *Server) showReplay(c echo.Context) error {
	ctx := c.Request().Context()
	d := replayDraft{filter: replayFilter(c.QueryParam("project"), c.QueryParam("name"), c.QueryParam("last"))}
	if asked := c.QueryParam("phase"); asked != "" {
		id, err := strconv.ParseInt(asked, 10, 64)
		if err != nil {
			return models.Errorf(models.CodeNotFound, "There is no such phase. Choose the passes by project and phase name.")
		}
		ph, err := s.Reader.Phase(ctx, id)
		if err != nil {
			return err
		}
		p, err := s.Reader.Plan(ctx, ph.PlanID)
		if err != nil {
			return err
		}
		d.filter.ProjectID, d.filter.Phase, d.condition = p.ProjectID, ph.Name, ph.DoneWhen
	}
	v, err := s.replayView(ctx, d)
	if err != nil {
		return err
	}
	return s.replayPage(c, http.StatusOK, v)
}

// POST /replay: tries the condition. It may take a while: it ends when the
// browser goes away.
func (s *Server) replay(c echo.Context) error {
	ctx := c.Request().Context()
	d := replayDraft{filter: replayFilter(field(c, "project"), field(c, "name"), field(c, "last")),
		condition: field(c, "done_when"), evaluator: field(c, "evaluator"), passes: []int64{}}
	for _, text := range c.Request().PostForm["pass"] {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil && !slices.Contains(d.passes, id) {
			d.passes = append(d.passes, id)
		}
	}
	var (
		r   engine.ReplayReport
		err error = models.Invalid("passes", "Choose at least one pass.")
	)
	if len(d.passes) > 0 {
		r, err = s.Engine.Replay(ctx, s.actor(c), engine.ReplayInput{PassIDs: d.passes, DoneWhen: d.condition, Evaluator: d.evaluator})
	}
	refused, status, isRefusal := refusal(err)
	if err != nil && !isRefusal {
		return err
	}
	v, err := s.replayView(ctx, d)
	if err != nil {
		return err
	}
	if isRefusal {
		v.Message, v.Errors = refused.Message, refused.Fields
		return s.replayPage(c, status, v)
	}
	v.Report = replayReport(r)
	return s.replayPage(c, http.StatusOK, v)
}

func (s *Server) replayView(ctx context.Context, d replayDraft) (views.ReplayView, error) {
	v := views.ReplayView{
		Projects: []ui.Option{{Value: "0", Label: "All projects"}}, Project: strconv.FormatInt(d.filter.ProjectID, 10), Name: d.filter.Phase,
		Last: strconv.Itoa(d.filter.Limit), Most: engine.MaxReplay, Condition: d.condition, Evaluator: d.evaluator,
	}
	projects, err := s.Reader.Projects(ctx)
	if err != nil {
		return v, err
	}
	for _, p := range projects {
		v.Projects = append(v.Projects, ui.Option{Value: strconv.FormatInt(p.ID, 10), Label: p.Name})
	}
	v.Judges = []ui.Option{{Value: engine.ReplayText, Label: "text (literal matching)"}}
	if spec := s.Engine.JudgeSpec(); spec != "text" {
		v.Judges = slices.Insert(v.Judges, 0, ui.Option{Value: engine.ReplayConfigured, Label: spec + " (as configured)"})
	}
	for _, spec := range s.Engine.Evaluators() {
		if spec != s.Engine.JudgeSpec() {
			v.Judges = append(v.Judges, ui.Option{Value: spec, Label: spec})
		}
	}
	if v.Evaluator == "" {
		v.Evaluator = v.Judges[0].Value
	}
	found, err := s.Reader.DecidedPasses(ctx, d.filter)
	if err != nil {
		return v, err
	}
	chosen := 0
	for _, p := range found {
		row := views.ReplayPass{ID: p.Pass.ID, Label: p.PlanTitle + ": " + passName(p.Pass, p.Phase), Met: p.Pass.Status == models.PassMet,
			Condition: p.Pass.EvidenceHash != "" || p.Pass.Status == models.PassNotMet, Chosen: d.passes == nil || slices.Contains(d.passes, p.Pass.ID)}
		if p.Pass.EndedAt != nil {
			row.Ended = *p.Pass.EndedAt
		}
		if row.Chosen {
			chosen++
		}
		v.Passes = append(v.Passes, row)
	}
	v.Foreseen = s.foreseen(d, chosen)
	return v, nil
}

// foreseen says what trying the condition will ask at most.
func (s *Server) foreseen(d replayDraft, passes int) string {
	spec := s.Engine.JudgeSpec()
	if slices.Contains(s.Engine.Evaluators(), d.evaluator) {
		spec = d.evaluator
	}
	switch n := s.Engine.ReplayQuestions(d.condition, d.evaluator); {
	case spec == "text" || d.evaluator == engine.ReplayText:
		return "Matched literally: nobody is asked."
	case n == 0:
		return fmt.Sprintf("Each line in plain words is one question to %s for each pass.", spec)
	default:
		return fmt.Sprintf("At most %d questions to %s: %d for each of %d passes.", n*passes, spec, n, passes)
	}
}

func (s *Server) replayPage(c echo.Context, status int, v views.ReplayView) error {
	var err error
	if v.Meta, err = s.meta(c, "Try a condition", views.NavInsight); err != nil {
		return err
	}
	return s.page(c, status, views.ReplayPage(v))
}
