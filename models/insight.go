package models

import "time"

// PassCount is how many passes of phases with a completion condition were
// decided alike.
type PassCount struct {
	Template string // name of the plan's template, "" for a plan without one
	Number   int    // the pass's number in its attempt, from 1
	Met      bool
	Count    int
}

// PassStats is what the passes that ended in a range of time say.
type PassStats struct {
	Counts []PassCount
	CutAt  *time.Time // passes that ended then or earlier were not read: there were too many; nil when all were
}

// RunGroup is what the runs of phases of one name took with one runtime.
type RunGroup struct {
	Phase        string
	Runtime      string
	Runs         int
	Time         time.Duration // from start to end, added up
	InputTokens  int64
	OutputTokens int64
	CostUSD      float64
}

// RunStats is what the runs that ended in a range of time took, the group that
// took longest first.
type RunStats struct {
	Groups []RunGroup
	CutAt  *time.Time // as in PassStats
}

// NotMetVerdict is what is needed of a verdict to see which criteria failed.
type NotMetVerdict struct {
	PlanID      string
	ResultsJSON string // []dod.Result
}

// NotMetVerdicts are verdicts that were given and not met, newest first.
type NotMetVerdicts struct {
	Verdicts []NotMetVerdict
	CutAt    *time.Time // as in PassStats
}
