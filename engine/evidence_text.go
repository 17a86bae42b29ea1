package engine

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"donewhen/dod"
)

var (
	// What differs from run to run without meaning anything.
	times = regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b|\b\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s|sec|seconds|m\d+(?:\.\d+)?s)\b`)
	// Shapes of well-known credentials, wherever they come from.
	credentials = regexp.MustCompile(`\b(?:sk-[A-Za-z0-9_-]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}|glpat-[A-Za-z0-9_-]{20,}|AKIA[0-9A-Z]{16}|xox[abprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{35})\b|-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----|(?:\s*\n[A-Za-z0-9+/=]{16,})*)`)
)

const redacted = "[redacted]"

// cleanText is what an agent said or printed, as a terminal would show it.
func cleanText(s string) string { return dod.Printed(s) }

// fileText is what stands in a file.
func fileText(s string) string { return dod.Written(s) }

// redact takes configured secrets and well-known credential shapes out.
func (e *Engine) redact(s string) string {
	for _, secret := range e.Secrets {
		if len(secret) >= 8 { // shorter ones would blank out ordinary words
			s = strings.ReplaceAll(s, secret, redacted)
		}
	}
	return credentials.ReplaceAllString(s, redacted)
}

func withoutTimes(s string) string { return times.ReplaceAllString(s, "<time>") }

// headTail keeps the first and last halves of limit bytes, cut on rune
// boundaries, with a line between them that says how much is missing.
func headTail(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := limit/2, len(s)-limit/2
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "\n[… " + itoa(tail-head) + " bytes left out …]\n" + s[tail:]
}

// echo knows the lines of a composed task text, to take them out of evidence.
type echo struct {
	lines    map[string]bool   // whole lines, trimmed
	spans    *strings.Replacer // lines long enough to be taken out of longer ones
	composed *strings.Replacer // those that we wrote: criteria and feedback
}

// minSpan is the length from which a task line is also taken out of the middle
// of a line: shorter ones ("done", "ok") are ordinary words of honest output.
const minSpan = 8

// marks open the parts of a task text that we wrote.
var marks = []string{composedMark, planMark, beforeMark, targetMark}

func isMark(line string) bool { return slices.Contains(marks, line) }

func newEcho(tasks ...string) echo {
	ec := echo{lines: map[string]bool{}}
	var spans, composed []string
	for _, task := range tasks {
		ours := false
		for line := range strings.Lines(cleanText(task)) {
			t := strings.TrimSpace(line)
			if t == "" {
				continue
			}
			if isMark(t) {
				ours = true
			}
			ec.lines[t] = true
			if utf8.RuneCountInString(t) < minSpan {
				continue
			}
			spans = append(spans, t)
			spans = append(spans, inJSON(t)...)
			if ours {
				composed = append(composed, t)
			}
		}
	}
	ec.spans, ec.composed = remover(spans), remover(composed)
	return ec
}

// inJSON is how agents' JSON streams print a line, where that differs from the
// line itself: bare (as JavaScript writes it), with HTML's signs escaped (as Go
// does), and in ASCII alone (as Python does).
func inJSON(line string) []string {
	var bare strings.Builder
	enc := json.NewEncoder(&bare)
	enc.SetEscapeHTML(false)
	if enc.Encode(line) != nil {
		return nil
	}
	js := strings.Trim(bare.String(), "\n")
	js = js[1 : len(js)-1]
	forms := []string{js, strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`).Replace(js)}
	var ascii strings.Builder
	for _, r := range js {
		switch {
		case r < utf8.RuneSelf:
			ascii.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&ascii, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&ascii, `\u%04x`, r)
		}
	}
	forms = append(forms, ascii.String())
	return slices.DeleteFunc(slices.Compact(forms), func(f string) bool { return f == line })
}

// cutLine bounds a text that has to stay one line, on a rune boundary.
func cutLine(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	limit -= len("…")
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return strings.TrimSpace(s[:limit]) + "…"
}

// remover takes all spans out in one pass, with a line break for each; of two that
// begin at the same place the longer one goes.
func remover(spans []string) *strings.Replacer {
	slices.SortStableFunc(spans, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(spans))
	for _, s := range spans {
		pairs = append(pairs, s, "\n")
	}
	return strings.NewReplacer(pairs...)
}

// gap stands where something was taken out between two texts, on a line of its
// own: neither a literal text nor a dot or a blank of a pattern reaches over it, so
// that an echo cannot hold apart what its removal would join.
const gap = "…"

// remove takes the task's lines out of what an agent said or printed.
func (ec echo) remove(s string) string {
	if len(ec.lines) == 0 {
		return s
	}
	return takeOut(s, ec.lines, ec.spans)
}

func takeOut(s string, lines map[string]bool, spans *strings.Replacer) string {
	var b strings.Builder
	b.Grow(len(s))
	text, taken := false, false // text stands before, and behind it something was taken out
	begins := true              // at a line's begin
	for line := range strings.Lines(s) {
		if lines[strings.TrimSpace(line)] {
			taken = true
			continue
		}
		body, ended := strings.CutSuffix(line, "\n")
		first := true
		for piece := range strings.SplitSeq(spans.Replace(body), "\n") {
			taken, first = taken || !first, false
			if strings.TrimSpace(piece) != "" {
				if text && taken {
					if !begins {
						b.WriteByte('\n')
					}
					b.WriteString(gap + "\n")
				}
				text, taken = true, false
			}
			b.WriteString(piece)
			begins = begins && piece == ""
		}
		if ended {
			b.WriteByte('\n')
			begins = true
		}
	}
	return b.String()
}

// blank is remove with the breaks between lines left as they are, so that line
// numbers stay.
func (ec echo) blank(s string) string {
	if len(ec.lines) == 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for line := range strings.Lines(s) {
		body, ended := strings.CutSuffix(line, "\n")
		if !ec.lines[strings.TrimSpace(line)] {
			b.WriteString(strings.ReplaceAll(strings.Trim(ec.spans.Replace(body), "\n"), "\n", gap))
		}
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// removeFromFiles takes an echo out of added lines. What a task literally asks
// to write is honest work, so only the lines that we composed (criteria, what is
// missing) go; but where the composed part itself was written down, the whole
// task text was copied, and all of it goes.
func (ec echo) removeFromFiles(s string) string {
	if slices.ContainsFunc(marks, func(mark string) bool { return strings.Contains(s, mark) }) {
		return ec.remove(s)
	}
	return takeOut(s, nil, ec.composed)
}
