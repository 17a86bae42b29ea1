package views

import "time"

// InsightView is what ended in a range of time, in numbers.
type InsightView struct {
	Meta    PageMeta
	Days    int
	Ranges  []InsightRange
	Message string    // what was odd in the address
	Counted time.Time // when the numbers were counted
	Notes   []string  // what was left out, a sentence each
	Fresh   bool      // there is no plan at all
	CanNew  bool
	Longest int // the longest range there is, in days

	Figures []Figure

	UntilMet  Chart
	ByName    Chart // passes until met on average, by template
	Numbers   []string
	Templates []TemplateStat

	Share  Chart
	Shares []ShareStat

	Time   Chart
	Money  Chart // without bars when nothing had a price
	Groups []GroupStat
	Fewer  string // "… and 4 more", "" when all groups are shown

	Criteria     []CriterionStat
	MoreCriteria string // as Fewer
}

// InsightRange is one of the ranges that can be chosen.
type InsightRange struct {
	Label, Href string
	Current     bool
}

// Figure is one number that stands for itself.
type Figure struct{ Name, Value, Note string }

// TemplateStat is how many passes the phases of a template's plans took.
type TemplateStat struct {
	Name    string
	Met     string   // phases that were met
	Cells   []string // how many of them with each of Numbers
	Average string
}

// ShareStat is how many of the passes of one number were met.
type ShareStat struct{ Pass, Judged, Met, Share string }

// GroupStat is what the runs of one phase name and runtime took.
type GroupStat struct{ Phase, Runtime, Runs, Time, Each, In, Out, Cost string }

// CriterionStat is a criterion that failed.
type CriterionStat struct {
	Text   string
	Failed string
	Plans  []PlanRef // some of the plans
	More   int       // plans that are not among them
}

// PlanRef is a plan to link to.
type PlanRef struct{ Title, Href string }

func (v InsightView) empty() bool { return len(v.Figures) == 0 }
