package handlers

import (
	"cmp"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"donewhen/engine"
	"donewhen/models"
)

// planDraft is the new-plan form exactly as it was typed.
type planDraft struct {
	formKey, fromTitle    string
	project, title, goal  string
	target, template, dod string
	args                  map[string]string
	limits                map[models.Limit]string
	phases                []phaseDraft
}

type phaseDraft struct {
	key                          string // names its fields; stays with it when it is moved
	name, task, doneWhen, passes string
	opinions                     string
	approval                     bool
	agents                       []agentDraft
}

type agentDraft struct {
	key, runtime, name, command, limit string
}

// partKey is what may name a part of a form. Keys come back in ids and names.
var partKey = regexp.MustCompile(`^[a-z0-9]{1,12}$`)

// readPlanDraft takes the form from a post; see views.PlanForm for its fields.
func readPlanDraft(c echo.Context) planDraft {
	d := planDraft{
		formKey: field(c, "form_key"), fromTitle: field(c, "from_title"), project: field(c, "project"), title: field(c, "title"),
		goal: field(c, "goal"), target: field(c, "target_branch"), template: field(c, "template"), dod: field(c, "dod"),
		args: map[string]string{}, limits: typedLimits(c),
	}
	if len(d.formKey) > 64 {
		d.formKey = ""
	}
	for name := range c.Request().PostForm {
		if arg, ok := strings.CutPrefix(name, "dod_args."); ok {
			d.args[arg] = field(c, name)
		}
	}
	for _, key := range partKeys(c, "phase", "phases.") {
		at := "phases." + key + "."
		p := phaseDraft{
			key: key, name: field(c, at+"name"), task: field(c, at+"task"), doneWhen: field(c, at+"done_when"),
			passes: field(c, at+"passes"), opinions: field(c, at+"opinions"), approval: field(c, at+"approval") != "",
		}
		for _, k := range partKeys(c, at+"agent", at+"agents.") {
			at := at + "agents." + k + "."
			p.agents = append(p.agents, agentDraft{
				key: k, runtime: field(c, at+"runtime"), name: field(c, at+"name"), command: field(c, at+"command"), limit: field(c, at+"limit"),
			})
		}
		d.phases = append(d.phases, p)
	}
	return d
}

// partKeys are the keys of a form's repeated parts in their order: those of the
// fields called list, or where there is none, those that stand in the names
// behind prefix, by number.
func partKeys(c echo.Context, list, prefix string) []string {
	_ = c.Request().PostFormValue(list) // reads the form
	form := c.Request().PostForm
	var keys []string
	add := func(key string) {
		if partKey.MatchString(key) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if named := form[list]; len(named) > 0 {
		for _, key := range named {
			add(key)
		}
		return keys
	}
	for name := range form {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			key, _, _ := strings.Cut(rest, ".")
			add(key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return keys
}

// newKey is a key that none of the given ones is.
func newKey(keys []string) string {
	next := 0
	for _, k := range keys {
		if n, err := strconv.Atoi(k); err == nil && n >= next && n < 1_000_000 {
			next = n + 1
		}
	}
	for slices.Contains(keys, strconv.Itoa(next)) {
		next++
	}
	return strconv.Itoa(next)
}

// newPlan is the draft as the engine takes it. fields are messages for what
// cannot even be read; clamped says which numbers were brought into their range.
func (d planDraft) newPlan(shell func(runtime string) bool) (in engine.NewPlan, fields map[string]string, clamped []string) {
	fields = map[string]string{}
	in = engine.NewPlan{FormKey: d.formKey, Title: d.title, Goal: d.goal, TargetBranch: d.target, Dod: d.dod, DodArgs: map[string]string{}}
	in.ProjectID, _ = strconv.ParseInt(d.project, 10, 64) // anything else is no project: the engine says so
	if d.template != "" {
		id, err := strconv.ParseInt(d.template, 10, 64)
		if err != nil || id < 1 {
			fields["template"] = "Choose a template, or write the definition of done by hand."
		}
		in.TemplateVersionID = id
	}
	var problems map[string]string
	in.Budget, problems = parseBudget(d.limits)
	maps.Copy(fields, problems)
	for i, p := range d.phases {
		at := "phases." + strconv.Itoa(i) + "."
		n, problem := parsePasses(p.passes)
		if problem != "" {
			fields[at+"passes"] = problem
		}
		if fit := models.ClampIterations(n); fit != n && strings.TrimSpace(p.passes) != "" {
			clamped = append(clamped, "Phase "+strconv.Itoa(i+1)+": passes "+strings.TrimSpace(p.passes)+" became "+strconv.Itoa(fit)+" (a phase has 1 to 20).")
		}
		opinions, err := strconv.Atoi(cmp.Or(strings.TrimSpace(p.opinions), "1"))
		if err != nil || models.ClampOpinions(opinions) != opinions {
			fields[at+"opinions"] = "Choose one of the numbers of judges."
		}
		phase := engine.NewPhase{Name: p.name, Task: p.task, DoneWhen: p.doneWhen, MaxIterations: n, Opinions: opinions, NeedsApproval: p.approval}
		for j, a := range p.agents {
			limit, problem := parseLimit(a.limit)
			if problem != "" {
				fields[at+"agents."+strconv.Itoa(j)+".limit"] = problem
			}
			command := a.command
			if !shell(a.runtime) {
				command = "" // kept in the form for when a shell is chosen again
			}
			phase.Agents = append(phase.Agents, models.AgentSpec{Runtime: a.runtime, Name: strings.TrimSpace(a.name), Command: command, Limit: limit})
		}
		in.Phases = append(in.Phases, phase)
	}
	return in, fields, clamped
}

// parsePasses reads a number of passes as typed: a whole number of any size,
// which is brought into range later, or nothing, which is the smallest.
func parsePasses(typed string) (n int, problem string) {
	typed = strings.TrimSpace(typed)
	if typed == "" {
		return models.MinIterations, ""
	}
	n, err := strconv.Atoi(typed)
	switch {
	case err == nil:
		return n, ""
	case errors.Is(err, strconv.ErrRange) && strings.HasPrefix(typed, "-"):
		return models.MinIterations - 1, ""
	case errors.Is(err, strconv.ErrRange):
		return models.MaxIterations + 1, ""
	}
	return models.MinIterations, "Write a whole number from 1 to 20."
}

// parseLimit reads a time limit as typed, in seconds: "90s", "15m", "2h", a
// number of minutes, or nothing, which is the runtime's own (0).
func parseLimit(typed string) (seconds int, problem string) {
	typed = strings.ReplaceAll(strings.TrimSpace(typed), " ", "")
	if typed == "" {
		return 0, ""
	}
	if n, err := strconv.Atoi(typed); err == nil {
		typed = strconv.Itoa(n) + "m"
	}
	d, err := time.ParseDuration(typed)
	if err != nil || d < time.Second || d > 30*24*time.Hour {
		return 0, "Write it like 90s, 15m or 2h; a number alone is minutes."
	}
	return int(d / time.Second), ""
}

// limitText is a time limit the way parseLimit reads it: "15m", "1h30m".
func limitText(seconds int) string {
	if seconds == 0 {
		return ""
	}
	s := (time.Duration(seconds) * time.Second).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
