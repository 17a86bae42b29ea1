package dod

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Evidence is cleaned of control and zero-width signs. A line or pattern that
// holds such a sign, as Persian words and families of emoji do, could never be met
// by exactly that text: so both are compared in the same form. It is also composed
// (NFC), because file systems and keyboards differ in that.

// mayFold reports whether folding could matter for a line or pattern. For plain
// ASCII it could only make a check weaker, and so could what stands for bytes that
// are no text.
func mayFold(needle string) bool {
	if !utf8.ValidString(needle) || strings.ContainsRune(needle, utf8.RuneError) {
		return false
	}
	for i := range len(needle) {
		if needle[i] >= utf8.RuneSelf || needle[i] < 0x20 || needle[i] == 0x7f {
			return !Blank(fold(needle))
		}
	}
	return false
}

func fold(s string) string { return norm.NFC.String(Written(s)) }

// fold is the same search over folded values.
func (s *search) fold() *search {
	if s.folded == nil {
		values := make(map[string]string, len(s.evidence))
		for key, value := range s.evidence {
			values[key] = fold(value)
		}
		s.folded = newSearch(values, nil)
		s.folded.valuesOnly = s.valuesOnly
		s.folded.folded = s.folded
	}
	return s.folded
}

// nameOf is a key as text to look into.
func (s *search) nameOf(key string) string {
	if s.folded == s {
		return fold(key)
	}
	return key
}
