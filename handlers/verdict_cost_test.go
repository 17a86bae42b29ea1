package handlers

import (
	"testing"

	"donewhen/dod"
)

func TestAnUnknownPriceIsNotNothing(t *testing.T) {
	for want, a := range map[string]dod.Answer{
		"cost unknown":               {Evaluator: "openai:local", InputTokens: 10, OutputTokens: 1},
		"about $1.50 by list prices": {Evaluator: "anthropic:claude-x", InputTokens: 10, CostUSD: 1.5},
		"$0.50":                      {Evaluator: "runtime:claude", InputTokens: 10, CostUSD: 0.5}, // the CLI says it itself
		"":                           {Evaluator: "anthropic:claude-x"},                            // nothing came back
	} {
		if got := answerCost(a); got != want {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}
