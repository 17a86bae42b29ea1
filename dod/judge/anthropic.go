package judge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"donewhen/dod"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/option"
)

type anthropicSDK struct {
	messages  anthropic.MessageService
	model     string
	maxTokens int64
}

func newAnthropic(c *client) error {
	c.keyEnv = "ANTHROPIC_API_KEY"
	base, err := c.baseURL("ANTHROPIC_BASE_URL", "https://api.anthropic.com")
	if err != nil {
		return err
	}
	key, token := c.opts.setting(c.keyEnv), c.opts.setting("ANTHROPIC_AUTH_TOKEN")
	c.keep(key)
	c.keep(token)
	c.hasKey = key+token != ""
	opts := []option.RequestOption{
		// Nothing from the process's environment or from a profile on disk.
		option.WithoutEnvironmentDefaults(),
		option.WithBaseURL(base), option.WithHTTPClient(c.http),
		option.WithMaxRetries(0),
	}
	switch {
	case key != "":
		opts = append(opts, option.WithAPIKey(key))
	case token != "":
		opts = append(opts, option.WithAuthToken(token))
	case c.opts.setting(c.urlEnv) == "":
		return errors.New(c.spec + " needs a key: set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL for a server that wants none")
	}
	c.sdk = &anthropicSDK{messages: anthropic.NewClient(opts...).Messages, model: c.model, maxTokens: int64(c.opts.MaxTokens)}
	return nil
}

func (s *anthropicSDK) send(ctx context.Context, q dod.Question, sh shape) (answer, error) {
	params := anthropic.MessageNewParams{
		Model:     anthropic.Model(s.model),
		MaxTokens: s.maxTokens,
		Messages:  []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock(q.Prompt))},
	}
	if q.System != "" {
		params.System = []anthropic.TextBlockParam{{Text: q.System}}
	}
	if !sh.without(noSchema) && !q.Prose {
		params.OutputConfig.Format.Schema = verdictSchema()
	}
	m, err := s.messages.New(ctx, params)
	if err != nil {
		return answer{}, err
	}
	u := m.Usage
	a := answer{model: string(m.Model), usage: usage{
		in:        u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens,
		cacheRead: u.CacheReadInputTokens, cacheWrite: u.CacheCreationInputTokens, out: u.OutputTokens,
	}}
	var text strings.Builder
	other := ""
	for _, block := range m.Content {
		switch block.Type {
		case "text":
			text.WriteString(block.Text)
		case "thinking", "redacted_thinking":
		default:
			other = block.Type
		}
	}
	a.text = text.String()
	switch {
	case m.StopReason == anthropic.StopReasonRefusal:
		a.fault = strings.TrimSuffix("the model refuses to answer (stop reason refusal): "+oneLine(m.StopDetails.Explanation), ": ")
	case m.StopReason == anthropic.StopReasonMaxTokens:
		a.fault = fmt.Sprintf("the reply is cut off (stop reason max_tokens, the limit is %d)", s.maxTokens)
	case m.StopReason == "":
		a.fault = "the reply does not say how it ended: it has no stop reason"
	case m.StopReason != anthropic.StopReasonEndTurn:
		a.fault = fmt.Sprintf("the reply is not whole: the model stopped with %q", oneLine(string(m.StopReason)))
	case other != "":
		a.fault = fmt.Sprintf("the reply has a %q part, and only text was asked for", oneLine(other))
	}
	return a, nil
}
