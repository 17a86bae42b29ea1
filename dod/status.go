package dod

// Status is the outcome of one criterion.
type Status string

const (
	// Passed: the criterion was checked and holds. The only status that counts as done.
	Passed Status = "passed"
	// Failed: the criterion was checked and does not hold, or its check is broken
	// (a pattern that does not compile).
	Failed Status = "failed"
	// Skipped: the criterion could not be evaluated (no evidence, no workspace, no
	// judge, an unreadable reply). Never a pass.
	Skipped Status = "skipped"
)

// Known reports whether s is one of the three statuses. An unknown one (an old
// row, a typing error) makes an evaluation incomplete.
func (s Status) Known() bool { return s == Passed || s == Failed || s == Skipped }

// Level says what a criterion's result means for the whole.
type Level string

const (
	// Required is the default: the criterion must pass, or be waived by a person.
	Required Level = "required"
	// Info, written "(info)" at the start of a line: shown, never in the way.
	Info Level = "info"
	// Must, written "(must)": required, and never waivable.
	Must Level = "must"
)

// Counts reports whether a criterion of this level has to pass. Everything but
// Info does; so does a level this version does not know.
func (l Level) Counts() bool { return l != Info }
