package engine

import (
	"time"

	"donewhen/models"
)

// maxTries is how often a run that could not run, or a judge in trouble, is
// tried before a person has to look.
const maxTries = 3

// runsDecision is a row of settle table 1: what follows when the runs of a
// pass stand as they do.
type runsDecision string

const (
	runsGoOn      runsDecision = "go_on"     // something is still to be run
	runsTryAgain  runsDecision = "try_again" // errored or lost: a new try in the same pass
	runsAttention runsDecision = "attention" // three tries that count were not enough, or a person stopped it
	runsJudge     runsDecision = "judge"
	runsComplete  runsDecision = "complete"
	runsFail      runsDecision = "fail"
	runsNotMet    runsDecision = "not_met" // spends the pass, nobody is asked
	runsCancelled runsDecision = "cancelled"
)

// decideRuns is settle table 1 as a pure function. runs are those of ONE pass,
// by position and try; the newest try of each position counts, and the first
// position that has not succeeded decides.
func decideRuns(runs []models.Run, hasCondition bool) runsDecision {
	for _, r := range latestTries(runs) {
		switch r.Status {
		case models.RunSucceeded:
			continue
		case models.RunQueued, models.RunRunning:
			return runsGoOn
		case models.RunCancelled:
			if r.StoppedBy != "" {
				return runsAttention
			}
			return runsCancelled
		case models.RunErrored, models.RunLost:
			if !r.Stopped && triesOf(runs, r.Position) >= maxTries {
				return runsAttention
			}
			return runsTryAgain
		case models.RunFailed, models.RunTimedOut:
			if hasCondition {
				return runsNotMet
			}
			return runsFail
		default:
			return runsCancelled
		}
	}
	if hasCondition {
		return runsJudge
	}
	return runsComplete
}

// triesOf counts a position's tries that count: a server that is stopped in good
// order, as for an update, says nothing about the run, and a person who stops it
// has reasons of their own.
func triesOf(runs []models.Run, position int) int {
	n, stopped := 0, 0
	for _, r := range runs {
		if r.Position != position {
			continue
		}
		n = max(n, r.Try)
		if r.Stopped || r.StoppedBy != "" {
			stopped++
		}
	}
	return n - stopped
}

// latestTries picks the newest try of each position, in order of position.
func latestTries(runs []models.Run) []models.Run {
	var out []models.Run
	for _, r := range runs {
		if n := len(out); n > 0 && out[n-1].Position == r.Position {
			out[n-1] = r
			continue
		}
		out = append(out, r)
	}
	return out
}

// decisive is the run that decided a pass that did not succeed: the first
// position whose newest try did not succeed. nil when all did.
func decisive(runs []models.Run) *models.Run {
	for _, r := range latestTries(runs) {
		if r.Status != models.RunSucceeded {
			return &r
		}
	}
	return nil
}

// judged is what settle table 2 asks about a judged pass.
type judged struct {
	QuotaUntil    time.Time // when the judge has quota again; with Quota
	NextTry       time.Time // when it is asked again; with Quota
	Met           bool
	Trouble       bool // an invalid reply or an evaluator error
	Quota         bool // the trouble is a used-up quota, with a time at which there is more
	WaitedTooLong bool // for quota
	Tries         int  // tries of the judge on this pass, this one included
	NeedsApproval bool
	Doubt         string // why a met is not enough, "" when it is: a judge that is not trusted said it
	Iteration     int
	MaxIterations int
	SameAsBefore  bool // tree and results equal those of the pass before
}

// settled is what follows a judging.
type settled struct {
	Phase models.PhaseStatus // judging = ask the judge again later
	Pass  models.PassStatus  // judging = undecided, no pass is spent
}

// decideJudged is settle table 2 as a pure function; the first row that fits.
func decideJudged(j judged) settled {
	switch {
	case j.Trouble && j.Quota && !j.WaitedTooLong:
		return settled{models.PhaseJudging, models.PassJudging}
	case j.Trouble && (j.Quota || j.Tries >= maxTries):
		return settled{models.PhaseNeedsAttention, models.PassJudging}
	case j.Trouble:
		return settled{models.PhaseJudging, models.PassJudging}
	case j.Met && (j.NeedsApproval || j.Doubt != ""):
		return settled{models.PhaseAwaitingApproval, models.PassMet}
	case j.Met:
		return settled{models.PhaseCompleted, models.PassMet}
	case j.Iteration+1 >= j.MaxIterations:
		return settled{models.PhaseExhausted, models.PassNotMet}
	case j.SameAsBefore:
		return settled{models.PhaseStalled, models.PassNotMet}
	default:
		return settled{models.PhasePending, models.PassNotMet}
	}
}
