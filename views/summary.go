package views

import (
	"strconv"
	"strings"

	"donewhen/views/ui"
)

// SummaryCard is what a completed phase produced: facts first, and a text about
// them that nobody checked.
type SummaryCard struct {
	Files     []SummaryFile
	FileCount int
	Added     int
	Deleted   int
	Diff      string // where the changes are, "" when there are none
	Commit    string
	Tree      string
	Runs      []SummaryRun
	Verdict   int64 // id, 0 when nobody judged
	Judged    string
	Hash      string
	Moved     bool // the evidence is not the judged one any more
	Prose     string
	By        string // who wrote it
	Cost      string
	Trouble   string // why there is no text, "" when there is or nobody was to write one
	// Exact input and raw reply of the text, on the pass's own page.
	System, Prompt, Raw string
	anchor              string
}

// SummaryFile is a changed file.
type SummaryFile struct {
	Status, Path   string
	Added, Deleted int
}

// SummaryRun is a run with its agent's last word.
type SummaryRun struct {
	RunRow
	Message string
}

// Anchored gives the card's folds ids of their own.
func (s SummaryCard) Anchored(pass int64) *SummaryCard {
	s.anchor = "summary-" + itoa(pass)
	return &s
}

func (s SummaryCard) changes() string {
	if s.FileCount == 0 {
		return "none"
	}
	return count(s.FileCount, "file", "files") + ", +" + strconv.Itoa(s.Added) + " −" + strconv.Itoa(s.Deleted)
}

func (r SummaryRun) about() string {
	parts := []string{Word(r.Status)}
	if r.Exit != nil {
		parts = append(parts, "exit code "+exitCode(r.Exit))
	}
	if r.Took > 0 {
		parts = append(parts, ui.Duration(r.Took))
	}
	if r.Tokens != "" {
		parts = append(parts, r.Tokens+" tokens")
	}
	if r.Cost != "" {
		parts = append(parts, r.Cost)
	}
	return strings.Join(parts, ", ")
}

func (s SummaryCard) byline() string {
	line := "Written by " + s.By + ", not checked"
	if s.Cost != "" {
		line += "; " + s.Cost
	}
	return line + "."
}
