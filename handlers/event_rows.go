package handlers

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// eventSaid is how events are said that a person did or that need more than
// "what is now how".
var eventSaid = map[string]string{
	"plan.created": "made the plan", "plan.started": "started the plan", "plan.paused": "paused the plan", "plan.resumed": "resumed the plan",
	"plan.cancelled": "cancelled the plan", "plan.discarded": "discarded the plan", "plan.cleaned_up": "removed the workspace",
	"plan.dod_changed": "changed the definition of done", "plan.budget_changed": "changed the limits", "plan.applying": "began to apply the plan", "plan.applied": "applied the plan", "plan.apply_refused": "was refused to apply the plan",
	"evaluation.queued": "asked for an evaluation", "criterion.waived": "waived a criterion", "criterion.waiver_taken_back": "took back the waiver of a criterion", "criterion.approved": "approved a criterion",
	"criterion.rejected": "rejected a criterion",
	"phase.approved":     "approved %s", "phase.rejected": "rejected %s", "phase.accepted": "accepted %s as it is", "phase.another_pass": "gave %s another pass",
	"phase.more_passes": "allowed more passes for %s", "phase.tried_again": "tried %s again", "phase.judged_again": "had %s judged again",
	"phase.retried": "retried %s", "phase.condition_changed": "changed the condition of %s",
	"evaluation.stopped": "stopped the evaluation", "run.stopped": "stopped a run of %s",
}

// phaseNamed is "phase 2 (Write the notes)", and "phase 2" for one that is named so.
func phaseNamed(ph models.Phase) string {
	n := fmt.Sprintf("phase %d", ph.Position)
	if strings.EqualFold(ph.Name, n) {
		return n
	}
	return n + " (" + ph.Name + ")"
}

// eventRow says one event in a sentence.
func eventRow(e models.Event, d models.PlanDetail) views.EventRow {
	row := views.EventRow{ID: e.ID, At: e.CreatedAt, Actor: e.Actor, Server: e.ActorID == 0, Tone: ui.ToneIdle, Icon: "circle"}
	row.Reason, _ = cutText(e.Reason, 600)
	if e.Kind == "plan.budget_changed" {
		row.Reason = strings.TrimSpace("From " + e.From + " to " + e.To + ". " + row.Reason)
	}
	phase, pass, run := eventNames(e, d)
	noun, _, _ := strings.Cut(e.Kind, ".")
	said, known := eventSaid[e.Kind]
	row.Server = row.Server || !known // what followed from a person's act is said without them
	switch {
	case known && !row.Server:
		row.Sentence = said
		if strings.Contains(said, "%s") {
			row.Sentence = fmt.Sprintf(said, orWord(phase, "a phase"))
		}
		row.Icon = "user"
	case e.Kind == "plan.found_changes":
		row.Sentence = "Files were changed in the workspace outside of any run, and are recorded with the work"
		row.Icon, row.Tone = "pencil", ui.ToneWarn
	case e.Kind == "plan.put_back":
		row.Sentence = "Files that changed while a check ran were put back; copies are kept"
		row.Icon, row.Tone = "pencil", ui.ToneWarn
	case e.Kind == "phase.over_budget":
		row.Sentence = orWord(phase, "A phase") + ": stopped by the budget"
		row.Icon, row.Tone = "gauge", ui.ToneWarn
	case noun == "run":
		row.Sentence = fmt.Sprintf("%s: %s", orWord(run, "A run"), views.Word(e.To))
		row.Icon, row.Tone = "square-terminal", views.RunTone(models.RunStatus(e.To))
	case noun == "pass":
		row.Sentence = fmt.Sprintf("%s of %s: %s", orWord(pass, "A pass"), orWord(phase, "a phase"), passWord(e, d))
		row.Icon, row.Tone = "repeat", passTone(models.PassStatus(e.To))
	case noun == "phase":
		row.Sentence = fmt.Sprintf("%s: %s", orWord(phase, "A phase"), views.Word(e.To))
		row.Icon, row.Tone = "layers", views.PhaseTone(models.PhaseStatus(e.To))
	case noun == "plan" && e.To != "":
		row.Sentence = "The plan is " + views.Word(e.To)
		row.Icon, row.Tone = "list-checks", views.PlanTone(models.PlanStatus(e.To))
	case noun == "apply":
		row.Sentence = "The merge: " + map[models.ApplyStatus]string{models.ApplyStarted: "begun", models.ApplyDone: "done", models.ApplyRefused: "refused"}[models.ApplyStatus(e.To)]
		row.Icon = "git-merge"
	case noun == "evaluation":
		row.Sentence = "The evaluation is " + orWord(views.Word(e.To), "queued")
		row.Icon = "clipboard-check"
	default:
		row.Sentence = strings.TrimSpace(views.Word(strings.ReplaceAll(e.Kind, ".", " ")) + " " + views.Word(e.To))
	}
	if first, n := utf8.DecodeRuneInString(row.Sentence); row.Server && n > 0 {
		row.Sentence = string(unicode.ToUpper(first)) + row.Sentence[n:]
	}
	switch {
	case e.RunID != nil:
		row.Href = views.RunPath(*e.RunID)
	case e.PassID != nil:
		row.Href = views.PassPath(*e.PassID)
	case e.PhaseID != nil:
		row.Href = views.PhasePath(e.PlanID, *e.PhaseID)
	}
	return row
}

// passWord is what became of a pass: without a condition nothing was met.
func passWord(e models.Event, d models.PlanDetail) string {
	for _, ph := range d.Phases {
		for _, p := range ph.Passes {
			if e.PassID != nil && p.Pass.ID == *e.PassID && e.To == string(models.PassMet) && p.Pass.Status == models.PassMet {
				return passMark(p).Word
			}
		}
	}
	return views.Word(e.To)
}

func passTone(s models.PassStatus) ui.Tone {
	switch s {
	case models.PassRunning, models.PassJudging:
		return ui.ToneBusy
	case models.PassMet:
		return ui.ToneOK
	case models.PassNotMet:
		return ui.ToneBad
	}
	return ui.ToneIdle
}

func orWord(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

// eventNames are the names of what an event is about, "" where they are not known.
func eventNames(e models.Event, d models.PlanDetail) (phase, pass, run string) {
	for _, ph := range d.Phases {
		if e.PhaseID == nil || ph.Phase.ID != *e.PhaseID {
			continue
		}
		phase = phaseNamed(ph.Phase)
		for _, p := range ph.Passes {
			if e.PassID == nil || p.Pass.ID != *e.PassID {
				continue
			}
			pass = fmt.Sprintf("Pass %d", p.Pass.Number())
			for _, r := range p.Runs {
				if e.RunID != nil && r.ID == *e.RunID {
					run = fmt.Sprintf("%s in pass %d of %s", r.Agent.Label(), p.Pass.Number(), ph.Phase.Name)
				}
			}
		}
	}
	return phase, pass, run
}
