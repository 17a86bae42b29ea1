package handlers

import (
	"strings"

	"donewhen/views"
)

// plainOutput is what a program said, without the control sequences that colour
// it in a terminal. The log shows it in its colours.
func plainOutput(said string) string {
	if !strings.Contains(said, "\x1b") {
		return said
	}
	var ansi views.ANSI
	var out strings.Builder
	for line := range strings.Lines(said) {
		text, broken := strings.CutSuffix(line, "\n")
		for _, span := range ansi.Line([]byte(text)) {
			out.WriteString(span.Text)
		}
		if broken {
			out.WriteByte('\n')
		}
	}
	return out.String()
}
