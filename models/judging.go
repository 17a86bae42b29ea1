package models

import "time"

// Judging is what is counted of a verdict, written with it: one row for each
// judge that was asked, by the place in which it was, or one where nobody was.
// Kind and Met are what that judge came to, whatever the others said.
type Judging struct {
	VerdictID     int64 `gorm:"primaryKey;autoIncrement:false"`
	Opinion       int   `gorm:"primaryKey;autoIncrement:false"`
	PassID        int64
	PhaseID       int64
	Evaluator     string
	PromptVersion int // of its questions; 0 = nobody was asked, or it is not known
	Kind          VerdictKind
	Met           bool
	Reused        bool // it repeats the verdict on the pass before; nobody was asked
	Replies       int  // questions put, second ones after an invalid reply included
	Invalid       int  // replies that were not in the agreed form
	Errors        int  // questions that brought nothing usable back
	InputTokens   int64
	OutputTokens  int64
	CostUSD       float64
	Millis        int64 // how long the whole judging took; of several judges, this one's answers
	EvidenceHash  string
	AskedHash     string // of the criteria, for a further judge of those it was asked about; "" when they are not known
	CreatedAt     time.Time
}

// Overruling is a lead's decision against a verdict.
type Overruling struct {
	VerdictID int64
	Against   Overruled
}

// Overruled says how a verdict was overruled.
type Overruled string

const (
	OverruledAccepted Overruled = "accepted"  // not met, and accepted as it is
	OverruledRejected Overruled = "rejected"  // met, and rejected
	OverruledSentBack Overruled = "sent back" // met, and given another pass
)

// JudgeStats is what the judgings of a range of time say, newest first.
type JudgeStats struct {
	Judgings    []Judging
	Overrulings []Overruling // of judgings in the range
	Canaries    []CanaryCount
	CutAt       *time.Time // judgings of then or earlier were not read: there were too many; nil when all were
}
