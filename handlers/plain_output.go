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
	var out strings.Builder
	for line := range strings.Lines(said) {
		text, broken := strings.CutSuffix(line, "\n")
		out.WriteString(views.PlainLine([]byte(text)))
		if broken {
			out.WriteByte('\n')
		}
	}
	return out.String()
}
