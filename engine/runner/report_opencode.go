package runner

import "encoding/json"

// opencodeParser reads `opencode run --format json`: one event a line with type
// step_start, text, tool_use, step_finish or error, the rest in part.
type opencodeParser struct {
	activity func(string)
	rep      report
}

type opencodeLine struct {
	Type string `json:"type"`
	Part struct {
		Text   string  `json:"text"`
		Tool   string  `json:"tool"`
		Reason string  `json:"reason"`
		Cost   float64 `json:"cost"`
		Tokens struct {
			Input  int64 `json:"input"`
			Output int64 `json:"output"`
			Cache  struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
		State struct {
			Title string         `json:"title"`
			Input map[string]any `json:"input"`
		} `json:"state"`
	} `json:"part"`
	Error json.RawMessage `json:"error"`
}

func (p *opencodeParser) line(line []byte) {
	var l opencodeLine
	if !decodeLine(line, &l) {
		return
	}
	switch l.Type {
	case "text":
		if l.Part.Text != "" {
			p.rep.Message = l.Part.Text
			p.activity(l.Part.Text)
		}
	case "tool_use":
		if l.Part.State.Title != "" {
			p.activity(l.Part.Tool + ": " + firstLine(l.Part.State.Title))
		} else {
			p.activity(toolActivity(l.Part.Tool, l.Part.State.Input))
		}
	case "step_start":
		p.rep.Ended = false
	case "step_finish":
		// A step that ends with tool-calls is followed by another one.
		p.rep.Ended = l.Part.Reason != "tool-calls"
		p.rep.StopReason = l.Part.Reason
		p.rep.CostUSD += l.Part.Cost
		p.rep.InputTokens += l.Part.Tokens.Input + l.Part.Tokens.Cache.Read + l.Part.Tokens.Cache.Write
		p.rep.OutputTokens += l.Part.Tokens.Output
	case "error":
		p.rep.Trouble = opencodeError(l.Error)
	}
}

// opencodeError takes the message out of an error, which is
// {"name","data":{"message"}}, {"name","message"} or a plain string.
func opencodeError(raw json.RawMessage) string {
	var e struct {
		Name    string `json:"name"`
		Message string `json:"message"`
		Data    struct {
			Message string `json:"message"`
		} `json:"data"`
	}
	var text string
	if json.Unmarshal(raw, &e) == nil {
		text = orElse(e.Data.Message, orElse(e.Message, e.Name))
	} else {
		_ = json.Unmarshal(raw, &text)
	}
	return orElse(text, orElse(string(raw), "the agent reports an error without a text"))
}

func (p *opencodeParser) report() report { return p.rep }
