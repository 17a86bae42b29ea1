package views

import (
	"time"

	"donewhen/models"
	"donewhen/views/ui"
)

// EvaluationView is one judging of a plan's whole definition of done.
type EvaluationView struct {
	PageMeta
	ID           int64
	Plan, PlanID string
	Status       models.EvaluationStatus
	Word         string // what it came to
	Tone         ui.Tone
	Checked      string // the counts as a sentence, "" without results
	Error        string
	Trouble      string // the error in a few words
	Stale        bool   // the plan has something else by now
	Newest       bool
	By           string // who asked for it
	Asked        time.Time
	Began, Ended *time.Time
	Took         time.Duration
	Evaluator    string
	Fingerprint  string
	Tree         string
	Passes       []EvidenceLink // what it looked at
	Results      []ResultRow
	Answers      []AnswerRow
	Checking     *CheckingView // while it is under way
	Flags        FlagNotice
}

// EvidenceLink is a pass whose evidence was looked at.
type EvidenceLink struct{ Label, Href string }
