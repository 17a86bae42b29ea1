package views

import (
	"strconv"
	"time"

	"github.com/a-h/templ"

	"donewhen/views/ui"
)

// InboxView is the start page: what waits for a person, and what is at work.
type InboxView struct {
	Meta       PageMeta
	Waiting    []InboxRow
	Running    []RunningRow
	Paused     []PausedRow // nobody is at work on them
	MorePaused bool
	CanAct     bool        // the reader is who it waits for
	More       string      // URL of all plans when not everything is shown
	First      *FirstSteps // when nothing waits and nothing runs
}

// Title is the page's title with the count of what waits.
func (v InboxView) Title() string {
	if n := len(v.Waiting); n > 0 && v.CanAct {
		if v.More != "" {
			return "(" + strconv.Itoa(n) + "+) Inbox"
		}
		return "(" + strconv.Itoa(n) + ") Inbox"
	}
	return "Inbox"
}

// InboxRow is one plan that waits for a person.
type InboxRow struct {
	Key     string // stays with the row over live updates
	PlanID  string
	Title   string
	Project string
	What    string // which part of the plan
	Reason  string // why, one sentence
	Badge   templ.Component
	Word    string
	Tone    ui.Tone
	Since   time.Time
	Who     string        // who can act
	Href    string        // where it is decided
	Label   string        // of the link there
	Ready   bool          // it can be applied
	Flagged bool          // evidence behind it talks to its judge
	Approve *InboxApprove // when it can be approved from here
	Raise   *Verb         // when its budget can be raised from here
}

// InboxApprove approves a phase as the reader sees it.
type InboxApprove struct {
	Action string
	Pass   int64
}

// RunningRow is one plan at work.
type RunningRow struct {
	PlanID, Title, Project string
	What                   string // the phase's name, or what is going on
	Phase                  bool   // What is a phase
	Paused                 bool   // nothing follows what is at work
	Done, Phases           int
	Waits                  string    // what it waits for by itself, "" for nothing
	Run                    bool      // a run is under way
	Since                  time.Time // when that began, else when something happened last
	Over                   []string  // the limits that are used up while it runs
}

// PausedRow is a plan that goes on when somebody resumes it.
type PausedRow struct {
	PlanID, Title string
	Since         time.Time
}

// FirstSteps is what an empty inbox leads to.
type FirstSteps struct {
	CanPlan, CanAdd       bool
	Projects              int    // without the example
	Example, ExampleTitle string // URL of the example plan that was not started, "" for none
	Used                  bool   // there were plans before: this is a quiet day and no first start
}
