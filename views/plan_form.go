package views

import (
	"strconv"

	"donewhen/views/ui"
)

// PlanForm is the new-plan page: everything as it was typed, with the messages
// at their fields. Names of the fields in a post: project, title, goal,
// target_branch, template, dod, dod_args.NAME, phase (the keys in order), and
// phases.KEY.… for each phase (name, task, done_when, passes, opinions, approval, agent:
// its agents' keys in order) with phases.KEY.agents.KEY.… (runtime, name,
// command, limit).
type PlanForm struct {
	Meta     PageMeta
	FormKey  string // sent twice, it makes one plan
	From     string // title of the plan this is a copy of, "" for none
	Project  string // chosen id, "" for none
	Projects []ui.Option
	Title    string
	Goal     string
	Target   string // "" = the project's own
	Default  string // the chosen project's target branch, "" while none is chosen

	Template   string // chosen version's id, "" = by hand
	Templates  []ui.Option
	Dod        string // typed by hand; kept while a template is chosen
	Args       []DodArg
	KeptArgs   [][2]string // names and values typed for another template, carried along
	DodPreview CriteriaPreview
	NeedsDod   bool // the chosen project demands one

	Limits LimitForm

	Phases       []PhaseForm
	Runtimes     []ui.Option
	Opinions     OpinionsField // of a phase
	DodPanel     string        // who judges the judge lines of the chosen template, "" where nobody further is asked
	CommandsNote string        // who may write commands, when the reader may not
	Errors       map[string]string
	Message      string // above the form, "" when nothing is wrong
	Focus        string // id of the part that was just added, "" for none
}

// DodArg is the field for one {placeholder} of the definition of done.
type DodArg struct {
	Name, Description, Default, Value string
	Required                          bool
	Error                             string
}

// PhaseForm is one phase of the form.
type PhaseForm struct {
	Key         string // stays with the phase when it is moved
	Number      int    // its place, from 1
	First, Last bool
	Only        bool // the only one: not removable
	Name        string
	Task        string
	TaskNeeded  bool
	DoneWhen    string
	Passes      string
	Opinions    string
	Approval    bool
	Agents      []AgentForm
	Preview     CriteriaPreview
	Errors      map[string]string // by field: name, task, agents, done_when, passes, opinions
}

// AgentForm is one agent of a phase.
type AgentForm struct {
	Key         string
	Number      int
	First, Last bool
	Runtime     string
	Shell       bool   // it carries a command
	Shown       string // the program that runs it
	Default     string // its time limit when none is typed
	Unavailable string // why it cannot run here, "" when it can
	Name        string
	Command     string
	Limit       string
	Errors      map[string]string // by field: runtime, name, command, limit
}

// The form's places on the page.
const (
	PlanFormID       = "plan-form"
	DodPreviewID     = "dod-preview"
	planFormErrorsID = "plan-form-errors"
)

func (p PhaseForm) id() string                  { return "phase-" + p.Key }
func (p PhaseForm) name(field string) string    { return "phases." + p.Key + "." + field }
func (p PhaseForm) op(verb string) string       { return "phase." + verb + ":" + p.Key }
func (p PhaseForm) title() string               { return "Phase " + strconv.Itoa(p.Number) }
func (p PhaseForm) fieldID(field string) string { return p.id() + "-" + field }

func (p PhaseForm) agentID(a AgentForm) string { return p.id() + "-agent-" + a.Key }
func (p PhaseForm) agentName(a AgentForm, f string) string {
	return p.name("agents." + a.Key + "." + f)
}
func (p PhaseForm) agentOp(verb string, a AgentForm) string {
	return "agent." + verb + ":" + p.Key + ":" + a.Key
}

func (p PhaseForm) agentTitle(a AgentForm) string {
	if len(p.Agents) == 1 {
		return "Agent"
	}
	return "Agent " + strconv.Itoa(a.Number)
}

// PhasePreviewID is where the preview of a phase's done_when stands.
func PhasePreviewID(key string) string { return "phase-" + key + "-preview" }

// problem is one line of the list above a refused form.
type problem struct{ href, text string }

// problems lists what is wrong in the order of the page, each with a link to its field.
func (f PlanForm) problems() []problem {
	var out []problem
	add := func(id, what, message string) {
		if message != "" {
			out = append(out, problem{"#" + id, what + ": " + message})
		}
	}
	for _, p := range [][3]string{{"project", "field-project", "Project"}, {"title", "field-title", "Title"},
		{"goal", "field-goal", "Goal"}, {"target_branch", "field-target_branch", "Target branch"},
		{"phases", "phases", "Phases"}} {
		add(p[1], p[2], f.Errors[p[0]])
	}
	for _, p := range f.Phases {
		for _, e := range [][2]string{{"name", "name"}, {"task", "task"}} {
			add(p.fieldID(e[0]), p.title()+", "+e[1], p.Errors[e[0]])
		}
		add(p.id(), p.title(), p.Errors["agents"])
		for _, a := range p.Agents {
			for _, e := range [][2]string{{"runtime", "runtime"}, {"command", "command"}, {"name", "name"}, {"limit", "time limit"}} {
				add(p.agentID(a)+"-"+e[0], p.title()+", "+e[1], a.Errors[e[0]])
			}
		}
		add(p.fieldID("done_when"), p.title()+", done when", p.Errors["done_when"])
		add(p.fieldID("passes"), p.title()+", passes", p.Errors["passes"])
		add(p.fieldID("opinions"), p.title()+", judges", p.Errors["opinions"])
	}
	add("field-template", "Definition of done", f.Errors["template"])
	if f.Template == "" {
		add("field-dod", "Definition of done", f.Errors["dod"])
	} else {
		add("field-template", "Definition of done", f.Errors["dod"])
	}
	for _, a := range f.Args {
		add(a.id(), "Argument "+a.Name, a.Error)
	}
	for _, l := range f.Limits.Fields {
		add("field-"+l.Name, "Limits, "+l.Label, l.Error)
	}
	return out
}

// runtimeOptions are the runtimes an agent may have, and the one it has when
// that is not declared (any more): it is never shown as another one.
func (f PlanForm) runtimeOptions(a AgentForm) []ui.Option {
	for _, o := range f.Runtimes {
		if o.Value == a.Runtime {
			return f.Runtimes
		}
	}
	unknown := ui.Option{Value: a.Runtime, Label: a.Runtime + " – not declared here"}
	if a.Runtime == "" {
		unknown.Label = "Choose a runtime"
	}
	return append([]ui.Option{unknown}, f.Runtimes...)
}

func (a DodArg) id() string { return "arg-" + a.Name }
