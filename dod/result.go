package dod

// Result is what became of one criterion.
type Result struct {
	Criterion Criterion `json:"criterion"`
	Status    Status    `json:"status"`
	// Reasoning says why, in a sentence a lead can act on.
	Reasoning string `json:"reasoning"`
	// Match shows where a text check matched; nil for every other result.
	Match *Match `json:"match,omitempty"`
	// Kind is set when a judge was asked: only KindVerdict is a judgement, the
	// other kinds are trouble and go with Status Skipped.
	Kind VerdictKind `json:"kind,omitempty"`
	// Opinions are all that was said where more than one judge was asked, in their
	// order; the last of them decided.
	Opinions []Opinion `json:"opinions,omitempty"`
}

// Match is the place of a hit, with a bounded excerpt cut on rune boundaries.
type Match struct {
	// Key is the context key whose value (or whose own name, Line 0) matched.
	Key    string `json:"key"`
	Before string `json:"before"`
	Text   string `json:"text"`
	After  string `json:"after"`
	// Line is the 1-based line of the hit in the value; 0 when the key itself matched.
	Line int `json:"line"`
}
