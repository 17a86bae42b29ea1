package models

import (
	"math"
	"testing"
	"time"
)

func TestBudgetUsedUp(t *testing.T) {
	for _, tc := range []struct {
		name     string
		b        Budget
		u        Usage
		run      string // what keeps a run from being begun
		question string // and a question
	}{
		{"no limits", Budget{}, Usage{Runs: 1e6, Wall: 1000 * time.Hour, Tokens: math.MaxInt64, USD: 1e9}, "", ""},
		{"room for one more run", Budget{Runs: 10}, Usage{Runs: 9}, "", ""},
		{"runs", Budget{Runs: 10}, Usage{Runs: 10}, "The budget of 10 runs is used up (10 started).", ""},
		{"one run", Budget{Runs: 1}, Usage{Runs: 1}, "The budget of 1 run is used up (1 started).", ""},
		{"lowered below", Budget{Runs: 2}, Usage{Runs: 1200}, "The budget of 2 runs is used up (1,200 started).", ""},
		{"a second left", Budget{Minutes: 30}, Usage{Wall: 30*time.Minute - time.Second}, "", ""},
		{"minutes", Budget{Minutes: 30}, Usage{Wall: 31*time.Minute + 50*time.Second}, "The budget of 30 minutes is used up (31 minutes worked).", ""},
		{"tokens left", Budget{Tokens: 100_000}, Usage{Tokens: 99_999}, "", ""},
		{"tokens", Budget{Tokens: 100_000}, Usage{Tokens: 104_233},
			"The budget of 100,000 tokens is used up (104,233 used).", "The budget of 100,000 tokens is used up (104,233 used)."},
		{"money", Budget{USD: 5}, Usage{USD: 5.03}, "The budget of $5.00 is used up ($5.03 spent).", "The budget of $5.00 is used up ($5.03 spent)."},
		{"small money", Budget{USD: 0.02}, Usage{USD: 0.0213}, "The budget of $0.02 is used up ($0.0213 spent).", "The budget of $0.02 is used up ($0.0213 spent)."},
		{"money that a sum of binary fractions misses", Budget{USD: 0.8}, Usage{USD: 0.7 + 0.1}, "The budget of $0.80 is used up ($0.80 spent).", "The budget of $0.80 is used up ($0.80 spent)."},
		{"a hair of money left", Budget{USD: 0.8}, Usage{USD: 0.799999}, "", ""},
		{"two", Budget{Runs: 3, USD: 1}, Usage{Runs: 4, USD: 2},
			"The budget of 3 runs is used up (4 started), and that of $1.00 is used up ($2.00 spent).", "The budget of $1.00 is used up ($2.00 spent)."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.b.UsedUp(tc.u, SpendsRun); got != tc.run {
				t.Errorf("a run: %q, want %q", got, tc.run)
			}
			if got := tc.b.UsedUp(tc.u, SpendsQuestion); got != tc.question {
				t.Errorf("a question: %q, want %q", got, tc.question)
			}
		})
	}
}

func TestBudgetProblems(t *testing.T) {
	for _, tc := range []struct {
		b  Budget
		at Limit // "" = it can be taken
	}{
		{Budget{}, ""},
		{Budget{Runs: 1, Minutes: 1, Tokens: 1, USD: 0.01}, ""},
		{Budget{Runs: MaxBudgetRuns, Minutes: MaxBudgetMinutes, Tokens: MaxBudgetTokens, USD: MaxBudgetUSD}, ""},
		{Budget{Runs: -1}, LimitRuns}, {Budget{Runs: MaxBudgetRuns + 1}, LimitRuns},
		{Budget{Minutes: -1}, LimitMinutes}, {Budget{Minutes: math.MaxInt64}, LimitMinutes},
		{Budget{Tokens: math.MinInt64}, LimitTokens}, {Budget{Tokens: MaxBudgetTokens + 1}, LimitTokens},
		{Budget{USD: -0.01}, LimitUSD}, {Budget{USD: math.NaN()}, LimitUSD}, {Budget{USD: math.Inf(1)}, LimitUSD},
		{Budget{USD: math.Inf(-1)}, LimitUSD}, {Budget{USD: MaxBudgetUSD + 1}, LimitUSD}, {Budget{USD: 1e-9}, LimitUSD},
	} {
		got := tc.b.Problems()
		if _, found := got[tc.at]; len(got) > 1 || found != (tc.at != "") || len(got) == 1 && tc.at == "" {
			t.Errorf("%+v: %v, want a message at %q", tc.b, got, tc.at)
		}
	}
}

func TestBudgetInWords(t *testing.T) {
	for _, tc := range []struct {
		b    Budget
		want string
	}{
		{Budget{}, "no limits"},
		{Budget{Runs: 1, Minutes: 90, Tokens: 1_500_000, USD: 2.5}, "1 run, 90 minutes, 1,500,000 tokens, $2.50"},
		{Budget{USD: 0.05}, "$0.05"},
	} {
		if got := tc.b.String(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
	for usd, want := range map[float64]string{0: "$0.00", 0.000001: "$0.000001", 0.0213: "$0.0213", 0.1: "$0.10", 1234.5: "$1234.50", 0.09999: "$0.1000"} {
		if got := Dollars(usd); got != want {
			t.Errorf("Dollars(%v) = %q", usd, got)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234: "-1,234", -123: "-123", math.MaxInt64: "9,223,372,036,854,775,807"} {
		if got := Thousands(n); got != want {
			t.Errorf("Thousands(%d) = %q", n, got)
		}
	}
}
