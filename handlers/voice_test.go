package handlers

import (
	"context"

	"donewhen/dod"
)

// voice is a judge with a name that answers as its script says.
type voice struct {
	spec string
	says func(q dod.Question) (string, error)
}

func (v voice) Ask(_ context.Context, q dod.Question) (dod.Reply, error) {
	raw, err := v.says(q)
	return dod.Reply{Raw: raw, Model: v.spec, InputTokens: 1200, OutputTokens: 40, CostUSD: 0.01}, err
}

func (v voice) Evaluator() string { return v.spec }

// always is a voice that gives the same reply to everything.
func always(spec, raw string) voice {
	return voice{spec, func(dod.Question) (string, error) { return raw, nil }}
}
