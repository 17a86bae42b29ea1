package views

import (
	"strconv"
	"time"

	"donewhen/views/ui"
)

// ReplayView is the page where a condition is tried on past passes.
type ReplayView struct {
	Meta     PageMeta
	Projects []ui.Option
	Project  string // the chosen one's id, "0" for all
	Name     string // of the phases, "" for all
	Last     string
	Most     int // passes that may be chosen at once

	Condition string
	Evaluator string
	Judges    []ui.Option
	Foreseen  string // what it will ask at most
	Passes    []ReplayPass

	Message string
	Errors  map[string]string
	Report  *ReplayReport // nil before it was tried
}

// ReplayPass is a pass that can be chosen.
type ReplayPass struct {
	ID        int64
	Label     string // "Plan, pass 2 of build"
	Met       bool
	Condition bool // the phase had one
	Ended     time.Time
	Chosen    bool
}

func (p ReplayPass) word() string {
	switch {
	case !p.Condition && p.Met:
		return "completed"
	case p.Met:
		return "met"
	}
	return "not met"
}

func (p ReplayPass) tone() ui.Tone {
	if p.Met {
		return ui.ToneOK
	}
	return ui.ToneBad
}

// ReplayReport is what a replay found, for passes or for plans.
type ReplayReport struct {
	Summary string
	Cost    string
	Changed bool        // something would have been different
	Of      string      // names the list
	Rows    []ReplayRow // what changed first
}

// ReplayRow is one pass or plan.
type ReplayRow struct {
	ID        string
	Title     string
	Href      string
	Sub       string
	Then, Now string
	ThenTone  ui.Tone
	NowTone   ui.Tone
	Change    string // "held back by line 2"
	Tally     string // "2 of 3 passed, 1 skipped: run: is not run here.", "" when no line was looked at
	Tone      ui.Tone
	Reason    string
	Note      string // what is doubtful about the comparison
	Old, New  []ResultRow
	Verdict   string // address of the verdict of then, "" for none
}

func (v ReplayView) chosen() (n int) {
	for _, p := range v.Passes {
		if p.Chosen {
			n++
		}
	}
	return n
}

// filtered says whether fewer passes are looked for than there are.
func (v ReplayView) filtered() bool {
	return v.Name != "" || v.Project != "" && v.Project != "0"
}

func (v ReplayView) passesTitle() string {
	return count(v.chosen(), "pass", "passes") + " of " + strconv.Itoa(len(v.Passes)) + " chosen"
}
