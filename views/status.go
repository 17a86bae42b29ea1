package views

import (
	"strings"

	"github.com/a-h/templ"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/views/ui"
)

// Word is a stored status as people read it: "awaiting_approval" is "awaiting
// approval".
func Word[S ~string](status S) string { return strings.ReplaceAll(string(status), "_", " ") }

// PlanTone is what a plan's status means to the reader.
func PlanTone(s models.PlanStatus) ui.Tone {
	switch s {
	case models.PlanRunning, models.PlanApplying:
		return ui.ToneBusy
	case models.PlanWaiting, models.PlanFinished:
		return ui.ToneWarn
	case models.PlanFailed:
		return ui.ToneBad
	case models.PlanApplied:
		return ui.ToneOK
	default: // draft, paused, cancelled, discarded
		return ui.ToneIdle
	}
}

// planIcons are the shapes of plans' statuses, where they differ from the tone's own.
var planIcons = map[models.PlanStatus]string{
	models.PlanDraft: "pencil", models.PlanPaused: "circle-pause", models.PlanWaiting: "hand",
	models.PlanFinished: "shield-check", models.PlanApplying: "git-merge", models.PlanApplied: "git-merge",
	models.PlanCancelled: "ban", models.PlanDiscarded: "trash-2",
}

// PlanBadge is a plan's status as a badge.
func PlanBadge(s models.PlanStatus) templ.Component {
	return ui.StatusBadge(Word(s), PlanTone(s), planIcons[s])
}

// PhaseTone is what a phase's status means to the reader.
func PhaseTone(s models.PhaseStatus) ui.Tone {
	switch s {
	case models.PhaseRunning, models.PhaseJudging:
		return ui.ToneBusy
	case models.PhaseCompleted:
		return ui.ToneOK
	case models.PhaseAwaitingApproval, models.PhaseStalled, models.PhaseNeedsAttention:
		return ui.ToneWarn
	case models.PhaseExhausted, models.PhaseFailed:
		return ui.ToneBad
	default: // pending, cancelled
		return ui.ToneIdle
	}
}

var phaseIcons = map[models.PhaseStatus]string{
	models.PhaseRunning: "circle-play", models.PhaseJudging: "gavel", models.PhaseAwaitingApproval: "hand",
	models.PhaseStalled: "circle-pause", models.PhaseExhausted: "repeat", models.PhaseCancelled: "ban",
}

// PhaseBadge is a phase's status as a badge.
func PhaseBadge(s models.PhaseStatus) templ.Component {
	return ui.StatusBadge(Word(s), PhaseTone(s), phaseIcons[s])
}

// RunTone is what a run's status means to the reader.
func RunTone(s models.RunStatus) ui.Tone {
	switch s {
	case models.RunRunning:
		return ui.ToneBusy
	case models.RunSucceeded:
		return ui.ToneOK
	case models.RunErrored, models.RunLost:
		return ui.ToneWarn
	case models.RunFailed, models.RunTimedOut:
		return ui.ToneBad
	default: // queued, cancelled
		return ui.ToneIdle
	}
}

var runIcons = map[models.RunStatus]string{
	models.RunRunning: "circle-play", models.RunTimedOut: "clock", models.RunLost: "circle-help", models.RunCancelled: "ban",
}

// RunBadge is a run's status as a badge.
func RunBadge(s models.RunStatus) templ.Component {
	return ui.StatusBadge(Word(s), RunTone(s), runIcons[s])
}

// ResultTone is what a criterion's status means to the reader; "" is "not evaluated".
func ResultTone(s dod.Status) ui.Tone {
	switch s {
	case dod.Passed:
		return ui.ToneOK
	case dod.Failed:
		return ui.ToneBad
	case dod.Skipped:
		return ui.ToneWarn
	default:
		return ui.ToneIdle
	}
}
