package views

import "time"

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
}
