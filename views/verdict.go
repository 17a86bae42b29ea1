package views

import (
	"fmt"
	"strconv"
	"strings"

	"donewhen/models"
	"donewhen/views/ui"
)

func (a AnswerRow) word() string {
	switch {
	case a.Kind == string(models.VerdictGiven) && a.Met:
		return "met"
	case a.Kind == string(models.VerdictGiven):
		return "not met"
	}
	return Word(a.Kind)
}

// title is "Question 1: it is done", with the judge's place where it was not the first.
func (a AnswerRow) title() string {
	s := "Question " + strconv.Itoa(a.Question)
	if a.Opinion > 0 {
		s += ", judge " + strconv.Itoa(a.Opinion+1)
	}
	return s + ": " + a.Criterion
}

func (a AnswerRow) tone() ui.Tone {
	switch {
	case a.Kind != string(models.VerdictGiven):
		return ui.ToneWarn
	case a.Met:
		return ui.ToneOK
	}
	return ui.ToneBad
}

// about is who answered and at what price, in one line.
func (a AnswerRow) about() string {
	parts := []string{a.Evaluator}
	tokens := a.Tokens
	if tokens != "" {
		tokens += " tokens in / out"
	}
	for _, p := range []string{a.Model, tokens, a.Cost} {
		if p != "" && p != a.Evaluator {
			parts = append(parts, p)
		}
	}
	if a.Version > 0 {
		parts = append(parts, fmt.Sprintf("prompt version %d", a.Version))
	}
	return strings.Join(parts, ", ")
}

// byteSize is a number of bytes for people: "312 bytes", "1.2 KB", "5.0 MB".
func byteSize(n int64) string {
	switch {
	case n < 1000:
		return count(int(n), "byte", "bytes")
	case n < 1_000_000:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	default:
		return fmt.Sprintf("%.2f GB", float64(n)/1e9)
	}
}

// ByteSize is a number of bytes for people.
func ByteSize(n int64) string { return byteSize(n) }
