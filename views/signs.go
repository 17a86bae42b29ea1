package views

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"donewhen/dod"
)

// Signs that cannot be seen, or that turn the direction of text, make a line
// look different from what a compiler reads. Where files are reviewed they are
// shown as marks. A mark cannot be selected, and the sign itself is not in the
// page: what is copied is what is seen.

// signsInName is how many marks a name gets, and a line that stands alone.
const signsInName = 4

// signPlain stands for a run of hidden signs when there are marks enough.
const signPlain = "▯"

var signNames = map[rune]string{
	0x00: "null", 0x07: "bell", 0x08: "backspace", '\t': "tab", '\n': "line break", '\r': "carriage return", 0x1b: "escape", 0x7f: "delete",
	0xad: "soft hyphen", 0x34f: "combining grapheme joiner", 0x61c: "Arabic letter mark", 0x200b: "zero width space",
	0x200c: "zero width non-joiner", 0x200d: "zero width joiner", 0x200e: "left-to-right mark", 0x200f: "right-to-left mark",
	0x2028: "line separator", 0x2029: "paragraph separator", 0x202a: "left-to-right embedding", 0x202b: "right-to-left embedding",
	0x202c: "end of an embedding or override", 0x202d: "left-to-right override", 0x202e: "right-to-left override", 0x2060: "word joiner",
	0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate", 0x2068: "first strong isolate", 0x2069: "end of an isolate",
	0xfeff: "byte order mark",
}

// TurnsText says whether a sign changes the direction in which text is shown.
func TurnsText(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x61c
}

// SignCode is a sign's number as people look it up: U+202E.
func SignCode(r rune) string { return fmt.Sprintf("U+%04X", r) }

func isTag(r rune) bool { return r >= 0xe0020 && r <= 0xe007e }

// hiddenRun is where the first run of hidden signs in s begins and ends; both are
// len(s) when there is none. In a name tabs and line breaks are hidden too.
func hiddenRun(s string, name bool) (from, to int) {
	is := func(r rune) bool { return dod.Hidden(r) || name && (r == '\n' || r == '\t') }
	from = strings.IndexFunc(s, is)
	if from < 0 {
		return len(s), len(s)
	}
	to = strings.IndexFunc(s[from:], func(r rune) bool { return !is(r) })
	if to < 0 {
		return from, len(s)
	}
	return from, from + to
}

// withMarks is a text of one colour as parts, with marks for its hidden signs as
// long as *left allows; nil when it has none.
func withMarks(text, class string, name bool, left *int) []CodePart {
	var out []CodePart
	for {
		from, to := hiddenRun(text, name)
		if from == len(text) && out == nil {
			return nil
		}
		if from > 0 {
			out = append(out, CodePart{Class: class, Text: text[:from]})
		}
		if from == to {
			return out
		}
		mark := CodePart{Text: text[from:to], Sign: signPlain}
		if *left > 0 {
			*left--
			mark.Sign = signLabel(mark.Text)
		}
		out = append(out, mark)
		text = text[to:]
	}
}

// signLabel names a run of hidden signs in a few letters: "U+200B", "U+200B ×3",
// "U+200B U+200D and 12 more", or what tag signs spell.
func signLabel(run string) string {
	const most, spelt = 3, 60
	first, size := utf8.DecodeRuneInString(run)
	n := utf8.RuneCountInString(run)
	if strings.Trim(run, run[:size]) == "" {
		if n == 1 {
			return SignCode(first)
		}
		return SignCode(first) + " ×" + strconv.Itoa(n)
	}
	var codes []string
	var tags strings.Builder
	for _, r := range run {
		if isTag(r) && tags.Len() < spelt {
			tags.WriteByte(byte(r - 0xe0000))
		}
		if len(codes) < most {
			codes = append(codes, SignCode(r))
		}
	}
	if tags.Len() > 1 {
		return SignCode(first) + " … ×" + strconv.Itoa(n) + ", tags: “" + tags.String() + "”"
	}
	label := strings.Join(codes, " ")
	if n > most {
		label += " and " + strconv.Itoa(n-most) + " more"
	}
	return label
}

// signTitle says what a run of hidden signs is.
func signTitle(run string) string {
	first, _ := utf8.DecodeRuneInString(run)
	switch name := signNames[first]; {
	case isTag(first):
		return "tag: a letter that cannot be seen"
	case name != "":
		return name
	case first < 0xa0:
		return "control character"
	}
	return "a character that cannot be seen"
}

// MarkSigns puts marks into the lines for what cannot be seen in them, at most so
// many; what is beyond them gets a plain sign. The carriage return at the end of a line is only marked where
// lines of the same hunk have none.
func (f *DiffFile) MarkSigns(most int) {
	for _, h := range f.Hunks {
		returns := true
		for _, l := range h.Lines {
			returns = returns && (l.Op == '\\' || strings.HasSuffix(l.Text, "\r"))
		}
		for i := range h.Lines {
			l := &h.Lines[i]
			if returns && l.Op != '\\' {
				l.dropReturn()
			}
			l.markSigns(&most)
		}
	}
}

func (l *DiffLine) markSigns(left *int) {
	if from, _ := hiddenRun(l.Text, false); from == len(l.Text) {
		return
	}
	parts := l.Parts
	if parts == nil {
		parts = []CodePart{{Text: l.Text}}
	}
	l.Parts = nil
	for _, p := range parts {
		if marked := withMarks(p.Text, p.Class, false, left); marked != nil {
			l.Parts = append(l.Parts, marked...)
		} else {
			l.Parts = append(l.Parts, p)
		}
	}
}

// dropReturn takes the carriage return off the end of the line.
func (l *DiffLine) dropReturn() {
	l.Text = strings.TrimSuffix(l.Text, "\r")
	if n := len(l.Parts); n > 0 {
		l.Parts[n-1].Text = strings.TrimSuffix(l.Parts[n-1].Text, "\r")
	}
}

// signsInWords is a name where there can be no marks, such as in a label: hidden
// signs are written out, and the beginning of a long name is left out.
func signsInWords(name string) string {
	const most = 120
	left := signsInName
	var b strings.Builder
	if cut := len(name) - most; cut > 0 {
		for cut < len(name) && !utf8.RuneStart(name[cut]) {
			cut++
		}
		b.WriteString("…")
		name = name[cut:]
	}
	parts := withMarks(name, "", true, &left)
	if parts == nil {
		b.WriteString(name)
	}
	for _, p := range parts {
		if p.Sign == "" {
			b.WriteString(p.Text)
		} else {
			b.WriteString("‹" + p.Sign + "›")
		}
	}
	return b.String()
}
