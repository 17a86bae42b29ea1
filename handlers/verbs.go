package handlers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// Which verbs are offered in which state. The engine decides once more when one
// is pressed; here it is only said what would not be refused.

// planVerbs are a plan's own.
func planVerbs(p models.Plan, role models.Role) []views.Verb {
	if !role.Can(lead) {
		return nil
	}
	simple := func(verb, label, icon string, kind ui.ButtonKind) views.Verb {
		return views.Verb{Key: "plan-" + verb, Label: label, Icon: icon, Kind: kind, Action: views.PlanVerbPath(p.ID, verb)}
	}
	asked := func(verb, label, icon, question, body string) views.Verb {
		v := simple(verb, label, icon, ui.Secondary)
		v.Question, v.Body, v.Submit = question, body, question[:len(question)-1]
		v.Fields = []views.VerbField{textField(v.Key, "reason", "Reason", "Shown in the activity for everybody.", false)}
		return v
	}
	cancel := asked(views.VerbCancel, "Cancel", "ban", "Cancel this plan?", "Running agents are stopped. Nothing revives a cancelled plan; its branch, workspace and logs are kept.")
	discard := asked(views.VerbDiscard, "Discard", "trash-2", "Discard this plan?", "It is put away without applying it. Its branch, workspace and logs are kept until they are cleaned up.")
	cancel.Kind, discard.Kind = ui.Secondary, ui.Secondary
	clean := simple(views.VerbClean, "Clean up", "trash-2", ui.Secondary)
	clean.Question, clean.Submit = "Remove the workspace?", "Remove the workspace"
	clean.Body = "What lies in the folder that the agents worked in is recorded on the branch first, then the folder is deleted. Commits on other branches, stashes and what was reset are kept beside it. Files that git ignores, and the history of repositories that the agents made inside of it, go. The branch, the logs, the decisions and copies that were kept of put-back files stay; the activity says where those are."
	if n := len(p.Unrecorded); n > 0 {
		names := make([]string, 0, n)
		for i, u := range p.Unrecorded {
			if i == 10 {
				names = append(names, fmt.Sprintf("and %d more", n-i))
				break
			}
			names = append(names, u.Path+" ("+u.Why+")")
		}
		clean.Body += " Not recorded, and deleted with it: " + strings.Join(names, ", ") + "."
	}

	out := []views.Verb{{Key: "plan-copy", Label: "Copy as new plan", Icon: "copy", Kind: ui.Ghost, Href: views.NewPlanFromPath(p.ID)}}
	switch p.Status {
	case models.PlanDraft:
		out = append(out, discard, simple(views.VerbStart, "Start", "play", ui.Primary))
	case models.PlanRunning:
		out = append(out, simple(views.VerbPause, "Pause", "pause", ui.Secondary), cancel)
	case models.PlanPaused:
		out = append(out, cancel, simple(views.VerbResume, "Resume", "play", ui.Primary))
	case models.PlanWaiting, models.PlanFailed:
		out = append(out, cancel, discard)
	case models.PlanFinished:
		out = append(out, discard)
	case models.PlanCancelled:
		out = append(out, discard)
	}
	if p.Status.Over() && p.CleanedAt == nil && p.StartedAt != nil {
		out = append(out, clean)
	}
	return out
}

// dodVerbs are those of the definition of done as a whole.
func dodVerbs(p models.Plan, ev *models.Evaluation, role models.Role) []views.Verb {
	if !role.Can(lead) || p.Status.Over() || p.Status == models.PlanApplying {
		return nil
	}
	var out []views.Verb
	if len(engine.Criteria(p)) > 0 && mayEvaluate(p, ev) {
		v := evaluateVerb(p.ID, "dod-evaluate", "Evaluate")
		if ev != nil {
			v.Label = "Evaluate again"
		}
		out = append(out, v)
	}
	label := "Edit"
	if len(engine.Criteria(p)) == 0 {
		label = "Write one"
	}
	return append(out, views.Verb{Key: "dod-edit", Label: label, Icon: "pencil", Small: true, Href: views.PlanDodPath(p.ID)})
}

func mayEvaluate(p models.Plan, ev *models.Evaluation) bool {
	return p.Status == models.PlanFinished && (ev == nil || ev.Status == models.EvaluationDone || ev.Status == models.EvaluationErrored)
}

func evaluateVerb(planID, key, label string) views.Verb {
	return views.Verb{Key: key, Label: label, Icon: "refresh-cw", Small: true, Action: views.PlanVerbPath(planID, views.VerbEvaluate), Hidden: [][2]string{{"key", key}}}
}

// stopEvaluationVerb ends an evaluation whose checks or judges burn.
func stopEvaluationVerb(planID string, evaluationID int64) views.Verb {
	v := views.Verb{Key: "gate-" + views.VerbStopEvaluation, Label: "Stop the evaluation", Icon: "ban", Small: true, Action: views.PlanVerbPath(planID, views.VerbStopEvaluation),
		Hidden: [][2]string{{"evaluation", strconv.FormatInt(evaluationID, 10)}},
		Body:   "Its checks and questions are ended, and it has no result. The plan cannot be applied until it is evaluated again."}
	v.Fields = []views.VerbField{textField(v.Key, "reason", "Reason", "Shown on the plan and in the activity.", false)}
	return v
}

// phaseVerbs are a phase's, in the state that it and its plan are in.
func phaseVerbs(plan models.PlanDetail, d models.PhaseDetail, role models.Role) []views.Verb {
	ph, p := d.Phase, plan.Plan
	if !role.Can(lead) || p.Status.Over() || p.Status == models.PlanApplying || p.Status == models.PlanDraft {
		return nil
	}
	make := func(verb, label, icon string, fields ...views.VerbField) views.Verb {
		key := phaseKey(ph.ID, verb)
		for i := range fields {
			fields[i].ID = key + "-" + fields[i].Name
		}
		return views.Verb{Key: key, Label: label, Icon: icon, Small: true, Action: views.PhaseVerbPath(ph.ID, verb), Fields: fields,
			Hidden: [][2]string{{"pass", strconv.FormatInt(deref(ph.PassID), 10)}}}
	}
	note := func(hint string) views.VerbField { return textField("", "note", "Note for the agents", hint, false) }

	approve := make(views.VerbApprove, "Approve", "check", textField("", "note", "Note", "Kept with the approval.", false))
	reject := make(views.VerbReject, "Reject", "x", textField("", "reason", "Reason", "Whoever mends it needs to know.", true))
	reject.Body = "The phase is failed then. Retry it, or give it another pass, to go on."
	another := make(views.VerbAnotherPass, "Another pass", "repeat", note("Goes word for word into the next task text."))
	another.Body = "Its agents run once more on the work as it is, with what is still missing and your note."
	left := models.MaxIterations - ph.Iteration - 1
	more := make(views.VerbMorePasses, "More passes", "plus", views.VerbField{Kind: views.VerbNumber, FieldProps: ui.FieldProps{
		Name: "passes", Label: "How many more", Type: "number", Value: "1", Min: "1", Max: strconv.Itoa(left), Required: true,
		Hint: fmt.Sprintf("An attempt has at most %d passes; %d are left.", models.MaxIterations, left)}}, note("Goes word for word into the next task text."))
	another.Body = fixedCommand(ph)
	more.Body = another.Body
	again := make(views.VerbTryAgain, "Try the run again", "refresh-cw")
	judge := make(views.VerbJudgeAgain, "Judge again", "gavel")
	retry := make(views.VerbRetry, "Retry the phase", "rotate-ccw", views.VerbField{Kind: views.VerbChoice, FieldProps: ui.FieldProps{
		Name: "from", Label: "Begin with", Options: []ui.Option{{Value: "here", Label: "The work as it is"}, {Value: "start", Label: "The state at the phase's start"}},
		Value: "here"}}, note("Goes word for word into the next task text."))
	retry.Body = "A new attempt with all its passes. Later phases run again, and what was approved about them is void."
	accept := make(views.VerbAccept, "Accept as it is", "hand", textField("", "reason", "Reason", "It stays on the plan for ever.", true))
	accept.Body = "The phase counts as completed although its condition is not met. This is shown as an override for ever."

	label := "Edit the condition"
	if ph.DoneWhen == "" {
		label = "Add a condition"
	}
	edit := make(views.VerbCondition, label, "pencil", views.VerbField{Kind: views.VerbText, FieldProps: ui.FieldProps{
		Name: "done_when", Label: "Done when", Value: ph.DoneWhen, Rows: 4, Mono: true, Required: true, Hint: "Checked like that of a new plan. The old text stays in the activity."}},
		views.VerbField{Kind: views.VerbNumber, FieldProps: ui.FieldProps{Name: "max_iterations", Label: "Passes", Type: "number", Value: strconv.Itoa(ph.MaxIterations),
			Min: strconv.Itoa(ph.Iteration + 1), Max: strconv.Itoa(models.MaxIterations), Required: true, Hint: "At most in this attempt."}},
		textField("", "reason", "Why", "Needed when the new condition asks for less. The gate names it.", false))
	edit.Fields[len(edit.Fields)-1].Optional = false // it may be asked for
	edit.Hidden = append(edit.Hidden, [2]string{"seen", engine.SeenCondition(ph)})
	edit.Body = "The phase stays where it is. Choose what follows afterwards: judge again, another pass, or more passes."
	if ph.Status == models.PhaseAwaitingApproval {
		edit.Body = "This pass was judged by the condition as it is now: under another one it cannot be approved. Give the phase another pass afterwards."
	}

	mayPass := ph.PassID != nil && left > 0
	judgeable := ph.PassID != nil && lastRunsSucceeded(d)
	var out []views.Verb
	add := func(when bool, verbs ...views.Verb) {
		if when {
			out = append(out, verbs...)
		}
	}
	switch ph.Status {
	case models.PhaseRunning:
		if run := atWork(d); run != nil {
			add(true, stopVerb(p, ph, *run))
		}
	case models.PhaseAwaitingApproval:
		approve.Kind = ui.Primary
		add(true, approve, reject)
		add(mayPass, another)
		add(true, edit)
	case models.PhasePending:
		add(true, edit)
	case models.PhaseStalled:
		add(true, edit)
		add(mayPass, another, more)
		add(true, accept)
		add(judgeable, judge)
		add(true, retry)
	case models.PhaseExhausted:
		add(mayPass, more, another)
		add(true, edit)
		add(judgeable, judge)
		add(true, retry, accept)
	case models.PhaseNeedsAttention:
		if ph.OverBudget { // whatever would begin something is stopped again: the raise stands before these
			add(ph.DoneWhen != "", edit)
			add(true, accept)
			break
		}
		if currentPass(d).Status == models.PassJudging && judgeable {
			if !judgedBefore(d) {
				judge.Label = "Judge anyway"
			}
			add(true, judge)
		} else {
			add(true, again)
		}
		add(ph.DoneWhen != "", edit)
		add(mayPass, another, more)
		add(true, retry, accept)
	case models.PhaseFailed:
		add(true, retry)
		add(mayPass, another, more)
		add(true, edit, accept)
	case models.PhaseCompleted:
		if !laterAtWork(plan, ph) {
			another.Kind, retry.Kind = ui.Ghost, ui.Ghost
			another.Body = strings.TrimSpace(another.Body + " Later phases run again, and what was approved about them is void.")
			add(mayPass, another)
			add(true, retry)
		}
	}
	return out
}

// fixedCommand warns whoever writes a note to commands that may never read it.
func fixedCommand(ph models.Phase) string {
	if slices.ContainsFunc(ph.Agents, func(a models.AgentSpec) bool { return a.Command == "" }) {
		return ""
	}
	return "A command stays the same in every pass, and reads a note only from the file that $DONEWHEN_TASK_FILE names. For another command, copy the plan as a new one."
}

func phaseKey(id int64, verb string) string {
	return views.PhaseAnchor(id) + "-" + verb
}

func currentPass(d models.PhaseDetail) models.Pass {
	for _, p := range d.Passes {
		if p.Pass.ID == deref(d.Phase.PassID) {
			return p.Pass
		}
	}
	return models.Pass{}
}

// atWork is the phase's run that an agent carries out now, nil when there is none.
func atWork(d models.PhaseDetail) *models.Run {
	for _, p := range d.Passes {
		for _, r := range p.Runs {
			if p.Pass.ID == deref(d.Phase.PassID) && r.Status == models.RunRunning {
				return &r
			}
		}
	}
	return nil
}

// stopVerb ends a run without its plan. It stands on the plan's page and the run's.
func stopVerb(p models.Plan, ph models.Phase, run models.Run) views.Verb {
	v := views.Verb{Key: phaseKey(ph.ID, views.VerbStopRun), Label: "Stop the run", Icon: "ban", Small: true, Action: views.PhaseVerbPath(ph.ID, views.VerbStopRun),
		Hidden: [][2]string{{"pass", strconv.FormatInt(deref(ph.PassID), 10)}, {"run", strconv.FormatInt(run.ID, 10)}}}
	v.Body = run.Agent.Label() + " is ended. What it did so far is recorded, no pass is spent, and the phase waits for you to say what follows."
	if p.Status == models.PlanPaused {
		v.Body = run.Agent.Label() + " is ended. What it did so far is recorded and no pass is spent. Once the plan is resumed, the phase waits for you to say what follows."
	}
	v.Fields = []views.VerbField{textField(v.Key, "reason", "Reason", "Shown with the run and in the activity.", false)}
	return v
}

// judgedBefore says whether somebody was asked about the current pass.
func judgedBefore(d models.PhaseDetail) bool {
	return slices.ContainsFunc(d.Passes, func(p models.PassDetail) bool {
		return p.Pass.ID == deref(d.Phase.PassID) && p.Verdict != nil
	})
}

// lastRunsSucceeded says whether there is something to judge: the newest try of
// each run of the current pass succeeded.
func lastRunsSucceeded(d models.PhaseDetail) bool {
	for _, p := range d.Passes {
		if p.Pass.ID != deref(d.Phase.PassID) {
			continue
		}
		newest := map[int]models.RunStatus{}
		for _, r := range p.Runs { // by position, then try
			newest[r.Position] = r.Status
		}
		for _, status := range newest {
			if status != models.RunSucceeded {
				return false
			}
		}
		return len(newest) > 0 && d.Phase.DoneWhen != ""
	}
	return false
}

func laterAtWork(plan models.PlanDetail, ph models.Phase) bool {
	return slices.ContainsFunc(plan.Phases, func(l models.PhaseDetail) bool {
		return l.Phase.Position > ph.Position && (l.Phase.Status == models.PhaseRunning || l.Phase.Status == models.PhaseJudging)
	})
}

// textField is a field of several lines for a reason or a note.
func textField(key, name, label, hint string, required bool) views.VerbField {
	f := ui.FieldProps{Name: name, Label: label, Hint: hint, Rows: 2, Required: required, Optional: !required}
	if key != "" {
		f.ID = key + "-" + name
	}
	return views.VerbField{Kind: views.VerbText, FieldProps: f}
}

// criterionVerbs are what a person can say to one criterion that is in the way.
func criterionVerbs(planID string, c dod.Criterion, evaluationID int64, human bool, role models.Role) []views.Verb {
	if !role.Can(lead) {
		return nil
	}
	make := func(verb, label, icon string, f views.VerbField) views.Verb {
		v := criterionVerb(planID, c, evaluationID, verb, label, icon, f)
		v.Label, v.Submit, v.Body = fmt.Sprintf("%s criterion %d", label, c.Index), label, c.Text
		return v
	}
	if human {
		if wanted := models.Role(c.Check.Arg); wanted != "" && !role.Can(wanted) {
			return nil
		}
		return []views.Verb{
			make(views.VerbApprove, "Approve", "check", textField("", "reason", "Note", "Kept with the approval.", false)),
			make(views.VerbReject, "Reject", "x", textField("", "reason", "Reason", "Whoever mends it needs to know.", true)),
		}
	}
	return []views.Verb{make(views.VerbWaive, "Waive", "hand", textField("", "reason", "Reason", "The criterion need not pass then. Its result stays as it is, and your reason stays on the plan.", true))}
}

func criterionVerb(planID string, c dod.Criterion, evaluationID int64, verb, label, icon string, f views.VerbField) views.Verb {
	key := criterionKey(c.Index, verb)
	f.ID = key + "-" + f.Name
	return views.Verb{Key: key, Label: label, Icon: icon, Small: true, Action: views.CriterionVerbPath(planID, c.Index, verb), Fields: []views.VerbField{f},
		Hidden: [][2]string{{"evaluation", strconv.FormatInt(evaluationID, 10)}}}
}

// undoVerbs take back what a person decided about a criterion, as long as nothing
// was applied by it.
func (b *planBuilder) undoVerbs(r dod.Result, waived bool) []views.Verb {
	if !b.role.Can(lead) || b.plan().Status != models.PlanFinished || b.gate.Stale {
		return nil
	}
	var v views.Verb
	switch c := r.Criterion; {
	case waived:
		v = criterionVerb(b.plan().ID, c, b.gate.EvaluationID, views.VerbTakeBackWaiver, "Take back the waiver", "rotate-ccw", textField("", "reason", "Note", "Shown in the activity for everybody.", false))
		v.Body = "The criterion has to pass then, or be waived once more."
	case c.Check.Kind == dod.CheckHuman && r.Status == dod.Passed && (c.Check.Arg == "" || b.role.Can(models.Role(c.Check.Arg))):
		v = criterionVerb(b.plan().ID, c, b.gate.EvaluationID, views.VerbTakeBackApproval, "Take back the approval", "rotate-ccw", textField("", "reason", "Reason", "Whoever mends it needs to know.", true))
		v.Body = "The criterion is rejected then, until somebody approves it again."
	default:
		return nil
	}
	v.Kind = ui.Ghost
	return []views.Verb{v}
}

func criterionKey(index int, verb string) string { return fmt.Sprintf("criterion-%d-%s", index, verb) }
