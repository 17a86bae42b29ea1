package dod

// Parsed is what a text was read as, for the editor's preview.
type Parsed struct {
	Criteria []Criterion
	// Lines holds the 1-based line on which each criterion begins.
	Lines    []int
	Warnings []Warning
	// Ignored are the lines that are no criteria, so that none vanishes unseen.
	// Blank lines are not listed.
	Ignored []IgnoredLine
}

// Warning is a hint or a refusal about one line.
type Warning struct {
	Line    int
	Message string
	// Refused: a definition of done with this is not saved.
	Refused bool
	// Fails: refused where it is typed, and yet it can be evaluated where it is
	// found, as in a file: the criterion fails and says why.
	Fails bool
}

// IgnoredLine is a line that was read and is no criterion.
type IgnoredLine struct {
	Line int
	Text string
	Why  string
}

// Problem is what is refused when a text is saved, as a sentence that says what
// to do instead.
type Problem struct {
	Line    int
	Message string
}
