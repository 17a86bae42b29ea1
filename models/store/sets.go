package store

import (
	"time"

	"donewhen/models"
)

// The sets say which columns a write changes: nil leaves a column alone, any
// other value is written, the zero value too.

// PlanSet are the columns of a plan that change after its insert.
type PlanSet struct {
	Title, Goal                      *string
	BaseCommit, WorkCommit, WorkTree *string
	Unrecorded                       *[]models.UnrecordedFile
	StartedAt, EndedAt, CleanedAt    *time.Time
	ClearEnded                       bool // ended_at = NULL
	DodSource, DodText, CriteriaJSON *string
	DodArgs                          *map[string]string
	TemplateVersionID                *int64
	NoTemplate                       bool // template_version_id = NULL
	Budget                           *models.Budget
	DodOpinions                      *int // clamped
}

// PhaseSet are the columns of a phase that change after its insert.
// MaxIterations and Opinions are clamped.
type PhaseSet struct {
	Attempt, Iteration, MaxIterations, Opinions              *int
	PassID                                                   *int64
	Reason, Feedback, Note, StartCommit, RestoreTo, DoneWhen *string
	Overridden                                               *bool
	OverBudget                                               bool // written by every move, so that it ends with the state it is about
	DueAt                                                    *time.Time
	NoDue                                                    bool // due_at = NULL
}

// PassSet are the columns of a pass that change after its insert.
type PassSet struct {
	TaskText, Note                                                   *string
	StartCommit, EndCommit, EndTree, EvidenceHash, Reason, ClaimedBy *string
	JudgeTries                                                       *int
	QuotaSince, StartedAt, EndedAt                                   *time.Time
	NoQuotaWait                                                      bool // quota_since = NULL
}

// RunSet are the columns of a run that change after its insert.
type RunSet struct {
	ExitCode, Pid                                *int
	PidStart                                     *int64
	FinalMessage, Activity, Reason, Commit, Tree *string
	StoppedBy                                    *string
	InputTokens, OutputTokens                    *int64
	CostUSD                                      *float64
	LogBytes                                     *int64
	LogCut, Stopped                              *bool
	StartedAt, EndedAt                           *time.Time
}

// EvaluationSet are the columns of an evaluation that change after its insert.
type EvaluationSet struct {
	Fingerprint, PartsJSON, Evaluator, SummaryJSON, AnswersJSON, FlagsJSON, Error, StoppedBy *string
	OverBudget                                                                               *bool
	StartedAt, EndedAt                                                                       *time.Time
}

// ApplySet are the columns of an apply attempt that change after its insert.
type ApplySet struct {
	OldTarget, MergeCommit, Message, Reason, FilesJSON *string
	EndedAt                                            *time.Time
}

// Why is who moves a row and for what reason; it goes into the audit log.
type Why struct {
	Actor  models.Actor
	Kind   string // "" = the row's kind and new status, such as "phase.completed"
	Reason string
}
