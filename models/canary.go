package models

import "time"

// CanaryOutcome is what came of a planted pass.
type CanaryOutcome string

const (
	// CanaryAsked: the judge was given it and has not answered yet. A stop of the
	// server makes it trouble.
	CanaryAsked CanaryOutcome = "asked"
	// CanaryCaught: a valid verdict that says not met.
	CanaryCaught CanaryOutcome = "caught"
	// CanaryMissed: a valid verdict that says met. The judge is not trusted any more.
	CanaryMissed CanaryOutcome = "missed"
	// CanaryTrouble: no valid verdict. It says nothing about the judge.
	CanaryTrouble CanaryOutcome = "trouble"
)

// Canary is one planted pass that a judge was given: it looks done and is not.
type Canary struct {
	ID            int64
	Evaluator     string
	Kind          string // names the planted pass
	Outcome       CanaryOutcome
	Reason        string // the judge's, or what was wrong
	PromptVersion int
	AnswerJSON    string // dod.Answer: exact input and raw reply; "" before
	InputTokens   int64
	OutputTokens  int64
	CostUSD       float64
	Millis        int64
	AskedBy       int64 // 0 = the server itself
	AskerName     string
	CreatedAt     time.Time
	EndedAt       *time.Time
}

// Judge is what is kept of an evaluator over all plans.
type Judge struct {
	Evaluator    string     `gorm:"primaryKey"`
	Asked        int64      // judgings it took part in while planted passes were switched on
	Given        int64      // planted passes
	MissedCanary *int64     // the one for which it is not trusted, nil while it is
	DistrustedAt *time.Time // when that was
}

// CanaryCount is how often planted passes came out so.
type CanaryCount struct {
	Evaluator     string
	PromptVersion int
	Outcome       CanaryOutcome
	Count         int
}
