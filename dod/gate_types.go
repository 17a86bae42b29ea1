package dod

// GateFacts is all that the gate looks at, as plain values. Whoever collects
// them reads them in one transaction; the gate itself asks nobody.
type GateFacts struct {
	// PlanStatus is the stored status: draft, running, paused, waiting, failed,
	// finished, applying, applied, cancelled or discarded. Only "finished" can open.
	PlanStatus string

	// Phases is the number of phases; UnfinishedPhase the 1-based position of the
	// first that is not completed (0: none), PhaseStatus its status.
	Phases          int
	UnfinishedPhase int
	PhaseStatus     string
	// StaleApproval: it waits for an approval that it cannot be given, because it asks
	// for something else since it was judged.
	StaleApproval bool

	// HasDoD: the plan has a definition of done with at least one criterion.
	HasDoD bool
	// ProjectRequiresDoD: the project lets no plan be applied without one.
	ProjectRequiresDoD bool

	// Evaluation is the state of the plan's latest evaluation.
	Evaluation      EvaluationState
	EvaluationError string
	// EvaluationStopped: a person stopped it, which EvaluationError says.
	EvaluationStopped bool

	// OverBudget is why the unfinished phase or the latest evaluation was stopped by
	// the plan's budget, one sentence; "" when it was not.
	OverBudget string

	// EvaluatedFingerprint is what the latest evaluation was about and
	// CurrentFingerprint what is there now. An unknown (empty) one counts as moved.
	EvaluatedFingerprint string
	CurrentFingerprint   string
	// Changed names what moved since ("workspace", "criteria", "template", "evaluator").
	Changed []string

	// Summary is the latest evaluation's result; read only when Evaluation is done.
	Summary Summary
	// Waivers are all recorded ones; those about another fingerprint do not count.
	Waivers []Waiver

	// Dropped are the required criteria that the plan was started with, or got
	// later, and that are not asked for any more. They close nothing: a person
	// decided it; but nobody applies the plan without being told.
	Dropped []DroppedCriterion

	// Resolved are files in which both sides changed the same places and the work has
	// settled it, by merging the target. What the target had there may be gone.
	Resolved []string

	// Accepted are the phases that a person took as they are, though their condition
	// was not met. They close nothing either.
	Accepted []AcceptedPhase
	// ChangedSince: the work is not any more what the last pass was judged or
	// approved by: files were changed outside of any run.
	ChangedSince bool

	// ApprovalsNeeded is m of "n of m"; Approvals are the recorded ones, of which
	// those about another fingerprint, and second ones by the same person, do not count.
	ApprovalsNeeded int
	Approvals       []Approval
	// Rejections are the recorded ones; one that is known to be about another
	// fingerprint does not count.
	Rejections []Rejection
	// CanAct names who can approve or lift a rejection.
	CanAct []string

	// Unrecorded are files in the workspace that could not be recorded.
	Unrecorded []UnrecordedFile

	// TargetBranch is the branch that apply merges into.
	TargetBranch string
	// ConflictFiles conflict with the target. Conflicted says that there is a
	// conflict also when no file is known.
	Conflicted    bool
	ConflictFiles []string
	// NothingToApply: the target has these contents already, so a merge would bring
	// nothing.
	NothingToApply bool
	// TargetBusy says what is in progress there, as in "a merge is in progress"; ""
	// for nothing. BusyFiles are those that it is about.
	TargetBusy string
	BusyFiles  []string
	// DirtyFiles are uncommitted files of the target that apply would touch.
	DirtyFiles []string
}

// EvaluationState is how far the plan's latest evaluation is.
type EvaluationState string

const (
	// EvaluationNone: the definition of done was never evaluated.
	EvaluationNone EvaluationState = "none"
	// EvaluationQueued: an evaluation waits for its turn.
	EvaluationQueued EvaluationState = "queued"
	// EvaluationRunning: an evaluation is in work.
	EvaluationRunning EvaluationState = "running"
	// EvaluationErrored: the latest evaluation could not be carried out.
	EvaluationErrored EvaluationState = "errored"
	// EvaluationDone: the latest evaluation has a summary.
	EvaluationDone EvaluationState = "done"
)

// Waiver is a person's recorded decision to do without one criterion, bound to
// the fingerprint of what they saw. It changes no result, and has no effect on a
// (must) criterion.
type Waiver struct {
	// Criterion is the criterion's index.
	Criterion   int
	Fingerprint string
	By          string
	Reason      string
}

// DroppedCriterion is a required criterion that a person took out of the
// definition of done or a phase's condition, or changed, after the plan had started.
type DroppedCriterion struct {
	Position int    // of the phase, 0 = the definition of done
	Phase    string // its name
	Text     string
	Level    Level
	By       string
	Reason   string
}

// AcceptedPhase is a phase that counts as completed by a person's word.
type AcceptedPhase struct {
	Position int
	Name     string
	By       string
	Reason   string
}

// Approval is a person's yes to what the fingerprint names.
type Approval struct {
	By          string
	Fingerprint string
}

// Rejection is a person's no to what the fingerprint names.
type Rejection struct {
	By          string
	Reason      string
	Fingerprint string
}

// UnrecordedFile is a file that would be missing from what is applied, and why.
type UnrecordedFile struct {
	Path string
	Why  string
}

// GateState is the gate's answer. It is the only source for the button, the
// server's check, lists, API and badge.
type GateState struct {
	Open bool
	// Sentence is the one line to show: what was fulfilled, or the first reason.
	Sentence string
	// Reasons are in the order of the gate's table; empty exactly when Open.
	Reasons []Reason
	// Notes are sentences to be shown with it, open or closed: they close nothing.
	Notes []string
}

// Reason is one thing that keeps the gate closed.
type Reason struct {
	Code     ReasonCode
	Sentence string
	// Action is the verb that mends it.
	Action Action
	// Details are the criteria, files or people the sentence is about.
	Details []string
	// Criteria are the indexes of the criteria it is about, Waivable those of them
	// that a person may waive.
	Criteria []int
	Waivable []int
}

// ReasonCode names a row of the gate's table.
type ReasonCode string

// The rows of the gate's table, in order.
const (
	ReasonPlanNotFinished  ReasonCode = "plan_not_finished"
	ReasonPlanEnded        ReasonCode = "plan_ended"
	ReasonNoDoD            ReasonCode = "no_dod"
	ReasonNotEvaluated     ReasonCode = "not_evaluated"
	ReasonEvaluating       ReasonCode = "evaluating"
	ReasonEvaluationError  ReasonCode = "evaluation_error"
	ReasonStale            ReasonCode = "stale"
	ReasonNothingRequired  ReasonCode = "nothing_required"
	ReasonRequiredFailed   ReasonCode = "required_failed"
	ReasonRequiredSkipped  ReasonCode = "required_skipped"
	ReasonRejected         ReasonCode = "rejected"
	ReasonApprovalsMissing ReasonCode = "approvals_missing"
	ReasonUnrecorded       ReasonCode = "unrecorded_files"
	ReasonNothingToApply   ReasonCode = "nothing_to_apply"
	ReasonConflict         ReasonCode = "conflict"
	ReasonTargetBusy       ReasonCode = "target_busy"
	ReasonTargetDirty      ReasonCode = "target_dirty"
	ReasonApplying         ReasonCode = "applying"
)

// Action is the verb that mends a reason.
type Action string

// The actions a reason can point to. ActionNone: nothing can be done any more.
const (
	ActionNone            Action = ""
	ActionStart           Action = "start"
	ActionResume          Action = "resume"
	ActionWait            Action = "wait"
	ActionOpenPhase       Action = "open_phase"
	ActionEditDoD         Action = "edit_dod"
	ActionEvaluate        Action = "evaluate"
	ActionRetryEvaluation Action = "retry_evaluation"
	ActionWaive           Action = "waive"
	ActionRework          Action = "rework"
	ActionLiftRejection   Action = "lift_rejection"
	ActionApprove         Action = "approve"
	ActionFixFiles        Action = "fix_files"
	ActionResolveConflict Action = "resolve_conflict"
	ActionClearTarget     Action = "clear_target"
	ActionRaiseBudget     Action = "raise_budget"
)
