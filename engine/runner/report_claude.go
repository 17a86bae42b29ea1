package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// claudeParser reads `claude -p --output-format stream-json --verbose`, and its
// single result line with `--output-format json`.
type claudeParser struct {
	activity func(string)
	rep      report
}

// claudeLine has the fields of all line types that are read.
type claudeLine struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Model   string `json:"model"` // system/init

	Message struct { // assistant
		Content []struct {
			Type  string         `json:"type"`
			Text  string         `json:"text"`
			Name  string         `json:"name"`
			Input map[string]any `json:"input"`
		} `json:"content"`
	} `json:"message"`
	ParentToolUseID string `json:"parent_tool_use_id"`

	// result
	IsError        bool     `json:"is_error"`
	APIErrorStatus any      `json:"api_error_status"`
	Result         string   `json:"result"`
	Errors         []string `json:"errors"`
	StopReason     string   `json:"stop_reason"`
	TotalCostUSD   float64  `json:"total_cost_usd"`
	Usage          struct {
		InputTokens              int64 `json:"input_tokens"`
		CacheCreationInputTokens int64 `json:"cache_creation_input_tokens"`
		CacheReadInputTokens     int64 `json:"cache_read_input_tokens"`
		OutputTokens             int64 `json:"output_tokens"`
	} `json:"usage"`
	ModelUsage map[string]struct {
		OutputTokens int64 `json:"outputTokens"`
	} `json:"modelUsage"`
}

func (p *claudeParser) line(line []byte) {
	var l claudeLine
	if !decodeLine(line, &l) {
		return
	}
	switch l.Type {
	case "system":
		if l.Subtype == "init" {
			p.rep.Model = l.Model
		}
	case "assistant":
		for _, c := range l.Message.Content {
			switch c.Type {
			case "text":
				if l.ParentToolUseID == "" && strings.TrimSpace(c.Text) != "" {
					p.rep.Message = c.Text
				}
				p.activity(c.Text)
			case "tool_use":
				p.activity(toolActivity(c.Name, c.Input))
			}
		}
	case "result":
		p.result(l)
	}
}

// result reads the last line. Its subtype is "success" on API errors too, so
// is_error and api_error_status decide.
func (p *claudeParser) result(l claudeLine) {
	p.rep.Ended = true
	p.rep.StopReason = l.StopReason
	p.rep.CostUSD = l.TotalCostUSD
	p.rep.InputTokens = l.Usage.InputTokens + l.Usage.CacheCreationInputTokens + l.Usage.CacheReadInputTokens
	p.rep.OutputTokens = l.Usage.OutputTokens
	p.rep.Model = mostUsed(l, p.rep.Model)
	text := l.Result
	if text == "" {
		text = strings.Join(l.Errors, "; ")
	}
	p.rep.Trouble, p.rep.GaveUp = "", ""
	apiError := l.APIErrorStatus != nil && l.APIErrorStatus != "" && l.APIErrorStatus != float64(0) && l.APIErrorStatus != false
	switch {
	case l.Subtype == "error_max_turns" || l.Subtype == "error_max_budget_usd":
		p.rep.GaveUp = strings.TrimSuffix(l.Subtype+": "+text, ": ")
	case l.IsError || apiError || (l.Subtype != "" && l.Subtype != "success"):
		if text == "" {
			text = fmt.Sprintf("the agent reports an error without a text (subtype %q, api_error_status %v)", l.Subtype, l.APIErrorStatus)
		}
		p.rep.Trouble = text
	}
	if l.Result != "" || p.rep.Trouble+p.rep.GaveUp == "" {
		p.rep.Message = l.Result // empty too: words from before it are not its last ones
	}
}

func (p *claudeParser) report() report { return p.rep }

// mostUsed is the model that wrote the most; helpers write little. A result
// without such figures keeps the model that was named at the start.
func mostUsed(l claudeLine, model string) string {
	most := int64(-1)
	for _, name := range slices.Sorted(maps.Keys(l.ModelUsage)) {
		if n := l.ModelUsage[name].OutputTokens; n > most {
			model, most = name, n
		}
	}
	return model
}
