package dod

import "strings"

// OpenPlaceholders are the names of the {placeholders} that FillCriteria would
// fill in criteria, sorted, each once. Braces of an expression itself, as in
// \p{Greek}, and of run: commands are none.
func OpenPlaceholders(criteria []Criterion) []string {
	var b strings.Builder
	for _, c := range criteria {
		b.WriteString(c.Text + "\n")
		switch c.Check.Kind {
		case CheckRun:
		case CheckMatch, CheckAbsent:
			b.WriteString(patternBrace.ReplaceAllString(c.Check.Arg, "") + "\n")
		default:
			b.WriteString(c.Check.Arg + "\n")
		}
	}
	return Placeholders(b.String())
}
