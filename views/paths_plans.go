package views

import (
	"net/url"
	"strconv"
)

// PlansPath is the list of plans.
const PlansPath = "/plans"

// PausedPlansPath is the list of plans that somebody has to resume.
const PausedPlansPath = PlansPath + "?status=paused"

// The live parts of a plan's page, for PlanPartPath.
const (
	PartHead     = "head"
	PartFacts    = "facts"
	PartGate     = "gate"
	PartDod      = "dod"
	PartPhases   = "phases"
	PartDiff     = "diff"
	PartActivity = "activity"
	PartBudget   = "budget"
)

// The verbs of a plan, for PlanVerbPath.
const (
	VerbStart          = "start"
	VerbPause          = "pause"
	VerbResume         = "resume"
	VerbCancel         = "cancel"
	VerbDiscard        = "discard"
	VerbClean          = "clean"
	VerbEvaluate       = "evaluate"
	VerbStopEvaluation = "stop-evaluation"
	VerbApply          = "apply"
	VerbBudget         = "budget"
)

// The verbs of a phase, for PhaseVerbPath. Approve and reject are also what a
// person says to a `human` criterion, with waive and what takes one back,
// for CriterionVerbPath.
const (
	VerbTakeBackWaiver   = "take-back-waiver"
	VerbTakeBackApproval = "take-back-approval"
	VerbApprove          = "approve"
	VerbReject           = "reject"
	VerbWaive            = "waive"
	VerbAnotherPass      = "another-pass"
	VerbMorePasses       = "more-passes"
	VerbTryAgain         = "try-again"
	VerbJudgeAgain       = "judge-again"
	VerbRetry            = "retry"
	VerbAccept           = "accept"
	VerbCondition        = "edit-condition"
	VerbStopRun          = "stop-run"
)

// PlanPath is a plan's page.
func PlanPath(id string) string { return PlansPath + "/" + url.PathEscape(id) }

// PlanPartPath is one live part of a plan's page.
func PlanPartPath(id, part string) string { return PlanPath(id) + "?part=" + url.QueryEscape(part) }

// PlanVerbPath is where a plan's verb is posted to.
func PlanVerbPath(id, verb string) string { return PlanPath(id) + "/" + verb }

// PlanDodPath is the form that replaces a plan's definition of done.
func PlanDodPath(id string) string { return PlanPath(id) + "/dod" }

// PlanDodPreviewPath is what that form's text is read as (POST, a fragment).
func PlanDodPreviewPath(id string) string { return PlanDodPath(id) + "/preview" }

// PlanActivityPath is all that happened in a plan, by pages: before is the
// smallest event id of the page before, 0 the newest page.
func PlanActivityPath(id string, before int64) string {
	p := PlanPath(id) + "/activity"
	if before > 0 {
		p += "?before=" + itoa(before)
	}
	return p
}

// PlanDiffPath is the whole difference of a plan's work, of one of its passes
// (pass > 0), and of one file of it (file != "").
func PlanDiffPath(id string, pass int64, file string) string {
	q := url.Values{}
	if pass > 0 {
		q.Set("pass", itoa(pass))
	}
	if file != "" {
		q.Set("file", file)
	}
	p := PlanPath(id) + "/diff"
	if len(q) > 0 {
		p += "?" + q.Encode()
	}
	return p
}

// PlanDiffDirPath is a page of the files in a folder (dir "" = all of them),
// beginning with file number at.
func PlanDiffDirPath(id string, pass int64, dir string, at int) string {
	q := url.Values{}
	if pass > 0 {
		q.Set("pass", itoa(pass))
	}
	if dir != "" {
		q.Set("dir", dir)
	}
	if at > 0 {
		q.Set("at", strconv.Itoa(at))
	}
	if len(q) == 0 {
		return PlanPath(id) + "/diff"
	}
	return PlanPath(id) + "/diff?" + q.Encode()
}

// DiffFilePath is a file's place in the difference: on this page, which begins
// with file number shown, or on the one that begins with at.
func DiffFilePath(id string, pass int64, dir string, at, shown int, file string) string {
	if at == shown {
		return "#" + diffAnchor(file)
	}
	return PlanDiffDirPath(id, pass, dir, at) + "#" + diffAnchor(file)
}

// CriterionVerbPath is where a decision about a plan's criterion is posted to.
func CriterionVerbPath(planID string, criterion int, verb string) string {
	return PlanPath(planID) + "/criteria/" + strconv.Itoa(criterion) + "/" + verb
}

// PhaseAnchor is a phase's place on its plan's page.
func PhaseAnchor(phaseID int64) string { return "phase-" + itoa(phaseID) }

// PhasePath is a phase on its plan's page.
func PhasePath(planID string, phaseID int64) string {
	return PlanPath(planID) + "#" + PhaseAnchor(phaseID)
}

// PhaseWholePath is the plan's page with that phase whole, for plans with so many
// phases that most are only a line.
func PhaseWholePath(planID string, phaseID int64) string {
	return PlanPath(planID) + "?phase=" + itoa(phaseID) + "#" + PhaseAnchor(phaseID)
}

// PlanPhasesPath is the live timeline, with the phase that the reader asked for whole.
func PlanPhasesPath(planID string, opened int64) string {
	if opened == 0 {
		return PlanPartPath(planID, PartPhases)
	}
	return PlanPartPath(planID, PartPhases) + "&phase=" + itoa(opened)
}

// PhaseVerbPath is where a phase's verb is posted to.
func PhaseVerbPath(phaseID int64, verb string) string {
	return "/phases/" + itoa(phaseID) + "/" + verb
}

// PassPath is a pass with its exact task text.
func PassPath(id int64) string { return "/passes/" + itoa(id) }

// RunPath is a run with its live log.
func RunPath(id int64) string { return "/runs/" + itoa(id) }

// RunRawPath is every byte of a run's log, as a download.
func RunRawPath(id int64) string { return RunPath(id) + "/log.txt" }

// VerdictPath is a verdict with exactly what was asked and answered.
func VerdictPath(id int64) string { return "/verdicts/" + itoa(id) }

// EvaluationPath is one judging of a plan's definition of done.
func EvaluationPath(id int64) string { return "/evaluations/" + itoa(id) }

func itoa64(n int64) string { return itoa(n) }
