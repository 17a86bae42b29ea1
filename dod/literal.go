package dod

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// neededLiterals are the longest texts that every match of pattern must hold: one
// with its case, and one whatever its case, in oneCase; "" for none. Looking for
// them first is many times faster than running the expression over evidence that
// cannot match.
func neededLiterals(pattern string) (exact, anyCase string) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", ""
	}
	re = re.Simplify()
	return needed(re, false), needed(re, true)
}

func needed(re *syntax.Regexp, anyCase bool) string {
	switch re.Op {
	case syntax.OpLiteral:
		// An invalid byte of the evidence matches U+FFFD without being it.
		if (re.Flags&syntax.FoldCase != 0) != anyCase || slices.Contains(re.Rune, utf8.RuneError) {
			return ""
		}
		if anyCase {
			return oneCase(string(re.Rune))
		}
		return string(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0], anyCase)
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0], anyCase)
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if text := needed(sub, anyCase); len(text) > len(longest) {
				longest = text
			}
		}
		return longest
	}
	return ""
}

// oneCase writes each letter as the first of those that an expression takes for the
// same under (?i): K, k and the sign for kelvin as K. Other bytes stay as they are.
func oneCase(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			b.WriteByte(c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError {
			b.WriteString(s[i : i+size])
		} else {
			b.WriteRune(firstOfCase(r))
		}
		i += size
	}
	return b.String()
}

func firstOfCase(r rune) rune {
	first := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		first = min(first, next)
	}
	return first
}
