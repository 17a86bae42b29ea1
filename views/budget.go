package views

import (
	"time"

	"donewhen/models"
	"donewhen/views/ui"
)

// BudgetCard is what a plan may use up and what it has used.
type BudgetCard struct {
	PlanID  string
	Limited bool // at least one limit is set
	Meters  []BudgetMeter
	Over    string // the sentence of a limit that is used up, "" while there is room
	Stopped bool   // something waits for a larger budget
	Working bool   // an agent is at work: the minutes grow
	Nothing bool   // nothing has been used yet
	Verbs   []Verb
}

// BudgetMeter is one limit with what is used of it.
type BudgetMeter struct {
	Limit models.Limit
	Label string
	Used  string  // "12", "$0.42"
	Of    string  // "of 30"; "" without a limit
	Part  float64 // of 100; only with a limit
	Full  bool
	Last  bool // Full, and what it allowed is still under way
	Near  bool // little is left
}

func (m BudgetMeter) tone() string {
	switch {
	case m.Full && !m.Last:
		return "bad"
	case m.Full, m.Near:
		return "warn"
	}
	return "ok"
}

func (c BudgetCard) tone() ui.Tone {
	if c.Stopped {
		return ui.ToneWarn
	}
	return ""
}

// LimitForm is the four limits as typed into a form, with the messages at them.
// They are posted as budget_runs, budget_minutes, budget_tokens and budget_usd.
type LimitForm struct {
	Fields []ui.FieldProps
	Open   bool // something is typed or wrong
	Note   string
}

// budgetPartID is where the card stands on the plan's page.
const budgetPartID = "plan-budget"

// budgetPoll is how often a card looks again while an agent is at work, when no
// event says that something changed.
const budgetPoll = 15 * time.Second

func pollTrigger() string { return "every " + budgetPoll.String() }
