package models

import "time"

// Bounds of max_iterations, the number of passes an attempt may take. They are
// enforced at insert, by a CHECK constraint and in the form.
const (
	MinIterations = 1
	MaxIterations = 20
)

// ClampIterations brings a wanted number of passes into the allowed range, so
// that neither an endless loop nor a phase without a pass can be stored.
func ClampIterations(n int) int { return min(max(n, MinIterations), MaxIterations) }

// Plan is one piece of work in a project: goal, phases, definition of done.
type Plan struct {
	ID           string `gorm:"primaryKey"` // ULID
	ProjectID    int64
	Title        string
	Goal         string
	Status       PlanStatus
	TargetBranch string // short name; refs/heads/ is put before it where git is called
	BaseCommit   string // tip of the target when the workspace was made, "" before
	WorkCommit   string // tip of donewhen/<plan>: the last recorded snapshot
	WorkTree     string // its tree; part of the evaluation's fingerprint

	TemplateVersionID *int64            // the pinned version, nil for a DoD typed by hand
	DodSource         string            // DoD text with {placeholders}, "" for none
	DodText           string            // rendered, for reading
	DodArgs           map[string]string `gorm:"serializer:json"`
	CriteriaJSON      string            // []dod.Criterion, filled; what is evaluated
	DodOpinions       int               // 1..3 judges have to say met of its judge lines; pinned with the template's version

	Budget     Budget           `gorm:"embedded;embeddedPrefix:budget_"`
	Unrecorded []UnrecordedFile `gorm:"serializer:json"` // files of the workspace that git could not take
	Version    int64            // goes up with every event of the plan; the pages' ETag
	FormKey    string           // hidden id of the form that made it: sent twice, it makes one plan
	CreatedBy  int64
	CreatedAt  time.Time
	UpdatedAt  time.Time
	StartedAt  *time.Time
	EndedAt    *time.Time
	CleanedAt  *time.Time // when the workspace was removed, nil while it is there
}

// UnrecordedFile is a file in the workspace that could not be recorded and
// would be missing from what is applied.
type UnrecordedFile struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// AgentSpec says who does one run of a phase's pass.
type AgentSpec struct {
	Runtime string `json:"runtime"`           // alias in runtimes.yaml, such as "shell" or "claude"
	Name    string `json:"name,omitempty"`    // what pages and evidence keys call it; the alias when empty
	Command string `json:"command,omitempty"` // program text for the shell runtime
	Limit   int    `json:"limit,omitempty"`   // time limit in seconds, 0 for the runtime's own
}

// Label is the name that pages and evidence keys use for the agent.
func (a AgentSpec) Label() string {
	if a.Name != "" {
		return a.Name
	}
	return a.Runtime
}

// Phase is an ordered step of a plan.
type Phase struct {
	ID            int64
	PlanID        string
	Position      int // 1-based
	Name          string
	Task          string
	Agents        []AgentSpec `gorm:"serializer:json"`
	DoneWhen      string      // completion condition, "" for none
	MaxIterations int         // 1..20 passes an attempt
	Opinions      int         // 1..3 judges have to say met
	NeedsApproval bool
	Status        PhaseStatus
	Attempt       int        // starts at 1, goes up when a person retries the phase
	Iteration     int        // starts at 0; pass 2 has iteration 1
	PassID        *int64     // the current pass, nil before the first
	Reason        string     // why it is in this state, one sentence
	Feedback      string     // what the last pass missed; goes into the next task text
	Note          string     // a person's note for the next pass
	Overridden    bool       // accepted as it is by a person: shown for ever
	OverBudget    bool       // it needs attention because the plan's budget is used up: a raised one lets it go on
	StartCommit   string     // the plan's tip when its first pass began, for "from the phase's start"
	RestoreTo     string     // the tree goes back to this commit before the next pass, "" = it goes on as it is
	DueAt         *time.Time // when the sweep has something to do here; nil when it waits for others
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// Pass is one execution of a phase, unique by (phase, attempt, iteration).
type Pass struct {
	ID           int64
	PhaseID      int64
	PlanID       string
	Attempt      int
	Iteration    int
	Status       PassStatus
	TaskText     string // the exact text its agents got, composed when it started
	Note         string // the person's note that is in it
	StartCommit  string // the plan's tip when it started
	EndCommit    string // the snapshot after its last run
	EndTree      string
	EvidenceHash string     // times left out
	JudgeTries   int        // tries of a judge in trouble so far
	QuotaSince   *time.Time // since when it waits for a judge's quota, nil while it does not
	Reason       string
	ClaimedBy    string // the worker or judge that has it, "" when free; cleared at boot
	CreatedAt    time.Time
	StartedAt    *time.Time
	EndedAt      *time.Time
}

// Number is the pass's number as people count: iteration 0 is pass 1.
func (p Pass) Number() int { return p.Iteration + 1 }

// Run is one agent's part of a pass, unique by (pass, position, try).
type Run struct {
	ID           int64
	PassID       int64
	PhaseID      int64
	PlanID       string
	Position     int       // 1-based place in the pass
	Try          int       // 1-based
	Agent        AgentSpec `gorm:"serializer:json"`
	Status       RunStatus
	ExitCode     *int   // nil when the process never ended by itself
	Pid          int    // 0 before it was started
	PidStart     int64  // the process's start time in clock ticks since boot, to tell it from a later one with the same pid
	FinalMessage string // the agent's own last word
	Activity     string // what it is doing now, from its stream
	Reason       string // why it failed or errored, verbatim where it came from outside
	InputTokens  int64
	OutputTokens int64
	CostUSD      float64
	Commit       string // snapshot after it
	Tree         string
	LogBytes     int64
	LogCut       bool   // the middle of the output was dropped beyond the cap
	Stopped      bool   // the server was stopped in good order while it ran; the try does not count
	StoppedBy    string // who stopped it, "" when nobody did; the try does not count
	CreatedAt    time.Time
	StartedAt    *time.Time
	EndedAt      *time.Time
}

// Verdict is the judgement of one pass's done_when.
type Verdict struct {
	ID           int64
	PassID       int64
	PhaseID      int64
	PlanID       string
	Kind         VerdictKind
	Met          bool
	Reason       string
	Evaluator    string // the resolved evaluator, such as "text" or "runtime:claude"; several with " + " between them
	Opinions     int    // judges that had to say met
	Distrusted   string // those of its judges that were not trusted when it was given, with ", " between them
	ResultsJSON  string // []dod.Result
	AnswersJSON  string // []dod.Answer: exact inputs and raw replies
	Evidence     string // the bounded rendering that was judged
	EvidenceHash string
	FlagsJSON    string // where the evidence talks to its judge, "" when it does not; bounded
	ReusedFrom   *int64 // the verdict it repeats because the evidence is identical
	Tree         string // the tree that was judged
	CreatedAt    time.Time
	Millis       int64 // how long the judging took
}

// Evaluation is one judging of a plan's whole DoD.
type Evaluation struct {
	ID          int64
	PlanID      string
	Status      EvaluationStatus
	Fingerprint string // workspace tree, filled criteria, template version, evaluator configuration
	PartsJSON   string // the fingerprint's parts, to say what moved
	Evaluator   string
	SummaryJSON string // dod.Summary
	AnswersJSON string // []dod.Answer
	FlagsJSON   string // where the evidence talks to its judge, "" when it does not; bounded
	Error       string
	StoppedBy   string // the person who ended it; while it is running its checks are being ended
	OverBudget  bool   // it errored because the plan's budget is used up: a raised one queues another
	RequestedBy int64  // 0 = the sweep
	CreatedAt   time.Time
	StartedAt   *time.Time
	EndedAt     *time.Time
}

// DecisionKind names a person's recorded decision.
type DecisionKind string

const (
	DecisionApprove DecisionKind = "approve" // a phase, or a `human` criterion when Criterion > 0
	DecisionReject  DecisionKind = "reject"
	DecisionAccept  DecisionKind = "accept" // override: taken as it is, with a reason
	DecisionWaive   DecisionKind = "waive"  // a criterion that need not pass
)

// Decision is an approval, rejection, override or waiver, bound to the
// fingerprint of what the person saw.
type Decision struct {
	ID          int64
	PlanID      string
	PhaseID     *int64 // nil for decisions about the whole plan
	Criterion   int    // 1-based index in the DoD, 0 for a phase
	Kind        DecisionKind
	Fingerprint string
	Reason      string
	UserID      int64
	UserName    string
	VoidedAt    *time.Time // set when the thing it was about was run again, or when it was taken back
	Withdrawn   bool       // a person took it back
	CreatedAt   time.Time
}

// DodChange is what a change of a started plan's definition of done, or of one of
// its phases' conditions, took out, with who did it and why.
type DodChange struct {
	ID          int64
	PlanID      string
	PhaseID     *int64 // nil = the plan's definition of done
	DroppedJSON string // dod.Agreed: the criteria that were dropped, as they were asked for
	Reason      string // never empty
	UserID      int64
	UserName    string
	CreatedAt   time.Time
}

// ApplyAttempt is one try to merge a plan; written before git is touched.
type ApplyAttempt struct {
	ID           int64
	PlanID       string
	Status       ApplyStatus
	EvaluationID *int64
	TargetBranch string
	WorkCommit   string // what is merged
	OldTarget    string // the target's tip that it was merged with
	MergeCommit  string // "" until the merge commit exists
	Message      string // the merge commit's message, kept so that a repeat makes the same commit
	Reason       string // why it was refused
	FilesJSON    string // the files that stand in the way
	UserID       int64
	UserName     string
	CreatedAt    time.Time
	EndedAt      *time.Time
}

// Event is one line of the append-only audit log, written in the same
// transaction as the transition that it records.
type Event struct {
	ID        int64
	PlanID    string // "" for events that belong to no plan
	PhaseID   *int64
	PassID    *int64
	RunID     *int64
	Kind      string // "plan.started", "phase.approved", "user.invited", …
	From      string
	To        string
	ActorID   int64 // 0 = the server itself
	Actor     string
	Reason    string
	CreatedAt time.Time
}

// Actor is who does a verb. The zero Actor is the server itself.
type Actor struct {
	ID   int64
	Name string
	Role Role
}

// Server is the actor of everything that the sweep does.
var Server = Actor{Name: "donewhen"}
