package views

import (
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/views/ui"
)

// PlanView is a plan's page. Its parts refresh themselves; each is a value of
// its own, so that one can be made without the others.
type PlanView struct {
	PageMeta
	ID       string
	Head     PlanHead
	Gate     GateCard
	Dod      DodCard
	Phases   PhasesCard
	Diff     DiffCard
	Activity ActivityCard
	Budget   BudgetCard
}

// PlanHead is the plan's title with what identifies it and its verbs.
type PlanHead struct {
	ID, Title, Goal string
	Status          models.PlanStatus
	Project         string
	ProjectHref     string
	Target          string // the branch it is applied to
	Base            string // the commit it began from, "" before
	Branch          string // of its work, "" before it was started
	Fetch           string // command that brings the branch into a clone
	Creator         string
	Created         time.Time
	Started         *time.Time
	Ended           *time.Time
	Cleaned         bool
	Note            string // what goes on although the plan is paused, "" for nothing
	Verbs           []Verb
	Now             time.Time
}

// GateCard says whether the plan may be applied and what is left to do.
type GateCard struct {
	Open        bool
	Ended       bool // applied, cancelled or discarded: there is nothing to decide
	Waiting     bool // only time is needed
	Applied     bool
	Sentence    string
	Checked     string   // what became of the criteria of what was applied
	Said        []Spoken // what people decided about it
	Message     string   // of the merge commit
	Notes       []string // what has to be known and closes nothing
	Reasons     []GateReason
	Apply       *Verb  // nil where nothing can be applied any more
	Will        string // what applying will do
	Flagged     string // that evidence behind it talks to its judge, "" when none does
	FlaggedHref string // where in it, "" when only phases say so
	Behind      string // how far the target has moved, "" when it has not
	Last        *RefusedApply
	Checking    *CheckingView // while it is evaluated
	Quiet       string        // for readers who may not act
	Now         time.Time
}

// Spoken is what a person decided, for ever on the plan.
type Spoken struct {
	About string // "Criterion 2: Tests pass"
	What  string // "Waived by Ada: reason"
	Doubt bool   // it stands for something that did not pass
}

// GateReason is one thing in the way, with the verbs that mend it.
type GateReason struct {
	Code     string
	Sentence string
	Details  []string // files, people; not the criteria, which stand in the checklist
	Why      []CriterionWhy
	Said     []string // what people said against it
	Advice   string   // how it can be mended where no button does
	Fetch    string   // the command that belongs to the advice
	Verbs    []Verb
	Wait     bool
}

// CriterionWhy is a criterion that a reason is about, with the beginning of why.
type CriterionWhy struct {
	Index int
	Text  string
}

// RefusedApply is the last try to apply that did not succeed.
type RefusedApply struct {
	Reason string
	Files  []string
	By     string
	At     time.Time
}

// CheckingView is how far an evaluation that is under way has come.
type CheckingView struct {
	Total int
	Began *time.Time // of the evaluation, nil while it is queued
	Rows  []CheckingRow
}

// CheckingRow is a criterion that is being checked.
type CheckingRow struct {
	Index int
	What  string // its check as written, or its text
	Since time.Time
	Limit string // "30m", "" for none of ours
}

// DodCard is the definition of done as a checklist.
type DodCard struct {
	Defined   bool
	Over      bool   // the plan is: nothing follows from it any more
	Demanded  bool   // by the plan's project
	Text      string // as written, for reading
	Template  string // name and version, "" when typed by hand
	Href      string // of the template
	Rows      []ResultRow
	Tone      ui.Tone
	Word      string
	Stale     bool
	Evaluated *time.Time
	Evaluator string
	Page      string // of the evaluation
	Grid      *Grid  // criteria by evaluation, nil when there is nothing to compare
	Took      time.Duration
	Error     string
	Trouble   string // the error in a few words
	Verbs     []Verb
	Now       time.Time
}

// ResultRow is one criterion with what became of it.
type ResultRow struct {
	Index     int
	Text      string
	Level     dod.Level
	Check     string     // as written after the arrow, "" for a plain line
	Status    dod.Status // "" = not evaluated
	Trouble   bool       // the judge could not judge
	Awaited   bool       // a person is to say so
	Busy      bool       // it is being checked now
	Reasoning string
	Cut       bool // Reasoning is not whole
	Match     *dod.Match
	Opinions  []OpinionRow // of each judge, where more than one was asked
	Waived    string       // "Waived by Ada: reason"
	Verbs     []Verb
}

func (r ResultRow) word() string {
	switch {
	case r.Busy:
		return "Being checked"
	case r.Status == "":
		return "Not evaluated"
	case r.Awaited:
		return "Waiting for a person"
	case r.Status == dod.Skipped && r.Trouble:
		return "Trouble"
	}
	return strings.ToUpper(string(r.Status[:1])) + string(r.Status[1:])
}

func (r ResultRow) tone() ui.Tone {
	if r.Busy {
		return ui.ToneBusy
	}
	return ResultTone(r.Status)
}

func (r ResultRow) level() string {
	switch r.Level {
	case dod.Info:
		return "info"
	case dod.Must:
		return "must"
	}
	return ""
}

// PhasesCard is the plan's phases in order.
type PhasesCard struct {
	PlanID string
	Opened int64 // the phase that the reader asked to see whole, 0 for none
	Phases []PhaseCard
	Now    time.Time
}

// PhaseCard is a phase with its passes.
type PhaseCard struct {
	ID            int64
	Position      int
	Name          string
	Paused        bool // its plan is, and nothing of it is at work any more
	Status        models.PhaseStatus
	Reason        string
	Task          string
	TaskCut       bool   // Task is only its beginning
	Whole         string // where all of it is shown, only with TaskCut
	Agents        []AgentRow
	Copy          string      // where the plan is written anew, "" for who may not
	DoneWhen      []ResultRow // its criteria as they stand
	MaxIterations int
	Attempt       int
	Opinions      int // judges that have to say met
	NeedsApproval bool
	Override      string   // who accepted it as it is and why: shown for ever
	Said          []string // approvals and rejections
	Passes        []PassRow
	Grid          *Grid      // criteria by pass, nil when there is nothing to compare
	Forecast      string     // what phases like it make one expect, "" for nothing
	Replay        string     // where another condition is tried on these passes, "" for who may not
	Next          string     // "pass 3 of 5", "" when it is over
	Again         *time.Time // when what was in trouble is tried again, nil when nothing waits
	Choice        string     // what the person has to choose between, "" when it is not such a state
	Verbs         []Verb
	Flags         FlagNotice   // of the current pass
	Summary       *SummaryCard // of a completed phase, nil until it is put together
	Last          bool
	Brief         bool // only a line: Position, Name, Status, PassCount and Overridden are set
	PassCount     int
	Overridden    bool
}

// AgentRow is an agent of a phase.
type AgentRow struct {
	Label      string
	Command    string // of a shell agent
	CommandCut bool   // Command is only its beginning
}

// PassRow is one pass: its mark and what opens under it.
type PassRow struct {
	ID         int64
	Brief      bool // only a line that leads to its page
	Position   int  // of its phase
	Number     int
	Attempt    int
	Retried    bool // attempts are told apart
	Status     models.PassStatus
	Mark       PassMark
	Reason     string
	Results    []ResultRow
	Runs       []RunRow
	Task       string // "" when it is only on the pass's own page
	TaskSize   int
	Note       string
	Started    *time.Time
	Ended      *time.Time
	Took       time.Duration
	Verdict    int64 // id, 0 when it was never judged
	Judge      string
	Distrusted string // those of its judges that were not trusted then
	Reused     bool
	Flags      FlagNotice
	Changed    bool // it changed files
	PlanID     string
	Open       bool
	Now        time.Time
}

// Title is "Pass 2", with the attempt where there was more than one.
func (p PassRow) Title() string {
	if p.Retried {
		return "Attempt " + strconv.Itoa(p.Attempt) + ", pass " + strconv.Itoa(p.Number)
	}
	return "Pass " + strconv.Itoa(p.Number)
}

// fullTitle tells the pass from those of other phases.
func (p PassRow) fullTitle() string {
	return p.Title() + " of phase " + strconv.Itoa(p.Position)
}

func (p PassRow) anchor() string { return "pass-" + itoa(p.ID) }

// PassMark is a pass in one sign.
type PassMark struct {
	Word string
	Tone ui.Tone
	Icon string
}

// badge is the phase's status, or that it rests with its plan.
func (p PhaseCard) badge() templ.Component {
	if p.Paused {
		return ui.StatusBadge("paused", ui.ToneWarn, "circle-pause")
	}
	return PhaseBadge(p.Status)
}

// RunRow is one run of a pass.
type RunRow struct {
	ID       int64
	Label    string
	Runtime  string
	Position int
	Try      int
	Status   models.RunStatus
	Exit     *int
	Took     time.Duration
	Tokens   string
	Cost     string
	Reason   string
	Activity string
	Started  *time.Time
}

// facts are the columns that a phone has no room for.
func (r RunRow) facts() string {
	var out []string
	if r.Took > 0 {
		out = append(out, ui.Duration(r.Took))
	}
	if r.Tokens != "" {
		out = append(out, r.Tokens+" tokens")
	}
	if r.Cost != "" {
		out = append(out, r.Cost)
	}
	return strings.Join(out, ", ")
}

// ActivityCard is what happened, newest first.
type ActivityCard struct {
	Events []EventRow
	Older  string // URL of the page before, "" when there is none
	Newest string // URL of the newest page, "" when this is it
	Now    time.Time
}

// EventRow is one thing that happened.
type EventRow struct {
	ID       int64
	At       time.Time
	Actor    string
	Server   bool
	Sentence string
	Reason   string
	Href     string
	Tone     ui.Tone
	Icon     string
}

// PassView is a pass's own page, with its exact task text.
type PassView struct {
	PageMeta
	Summary   *SummaryCard // of a completed phase, nil otherwise
	Plan      string
	PlanID    string
	Phase     string
	PhaseID   int64
	Pass      PassRow
	Task      string
	TaskDiff  []DiffLine // against the task of the pass before; nil when there is none
	OlderPass int64
}

// PlansView is the list of plans.
type PlansView struct {
	PageMeta
	Rows     []PlanLine
	Older    string
	Newest   string
	Message  string // about an odd address
	Status   string // the filter as it stands in the address
	Project  string
	Search   string
	Statuses []ui.Option
	Projects []ui.Option
	Filtered bool
	CanNew   bool
	Refresh  string // URL of this list as a fragment
}

// PlanLine is one plan of the list.
type PlanLine struct {
	ID      string
	Title   string
	Status  models.PlanStatus
	Project string
	Done    int
	Phases  int
	Current string
	Waits   string
	Found   *models.Excerpt // where the words looked for are, nil when in the title
	Created time.Time
	Updated time.Time
}

// ActivityPage is the whole activity of a plan.
type ActivityPage struct {
	PageMeta
	Plan, PlanID string
	Card         ActivityCard
	Message      string
}

// DodForm is the form that replaces a plan's definition of done.
type DodForm struct {
	PageMeta
	PlanID, Plan string
	Text         string
	Template     string // version id, "" = by hand
	Templates    []ui.Option
	Args         []DodFormArg
	Errors       map[string]string
	Error        string
	Preview      CriteriaPreview
	Evaluated    bool // an evaluation would no longer count
	Started      bool // a required line that goes needs a reason
	Reason       string
	Seen         string // names the definition that the form replaces
	Now          string // what somebody else made of it meanwhile
	Unsupported  string
}

// DodFormArg is a value for a {placeholder}.
type DodFormArg struct{ Name, Value, Hint string }
