package runner

// codexParser reads `codex exec --json`: one event a line, thread.started,
// turn.started, item.started|updated|completed, turn.completed|failed, error.
type codexParser struct {
	activity func(string)
	rep      report
	fault    string // the last error event; some are followed by a good end
}

type codexLine struct {
	Type    string `json:"type"`
	Message string `json:"message"` // error
	Error   struct {
		Message string `json:"message"`
	} `json:"error"` // turn.failed
	Item struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Command string `json:"command"`
		Query   string `json:"query"`
		Tool    string `json:"tool"`
		Changes []struct {
			Path string `json:"path"`
		} `json:"changes"`
	} `json:"item"`
	Usage struct {
		InputTokens  int64 `json:"input_tokens"` // cached ones included
		OutputTokens int64 `json:"output_tokens"`
	} `json:"usage"`
}

func (p *codexParser) line(line []byte) {
	var l codexLine
	if !decodeLine(line, &l) {
		return
	}
	switch l.Type {
	case "item.started", "item.completed":
		p.item(l)
	case "turn.started":
		p.rep.Ended = false
	case "turn.completed":
		p.rep.Ended, p.rep.Trouble, p.fault = true, "", ""
		p.rep.InputTokens += l.Usage.InputTokens
		p.rep.OutputTokens += l.Usage.OutputTokens
	case "turn.failed":
		p.rep.Ended = true
		p.rep.Trouble = orElse(l.Error.Message, "the agent reports a failed turn without a text")
	case "error":
		p.fault = orElse(l.Message, "the agent reports an error without a text")
		p.activity(p.fault)
	}
}

func (p *codexParser) item(l codexLine) {
	switch l.Item.Type {
	case "agent_message":
		if l.Type == "item.completed" && l.Item.Text != "" {
			p.rep.Message = l.Item.Text
			p.activity(l.Item.Text)
		}
	case "command_execution":
		if l.Type == "item.started" {
			p.activity("command: " + firstLine(l.Item.Command))
		}
	case "file_change":
		for _, c := range l.Item.Changes {
			p.activity("edit: " + c.Path)
		}
	case "web_search":
		p.activity("search: " + firstLine(l.Item.Query))
	case "mcp_tool_call":
		p.activity("tool: " + l.Item.Tool)
	}
}

// report counts an error event only when no turn ended after it: reconnecting
// is reported as an error too.
func (p *codexParser) report() report {
	rep := p.rep
	if rep.Trouble == "" && !rep.Ended {
		rep.Trouble = p.fault
	}
	return rep
}

func orElse(s, other string) string {
	if s != "" {
		return s
	}
	return other
}
