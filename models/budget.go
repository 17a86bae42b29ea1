package models

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Budget is what a plan may use up. A limit of 0 is none. Runs and minutes are
// asked before each run; tokens and money before each run and before each
// question to a judge, an evaluator or whoever else is asked for the plan.
type Budget struct {
	Runs    int64   // that were started, second tries included
	Minutes int64   // of agents at work, all runs together
	Tokens  int64   // read and written, by runs and by questions
	USD     float64 // of runs and questions, as far as they say what they cost
}

// Limit names one limit of a budget.
type Limit string

const (
	LimitRuns    Limit = "runs"
	LimitMinutes Limit = "minutes"
	LimitTokens  Limit = "tokens"
	LimitUSD     Limit = "usd"
)

// What a limit may be at most: beyond it is a slip of the hand.
const (
	MaxBudgetRuns    = 1_000_000
	MaxBudgetMinutes = 10_000_000
	MaxBudgetTokens  = 1_000_000_000_000
	MaxBudgetUSD     = 10_000_000
	// MinBudgetUSD is the smallest sum that is told from nothing.
	MinBudgetUSD = 0.000001
)

// Problems says at which limits the budget cannot be taken, and why: negative,
// no number, or too large. It is empty for a budget that can.
func (b Budget) Problems() map[Limit]string {
	out := map[Limit]string{}
	whole := func(l Limit, n, most int64) {
		switch {
		case n < 0:
			out[l] = "It cannot be negative. Leave it empty for no limit."
		case n > most:
			out[l] = fmt.Sprintf("At most %s. Leave it empty for no limit.", Thousands(most))
		}
	}
	whole(LimitRuns, b.Runs, MaxBudgetRuns)
	whole(LimitMinutes, b.Minutes, MaxBudgetMinutes)
	whole(LimitTokens, b.Tokens, MaxBudgetTokens)
	switch {
	case math.IsNaN(b.USD):
		out[LimitUSD] = "It is no sum of money. Write it like 2.50."
	case b.USD < 0:
		out[LimitUSD] = "It cannot be negative. Leave it empty for no limit."
	case b.USD > MaxBudgetUSD:
		out[LimitUSD] = fmt.Sprintf("At most $%s. Leave it empty for no limit.", Thousands(MaxBudgetUSD))
	case b.USD != 0 && b.USD < MinBudgetUSD:
		out[LimitUSD] = "It is too little to be told from nothing. Leave it empty for no limit."
	}
	return out
}

// String lists the limits for a sentence: "10 runs, $5.00", or "no limits".
func (b Budget) String() string {
	var parts []string
	for _, m := range b.Meters(Usage{}) {
		if m.Max > 0 {
			parts = append(parts, m.Limited)
		}
	}
	if len(parts) == 0 {
		return "no limits"
	}
	return strings.Join(parts, ", ")
}

// Usage is what a plan has used up so far.
type Usage struct {
	Runs      int64         // started, whatever came of them
	Wall      time.Duration // of agents at work, a run that is under way up to now
	Questions int64         // to judges, evaluators and the like, second ones included
	Tokens    int64         // of runs that have ended, and of questions
	USD       float64
	Working   bool      // a run is under way: Wall grows
	Since     time.Time // when the oldest of those under way began
}

// Meter is one limit with what is used of it.
type Meter struct {
	Limit   Limit
	Used    float64
	Max     float64 // 0 = no limit
	Spent   string  // what is used, as in "12 started", "3 minutes worked"
	Limited string  // the limit, as in "10 runs"; "" for none
}

// Full says whether nothing is left of a limit that is set.
func (m Meter) Full() bool { return m.Max > 0 && m.Used >= m.Max }

// Meters are the four limits in their order, those that are not set too.
func (b Budget) Meters(u Usage) []Meter {
	minutes := int64(u.Wall / time.Minute)
	usd := micros(u.USD) // as a sum of many small ones it is a hair too little
	return []Meter{
		{LimitRuns, float64(u.Runs), float64(b.Runs), Thousands(u.Runs) + " started", limited(b.Runs, "run")},
		{LimitMinutes, u.Wall.Minutes(), float64(b.Minutes), counted(minutes, "minute") + " worked", limited(b.Minutes, "minute")},
		{LimitTokens, float64(u.Tokens), float64(b.Tokens), Thousands(u.Tokens) + " used", limited(b.Tokens, "token")},
		{LimitUSD, usd, micros(b.USD), Dollars(usd) + " spent", map[bool]string{true: Dollars(b.USD)}[b.USD > 0]},
	}
}

// Spends is what is about to be begun, and so which limits are asked.
type Spends int

const (
	SpendsRun      Spends = iota // a run: every limit
	SpendsQuestion               // a question to a model: tokens and money
)

// Over are the limits that keep something from being begun, none when it may
// begin.
func (b Budget) Over(u Usage, by Spends) []Meter {
	var out []Meter
	for _, m := range b.Meters(u) {
		if m.Full() && (by == SpendsRun || m.Limit == LimitTokens || m.Limit == LimitUSD) {
			out = append(out, m)
		}
	}
	return out
}

// UsedUp is Over as one sentence: "The budget of 10 runs is used up (10
// started).", or "" when it may begin.
func (b Budget) UsedUp(u Usage, by Spends) string {
	over := b.Over(u, by)
	parts := make([]string, len(over))
	for i, m := range over {
		parts[i] = fmt.Sprintf("%s is used up (%s)", m.Limited, m.Spent)
	}
	if len(parts) == 0 {
		return ""
	}
	return "The budget of " + strings.Join(parts, ", and that of ") + "."
}

// Spending is what one question to a model cost a plan: one row for each that
// was put, whatever came back and whatever became of the judging.
type Spending struct {
	ID           int64
	PlanID       string
	Evaluator    string // who was asked, as a model spec
	Questions    int64  // 1; more in rows that sum up what was asked before these rows were kept
	InputTokens  int64
	OutputTokens int64
	CostUSD      float64
	CreatedAt    time.Time
}

func micros(usd float64) float64 { return math.Round(usd*1e6) / 1e6 }

func limited(n int64, noun string) string {
	if n <= 0 {
		return ""
	}
	return counted(n, noun)
}

func counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return Thousands(n) + " " + noun
}

// Thousands is a whole number as people read it: "12,345".
func Thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Dollars is a sum of money: "$2.50", and below ten cents with as many places as
// it takes, up to a millionth: "$0.0213".
func Dollars(usd float64) string {
	places := 2
	if usd > 0 && usd < 0.1 && math.Round(usd*100) != micros(usd*100) {
		places = 4
		if usd < 0.0001 {
			places = 6
		}
	}
	return fmt.Sprintf("$%.*f", places, usd)
}
