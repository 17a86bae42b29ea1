package handlers

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// overviewReader is what the inbox and the audit log read.
type overviewReader interface {
	WorkingPlans(ctx context.Context, limit int) ([]models.PlanRow, error)
	Plans(ctx context.Context, f models.PlanFilter) (rows []models.PlanRow, next string, err error)
	Events(ctx context.Context, f models.EventFilter, before int64, limit int) (list []models.Event, older int64, err error)
}

func (s *Server) overviewRoutes() []route {
	return []route{
		{Method: get, Path: "/", Role: viewer, Handler: s.showInbox},
		{Method: get, Path: views.InboxCountPath, Role: lead, Handler: s.inboxCount},
		{Method: get, Path: "/audit", Role: viewer, Handler: s.showAudit},
		{Method: get, Path: "/settings", Role: viewer, Handler: s.showSettings},
	}
}

// GET /inbox/count, the number in the menu. Without scripts the inbox answers.
func (s *Server) inboxCount(c echo.Context) error {
	if !wantsFragment(c) {
		return c.Redirect(http.StatusFound, "/")
	}
	n, err := s.Reader.InboxCount(c.Request().Context(), inboxCountMax)
	if err != nil {
		return err
	}
	return s.versioned(c, fmt.Sprintf("inbox-%d", n), func() (templ.Component, error) { return views.InboxCount(n), nil })
}

// How much the inbox shows at once.
const (
	inboxMax   = 50
	runningMax = 20
	pausedMax  = 10
)

// GET /
func (s *Server) showInbox(c echo.Context) error {
	return s.pageOrFragment(c, func() (templ.Component, error) {
		v, err := s.inboxView(c)
		if err == nil {
			v.Meta, err = s.meta(c, v.Title(), views.NavInbox)
		}
		return views.InboxPage(v), err
	}, func() (templ.Component, error) {
		v, err := s.inboxView(c)
		v.Meta.Now = s.Now()
		return views.InboxPart(v), err
	})
}

func (s *Server) inboxView(c echo.Context) (views.InboxView, error) {
	ctx, role := c.Request().Context(), s.user(c).Role
	v := views.InboxView{CanAct: role.Can(lead)}
	items, err := s.Reader.Inbox(ctx, inboxMax+1)
	if err != nil {
		return v, err
	}
	if len(items) > inboxMax {
		items, v.More = items[:inboxMax], views.PlansPath
	}
	var finished []string
	for _, item := range items {
		if item.Phase == nil {
			finished = append(finished, item.Plan.ID)
		}
	}
	gates, err := s.Engine.ListedGates(ctx, finished)
	if err != nil {
		return v, err
	}
	for _, item := range items {
		row, err := s.inboxRow(ctx, item, gates[item.Plan.ID], v.CanAct)
		if err != nil {
			return v, err
		}
		if !v.CanAct { // the reader may look, and nothing else
			row.Label = "Look at it"
		}
		v.Waiting = append(v.Waiting, row)
	}
	working, err := s.Reader.WorkingPlans(ctx, runningMax)
	if err != nil {
		return v, err
	}
	for _, p := range working {
		row, err := s.runningRow(ctx, p)
		if err != nil {
			return v, err
		}
		v.Running = append(v.Running, row)
	}
	paused, _, err := s.Reader.Plans(ctx, models.PlanFilter{Status: []models.PlanStatus{models.PlanPaused}, Limit: pausedMax + 1})
	if err != nil {
		return v, err
	}
	for _, p := range paused {
		if !p.InHand { // else it stands with what is at work
			v.Paused = append(v.Paused, views.PausedRow{PlanID: p.ID, Title: p.Title, Since: p.UpdatedAt})
		}
	}
	if len(v.Paused) > pausedMax {
		v.Paused, v.MorePaused = v.Paused[:pausedMax], true
	}
	if len(v.Waiting) == 0 && len(v.Running) == 0 && len(v.Paused) == 0 {
		v.First, err = s.firstSteps(ctx, role)
	}
	return v, err
}

// runningRow says what a plan is at by itself.
func (s *Server) runningRow(ctx context.Context, p models.PlanRow) (views.RunningRow, error) {
	row := views.RunningRow{PlanID: p.ID, Title: p.Title, Project: p.ProjectName, Since: p.UpdatedAt}
	switch p.Status {
	case models.PlanFinished:
		row.What = "The definition of done is being evaluated."
	case models.PlanApplying:
		row.What = "It is being applied."
	default:
		row.What, row.Phase, row.Done, row.Phases = p.Current, true, p.PhasesDone, p.PhaseCount
		row.Paused = p.Status == models.PlanPaused
		if p.Phase == models.PhaseJudging {
			row.Waits = p.Reason // for its judge: nobody is at work
		}
	}
	// Whatever is asked on behalf of a plan stops at its budget by itself. A run is
	// let finish, however long it takes: that one a person may want to stop.
	usage, err := s.Reader.UsageOf(ctx, p.ID, s.Now())
	if err != nil || !usage.Working {
		return row, err
	}
	row.Run, row.Since = true, usage.Since
	plan, err := s.Reader.Plan(ctx, p.ID)
	for _, m := range plan.Budget.Over(usage, models.SpendsRun) {
		row.Over = append(row.Over, m.Limited)
	}
	return row, err
}

// inboxRow says what a plan waits for and how it is decided.
func (s *Server) inboxRow(ctx context.Context, item models.InboxItem, gate engine.ListedGate, canAct bool) (row views.InboxRow, err error) {
	p := item.Plan
	row = views.InboxRow{PlanID: p.ID, Title: p.Title, Project: p.ProjectName, Since: item.Since, Who: "a lead", Href: views.PlanPath(p.ID), Label: "Open"}
	row.Flagged = item.Flagged
	if ph := item.Phase; ph != nil {
		row.What = "Phase " + strconv.Itoa(ph.Position) + " of " + strconv.Itoa(p.PhaseCount) + ": " + ph.Name
		row.Href, row.Reason = views.PhasePath(p.ID, ph.ID), ph.Reason
		row.Word, row.Tone, row.Badge = views.Word(ph.Status), views.PhaseTone(ph.Status), views.PhaseBadge(ph.Status)
		row.Key = "phase-" + strconv.FormatInt(ph.ID, 10)
		switch ph.Status {
		case models.PhaseAwaitingApproval:
			row.Label = "Look at it"
			stale, err := s.Engine.StaleApproval(ctx, *ph)
			if err != nil {
				return row, err
			}
			if stale != "" {
				row.Reason, row.Label = stale, "Decide"
			} else if canAct && ph.PassID != nil {
				row.Approve = &views.InboxApprove{Action: views.PhaseVerbPath(ph.ID, views.VerbApprove), Pass: *ph.PassID}
			}
		default:
			row.Label = "Decide"
		}
		if ph.OverBudget && canAct {
			row.Raise, err = s.inboxRaise(ctx, p.ID)
		}
		return row, err
	}
	row.Href += "#gate"
	row.Key = "plan-" + p.ID
	state := gate.State
	row.Reason = gateSentence(state)
	if state.Open && !gate.Looked {
		row.What, row.Label = "All phases are completed", "Look at the gate"
		row.Reason += " Whether it can be merged was not looked at."
		row.Badge = ui.StatusBadge("finished", ui.ToneOK, "shield-check")
		return row, nil
	}
	if state.Open {
		row.What, row.Label, row.Ready = "All phases are completed", "Apply", true
		row.Badge = ui.StatusBadge("ready to apply", ui.ToneOK, "git-merge")
		return row, nil
	}
	row.What = "All phases are completed, the gate is closed"
	row.Badge = ui.StatusBadge("gate closed", ui.ToneWarn, "shield-check")
	row.Label = "Decide"
	for i, r := range state.Reasons {
		if i == 0 && r.Action == dod.ActionEvaluate {
			row.Label = "Evaluate"
		}
		if i == 0 && r.Action == dod.ActionRaiseBudget && canAct {
			if row.Raise, err = s.inboxRaise(ctx, p.ID); err != nil {
				return row, err
			}
		}
	}
	return row, nil
}

// gateSentence is what a list says of a gate: its first reason and how many more
// there are.
func gateSentence(state dod.GateState) string {
	switch n := len(state.Reasons); {
	case n == 2:
		return state.Sentence + " 1 more thing is in the way."
	case n > 2:
		return state.Sentence + fmt.Sprintf(" %d more things are in the way.", n-1)
	}
	return state.Sentence
}

// inboxRaise is the form that raises the budget of a plan that it has stopped. A
// refusal is shown on the plan's page.
func (s *Server) inboxRaise(ctx context.Context, planID string) (*views.Verb, error) {
	plan, err := s.Reader.Plan(ctx, planID)
	if err != nil {
		return nil, err
	}
	usage, err := s.Reader.UsageOf(ctx, planID, s.Now())
	v := raiseVerb(plan, usage, "inbox-budget-"+planID, budgetKey)
	return &v, err
}

// firstSteps is what an empty inbox leads to.
func (s *Server) firstSteps(ctx context.Context, role models.Role) (*views.FirstSteps, error) {
	projects, err := s.Reader.Projects(ctx)
	if err != nil {
		return nil, err
	}
	f := &views.FirstSteps{CanPlan: role.Can(lead), CanAdd: role.Can(admin)}
	for _, p := range projects {
		if !p.Example {
			f.Projects++
			continue
		}
		drafts, _, err := s.Reader.Plans(ctx, models.PlanFilter{ProjectID: p.ID, Status: []models.PlanStatus{models.PlanDraft}, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(drafts) > 0 {
			f.Example, f.ExampleTitle = views.PlanPath(drafts[0].ID), drafts[0].Title
		}
	}
	any, _, err := s.Reader.Plans(ctx, models.PlanFilter{Limit: 1, Status: []models.PlanStatus{models.PlanApplied, models.PlanCancelled, models.PlanDiscarded, models.PlanPaused}})
	f.Used = len(any) > 0
	return f, err
}
