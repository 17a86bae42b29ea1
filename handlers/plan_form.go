package handlers

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/oklog/ulid/v2"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// authoringReader is what the forms for plans, templates and projects read.
type authoringReader interface {
	Plan(ctx context.Context, id string) (models.Plan, error)
	PhasesOf(ctx context.Context, planID string) ([]models.Phase, error)
	PlanByFormKey(ctx context.Context, key string) (*models.Plan, error)
	Projects(ctx context.Context) ([]models.Project, error)
	Templates(ctx context.Context) ([]models.TemplateListRow, error)
	TemplateVersion(ctx context.Context, id int64) (models.TemplateVersion, error)
	LatestTemplateVersion(ctx context.Context, templateID int64) (models.TemplateVersion, error)
	TemplateDetail(ctx context.Context, id int64) (models.TemplateDetail, error)
}

func (s *Server) planFormRoutes() []route {
	return []route{
		{Method: get, Path: "/plans/new", Role: lead, Handler: s.showNewPlan},
		{Method: post, Path: "/plans/new/preview", Role: lead, Handler: s.previewPlan},
		{Method: post, Path: "/plans", Role: lead, Handler: s.createPlan},
	}
}

// GET /plans/new?from=PLAN&template=ID&project=ID
func (s *Server) showNewPlan(c echo.Context) error {
	b, err := s.planFormBase(c)
	if err != nil {
		return err
	}
	d := planDraft{args: map[string]string{}, phases: []phaseDraft{blankPhase("0", b.defaultRuntime())}}
	ctx := c.Request().Context()
	if from := c.QueryParam("from"); from != "" {
		if d, err = s.copyOf(ctx, b, from); err != nil {
			return err
		}
	}
	if id, err := strconv.ParseInt(c.QueryParam("template"), 10, 64); err == nil {
		v, err := s.Reader.LatestTemplateVersion(ctx, id)
		if err != nil {
			return err
		}
		d.template = strconv.FormatInt(v.ID, 10)
	}
	if project := c.QueryParam("project"); project != "" {
		d.project = project
	}
	if d.project == "" && len(b.projects) == 1 {
		d.project = strconv.FormatInt(b.projects[0].ID, 10)
	}
	d.formKey = ulid.Make().String()
	return s.planFormPage(c, http.StatusOK, b, d, "", nil)
}

// copyOf is an existing plan as a draft of a new one.
func (s *Server) copyOf(ctx context.Context, b planFormBase, id string) (planDraft, error) {
	plan, err := s.Reader.Plan(ctx, id)
	if err != nil {
		return planDraft{}, err
	}
	phases, err := s.Reader.PhasesOf(ctx, id)
	if err != nil {
		return planDraft{}, err
	}
	d := planDraft{fromTitle: plan.Title, title: plan.Title, goal: plan.Goal, project: strconv.FormatInt(plan.ProjectID, 10), target: plan.TargetBranch, args: map[string]string{}, limits: limitTexts(plan.Budget)}
	for _, p := range b.projects {
		if p.ID == plan.ProjectID && p.TargetBranch == plan.TargetBranch {
			d.target = ""
		}
	}
	for name, value := range plan.DodArgs {
		d.args[name] = value
	}
	if plan.TemplateVersionID != nil {
		d.template = strconv.FormatInt(*plan.TemplateVersionID, 10)
	} else {
		d.dod = plan.DodSource
	}
	for i, p := range phases {
		draft := phaseDraft{key: strconv.Itoa(i), name: p.Name, task: p.Task, doneWhen: p.DoneWhen, passes: strconv.Itoa(p.MaxIterations), opinions: strconv.Itoa(p.Opinions), approval: p.NeedsApproval}
		for j, a := range p.Agents {
			draft.agents = append(draft.agents, agentDraft{key: strconv.Itoa(j), runtime: a.Runtime, name: a.Name, command: a.Command, limit: limitText(a.Limit)})
		}
		d.phases = append(d.phases, draft)
	}
	return d, nil
}

// POST /plans: makes the plan, or shows the form again with one more phase, one
// moved, ….
func (s *Server) createPlan(c echo.Context) error {
	d := readPlanDraft(c)
	if d.formKey == "" {
		d.formKey = ulid.Make().String()
	}
	b, err := s.planFormBase(c)
	if err != nil {
		return err
	}
	if op := field(c, "op"); op != "" && op != opCreate {
		return s.changePlanForm(c, b, d, op)
	}
	ctx, actor := c.Request().Context(), s.actor(c)
	if err := s.withVersion(ctx, &b, d.template); err != nil {
		return err
	}
	in, fields, clamped := d.newPlan(b.isShell)
	in.DodArgs = b.dodArgs(d, false)
	if done, err := s.madeBefore(c, b, d, in); done || err != nil {
		return err
	}
	var id string
	if len(fields) > 0 {
		err = s.Engine.CheckPlan(ctx, actor, in)
	} else {
		id, err = s.Engine.CreatePlan(ctx, actor, in)
	}
	if e, status, ok := refusal(err); ok {
		for name, message := range e.Fields {
			fields[name] = message
		}
		return s.planFormPage(c, status, b, d, e.Message, fields)
	}
	if err != nil {
		return err
	}
	if len(fields) > 0 {
		return s.planFormPage(c, http.StatusUnprocessableEntity, b, d, "The plan was not saved: please mend the marked fields.", fields)
	}
	for _, note := range clamped {
		if err := s.flash(c, views.FlashInfo, "%s", note); err != nil {
			return err
		}
	}
	return seeOther(c, views.PlanPath(id))
}

// madeBefore leads to the plan that this very form has made before. When the
// form says something else by now (somebody went back and went on writing), it
// is shown again, ready to make another plan, so that nothing typed is lost.
func (s *Server) madeBefore(c echo.Context, b planFormBase, d planDraft, in engine.NewPlan) (done bool, err error) {
	ctx := c.Request().Context()
	plan, err := s.Reader.PlanByFormKey(ctx, d.formKey)
	if err != nil || plan == nil {
		return false, err
	}
	phases, err := s.Reader.PhasesOf(ctx, plan.ID)
	if err != nil {
		return false, err
	}
	if saysTheSame(in, *plan, phases) {
		return true, seeOther(c, views.PlanPath(plan.ID))
	}
	d.formKey = ulid.Make().String()
	return true, s.planFormPage(c, http.StatusConflict, b, d,
		"This form has made the plan “"+plan.Title+"” already, and you have changed it since. Create it once more to make a second plan of it.", nil)
}

func saysTheSame(in engine.NewPlan, plan models.Plan, phases []models.Phase) bool {
	same := strings.TrimSpace(in.Title) == plan.Title && strings.TrimSpace(in.Goal) == plan.Goal && in.ProjectID == plan.ProjectID && in.Budget == plan.Budget && len(in.Phases) == len(phases)
	if plan.TemplateVersionID != nil {
		same = same && in.TemplateVersionID == *plan.TemplateVersionID
	} else {
		same = same && in.TemplateVersionID == 0 && in.Dod == plan.DodSource
	}
	for i := 0; same && i < len(phases); i++ {
		a, b := in.Phases[i], phases[i]
		same = a.Task == b.Task && strings.TrimSpace(a.DoneWhen) == b.DoneWhen && slices.Equal(a.Agents, b.Agents) &&
			a.NeedsApproval == b.NeedsApproval && models.ClampOpinions(a.Opinions) == b.Opinions && models.ClampIterations(a.MaxIterations) == b.MaxIterations
	}
	return same
}

// changePlanForm shows the form again after one of its buttons: as a part of
// the page for the script, as the whole page without it.
func (s *Server) changePlanForm(c echo.Context, b planFormBase, d planDraft, op string) error {
	phase, agent := d.apply(op, b.defaultRuntime())
	if err := s.withVersion(c.Request().Context(), &b, d.template); err != nil {
		return err
	}
	f := b.view(d, nil)
	switch {
	case agent != "":
		f.Focus = "phase-" + phase + "-agent-" + agent + "-runtime"
	case phase != "":
		f.Focus = "phase-" + phase + "-name"
	}
	if wantsFragment(c) {
		return s.fragment(c, http.StatusOK, views.PlanFormFields(f))
	}
	return s.showPlanForm(c, http.StatusOK, f)
}

// POST /plans/new/preview?phase=KEY: what the text that is being typed is read
// as: a phase's condition, or the definition of done.
func (s *Server) previewPlan(c echo.Context) error {
	d := readPlanDraft(c)
	b, err := s.planFormBase(c)
	if err != nil {
		return err
	}
	if err := s.withVersion(c.Request().Context(), &b, d.template); err != nil {
		return err
	}
	p := b.dodPreview(d)
	if key := c.QueryParam("phase"); key != "" {
		at := slices.IndexFunc(d.phases, func(p phaseDraft) bool { return p.key == key })
		if at < 0 {
			return models.Errorf(models.CodeNotFound, "This phase is not part of the form any more.")
		}
		p = b.donePreview(d.phases[at])
	}
	return s.fragment(c, http.StatusOK, views.Criteria(p))
}

func (s *Server) planFormPage(c echo.Context, status int, b planFormBase, d planDraft, message string, fields map[string]string) error {
	if err := s.withVersion(c.Request().Context(), &b, d.template); err != nil {
		return err
	}
	f := b.view(d, fields)
	f.Message = message
	return s.showPlanForm(c, status, f)
}

func (s *Server) showPlanForm(c echo.Context, status int, f views.PlanForm) error {
	var err error
	if f.Meta, err = s.meta(c, "New plan", views.NavNewPlan); err != nil {
		return err
	}
	return s.page(c, status, views.NewPlanPage(f))
}
