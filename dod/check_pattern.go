package dod

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// checkPattern says what is wrong with a pattern, and what it does not mean
// although it reads so: an absent: check that can match nothing always passes.
func (p *Parsed) checkPattern(line int, c Criterion) {
	if !c.hasPattern() {
		p.warn(line, true, "the pattern is empty and would match everything: write what has to be there")
		return
	}
	re, err := regexp.Compile(c.Pattern)
	switch {
	case err != nil:
		p.Warnings = append(p.Warnings, Warning{Line: line, Refused: true, Fails: true, Message: "the pattern does not compile, so this could never pass: " + err.Error()})
		return
	case joined(c) != "":
		p.warn(line, true, joined(c))
		return
	case re.MatchString(""):
		p.warn(line, true, "the pattern matches the empty text, so it would match everything: let it demand at least one character")
		return
	}
	if strings.TrimSpace(c.Pattern) != c.Pattern {
		p.warn(line, false, "the blank at the beginning or end of the pattern belongs to it: it must be there too")
	}
	if c.Check.Kind == CheckMatch && anchorsWhole(c.Pattern) {
		p.warn(line, false, "^ and $ are the ends of the whole value; write (?m) for lines, as in /(?m)^done$/")
	}
}

var (
	// morePatterns is what stands between two patterns where only one can be: the
	// end of the first, what people put between, the begin of the second.
	morePatterns = regexp.MustCompile(`[^\\](/(?:\s*(?:,|;|\|\|?|&&?)\s*(?:(?:and|or|nor|not)\s+)?|\s+(?:(?:and|or|nor|not)\s+)*)/)`)
	// moreChecks is a second check behind the first.
	moreChecks = regexp.MustCompile(`[^\\](/\s*->\s*(?:match|absent|run|file|judge|human)\b)`)
)

// joined says what to write instead where a pattern is two patterns or two checks:
// everything between the first and the last slash is one expression, which hardly
// anything matches. "" for a pattern that is one.
func joined(c Criterion) string {
	kind := string(c.Check.Kind)
	if at := moreChecks.FindStringSubmatch(c.Pattern); at != nil {
		return "a line has one check, and everything between the first and the last slash is its pattern: write one line for each check; if the slash of " + clip(at[1], 40) + ` belongs to the pattern, write it as \/`
	}
	at := morePatterns.FindStringSubmatchIndex(c.Pattern)
	if at == nil {
		return ""
	}
	first, second := c.Pattern[:at[2]], c.Pattern[at[3]:]
	either := "/" + first + "|" + second + "/"
	if _, err := regexp.Compile(either[1 : len(either)-1]); err != nil || len(either) > 80 {
		either = "/TODO|FIXME/"
	}
	return kind + ": takes one pattern, and everything between the first and the last slash is it: write one line for each, or " + kind + ": " + either +
		` for either; if the slashes of ` + clip(strings.TrimSpace(c.Pattern[at[2]:at[3]]), 40) + ` belong to the pattern, write them as \/`
}

// anchorsWhole reports whether pattern has a ^ or $ that is not the end of a line.
func anchorsWhole(pattern string) bool {
	as, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return false
	}
	lines, err := syntax.Parse("(?m)"+pattern, syntax.Perl)
	return err == nil && as.String() != lines.String()
}
