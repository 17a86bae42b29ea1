package views

import (
	"slices"
	"strings"
	"time"

	"donewhen/views/ui"
)

// AuditView is a page of the audit log, newest first.
type AuditView struct {
	Meta          PageMeta
	Rows          []AuditRow
	Older, Newest string
	About, Who    string // the filter as it stands in the address
	Words         string
	Abouts        []ui.Option
	Filtered      bool
}

// AuditRow is one event.
type AuditRow struct {
	ID       int64
	At       time.Time
	Actor    string
	Server   bool   // the server itself did it
	Kind     string // "phase.approved"
	From, To string
	PlanID   string
	Href     string // the plan, or its phase
	Reason   string
}

// what is the event's kind as people read it: "phase approved".
func (r AuditRow) what() string { return strings.NewReplacer(".", " ", "_", " ").Replace(r.Kind) }

// SettingsView is what the operator has set.
type SettingsView struct {
	Meta             PageMeta
	Judge, Evaluator string
	MoreJudges       []string
	Canaries         int // one planted pass in so many judgings; 0 = never
	Runtimes         []RuntimeRow
	Workers          int
	CheckLimit       string
	Passes           [2]int
	Commands         string // the role that may write commands
}

// RuntimeRow is one runtime of runtimes.yaml.
type RuntimeRow struct {
	Alias, Title, Program string
	Shell, Available      bool
	Why                   string // it is not available, and what to do
	Limit, MaxLimit       string
}

// specWords says a model spec in plain words.
func specWords(spec string) string {
	if spec == "text" {
		return "No model: lines in plain words are matched literally."
	}
	return "Asked in a fresh session without tools; only a reply of the strict form can be a yes."
}

// noRuntime says whether nothing that could carry out a phase was found.
func (v SettingsView) noRuntime() bool {
	return !slices.ContainsFunc(v.Runtimes, func(r RuntimeRow) bool { return r.Available })
}
