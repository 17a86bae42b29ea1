package dod

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// neededLiteral returns the longest text that every match of pattern must hold,
// case included, or "". Looking for it first is many times faster than running
// the expression over evidence that cannot match.
func neededLiteral(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	return needed(re.Simplify())
}

func needed(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		// An invalid byte of the evidence matches U+FFFD without being it.
		if re.Flags&syntax.FoldCase != 0 || slices.Contains(re.Rune, utf8.RuneError) {
			return ""
		}
		return string(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if text := needed(sub); len(text) > len(longest) {
				longest = text
			}
		}
		return longest
	}
	return ""
}
