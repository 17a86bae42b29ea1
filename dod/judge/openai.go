package judge

import (
	"context"
	"errors"
	"fmt"

	"donewhen/dod"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/shared"
)

type openaiSDK struct {
	chat      openai.ChatCompletionService
	model     string
	maxTokens int64
}

func newOpenAI(c *client) error {
	c.keyEnv = "OPENAI_API_KEY"
	base, err := c.baseURL("OPENAI_BASE_URL", "https://api.openai.com/v1")
	if err != nil {
		return err
	}
	key := c.opts.setting(c.keyEnv)
	c.keep(key)
	c.hasKey = key != ""
	// The service alone, without openai.NewClient, reads nothing from the process's
	// environment.
	opts := []option.RequestOption{
		option.WithBaseURL(base), option.WithHTTPClient(c.http),
		option.WithMaxRetries(0),
	}
	switch {
	case key != "":
		opts = append(opts, option.WithAPIKey(key))
	case c.opts.setting(c.urlEnv) == "":
		return errors.New(c.spec + " needs a key: set OPENAI_API_KEY, or OPENAI_BASE_URL for a server that wants none")
	}
	if org := c.opts.setting("OPENAI_ORG_ID"); org != "" {
		opts = append(opts, option.WithOrganization(org))
	}
	if project := c.opts.setting("OPENAI_PROJECT_ID"); project != "" {
		opts = append(opts, option.WithProject(project))
	}
	c.sdk = &openaiSDK{chat: openai.NewChatCompletionService(opts...), model: c.model, maxTokens: int64(c.opts.MaxTokens)}
	return nil
}

func (s *openaiSDK) send(ctx context.Context, q dod.Question, sh shape) (answer, error) {
	params := openai.ChatCompletionNewParams{Model: s.model}
	if q.System != "" {
		params.Messages = append(params.Messages, openai.SystemMessage(q.System))
	}
	params.Messages = append(params.Messages, openai.UserMessage(q.Prompt))
	if !sh.without(noLimit) {
		params.MaxCompletionTokens = openai.Int(s.maxTokens)
	}
	if !sh.without(noSchema) && !q.Prose {
		params.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{
			JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
				Name: "verdict", Strict: openai.Bool(true), Schema: verdictSchema(),
			},
		}
	}
	m, err := s.chat.New(ctx, params)
	if err != nil {
		return answer{}, err
	}
	a := answer{model: m.Model, usage: usage{
		in: m.Usage.PromptTokens, cacheRead: m.Usage.PromptTokensDetails.CachedTokens, out: m.Usage.CompletionTokens,
	}}
	if len(m.Choices) != 1 {
		a.fault = fmt.Sprintf("the answer has %d choices instead of one; does the server speak Chat Completions?", len(m.Choices))
		return a, nil
	}
	choice := m.Choices[0]
	a.text = choice.Message.Content
	switch {
	case choice.Message.Refusal != "":
		a.fault = "the model refuses to answer (refusal): " + oneLine(choice.Message.Refusal)
		if a.text == "" {
			a.text = choice.Message.Refusal
		}
	case choice.FinishReason == "length" && sh.without(noLimit):
		a.fault = "the reply is cut off (finish reason length, the server's own limit)"
	case choice.FinishReason == "length":
		a.fault = fmt.Sprintf("the reply is cut off (finish reason length, the limit is %d tokens)", s.maxTokens)
	case choice.FinishReason == "":
		a.fault = "the reply does not say how it ended: it has no finish reason"
	case choice.FinishReason != "stop":
		a.fault = fmt.Sprintf("the reply is not whole: the model stopped with %q", oneLine(choice.FinishReason))
	case len(choice.Message.ToolCalls) > 0 || choice.Message.JSON.FunctionCall.Valid():
		a.fault = "the reply has a tool call (tool_calls), and only text was asked for"
	}
	return a, nil
}
