package dod

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// item is one criterion-to-be: its first line's number and its lines without
// marker and box.
type item struct {
	line  int
	parts []string
}

// readItems does the line work of Parse: it returns the items and notes ignored
// lines in p.
func readItems(text string, p *Parsed) []item {
	lines := splitLines(text)
	fenced := closedFences(lines)
	var items []item
	continues := false // the line before belongs to a list item that may go on
	for i, line := range lines {
		trimmed := strings.TrimFunc(line, isEdge)
		ignore := func(why string) {
			p.Ignored = append(p.Ignored, IgnoredLine{Line: i + 1, Text: trimmed, Why: why})
		}
		switch {
		case fenced[i]:
			if trimmed != "" {
				ignore("inside a code fence")
			}
			continue // an item may go on behind its code
		case trimmed == "":
			continues = false
			continue
		}
		if _, ok := fenceOpening(trimmed); ok {
			continues = false
			ignore("a code fence that is never closed")
			p.warn(i+1, false, "this code fence is never closed, so the lines below it are read as criteria")
			continue
		}
		if why := notAClaim(trimmed); why != "" {
			continues = false
			ignore(why)
			continue
		}
		body, marked := cutMarker(trimmed)
		if !marked && continues && startsIndented(line) {
			last := &items[len(items)-1]
			last.parts = append(last.parts, trimmed)
			continue
		}
		body = cutBox(body)
		continues = marked
		if body == "" {
			// Indented lines below an empty bullet are lines of their own.
			continues = false
			ignore("an empty bullet")
			continue
		}
		items = append(items, item{line: i + 1, parts: []string{body}})
	}
	return items
}

// invisible drops signs that are pasted along and show nothing. Joiners inside a
// word stay: scripts and emoji need them.
var invisible = strings.NewReplacer("\u200b", "", "\u2060", "", "\ufeff", "")

func splitLines(text string) []string {
	text = strings.ToValidUTF8(text, "\ufffd")
	text = invisible.Replace(text)
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.ReplaceAll(text, "\r", "\n")
	return strings.Split(text, "\n")
}

// isBlank is a blank of any kind; isEdge also the signs of no width that may
// stick to a line's ends.
func isBlank(r rune) bool { return unicode.IsSpace(r) }

func isEdge(r rune) bool {
	return unicode.IsSpace(r) || r >= '\u200c' && r <= '\u200f'
}

func startsIndented(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	return unicode.IsSpace(r)
}

// notAClaim says why a non-blank line can be no claim, or "".
func notAClaim(line string) string {
	if hashes := len(line) - len(strings.TrimLeft(line, "#")); hashes >= 1 && hashes <= 6 {
		if rest := line[hashes:]; rest == "" || startsIndented(rest) {
			return "a heading"
		}
	}
	compact := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, line)
	if len(compact) >= 3 && strings.ContainsRune("-*_=", rune(compact[0])) &&
		strings.Trim(compact, compact[:1]) == "" {
		return "a rule"
	}
	if strings.Contains(compact, "|") && strings.Contains(compact, "-") && strings.Trim(compact, "|:-+") == "" {
		return "a table separator"
	}
	return ""
}

// bullets are the signs that begin an item when a blank follows. Boxes drawn as
// one sign are among them: their tick is no evidence either.
const bullets = "-*+•◦▪▫‣⁃●○■□∙·–—☐☑☒\uf0b7\uf0a7"

// boxSigns may also stand behind a bullet, as in "- ☑ done".
const boxSigns = "☐☑☒"

// cutMarker takes one list marker off. "-1", "*.tmp", "3.14" and "**Bold**" have none.
func cutMarker(line string) (rest string, marked bool) {
	size := 0
	if r, n := utf8.DecodeRuneInString(line); strings.ContainsRune(bullets, r) {
		size = n
	} else {
		for size < len(line) && line[size] >= '0' && line[size] <= '9' {
			size++
		}
		if size == 0 || size > 9 || size == len(line) || line[size] != '.' && line[size] != ')' {
			return line, false
		}
		size++
	}
	if size < len(line) && !startsIndented(line[size:]) {
		return line, false
	}
	return strings.TrimLeftFunc(line[size:], isEdge), true
}

// cutBox takes one box off, whatever its mark: "[ ]", "[x]", "[~]", "[]", "☑".
func cutBox(text string) string {
	size := 0
	if r, n := utf8.DecodeRuneInString(text); strings.ContainsRune(boxSigns, r) {
		size = n
	} else if strings.HasPrefix(text, "[") {
		size = 1
		if !strings.HasPrefix(text[size:], "]") {
			_, n := utf8.DecodeRuneInString(text[size:])
			size += n
		}
		size += len(text[size:]) - len(strings.TrimPrefix(text[size:], "\ufe0f"))
		if !strings.HasPrefix(text[size:], "]") {
			return text
		}
		size++
	}
	if size == 0 || size < len(text) && !startsIndented(text[size:]) {
		return text
	}
	return strings.TrimLeftFunc(text[size:], isEdge)
}
