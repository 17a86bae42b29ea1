package dod

import (
	"context"
	"time"
)

// Asker puts a question to a model and returns what came back, word for word.
// Turning that into met or not met is ParseVerdict's job alone.
//
// An error means that nothing usable came back: transport, time limit, non-zero
// exit, refusal, cut-off reply. What was printed nevertheless may be in
// Reply.Raw and is kept, but never read as a verdict.
type Asker interface {
	Ask(ctx context.Context, q Question) (Reply, error)
	// Evaluator is the model spec, as in "runtime:claude" or "anthropic:<model>".
	Evaluator() string
}

// Reply is the raw answer of a model and what it cost.
type Reply struct {
	Raw string
	// Model is the model that really answered, as far as it said so.
	Model        string
	InputTokens  int64
	OutputTokens int64
	CostUSD      float64
}

// Answer is one question with all that came back, kept verbatim with the verdict.
type Answer struct {
	Criterion Criterion `json:"criterion"`
	Evaluator string    `json:"evaluator"`
	// Opinion is the judge's place among those asked about the criterion, from 0.
	Opinion int    `json:"opinion,omitempty"`
	Model   string `json:"model,omitempty"`
	// PromptVersion is the wording of the question (PromptVersion); 0 in answers from
	// before it was kept.
	PromptVersion int `json:"prompt_version,omitempty"`
	// System and Prompt are the exact input of the last question asked.
	System string `json:"system,omitempty"`
	Prompt string `json:"prompt"`
	// Raw is the last raw reply.
	Raw string `json:"raw"`
	// FirstRaw is the invalid reply that led to the second question; only with Reasked.
	FirstRaw     string  `json:"first_raw,omitempty"`
	Verdict      Verdict `json:"verdict"`
	Reasked      bool    `json:"reasked,omitempty"`
	InputTokens  int64   `json:"input_tokens,omitempty"`
	OutputTokens int64   `json:"output_tokens,omitempty"`
	CostUSD      float64 `json:"cost_usd,omitempty"`
	// Millis is how long the answer took, a second question included.
	Millis int64 `json:"millis,omitempty"`
	// QuotaUntil is when there is quota again, for a question that was refused for
	// lack of it (a QuotaError); otherwise the zero time.
	QuotaUntil time.Time `json:"quota_until,omitzero"`
	// Withheld: the question, or the second one after an invalid reply, was never put
	// (a WithheldError).
	Withheld bool `json:"withheld,omitempty"`
}
