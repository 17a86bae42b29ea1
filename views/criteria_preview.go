package views

import "donewhen/views/ui"

// CriteriaPreview is what a text of criteria was read as: each criterion with
// how it will be judged, what was left out and why, and what to look at before
// saving.
type CriteriaPreview struct {
	ID       string // of its place on the page
	Blank    bool   // nothing was typed
	Empty    string // what an empty text means here, one sentence
	Lines    []PreviewLine
	Ignored  []PreviewIgnored
	Warnings []PreviewWarning // about no criterion in particular
	Open     []string         // placeholders nothing gives a value to
	Unused   []string         // arguments that no line uses
	Drops    []PreviewDrop    // what a started plan asks for and would ask for no more
}

// PreviewDrop is a required criterion that a change takes out or changes.
type PreviewDrop struct {
	Text string
	Must bool
}

// PreviewLine is one criterion.
type PreviewLine struct {
	Number   int // its index, from 1
	Line     int // where it begins in the text, from 1
	Text     string
	Level    string // "info", "must" or "" for the usual one
	Icon     string // of the way it is checked
	How      string // that way in plain words
	Code     string // the command, pattern or path, "" when there is none
	Warnings []PreviewWarning
}

// PreviewWarning is a hint, or with Refused a reason why the text is not saved.
type PreviewWarning struct {
	Line    int
	Text    string
	Refused bool
}

// PreviewIgnored is a line that is no criterion.
type PreviewIgnored struct {
	Line int
	Text string
	Why  string
}

func (w PreviewWarning) tone() ui.Tone {
	if w.Refused {
		return ui.ToneBad
	}
	return ui.ToneWarn
}

// refused says whether something in it keeps the text from being saved.
func (p CriteriaPreview) refused() bool {
	for _, w := range p.Warnings {
		if w.Refused {
			return true
		}
	}
	for _, l := range p.Lines {
		for _, w := range l.Warnings {
			if w.Refused {
				return true
			}
		}
	}
	return false
}

func (p CriteriaPreview) warnings() int {
	n := len(p.Warnings)
	for _, l := range p.Lines {
		n += len(l.Warnings)
	}
	return n
}

// summary is the preview in one line: "3 criteria, 1 informational, 2 hints".
func (p CriteriaPreview) summary() string {
	infos := 0
	for _, l := range p.Lines {
		if l.Level == "info" {
			infos++
		}
	}
	s := count(len(p.Lines), "criterion", "criteria")
	if infos > 0 {
		s += ", " + count(infos, "of them informational", "of them informational")
	}
	if n := p.warnings(); n > 0 {
		s += ", " + count(n, "hint", "hints")
	}
	return s
}
