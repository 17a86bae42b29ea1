package models

// RunStatus is the state of one agent's part of a pass.
type RunStatus string

const (
	// RunQueued: the row exists and nothing was started. Entered at insert.
	// Left when a worker starts the process, or by cancel. A crash leaves it
	// queued, and it is started later.
	RunQueued RunStatus = "queued"
	// RunRunning: a worker has claimed it and its process runs or is about to.
	// Left by the process's end. A crash leaves it running; recovery marks it lost.
	RunRunning RunStatus = "running"
	// RunSucceeded: the agent finished and reports success. Final, never run again.
	RunSucceeded RunStatus = "succeeded"
	// RunFailed: the agent finished and did not do it (exit code not 0). Final;
	// it spends the pass.
	RunFailed RunStatus = "failed"
	// RunTimedOut: it was stopped at its time limit. Final; it spends the pass.
	RunTimedOut RunStatus = "timed_out"
	// RunErrored: it could not run: program missing, API or quota error,
	// is_error. Final for this try; a new try follows and no pass is spent.
	RunErrored RunStatus = "errored"
	// RunLost: its process is gone after a crash of the server. Entered only by
	// recovery; a new try follows and no pass is spent.
	RunLost RunStatus = "lost"
	// RunCancelled: a person cancelled the plan, or stopped the run. Final.
	RunCancelled RunStatus = "cancelled"
)

// Ended says whether the run has come to its end, in whatever way.
func (s RunStatus) Ended() bool { return s != RunQueued && s != RunRunning }

// PassStatus is the state of one execution of a phase.
type PassStatus string

const (
	// PassQueued: rows exist, no worker has it. Entered at insert and when a
	// further try was queued. Left by a worker's claim. A crash leaves it
	// queued; the sweep delivers it again.
	PassQueued PassStatus = "queued"
	// PassRunning: a worker works on its runs. Left when they have ended. After
	// a crash recovery frees its claim and it goes on at its first unfinished run.
	PassRunning PassStatus = "running"
	// PassJudging: the runs succeeded and done_when is being judged. A crash
	// leaves it judging; it is judged again.
	PassJudging PassStatus = "judging"
	// PassMet: its condition is met, or it had none and its runs succeeded. Final.
	PassMet PassStatus = "met"
	// PassNotMet: judged and not met, or a run failed. Left only by judge again.
	PassNotMet PassStatus = "not_met"
	// PassCancelled: the plan was cancelled under it. Final.
	PassCancelled PassStatus = "cancelled"
	// PassSuperseded: a retry or another pass took its place before it was
	// decided. Final.
	PassSuperseded PassStatus = "superseded"
)

// Ended says whether the pass is decided or set aside.
func (s PassStatus) Ended() bool {
	return s != PassQueued && s != PassRunning && s != PassJudging
}

// PhaseStatus is the state of an ordered step of a plan.
type PhaseStatus string

const (
	// PhasePending: waits for its predecessors or for its next pass. Entered at
	// insert, when a pass was not met and passes remain, and by a person's
	// "another pass" or retry. A crash leaves it pending.
	PhasePending PhaseStatus = "pending"
	// PhaseRunning: its current pass is queued or running.
	PhaseRunning PhaseStatus = "running"
	// PhaseJudging: its current pass is being judged, or waits for the next try
	// of a judge in trouble.
	PhaseJudging PhaseStatus = "judging"
	// PhaseCompleted: met, approved, accepted, or its runs ended well and it has
	// no condition. Left only by a retry of an earlier phase or of itself.
	PhaseCompleted PhaseStatus = "completed"
	// PhaseAwaitingApproval: met, and a person must approve it.
	PhaseAwaitingApproval PhaseStatus = "awaiting_approval"
	// PhaseExhausted: the last allowed pass was judged and is not met.
	PhaseExhausted PhaseStatus = "exhausted"
	// PhaseStalled: not met, and tree and results equal those of the pass
	// before: going on would burn money for nothing. A pause, not a failure.
	PhaseStalled PhaseStatus = "stalled"
	// PhaseNeedsAttention: an agent or the evaluator could not work after three
	// tries, an agent objects to the condition, or the plan's budget is used up.
	// No pass is spent; a person decides, or raises the budget.
	PhaseNeedsAttention PhaseStatus = "needs_attention"
	// PhaseFailed: a run failed in a phase without a condition, or a person
	// rejected it.
	PhaseFailed PhaseStatus = "failed"
	// PhaseCancelled: the plan was cancelled. Final, nothing revives it.
	PhaseCancelled PhaseStatus = "cancelled"
)

// NeedsPerson says whether the phase waits for a person's decision.
func (s PhaseStatus) NeedsPerson() bool {
	switch s {
	case PhaseAwaitingApproval, PhaseExhausted, PhaseStalled, PhaseNeedsAttention:
		return true
	}
	return false
}

// PlanStatus is the state of a plan. While the plan is live (running, waiting,
// failed, finished) it is derived from its phases by PlanStatusOf and stored
// in the same transaction as the phase's move.
type PlanStatus string

const (
	// PlanDraft: written, not started. Left by start or discard.
	PlanDraft PlanStatus = "draft"
	// PlanRunning: some phase is pending, running or judging.
	PlanRunning PlanStatus = "running"
	// PlanPaused: a person paused it. What runs is finished; nothing new starts.
	PlanPaused PlanStatus = "paused"
	// PlanWaiting: a phase needs a person.
	PlanWaiting PlanStatus = "waiting"
	// PlanFailed: a phase failed. Retry is offered.
	PlanFailed PlanStatus = "failed"
	// PlanFinished: all phases are completed; the gate decides about apply.
	PlanFinished PlanStatus = "finished"
	// PlanApplying: the merge is under way. A crash leaves it applying;
	// recovery asks git whether the target has the commit.
	PlanApplying PlanStatus = "applying"
	// PlanApplied: the target was re-read and contains the commit. Final.
	PlanApplied PlanStatus = "applied"
	// PlanCancelled: a person cancelled it. Work and branch are kept. Final,
	// but for discard.
	PlanCancelled PlanStatus = "cancelled"
	// PlanDiscarded: a person put it away without applying. Final.
	PlanDiscarded PlanStatus = "discarded"
)

// Over says whether the plan has come to its end.
func (s PlanStatus) Over() bool {
	return s == PlanApplied || s == PlanCancelled || s == PlanDiscarded
}

// EvaluationStatus is the state of one judging of a plan's whole DoD.
type EvaluationStatus string

const (
	// EvaluationQueued: wanted; the sweep claims it. Entered at insert and by
	// recovery.
	EvaluationQueued EvaluationStatus = "queued"
	// EvaluationRunning: being evaluated. A crash leaves it running; recovery
	// queues it again.
	EvaluationRunning EvaluationStatus = "running"
	// EvaluationDone: it has a summary. Final.
	EvaluationDone EvaluationStatus = "done"
	// EvaluationErrored: it could not be carried out; Error says why. Final; a
	// person queues another.
	EvaluationErrored EvaluationStatus = "errored"
)

// ApplyStatus is the state of one try to merge a plan into its target.
type ApplyStatus string

const (
	// ApplyStarted: written before git is touched. A crash leaves it started;
	// recovery asks git.
	ApplyStarted ApplyStatus = "started"
	// ApplyDone: the target contains the commit. Final.
	ApplyDone ApplyStatus = "applied"
	// ApplyRefused: git or the gate refused; the target is as before. Final.
	ApplyRefused ApplyStatus = "refused"
)

// VerdictKind says what came back from judging: design section 5.
type VerdictKind string

const (
	VerdictGiven   VerdictKind = "verdict"         // a verdict in the strict form
	VerdictInvalid VerdictKind = "invalid_reply"   // something came back that is no verdict
	VerdictTrouble VerdictKind = "evaluator_error" // nothing usable came back
	VerdictRun     VerdictKind = "run_failed"      // nobody was asked: a run failed or timed out
)
