package models

import "slices"

// The allowed moves: one pure table for each kind of row. Every move in the
// store is a compare-and-swap on the status and is refused when it is not here.
var (
	runMoves = map[RunStatus][]RunStatus{
		RunQueued:  {RunRunning, RunCancelled, RunErrored},
		RunRunning: {RunSucceeded, RunFailed, RunTimedOut, RunErrored, RunLost, RunCancelled},
	}
	passMoves = map[PassStatus][]PassStatus{
		PassQueued:  {PassRunning, PassNotMet, PassCancelled, PassSuperseded},
		PassRunning: {PassQueued, PassJudging, PassMet, PassNotMet, PassCancelled, PassSuperseded},
		PassJudging: {PassMet, PassNotMet, PassCancelled, PassSuperseded},
		PassNotMet:  {PassJudging},
	}
	phaseMoves = map[PhaseStatus][]PhaseStatus{
		PhasePending:          {PhaseRunning, PhaseCancelled, PhaseNeedsAttention},
		PhaseRunning:          {PhaseJudging, PhaseCompleted, PhaseAwaitingApproval, PhasePending, PhaseExhausted, PhaseStalled, PhaseNeedsAttention, PhaseFailed, PhaseCancelled},
		PhaseJudging:          {PhaseCompleted, PhaseAwaitingApproval, PhasePending, PhaseExhausted, PhaseStalled, PhaseNeedsAttention, PhaseCancelled},
		PhaseAwaitingApproval: {PhaseCompleted, PhasePending, PhaseFailed, PhaseCancelled},
		PhaseExhausted:        {PhasePending, PhaseCompleted, PhaseJudging, PhaseCancelled},
		PhaseStalled:          {PhasePending, PhaseCompleted, PhaseJudging, PhaseCancelled},
		PhaseNeedsAttention:   {PhasePending, PhaseRunning, PhaseCompleted, PhaseJudging, PhaseCancelled},
		PhaseFailed:           {PhasePending, PhaseCompleted, PhaseCancelled},
		PhaseCompleted:        {PhasePending}, // a retry of this or an earlier phase
	}
	planMoves = map[PlanStatus][]PlanStatus{
		PlanDraft:     {PlanRunning, PlanCancelled, PlanDiscarded},
		PlanRunning:   {PlanPaused, PlanWaiting, PlanFailed, PlanFinished, PlanCancelled, PlanDiscarded},
		PlanPaused:    {PlanRunning, PlanWaiting, PlanFailed, PlanFinished, PlanCancelled, PlanDiscarded},
		PlanWaiting:   {PlanRunning, PlanPaused, PlanFailed, PlanFinished, PlanCancelled, PlanDiscarded},
		PlanFailed:    {PlanRunning, PlanWaiting, PlanFinished, PlanCancelled, PlanDiscarded},
		PlanFinished:  {PlanRunning, PlanApplying, PlanCancelled, PlanDiscarded},
		PlanApplying:  {PlanApplied, PlanFinished},
		PlanCancelled: {PlanDiscarded},
	}
	evaluationMoves = map[EvaluationStatus][]EvaluationStatus{
		EvaluationQueued:  {EvaluationRunning, EvaluationErrored},
		EvaluationRunning: {EvaluationDone, EvaluationErrored, EvaluationQueued},
	}
	applyMoves = map[ApplyStatus][]ApplyStatus{
		ApplyStarted: {ApplyDone, ApplyRefused},
	}
)

// Status is any of the typed statuses that have a table of moves.
type Status interface {
	RunStatus | PassStatus | PhaseStatus | PlanStatus | EvaluationStatus | ApplyStatus
}

// MayMove says whether a row in state from may go to state to. Staying where
// one is is never a move.
func MayMove[S Status](from, to S) bool {
	switch f := any(from).(type) {
	case RunStatus:
		return slices.Contains(runMoves[f], any(to).(RunStatus))
	case PassStatus:
		return slices.Contains(passMoves[f], any(to).(PassStatus))
	case PhaseStatus:
		return slices.Contains(phaseMoves[f], any(to).(PhaseStatus))
	case PlanStatus:
		return slices.Contains(planMoves[f], any(to).(PlanStatus))
	case EvaluationStatus:
		return slices.Contains(evaluationMoves[f], any(to).(EvaluationStatus))
	case ApplyStatus:
		return slices.Contains(applyMoves[f], any(to).(ApplyStatus))
	}
	return false
}

// PlanStatusOf derives a live plan's status from its phases: the first phase
// that is not completed decides, since phases go in order. A paused plan stays
// paused while there is work to go on with; other states that a person set
// (draft, applying, applied, cancelled, discarded) are kept.
func PlanStatusOf(now PlanStatus, phases []PhaseStatus) PlanStatus {
	switch now {
	case PlanDraft, PlanApplying, PlanApplied, PlanCancelled, PlanDiscarded:
		return now
	}
	for _, p := range phases {
		switch {
		case p == PhaseCompleted:
			continue
		case p == PhaseFailed:
			return PlanFailed
		case p == PhaseCancelled:
			return PlanCancelled
		case p.NeedsPerson():
			return PlanWaiting
		case now == PlanPaused:
			return PlanPaused
		default:
			return PlanRunning
		}
	}
	return PlanFinished
}
