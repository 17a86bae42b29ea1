package dod

import (
	"regexp"
	"strings"
)

// FillCriteria puts args into criteria that were parsed before, so that a value
// can change a criterion but never add one. Texts, questions, paths and roles take
// the value on one line; a pattern takes it quoted, so that it matches only
// itself; a run: command takes nothing, it gets the values by ArgEnv. A blank value
// leaves its placeholder open: filled in, it would make a check weaker than it
// reads (file: docs/{page} would be a folder that is there, absent: /import "{pkg}"/
// would look for an import of nothing). One that shows nothing is blank, whatever
// signs it holds. The given criteria are not changed.
func FillCriteria(criteria []Criterion, args map[string]string) []Criterion {
	plain := func(name string) (string, bool) {
		value := oneLine(args[name])
		return value, !Blank(value)
	}
	filled := make([]Criterion, len(criteria))
	for i, c := range criteria {
		c.Text = render(c.Text, plain)
		switch c.Check.Kind {
		case CheckRun:
		case CheckMatch, CheckAbsent:
			c.Check.Arg = fillPattern(c.Check.Arg, args)
		default:
			c.Check.Arg = strings.TrimSpace(render(c.Check.Arg, plain))
		}
		c.Pattern = fillPattern(c.Pattern, args)
		filled[i] = c
	}
	return filled
}

// oneLine is a value as it goes into a criterion: one line of valid UTF-8, so that
// what is stored as JSON comes back the same and keeps its fingerprint.
func oneLine(value string) string {
	return foldLine(strings.ToValidUTF8(value, "\ufffd"))
}

// patternBrace is a brace that belongs to the expression itself, as in \p{Greek}.
var patternBrace = regexp.MustCompile(`\\[pPx]\{[^}]*\}`)

func fillPattern(pattern string, args map[string]string) string {
	quoted := func(name string) (string, bool) {
		value := oneLine(args[name])
		if Blank(value) {
			return "", false
		}
		// QuoteMeta leaves "-" alone, which is a range inside a class, and "/",
		// which could be read as the pattern's end.
		return strings.NewReplacer("-", `\-`, "/", `\/`).Replace(regexp.QuoteMeta(value)), true
	}
	var b strings.Builder
	at := 0
	for _, own := range patternBrace.FindAllStringIndex(pattern, -1) {
		b.WriteString(render(pattern[at:own[0]], quoted))
		b.WriteString(pattern[own[0]:own[1]])
		at = own[1]
	}
	b.WriteString(render(pattern[at:], quoted))
	return b.String()
}
