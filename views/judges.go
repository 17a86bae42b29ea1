package views

import (
	"strings"
	"time"

	"donewhen/views/ui"
)

// JudgesView is how judges did in a range of time.
type JudgesView struct {
	Meta    PageMeta
	Days    int
	Longest int
	Ranges  []InsightRange
	Message string // what was odd in the address
	CutAt   *time.Time
	CanTry  bool
	Rows    []JudgeRow
	Planted PlantedCard
	Refresh string // address of this page, whose planted passes come as a fragment
}

// PlantedCard is who may be given planted passes, and what came of them.
type PlantedCard struct {
	Every  string // how often it happens by itself
	Judges []TrustRow
	Last   []CanaryRow
	CanAct bool
	Now    time.Time
}

// TrustRow is one judge that is asked here.
type TrustRow struct {
	Evaluator  string
	Distrusted *time.Time // since when it is not trusted, nil while it is
	Missed     string     // address of the planted pass it missed
	Waiting    bool       // it has one before it
	Reason     string     // as typed into the form that clears it
	Error      string
}

func (r TrustRow) id() string { return "trust-" + slug(r.Evaluator) }

// slug is a name for ids: letters and digits.
func slug(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, s)
}

// CanaryRow is one planted pass in the list.
type CanaryRow struct {
	Href      string
	Title     string
	Evaluator string
	Word      string
	Tone      ui.Tone
	By        string // who asked, "" when it came by itself
	At        time.Time
}

// CanaryView is the page of one planted pass.
type CanaryView struct {
	Meta   PageMeta
	Row    CanaryRow
	Why    string // it is not done
	Reason string
	Took   time.Duration
	Answer *AnswerRow // nil while it was not answered
}

// JudgeRow is one evaluator with one wording of its questions.
type JudgeRow struct {
	Evaluator string
	Prompt    string // "prompt version 2", "asks nobody"
	Verdicts  string
	Met       string
	Invalid   string
	Errors    string
	Median    string
	Tokens    string
	Cost      string
	Overruled string
	How       []string // "1 accepted though not met"
	Flipped   string
	Caught    string
	Missed    string
	Marked    bool // it is not trusted now
}

// further is what the narrow table has no columns for.
func (r JudgeRow) further() string {
	return "Changed its mind: " + r.Flipped + ". Median time: " + r.Median + ". Cost: " + r.Cost + ", tokens in / out: " + r.Tokens
}
