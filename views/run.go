package views

import (
	"time"

	"donewhen/models"
)

// RunView is a run's page: its facts and its log.
type RunView struct {
	PageMeta
	ID      int64
	Label   string
	Plan    string
	PlanID  string
	Phase   string
	PhaseID int64
	PassID  int64
	Pass    string
	Facts   RunFacts
	Log     LogView
}

// RunFacts is what is known of a run beside its log; a live part.
type RunFacts struct {
	Verbs    []Verb
	ID       int64
	PlanID   string
	Status   models.RunStatus
	Runtime  string
	Program  string
	Command  string
	Try      int
	Exit     *int
	Reason   string
	Final    string
	Activity string
	Started  *time.Time
	Ended    *time.Time
	Took     time.Duration
	Tokens   string
	Cost     string
	Commit   string
	Now      time.Time
}

// VerdictView is a verdict with exactly what was asked and answered.
type VerdictView struct {
	PageMeta
	ID         int64
	Plan       string
	PlanID     string
	Phase      string
	PassID     int64
	Pass       string
	Kind       models.VerdictKind
	Met        bool
	Reason     string
	Evaluator  string
	Distrusted string // those of its judges that were not trusted then
	Hash       string
	Tree       string
	Reused     int64
	Created    time.Time
	Took       time.Duration
	Results    []ResultRow
	Flags      FlagNotice
	Answers    []AnswerRow
	Evidence   string
}

// AnswerRow is one question with all that came back.
type AnswerRow struct {
	Index     int
	Question  int // counted from 1; several judges answer one
	Opinion   int // the judge's place among them, from 0
	Criterion string
	Evaluator string
	Model     string
	System    string
	Prompt    string
	Raw       string
	FirstRaw  string
	Kind      string
	Met       bool
	Reason    string
	Tokens    string
	Cost      string
	Version   int // of the question's wording; 0 = not recorded
}

// programTitle is over what a run executes.
func (f RunFacts) programTitle() string {
	switch {
	case f.Started != nil:
		return "What was started"
	case f.Status == models.RunQueued:
		return "What will be started"
	default:
		return "What was to be started"
	}
}
