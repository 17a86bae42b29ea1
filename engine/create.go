package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
)

// NewPlan is what a lead filled in. Fields of an error name its places:
// "title", "target_branch", "dod", "dod_args.NAME", "phases", "phases.0.task",
// "phases.0.agents.1.command", ….
type NewPlan struct {
	FormKey           string // hidden id of the form; sent twice, it makes one plan
	ProjectID         int64
	Title             string
	Goal              string
	TargetBranch      string // "" = the project's
	TemplateVersionID int64  // 0 = Dod was typed by hand
	Dod               string // ignored when a template version is given
	DodArgs           map[string]string
	Phases            []NewPhase
	Budget            models.Budget // limits of 0 are none; errors at "budget_runs", "budget_minutes", "budget_tokens", "budget_usd"
}

// NewPhase is one ordered step of a NewPlan.
type NewPhase struct {
	Name          string
	Task          string
	Agents        []models.AgentSpec
	DoneWhen      string
	MaxIterations int // clamped to 1..20
	Opinions      int // judges that have to say met; clamped to 1..3
	NeedsApproval bool
}

// Limits of what a form may hold, so that a page stays a page.
const (
	maxPhases = 50
	maxAgents = 10
	maxText   = 256 << 10
)

// CreatePlan stores a draft and returns its id. The same form key sent twice
// returns the plan of the first time. What cannot be taken is a CodeInvalid
// error with a message for each field.
func (e *Engine) CreatePlan(ctx context.Context, actor models.Actor, in NewPlan) (string, error) {
	if err := require(actor, models.RoleLead); err != nil {
		return "", err
	}
	if in.FormKey != "" {
		if p, err := e.Store.PlanByFormKey(ctx, in.FormKey); err != nil || p != nil {
			if p != nil {
				return p.ID, nil
			}
			return "", err
		}
	}
	plan, phases, err := e.draft(ctx, actor, in)
	if err != nil {
		return "", err
	}
	err = e.decide(ctx, plan.ID, func(tx *store.Tx) error {
		if err := tx.InsertPlan(ctx, &plan, phases); err != nil {
			return err
		}
		return tx.InsertEvent(ctx, models.Event{PlanID: plan.ID, Kind: "plan.created", To: string(plan.Status), ActorID: actor.ID, Actor: actor.Name})
	})
	if models.CodeOf(err) == models.CodeConflict && in.FormKey != "" { // the same form, sent twice at once
		if p, again := e.Store.PlanByFormKey(ctx, in.FormKey); again == nil && p != nil {
			return p.ID, nil
		}
	}
	return plan.ID, err
}

// draft checks a NewPlan and makes its rows.
func (e *Engine) draft(ctx context.Context, actor models.Actor, in NewPlan) (models.Plan, []models.Phase, error) {
	fields := map[string]string{}
	bad := func(field, format string, args ...any) { fields[field] = fmt.Sprintf(format, args...) }
	plan := models.Plan{
		ID: ulid.Make().String(), ProjectID: in.ProjectID, Title: strings.TrimSpace(in.Title), Goal: strings.TrimSpace(in.Goal),
		Status: models.PlanDraft, TargetBranch: strings.TrimSpace(in.TargetBranch), FormKey: in.FormKey, CreatedBy: actor.ID,
		DodArgs: in.DodArgs, Budget: in.Budget,
	}
	for limit, message := range in.Budget.Problems() {
		bad(budgetField(limit), "%s", message)
	}
	switch {
	case plan.Title == "":
		bad("title", "Give the plan a title.")
	case len(plan.Title) > 300:
		bad("title", "The title is too long: at most 300 bytes. Put the rest into the goal.")
	}
	if len(plan.Goal) > maxText {
		bad("goal", "The goal is too long: at most 256 KiB.")
	}
	project, err := e.Store.Project(ctx, in.ProjectID)
	switch {
	case models.CodeOf(err) == models.CodeNotFound:
		bad("project", "Choose a project.")
	case err != nil:
		return plan, nil, err
	default:
		if plan.TargetBranch == "" {
			plan.TargetBranch = project.TargetBranch
		}
		if _, err := e.Spaces.TargetTip(ctx, repoOf(project), plan.TargetBranch); err != nil {
			bad("target_branch", "%s", err.Error())
		}
	}
	if err := e.draftDod(ctx, actor, in, &plan, bad); err != nil {
		return plan, nil, err
	}
	phases := e.draftPhases(actor, in.Phases, bad)
	if len(fields) > 0 {
		return plan, nil, &models.Error{Code: models.CodeInvalid, Message: "The plan was not saved: please mend the marked fields.", Fields: fields}
	}
	for i := range phases {
		phases[i].PlanID = plan.ID
	}
	return plan, phases, nil
}

// draftDod pins the template version, checks its arguments and fills the
// criteria: parsed first, filled afterwards, so that no value adds a criterion.
func (e *Engine) draftDod(ctx context.Context, actor models.Actor, in NewPlan, plan *models.Plan, bad func(string, string, ...any)) error {
	plan.DodSource, plan.DodOpinions = in.Dod, models.MinOpinions
	plan.DodArgs = withoutBlank(in.DodArgs)
	if in.TemplateVersionID != 0 {
		v, err := e.Store.TemplateVersion(ctx, in.TemplateVersionID)
		if models.CodeOf(err) == models.CodeNotFound {
			bad("template", "Choose a template, or write the definition of done by hand.")
			return nil
		}
		if err != nil {
			return err
		}
		plan.TemplateVersionID, plan.DodSource, plan.DodOpinions = &v.ID, v.Text, v.Opinions
		plan.DodArgs = withDefaults(v.Args, in.DodArgs, bad)
	}
	if len(plan.DodSource) > maxText {
		bad("dod", "The definition of done is too long: at most 256 KiB.")
		return nil
	}
	if problems := dod.ValidateDoD(plan.DodSource); len(problems) > 0 {
		bad("dod", "%s", problemText(problems))
	}
	criteria := dod.FillCriteria(dod.ParseCriteria(plan.DodSource), plan.DodArgs)
	if why := e.uncheckable(criteria, e.Evaluator, "DONEWHEN_EVALUATOR_MODEL"); why != "" {
		bad("dod", "%s", why)
	}
	if why := UnknownRole(criteria); why != "" {
		bad("dod", "%s", why)
	}
	if hasRun(criteria) && !actor.Role.Can(e.CommandsBy) {
		bad("dod", "Only the role %s may write run: commands here.", e.CommandsBy)
	}
	if plan.TemplateVersionID != nil {
		// An empty value is none: filled in, it would make a check weaker than it reads
		// (file: docs/{page} would be a folder that is there). $ARG_ variables may be empty.
		for _, name := range dod.OpenPlaceholders(dod.ParseCriteria(plan.DodSource)) {
			if dod.Blank(plan.DodArgs[name]) {
				bad("dod_args."+name, "Give {%s} a value: a criterion needs it.", name)
			}
		}
	}
	plan.CriteriaJSON = toJSON(criteria)
	plan.DodText = dod.RenderTemplate(plan.DodSource, plan.DodArgs)
	return nil
}

func (e *Engine) draftPhases(actor models.Actor, in []NewPhase, bad func(string, string, ...any)) []models.Phase {
	if len(in) == 0 {
		bad("phases", "Add at least one phase: it says what an agent has to do.")
	}
	if len(in) > maxPhases {
		bad("phases", "At most %d phases fit into a plan.", maxPhases)
		return nil
	}
	out := make([]models.Phase, 0, len(in))
	for i, p := range in {
		at := func(field string) string { return "phases." + itoa(i) + "." + field }
		name := strings.TrimSpace(p.Name)
		if name == "" {
			name = "Phase " + itoa(i+1)
		}
		if len(name) > 200 {
			bad(at("name"), "The name is too long: at most 200 bytes.")
		}
		if len(p.Task) > maxText {
			bad(at("task"), "The task is too long: at most 256 KiB. Put files into the repository instead.")
		}
		if len(p.DoneWhen) > maxText {
			bad(at("done_when"), "The condition is too long: at most 256 KiB.")
			continue
		}
		if len(p.Agents) == 0 {
			bad(at("agents"), "Choose who does it: at least one agent.")
		}
		if len(p.Agents) > maxAgents {
			bad(at("agents"), "At most %d agents fit into a phase.", maxAgents)
		}
		needsTask := false
		for j, a := range p.Agents {
			e.checkAgent(actor, a, at("agents."+itoa(j)), bad)
			rt, known := e.runtimes[a.Runtime]
			needsTask = needsTask || known && !rt.Info().Shell
		}
		if needsTask && strings.TrimSpace(p.Task) == "" {
			bad(at("task"), "Write the task: it is what the agent is told.")
		}
		if problems := dod.ValidateDoneWhen(p.DoneWhen); len(problems) > 0 {
			bad(at("done_when"), "%s", problemText(problems))
		} else if strings.TrimSpace(p.DoneWhen) != "" {
			e.checkDoneWhen(actor, p.DoneWhen, at("done_when"), bad)
		}
		out = append(out, models.Phase{
			Position: i + 1, Name: name, Task: p.Task, Agents: p.Agents, DoneWhen: strings.TrimSpace(p.DoneWhen),
			MaxIterations: models.ClampIterations(p.MaxIterations), Opinions: models.ClampOpinions(p.Opinions), NeedsApproval: p.NeedsApproval,
			Status: models.PhasePending, Attempt: 1,
		})
	}
	return out
}

func (e *Engine) checkAgent(actor models.Actor, a models.AgentSpec, at string, bad func(string, string, ...any)) {
	rt, known := e.runtimes[a.Runtime]
	if !known {
		bad(at+".runtime", "There is no runtime %q. Choose one of the list; an operator declares them in runtimes.yaml.", a.Runtime)
		return
	}
	info := rt.Info()
	switch {
	case info.Shell && strings.TrimSpace(a.Command) == "":
		bad(at+".command", "Write the command that this agent runs.")
	case !info.Shell && strings.TrimSpace(a.Command) != "":
		bad(at+".command", "The runtime %s takes no command; it reads the task.", a.Runtime)
	case info.Shell && !actor.Role.Can(e.CommandsBy):
		bad(at+".command", "Only the role %s may write commands here.", e.CommandsBy)
	case strings.ContainsRune(a.Command, 0):
		bad(at+".command", "The command holds a NUL character, which no program can take.")
	}
	if a.Limit < 0 || info.MaxLimit > 0 && a.Limit > int(info.MaxLimit.Seconds()) {
		bad(at+".limit", "The time limit must be between 0 (the default) and %d seconds.", int(info.MaxLimit.Seconds()))
	}
	if strings.ContainsAny(a.Name, "/\n\r\x00") || len(a.Name) > 80 {
		bad(at+".name", "The agent's name must be one short line without slashes.")
	}
}

func (e *Engine) checkDoneWhen(actor models.Actor, text, at string, bad func(string, string, ...any)) {
	criteria := dod.ParseCriteria(text)
	counts := false
	for _, c := range criteria {
		counts = counts || c.Level != dod.Info
	}
	switch why := e.uncheckable(criteria, e.Judge, "DONEWHEN_JUDGE_MODEL"); {
	case len(criteria) == 0:
		bad(at, "There is no criterion in it: only headings or blank lines. Write what must be true, or leave it empty.")
	case !counts:
		bad(at, "Only (info) lines: nothing could ever be met. Write at least one line that counts, or leave it empty.")
	case why != "":
		bad(at, "%s", why)
	case hasRun(criteria) && !actor.Role.Can(e.CommandsBy):
		bad(at, "Only the role %s may write run: commands here.", e.CommandsBy)
	}
}

// uncheckable says why a required judge line could never pass here, "" when it can.
func (e *Engine) uncheckable(criteria []dod.Criterion, asker dod.Asker, setting string) string {
	if asker != nil {
		return ""
	}
	for _, c := range criteria {
		if c.Check.Kind == dod.CheckJudge && c.Level != dod.Info {
			return fmt.Sprintf("Criterion %d asks a judge, and none is configured: it could never pass. Set %s, or write it as a check.", c.Index, setting)
		}
	}
	return ""
}

// UnknownRole names a `human` criterion that nobody could ever answer.
func UnknownRole(criteria []dod.Criterion) string {
	for _, c := range criteria {
		if r := models.Role(c.Check.Arg); c.Check.Kind == dod.CheckHuman && r != "" && r != models.RoleLead && r != models.RoleAdmin {
			return fmt.Sprintf("Criterion %d asks a person with the role %q, and there is none: write human, human: lead or human: admin.", c.Index, c.Check.Arg)
		}
	}
	return ""
}

func hasRun(criteria []dod.Criterion) bool {
	for _, c := range criteria {
		if c.Check.Kind == dod.CheckRun {
			return true
		}
	}
	return false
}

// withDefaults fills missing arguments and refuses missing required ones. An
// argument that was given empty is a value unless it is required.
func withDefaults(args []models.TemplateArg, given map[string]string, bad func(string, string, ...any)) map[string]string {
	out := map[string]string{}
	for k, v := range given {
		out[k] = v
	}
	for _, a := range args {
		v, ok := out[a.Name]
		if !ok || v == "" && a.Default != "" {
			if a.Default != "" || !a.Required {
				v, ok = a.Default, a.Default != "" || ok
			}
		}
		if a.Required && dod.Blank(v) {
			bad("dod_args."+a.Name, "Give a value for %s: the template needs it.", a.Name)
		}
		if ok {
			out[a.Name] = v
		}
	}
	return out
}

// withoutBlank leaves out values that show nothing: a field that was left empty is
// no value, and no change of one.
func withoutBlank(args map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range args {
		if !dod.Blank(value) {
			out[name] = value
		}
	}
	return out
}

func problemText(problems []dod.Problem) string {
	lines := make([]string, len(problems))
	for i, p := range problems {
		lines[i] = fmt.Sprintf("Line %d: %s", p.Line, p.Message)
	}
	return strings.Join(lines, "\n")
}
