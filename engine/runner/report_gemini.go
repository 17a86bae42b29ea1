package runner

import "strings"

// geminiParser reads `gemini --output-format stream-json`: one event a line with
// type init, message, tool_use, tool_result, error or result.
type geminiParser struct {
	activity func(string)
	rep      report
	text     strings.Builder // the assistant's words since the last tool; they come in pieces
}

type geminiLine struct {
	Type       string         `json:"type"`
	Model      string         `json:"model"`
	Role       string         `json:"role"`
	Content    string         `json:"content"`
	ToolName   string         `json:"tool_name"`
	Parameters map[string]any `json:"parameters"`
	Severity   string         `json:"severity"`
	Message    string         `json:"message"`
	Status     string         `json:"status"`
	Error      struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
	Stats struct {
		InputTokens  int64 `json:"input_tokens"`
		OutputTokens int64 `json:"output_tokens"`
	} `json:"stats"`
}

// maxMessage bounds a final message that is put together from pieces.
const maxMessage = 1 << 20

func (p *geminiParser) line(line []byte) {
	var l geminiLine
	if !decodeLine(line, &l) {
		return
	}
	switch l.Type {
	case "init":
		p.rep.Model = l.Model
	case "message":
		if l.Role == "assistant" && p.text.Len()+len(l.Content) <= maxMessage {
			p.text.WriteString(l.Content)
			s := p.text.String()
			p.activity(s[max(0, len(s)-400):])
		}
	case "tool_use":
		p.text.Reset()
		p.activity(toolActivity(l.ToolName, l.Parameters))
	case "error":
		p.activity(l.Message) // a warning, or an error that result repeats
	case "result":
		p.rep.Ended = true
		p.rep.InputTokens, p.rep.OutputTokens = l.Stats.InputTokens, l.Stats.OutputTokens
		if l.Status != "success" {
			p.rep.Trouble = orElse(l.Error.Message, "the agent reports the status "+orElse(l.Status, "(none)"))
		}
	}
}

func (p *geminiParser) report() report {
	rep := p.rep
	rep.Message = strings.TrimSpace(p.text.String())
	return rep
}
