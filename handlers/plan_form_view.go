package handlers

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// planFormBase is what the form offers, whatever was typed.
type planFormBase struct {
	projects  []models.Project
	templates []templateChoice
	runtimes  []engine.RuntimeInfo
	judge     string
	evaluator string
	judges    views.OpinionsField
	dodPanel  func(n int) []string // who answers judge lines of a definition of done
	commands  models.Role          // who may write commands
	actor     models.Actor
}

// templateChoice is a template's newest version.
type templateChoice struct {
	name    string
	version models.TemplateVersion
	newest  int
}

func (s *Server) planFormBase(c echo.Context) (planFormBase, error) {
	ctx := c.Request().Context()
	b := planFormBase{
		runtimes: s.Engine.RuntimeList(), judge: s.Engine.JudgeSpec(), judges: opinionsField(s.Engine.JudgePanel, aboutPhase), dodPanel: s.Engine.EvaluatorPanel, evaluator: s.Engine.EvaluatorSpec(),
		commands: s.Engine.CommandsBy, actor: s.actor(c),
	}
	var err error
	if b.projects, err = s.Reader.Projects(ctx); err != nil {
		return b, err
	}
	rows, err := s.Reader.Templates(ctx)
	if err != nil {
		return b, err
	}
	for _, r := range rows {
		if r.ArchivedAt != nil || r.Latest == 0 {
			continue
		}
		v, err := s.Reader.LatestTemplateVersion(ctx, r.ID)
		if err != nil {
			return b, err
		}
		b.templates = append(b.templates, templateChoice{r.Name, v, v.Version})
	}
	return b, nil
}

// withVersion adds the chosen version to the choices when it is an earlier one:
// a copied plan keeps the version that it pins.
func (s *Server) withVersion(ctx context.Context, b *planFormBase, chosen string) error {
	id, err := strconv.ParseInt(chosen, 10, 64)
	if err != nil || slices.ContainsFunc(b.templates, func(t templateChoice) bool { return t.version.ID == id }) {
		return nil
	}
	v, err := s.Reader.TemplateVersion(ctx, id)
	if models.CodeOf(err) == models.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	d, err := s.Reader.TemplateDetail(ctx, v.TemplateID)
	if err != nil {
		return err
	}
	b.templates = append(b.templates, templateChoice{d.Template.Name, v, d.Versions[0].Version})
	return nil
}

func (b planFormBase) runtime(alias string) (engine.RuntimeInfo, bool) {
	for _, r := range b.runtimes {
		if r.Alias == alias {
			return r, true
		}
	}
	return engine.RuntimeInfo{Alias: alias}, false
}

func (b planFormBase) isShell(alias string) bool {
	r, _ := b.runtime(alias)
	return r.Shell
}

// defaultRuntime is what a new agent is: the first shell that can run here,
// else the first runtime that can.
func (b planFormBase) defaultRuntime() string {
	alias, best := "", -1
	for _, r := range b.runtimes {
		rank := 0
		if r.Available {
			rank += 2
		}
		if r.Shell && b.actor.Role.Can(b.commands) {
			rank += 3
		}
		if rank > best {
			alias, best = r.Alias, rank
		}
	}
	return alias
}

// chosen is the chosen template version, nil for a DoD by hand.
func (b planFormBase) chosen(template string) *models.TemplateVersion {
	for i := range b.templates {
		if strconv.FormatInt(b.templates[i].version.ID, 10) == template {
			return &b.templates[i].version
		}
	}
	return nil
}

// view is the form as it was typed, with messages by the engine's field names.
func (b planFormBase) view(d planDraft, fields map[string]string) views.PlanForm {
	f := views.PlanForm{
		FormKey: d.formKey, From: d.fromTitle, Project: d.project, Title: d.title, Goal: d.goal, Target: d.target,
		Template: d.template, Dod: d.dod, Opinions: b.judges, Errors: fields,
	}
	if f.Errors == nil {
		f.Errors = map[string]string{}
	}
	if len(b.projects) != 1 {
		f.Projects = append(f.Projects, ui.Option{Label: "Choose a project"})
	}
	for _, p := range b.projects {
		id := strconv.FormatInt(p.ID, 10)
		f.Projects = append(f.Projects, ui.Option{Value: id, Label: p.Name})
		if id == d.project {
			f.Default, f.NeedsDod = p.TargetBranch, p.RequireDoD
		}
	}
	if len(b.projects) == 0 {
		f.Projects = nil
	}
	f.Templates = []ui.Option{{Label: "Written by hand"}}
	for _, t := range b.templates {
		label := t.name + ", version " + strconv.Itoa(t.version.Version)
		if t.version.Version != t.newest {
			label += " (the newest is " + strconv.Itoa(t.newest) + ")"
		}
		f.Templates = append(f.Templates, ui.Option{Value: strconv.FormatInt(t.version.ID, 10), Label: label})
	}
	for _, r := range b.runtimes {
		label := cmp.Or(r.Title, r.Alias)
		if !strings.EqualFold(label, r.Alias) {
			label += " (" + r.Alias + ")"
		}
		if !r.Available {
			label += " – not found here"
		}
		f.Runtimes = append(f.Runtimes, ui.Option{Value: r.Alias, Label: label})
	}
	if !b.actor.Role.Can(b.commands) {
		f.CommandsNote = fmt.Sprintf("Only the role %s may write commands here.", b.commands)
	}
	b.viewDod(&f, d)
	f.Limits = limitForm(d.limits, f.Errors)
	for i, p := range d.phases {
		f.Phases = append(f.Phases, b.phaseView(d, i, p, fields))
	}
	return f
}

func (b planFormBase) viewDod(f *views.PlanForm, d planDraft) {
	v := b.chosen(d.template)
	if v == nil && d.template != "" {
		f.Template = "" // there is no such version: what was typed by hand is shown
	}
	if v != nil && v.Opinions > 1 {
		f.DodPanel = templatePanel(b.dodPanel, v.Opinions)
	}
	open := dod.OpenPlaceholders(dod.ParseCriteria(b.dodText(d)))
	shown := map[string]bool{}
	add := func(a models.TemplateArg) {
		if shown[a.Name] {
			return
		}
		shown[a.Name] = true
		f.Args = append(f.Args, views.DodArg{
			Name: a.Name, Description: a.Description, Default: a.Default, Required: a.Required,
			Value: d.args[a.Name], Error: f.Errors["dod_args."+a.Name],
		})
	}
	if v != nil {
		for _, a := range v.Args {
			// A criterion that needs a value cannot be made without one.
			a.Required = a.Required || a.Default == "" && slices.Contains(open, a.Name)
			add(a)
		}
	}
	for _, name := range open {
		a := models.TemplateArg{Name: name, Required: v != nil}
		if v == nil {
			a.Description = "Empty: it stays as it is written."
		}
		add(a)
	}
	for _, name := range slices.Sorted(maps.Keys(d.args)) {
		if !shown[name] && d.args[name] != "" {
			f.KeptArgs = append(f.KeptArgs, [2]string{name, d.args[name]})
		}
	}
	f.DodPreview = b.dodPreview(d)
}

// dodText is the text that the definition of done is read from.
func (b planFormBase) dodText(d planDraft) string {
	if v := b.chosen(d.template); v != nil {
		return v.Text
	}
	return d.dod
}

func (b planFormBase) dodPreview(d planDraft) views.CriteriaPreview {
	empty := "No definition of done: nothing is checked before the work is merged."
	for _, p := range b.projects {
		if p.RequireDoD && strconv.FormatInt(p.ID, 10) == d.project {
			empty = "This project demands a definition of done: without one, apply stays closed."
		}
	}
	return previewCriteria(b.dodText(d), previewOptions{ID: views.DodPreviewID, Spec: b.evaluator, Args: b.dodArgs(d, true), Empty: empty})
}

// dodArgs are the values that go with the definition of done. An argument that
// is declared by the template and left empty is given, and empty; a
// placeholder that nobody declared is left open then. With defaults, defaults
// are filled in as the engine will.
func (b planFormBase) dodArgs(d planDraft, defaults bool) map[string]string {
	args := map[string]string{}
	v := b.chosen(d.template)
	for _, name := range dod.OpenPlaceholders(dod.ParseCriteria(b.dodText(d))) {
		if d.args[name] != "" {
			args[name] = d.args[name]
		}
	}
	if v == nil {
		return args
	}
	for _, a := range v.Args {
		value, given := d.args[a.Name]
		if defaults {
			value = cmp.Or(value, a.Default)
			given = value != "" || given && !a.Required
		}
		if given {
			args[a.Name] = value
		}
	}
	return args
}

func (b planFormBase) phaseView(d planDraft, i int, p phaseDraft, fields map[string]string) views.PhaseForm {
	at := "phases." + strconv.Itoa(i) + "."
	f := views.PhaseForm{
		Key: p.key, Number: i + 1, First: i == 0, Last: i == len(d.phases)-1, Only: len(d.phases) == 1,
		Name: p.name, Task: p.task, DoneWhen: p.doneWhen, Passes: p.passes, Opinions: p.opinions, Approval: p.approval,
		Preview: b.donePreview(p), Errors: below(fields, at),
	}
	for j, a := range p.agents {
		info, known := b.runtime(a.runtime)
		v := views.AgentForm{
			Key: a.key, Number: j + 1, First: j == 0, Last: j == len(p.agents)-1, Runtime: a.runtime, Shell: info.Shell, Shown: info.Shown,
			Name: a.name, Command: a.command, Limit: a.limit, Default: limitText(int(info.Limit.Seconds())),
			Errors: below(fields, at+"agents."+strconv.Itoa(j)+"."),
		}
		if known && !info.Available {
			v.Unavailable = info.Unavailable
		}
		f.TaskNeeded = f.TaskNeeded || known && !info.Shell
		f.Agents = append(f.Agents, v)
	}
	return f
}

func (b planFormBase) donePreview(p phaseDraft) views.CriteriaPreview {
	return previewCriteria(p.doneWhen, previewOptions{
		ID: views.PhasePreviewID(p.key), Spec: b.judge, DoneWhen: true,
		Empty: "No condition: the phase is completed as soon as its agents have succeeded, after one pass.",
	})
}

// below are the messages whose names begin with prefix, by the rest of them.
func below(fields map[string]string, prefix string) map[string]string {
	out := map[string]string{}
	for name, message := range fields {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			out[rest] = message
		}
	}
	return out
}
