package models

import "time"

// MaxSummaryTries bounds how often a summary is tried, crashes included.
const MaxSummaryTries = 3

// PhaseSummary is what a completed phase's pass produced, for people to read.
// Nothing that decides reads it.
type PhaseSummary struct {
	PassID       int64 `gorm:"primaryKey"`
	PhaseID      int64
	PlanID       string
	FactsJSON    string // engine.SummaryFacts, "" until they are put together
	EvidenceHash string // of the evidence that they come from, as a verdict's
	VerdictID    *int64 // the verdict on that evidence, nil when nobody judged
	Evaluator    string // the summariser's spec, "" when nobody was asked
	Model        string
	System       string // exact input
	Prompt       string
	Raw          string // reply, word for word
	Prose        string // the reply as it is shown
	InputTokens  int64
	OutputTokens int64
	CostUSD      float64
	Tries        int        // counted before each try, so that a crash cannot make more of them
	Trouble      string     // why there are no facts or no prose, "" when all went well
	DueAt        *time.Time // when it is tried (again), nil when nothing is left to do
	CreatedAt    time.Time
}
