package handlers

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
	"github.com/oklog/ulid/v2"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

func (s *Server) planRoutes() []route {
	return []route{
		{Method: get, Path: "/plans", Role: viewer, Handler: s.showPlans},
		{Method: get, Path: "/plans/:id", Role: viewer, Handler: s.showPlan},
		{Method: get, Path: "/plans/:id/diff", Role: viewer, Handler: s.showPlanDiff},
		{Method: get, Path: "/plans/:id/activity", Role: viewer, Handler: s.showPlanActivity},
		{Method: get, Path: "/plans/:id/dod", Role: lead, Handler: s.showPlanDod},
		{Method: post, Path: "/plans/:id/dod", Role: lead, Handler: s.editPlanDod},
		{Method: post, Path: "/plans/:id/start", Role: lead, Handler: s.startPlan},
		{Method: post, Path: "/plans/:id/pause", Role: lead, Handler: s.pausePlan},
		{Method: post, Path: "/plans/:id/resume", Role: lead, Handler: s.resumePlan},
		{Method: post, Path: "/plans/:id/cancel", Role: lead, Handler: s.cancelPlan},
		{Method: post, Path: "/plans/:id/discard", Role: lead, Handler: s.discardPlan},
		{Method: post, Path: "/plans/:id/clean", Role: lead, Handler: s.cleanPlan},
		{Method: post, Path: "/plans/:id/evaluate", Role: lead, Handler: s.evaluatePlan},
		{Method: post, Path: "/plans/:id/stop-evaluation", Role: lead, Handler: s.stopEvaluation},
		{Method: post, Path: "/plans/:id/budget", Role: lead, Handler: s.setBudget},
		{Method: post, Path: "/plans/:id/apply", Role: lead, Handler: s.applyPlan},
		{Method: post, Path: "/plans/:id/criteria/:n/waive", Role: lead, Handler: s.waiveCriterion},
		{Method: post, Path: "/plans/:id/criteria/:n/take-back-waiver", Role: lead, Handler: s.takeBackWaiver},
		{Method: post, Path: "/plans/:id/criteria/:n/take-back-approval", Role: lead, Handler: s.takeBackApproval},
		{Method: post, Path: "/plans/:id/criteria/:n/approve", Role: lead, Handler: s.approveCriterion},
		{Method: post, Path: "/plans/:id/criteria/:n/reject", Role: lead, Handler: s.rejectCriterion},

		{Method: post, Path: "/phases/:id/approve", Role: lead, Handler: s.approvePhase},
		{Method: post, Path: "/phases/:id/reject", Role: lead, Handler: s.rejectPhase},
		{Method: post, Path: "/phases/:id/another-pass", Role: lead, Handler: s.anotherPass},
		{Method: post, Path: "/phases/:id/more-passes", Role: lead, Handler: s.morePasses},
		{Method: post, Path: "/phases/:id/try-again", Role: lead, Handler: s.tryPhaseAgain},
		{Method: post, Path: "/phases/:id/edit-condition", Role: lead, Handler: s.editCondition},
		{Method: post, Path: "/phases/:id/judge-again", Role: lead, Handler: s.judgePhaseAgain},
		{Method: post, Path: "/phases/:id/retry", Role: lead, Handler: s.retryPhase},
		{Method: post, Path: "/phases/:id/stop-run", Role: lead, Handler: s.stopRun},
		{Method: post, Path: "/phases/:id/accept", Role: lead, Handler: s.acceptPhase},

		// A page that answered a form has its address: loaded anew it is the plan's.
		{Method: get, Path: "/plans/:id/:verb", Role: viewer, Handler: s.afterPlanVerb},
		{Method: get, Path: "/plans/:id/criteria/:n/:verb", Role: viewer, Handler: s.afterPlanVerb},
		{Method: get, Path: "/phases/:id/:verb", Role: viewer, Handler: s.afterPhaseVerb},

		{Method: get, Path: "/passes/:id", Role: viewer, Handler: s.showPass},
		{Method: post, Path: "/plans/:id/dod/preview", Role: lead, Handler: s.previewPlanDod},
		{Method: get, Path: "/runs/:id", Role: viewer, Handler: s.showRun},
		{Method: get, Path: "/runs/:id/log.txt", Role: viewer, Handler: s.rawLog},
		{Method: get, Path: "/runs/:id/log/events", Role: viewer, Handler: s.streamLog, Stream: true},
		{Method: get, Path: "/verdicts/:id", Role: viewer, Handler: s.showVerdict},
		{Method: get, Path: "/evaluations/:id", Role: viewer, Handler: s.showEvaluation},
		{Method: get, Path: "/events", Role: viewer, Handler: s.streamEvents, Stream: true},
	}
}

// plansPage is how many plans stand on one page of the list.
const plansPage = 50

// planStatuses are the filter's choices, in the order of a plan's life.
var planStatuses = []models.PlanStatus{models.PlanDraft, models.PlanRunning, models.PlanPaused, models.PlanWaiting, models.PlanFailed,
	models.PlanFinished, models.PlanApplying, models.PlanApplied, models.PlanCancelled, models.PlanDiscarded}

// GET /plans?status=&project=&q=&before=
func (s *Server) showPlans(c echo.Context) error {
	return s.pageOrFragment(c, func() (templ.Component, error) {
		v, err := s.plansView(c)
		if err == nil {
			v.PageMeta, err = s.meta(c, "Plans", views.NavPlans)
		}
		return views.PlansPage(v), err
	}, func() (templ.Component, error) {
		v, err := s.plansView(c)
		return views.PlansPart(v), err
	})
}

// plansView reads one page of the list. What is odd in the address is left out
// and said so; it never leads to an empty page without a way back.
func (s *Server) plansView(c echo.Context) (views.PlansView, error) {
	ctx := c.Request().Context()
	v := views.PlansView{
		PageMeta: views.PageMeta{Now: s.Now()}, Search: c.QueryParam("q"), CanNew: s.user(c).Role.Can(lead),
		Statuses: []ui.Option{{Value: "", Label: "Any"}}, Projects: []ui.Option{{Value: "", Label: "Any"}},
	}
	f := models.PlanFilter{Search: v.Search, Limit: plansPage}
	for _, st := range planStatuses {
		v.Statuses = append(v.Statuses, ui.Option{Value: string(st), Label: views.Word(st)})
	}
	if st := models.PlanStatus(c.QueryParam("status")); st != "" {
		if slices.Contains(planStatuses, st) {
			f.Status, v.Status = []models.PlanStatus{st}, string(st)
		} else {
			v.Message = "The status in the address is not known, so all plans are shown."
		}
	}
	projects, err := s.Reader.Projects(ctx)
	if err != nil {
		return v, err
	}
	wanted := c.QueryParam("project")
	for _, p := range projects {
		id := strconv.FormatInt(p.ID, 10)
		v.Projects = append(v.Projects, ui.Option{Value: id, Label: p.Name})
		if id == wanted {
			f.ProjectID, v.Project = p.ID, id
		}
	}
	if wanted != "" && v.Project == "" {
		v.Message = "The project in the address does not exist, so the plans of all are shown."
	}
	v.Filtered = v.Status != "" || v.Project != "" || v.Search != ""

	before := c.QueryParam("before")
	if before != "" {
		if id, err := ulid.ParseStrict(before); err == nil {
			f.Before = id.String()
		} else {
			v.Message = "The place in the list that the address names does not exist. This is its first page."
		}
	}
	rows, next, err := s.Reader.Plans(ctx, f)
	if err != nil {
		return v, err
	}
	if len(rows) == 0 && f.Before != "" {
		v.Message = "There are no plans behind the place that the address names. This is the first page."
		f.Before = ""
		if rows, next, err = s.Reader.Plans(ctx, f); err != nil {
			return v, err
		}
	}
	var finished []string
	for _, r := range rows {
		if r.Status == models.PlanFinished && r.NeedsPerson() {
			finished = append(finished, r.ID)
		}
	}
	gates, err := s.Engine.RowGates(ctx, finished)
	if err != nil {
		return v, err
	}
	for _, r := range rows {
		v.Rows = append(v.Rows, views.PlanLine{ID: r.ID, Title: r.Title, Status: r.Status, Project: r.ProjectName, Done: r.PhasesDone,
			Phases: r.PhaseCount, Current: r.Current, Waits: waitsFor(r, gates[r.ID]), Found: r.Found, Created: r.CreatedAt, Updated: r.UpdatedAt})
	}
	at := func(before string) string {
		q := url.Values{}
		for name, value := range map[string]string{"status": v.Status, "project": v.Project, "q": v.Search, "before": before} {
			if value != "" {
				q.Set(name, value)
			}
		}
		if len(q) == 0 {
			return views.PlansPath
		}
		return views.PlansPath + "?" + q.Encode()
	}
	if next != "" {
		v.Older = at(next)
	}
	if f.Before != "" {
		v.Newest = at("")
	}
	v.Refresh = at(f.Before)
	return v, nil
}

// waitsFor is what a plan of the list waits for, in a few words.
func waitsFor(r models.PlanRow, gate engine.ListedGate) string {
	switch r.Status {
	case models.PlanDraft:
		return "To be started"
	case models.PlanPaused:
		if r.InHand {
			return r.Current + " is still at work and runs to its end; then to be resumed"
		}
		return "To be resumed"
	case models.PlanFinished:
		if !r.NeedsPerson() {
			return "The evaluation of its definition of done"
		}
		if !gate.State.Open {
			return "A lead: " + gateSentence(gate.State)
		}
		return "A lead to look at it and apply it"
	case models.PlanApplying:
		return "The merge"
	case models.PlanRunning:
		if r.Current == "" {
			return ""
		}
		if r.Phase == models.PhaseJudging && r.Reason != "" { // it waits for its judge
			return r.Current + ": " + r.Reason
		}
		return r.Current + " is at work"
	case models.PlanWaiting, models.PlanFailed:
		if r.Phase == models.PhaseAwaitingApproval {
			return strings.TrimSpace(r.Current + ": an approval. " + r.Reason)
		}
		if r.Reason != "" {
			return r.Current + ": " + r.Reason
		}
		return r.Current
	}
	return ""
}

// planParam is the plan's id in the address, in the form it is stored in.
func planParam(c echo.Context) (string, error) {
	id, err := ulid.ParseStrict(c.Param("id"))
	if err != nil {
		return "", models.Errorf(models.CodeNotFound, "There is no plan at this address. It may have been typed wrongly.")
	}
	return id.String(), nil
}

// GET /plans/:id, and its live parts with ?part=
func (s *Server) showPlan(c echo.Context) error {
	id, err := planParam(c)
	if err != nil {
		return err
	}
	if part := c.QueryParam("part"); part != "" && wantsFragment(c) {
		return s.planPart(c, id, part)
	}
	return s.planPage(c, http.StatusOK, id, nil)
}

// planPage answers with the whole page; refused is what was just refused, so
// that it stands beside its button with what was typed.
func (s *Server) planPage(c echo.Context, status int, id string, refused *refusedForm) error {
	b, err := s.planBuilder(c, id, refused)
	if err != nil {
		return err
	}
	if err := b.withGate(c.Request().Context()); err != nil {
		return err
	}
	v := views.PlanView{ID: id, Head: b.head(), Gate: b.gateCard(), Budget: b.budget()}
	if v.Phases, err = b.phases(c.Request().Context()); err != nil {
		return err
	}
	if v.Dod, err = b.checklist(c.Request().Context()); err != nil {
		return err
	}
	if v.Diff, err = b.diff(c.Request().Context()); err != nil {
		return err
	}
	if v.Activity, err = b.news(c.Request().Context()); err != nil {
		return err
	}
	if v.PageMeta, err = s.meta(c, b.detail.Plan.Title, views.NavPlans); err != nil {
		return err
	}
	if refused != nil && !b.told { // its button is gone: the message must not be
		text := refused.err.Message
		for _, d := range refused.err.Details {
			text += "\n" + d
		}
		text += refused.typed()
		v.Flash = append(v.Flash, views.Flash{Kind: views.FlashError, Text: text})
	}
	return s.page(c, status, views.PlanPage(v))
}

// planPart answers with one live part of a plan's page.
func (s *Server) planPart(c echo.Context, id, part string) error {
	ctx := c.Request().Context()
	version, err := s.Reader.PlanVersion(ctx, id)
	if err != nil {
		return err
	}
	tag := part + "-" + strconv.FormatInt(version, 10)
	var make func(b *planBuilder) (templ.Component, error)
	switch part {
	case views.PartHead:
		make = func(b *planBuilder) (templ.Component, error) { return views.PlanHeadPart(b.head()), nil }
	case views.PartFacts:
		make = func(b *planBuilder) (templ.Component, error) { return views.PlanFactsPart(b.head()), nil }
	case views.PartGate:
		return s.gatePart(c, id)
	case views.PartBudget:
		return s.budgetPart(c, id)
	case views.PartDod:
		if ev, err := s.Reader.LatestEvaluation(ctx, id); err != nil {
			return err
		} else if ev != nil { // what is being checked is in no row
			tag += "-" + fingerprintOf(s.Engine.Progress(ev.ID))
		}
		make = func(b *planBuilder) (templ.Component, error) {
			if err := b.withGate(ctx); err != nil {
				return nil, err
			}
			d, err := b.checklist(ctx)
			return views.DodPart(d), err
		}
	case views.PartPhases:
		make = func(b *planBuilder) (templ.Component, error) {
			p, err := b.phases(ctx)
			return views.PhasesPart(p), err
		}
		tag += "-" + strconv.FormatInt(openedPhase(c), 10)
	case views.PartDiff:
		plan, err := s.Reader.Plan(ctx, id)
		if err != nil {
			return err
		}
		tag = "diff-" + plan.BaseCommit + "-" + plan.WorkCommit // nothing else is in it
		make = func(b *planBuilder) (templ.Component, error) {
			d, err := b.diff(ctx)
			return views.DiffPart(d), err
		}
	case views.PartActivity:
		make = func(b *planBuilder) (templ.Component, error) {
			a, err := b.news(ctx)
			return views.ActivityPart(id, a), err
		}
	default:
		return models.Errorf(models.CodeNotFound, "A plan's page has no such part.")
	}
	return s.versioned(c, tag, func() (templ.Component, error) {
		b, err := s.planBuilder(c, id, nil)
		if err != nil {
			return nil, err
		}
		return make(b)
	})
}

// gatePart is versioned by what it shows: it depends on the target's checkout
// too, which no version of ours counts.
func (s *Server) gatePart(c echo.Context, id string) error {
	b, err := s.planBuilder(c, id, nil)
	if err != nil {
		return err
	}
	if err := b.withGate(c.Request().Context()); err != nil {
		return err
	}
	card := b.gateCard()
	timeless := card
	timeless.Now = time.Time{}
	return s.versioned(c, "gate-"+fingerprintOf(timeless), func() (templ.Component, error) { return views.GatePart(card), nil })
}
