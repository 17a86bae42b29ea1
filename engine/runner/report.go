package runner

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// report is what a program's output says about its work.
type report struct {
	Message      string // its last word
	Model        string // the model that answered
	InputTokens  int64
	OutputTokens int64
	CostUSD      float64
	// Ended: the output came to its proper end, whatever the end says.
	Ended bool
	// Trouble: it could not work (API or quota error, is_error), word for word.
	Trouble string
	// GaveUp: it worked and stopped at a limit of its own, such as its turns.
	GaveUp string
	// StopReason is why the model stopped, where the format says it.
	StopReason string
}

// outputParser reads one output format, line by line. Lines that it does not
// know are passed over: programs print warnings, and formats grow.
type outputParser interface {
	line(line []byte)
	report() report
}

const (
	outputText     = "text"
	outputClaude   = "claude-stream-json"
	outputCodex    = "codex-json"
	outputOpencode = "opencode-json"
	outputGemini   = "gemini-stream-json"
)

// outputFormats are the formats that runtimes.yaml may name. activity gets what
// the agent does; it may be nil.
var outputFormats = map[string]func(activity func(string)) outputParser{
	outputText:     func(func(string)) outputParser { return textParser{} },
	outputClaude:   func(f func(string)) outputParser { return &claudeParser{activity: orNothing(f)} },
	outputCodex:    func(f func(string)) outputParser { return &codexParser{activity: orNothing(f)} },
	outputOpencode: func(f func(string)) outputParser { return &opencodeParser{activity: orNothing(f)} },
	outputGemini:   func(f func(string)) outputParser { return &geminiParser{activity: orNothing(f)} },
}

// textParser reads nothing out of plain output: its message is its tail.
type textParser struct{}

func (textParser) line([]byte)    {}
func (textParser) report() report { return report{Ended: true} }

func orNothing(f func(string)) func(string) {
	return func(s string) {
		if s = activityLine(s); s != "" && f != nil {
			f(s)
		}
	}
}

// decodeLine reads a line that is a JSON object; ok is false for any other.
func decodeLine(line []byte, into any) (ok bool) {
	line = bytes.TrimSpace(line)
	return len(line) > 1 && line[0] == '{' && json.Unmarshal(line, into) == nil
}

// toolActivity says which tool an agent uses, with the argument that tells most.
func toolActivity(tool string, input map[string]any) string {
	for _, name := range []string{"command", "file_path", "filePath", "path", "pattern", "query", "url", "description", "prompt"} {
		if v, ok := input[name].(string); ok && v != "" {
			return fmt.Sprintf("%s: %s", tool, firstLine(v))
		}
	}
	return tool
}

func firstLine(s string) string {
	for line := range bytes.SplitSeq([]byte(s), []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return string(line)
		}
	}
	return ""
}
