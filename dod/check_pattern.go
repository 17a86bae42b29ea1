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
		p.Warnings = append(p.Warnings, Warning{Line: line, Refused: true, Fails: c.Check.Kind == CheckAbsent, Message: joined(c)})
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

// anchorsWhole reports whether pattern has a ^ or $ that is not the end of a line.
func anchorsWhole(pattern string) bool {
	as, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return false
	}
	lines, err := syntax.Parse("(?m)"+pattern, syntax.Perl)
	return err == nil && as.String() != lines.String()
}
