package models

import "time"

// PlanDetail is everything a plan's page shows but what git and the gate add.
type PlanDetail struct {
	Plan       Plan
	Project    Project
	Template   *TemplateRef // nil for a DoD typed by hand or none
	Phases     []PhaseDetail
	Evaluation *Evaluation    // the newest, nil when never evaluated
	Decisions  []Decision     // not voided, oldest first
	Attempts   []ApplyAttempt // newest first
	Creator    string
}

// TemplateRef names the template version that a plan pins.
type TemplateRef struct {
	ID      int64
	Name    string
	Version int
}

// PhaseDetail is a phase with its passes, newest attempt and pass last.
type PhaseDetail struct {
	Phase  Phase
	Passes []PassDetail
}

// PassDetail is a pass with its runs in order (position, try) and its newest
// verdict, nil while there is none.
type PassDetail struct {
	Pass    Pass
	Runs    []Run
	Verdict *Verdict
}

// PlanRow is one line of the plans list.
type PlanRow struct {
	ID          string
	Title       string
	Status      PlanStatus
	ProjectName string
	PhaseCount  int
	PhasesDone  int
	Current     string      // name of the phase that decides the status, "" when all are completed
	Phase       PhaseStatus `gorm:"-"` // of that phase
	Reason      string      // why that phase waits, one sentence
	Evaluating  bool        // its definition of done is being evaluated
	InHand      bool        // a worker or a judge has one of its passes
	Found       *Excerpt    `gorm:"-"` // where the words of a search are, nil when in the title
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// NeedsPerson says whether nothing happens to the plan until a person decides.
// It is what the store's inbox lists and counts.
func (r PlanRow) NeedsPerson() bool {
	return r.Status == PlanWaiting || r.Status == PlanFailed || r.Status == PlanFinished && !r.Evaluating
}

// PlanFilter narrows the plans list; zero values mean "any".
type PlanFilter struct {
	Status    []PlanStatus
	ProjectID int64
	Search    string // in title, goal, criteria and reasons
	Before    string // keyset cursor: plans with a smaller id (newest first)
	Limit     int    // 0 = 50
}

// EventFilter narrows the audit log; zero values mean "any".
type EventFilter struct {
	Noun   string // what it is about: the first word of a kind
	People bool   // only what a person did
	Words  string // in who, why and the plan's id
}

// InboxItem is something that waits for a person.
type InboxItem struct {
	Plan  PlanRow
	Phase *Phase // nil when the plan as a whole waits (finished)
	// Flagged: evidence behind what is to be decided talks to its judge.
	Flagged bool
	Since   time.Time
}

// RunDetail is what a run's page shows.
type RunDetail struct {
	Run   Run
	Pass  Pass
	Phase Phase
	Plan  Plan
}

// TemplateDetail is a template with its versions, newest first.
type TemplateDetail struct {
	Template Template
	Versions []TemplateVersion
}

// TemplateListRow is one line of the templates list.
type TemplateListRow struct {
	Template
	Latest      int        // number of the newest version, 0 when there is none
	PublishedAt *time.Time // when and by whom that one was published
	PublishedBy string
}
