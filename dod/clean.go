package dod

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes are CSI, OSC, character sets and the two-byte escapes: colours, cursor
// moves, titles, links. An OSC that never ends in its line hides nothing: only its
// first byte goes, or an agent could hide the rest of its output with it.
var escapes = regexp.MustCompile("(?:\x1b\\[|\u009b)[0-?]*[ -/]*[@-~]|\x1b\\][^\x07\x1b\n]*(?:\x07|\x1b\\\\)|\x1b[ -/]+[0-~]|\x1b[@-Z\\\\^_=><a-z0-9]?")

// Printed is a text as a terminal would show it: without control sequences,
// control and zero-width signs, with line ends folded to \n and invalid UTF-8
// replaced.
func Printed(s string) string {
	return withoutSigns(withoutEscapes(strings.ToValidUTF8(s, "\uFFFD")))
}

// Written is Printed for what stands in a file: no terminal interprets it, so a
// control sequence hides nothing there. Only the signs that cannot be seen go,
// what stands between them stays.
func Written(s string) string { return withoutSigns(strings.ToValidUTF8(s, "\uFFFD")) }

func withoutEscapes(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 && !strings.Contains(s, "\u009b") {
		return s
	}
	return escapes.ReplaceAllString(s, "")
}

// withoutSigns takes control and zero-width signs out and folds line ends to \n.
func withoutSigns(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n' // a progress line that overwrites itself
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\u200b' || r == '\u200c' || r == '\u200d' || r == '\u2060' || r == '\ufeff':
			return -1
		}
		return r
	}, s)
}

// withoutUnseen takes out every sign that cannot be seen.
func withoutUnseen(s string) string {
	return strings.Map(func(r rune) rune {
		if unseen(r) {
			return -1
		}
		return r
	}, s)
}

// unseen are the hidden signs and all others that a page may show nothing for,
// such as the variation selectors of emoji.
func unseen(r rune) bool {
	return Hidden(r) || r > 0x7f && unicode.In(r, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// Blank reports whether a text shows nothing: it is empty, or all blanks and signs
// that cannot be seen.
func Blank(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !unicode.IsSpace(r) && !unseen(r) }) < 0
}
