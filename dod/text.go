package dod

import (
	"strings"
	"unicode/utf8"
)

// foldLine makes one line of a text: every run of blanks that holds a line break
// or another control sign becomes one blank; other blanks stay as typed.
func foldLine(s string) string {
	isBreak := func(r rune) bool {
		return r < 0x20 && r != '\t' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029
	}
	if strings.IndexFunc(s, isBreak) < 0 {
		return s
	}
	var parts []string
	for _, part := range strings.FieldsFunc(s, isBreak) {
		if part = strings.Trim(part, " "); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " ")
}

// clip shortens s to at most limit bytes on a rune boundary, with "…" at the cut.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
