package dod_test

import (
	"slices"
	"strings"
	"testing"

	"donewhen/dod"
)

func TestA2_Rendering(t *testing.T) {
	type args = map[string]string
	for _, tc := range []struct {
		name, template string
		args           args
		want           string
	}{
		{"A2-01 JSON braces", `Answer as {"title": "{topic}"} now`, args{"topic": "lamp"}, `Answer as {"title": "lamp"} now`},
		{"A2-02 unmatched placeholders stay", "Dear {who} of {Team B} and {unknown}", args{"who": "Ada"}, "Dear Ada of {Team B} and {unknown}"},
		{"A2-04 dollar signs", "Pay {sum} to {who}", args{"sum": "$100", "who": "a$&b$$c ${1} $0"}, "Pay $100 to a$&b$$c ${1} $0"},
		{"A2-05 code", "awk '{print $1}' in.txt > {file}; echo ${HOME} {HOME2}", args{"file": "out.txt"}, "awk '{print $1}' in.txt > out.txt; echo ${HOME} {HOME2}"},
		{"A2-05 an argument named like a shell variable", "${HOME}", args{"HOME": "x"}, "$x"},
		{"A2-15 not given", "Ask: {q}!", args{}, "Ask: {q}!"},
		{"A2-15 given and empty", "Ask: {q}!", args{"q": ""}, "Ask: !"},
		{"nested braces", "{{a}} {a}{a} {a", args{"a": "x"}, "{x} xx {a"},
		{"no arguments", "{a}", nil, "{a}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := dod.RenderTemplate(tc.template, tc.args); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestA2_03_ValuesAreNotExpandedAgain(t *testing.T) {
	args := map[string]string{"note": "{token}", "token": "T-1"}
	for range 200 {
		if got := dod.RenderTemplate("{note} / {token}", args); got != "{token} / T-1" {
			t.Fatalf("got %q", got)
		}
	}
}

func TestA2_06_ValuesNeverBecomeProgramText(t *testing.T) {
	value := `x"; touch PWNED; echo "`
	text := `a {term} -> run: grep -c "{term}" notes.txt || true`
	if p := dod.ValidateDoD(text); len(p) != 1 || !strings.Contains(p[0].Message, "$ARG_TERM") {
		t.Errorf("not refused when saved: %+v", p)
	}
	filled := dod.FillCriteria(dod.ParseCriteria(text), map[string]string{"term": value})
	if got := filled[0].Check.Arg; got != `grep -c "{term}" notes.txt || true` {
		t.Errorf("the command was filled: %q", got)
	}
	if env := dod.ArgEnv(map[string]string{"term": value, "a-b": "1\x002", "A_B": "0"}); !slices.Equal(env, []string{"ARG_A_B=0", "ARG_TERM=" + value}) {
		t.Errorf("environment %q", env)
	}
}

func TestA2_07_AValueAddsNoCriterion(t *testing.T) {
	criteria := dod.ParseCriteria("- Title reads {title}\n- Tests pass\n")
	filled := dod.FillCriteria(criteria, map[string]string{"title": "Alpha\n- Budget approved\n# Big"})
	want := []string{"Title reads Alpha - Budget approved # Big", "Tests pass"}
	if got := textsOf(filled); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if criteria[0].Text != "Title reads {title}" {
		t.Error("the given criteria were changed")
	}
}

func TestFillPattern(t *testing.T) {
	criteria := dod.ParseCriteria(`a -> match: /^\p{Greek} [{v}] {v}$/`)
	filled := dod.FillCriteria(criteria, map[string]string{"v": "a-c.", "Greek": "no"})
	if want := `^\p{Greek} [a\-c\.] a\-c\.$`; filled[0].Pattern != want || filled[0].Check.Arg != want {
		t.Fatalf("got %q and %q, want %q", filled[0].Pattern, filled[0].Check.Arg, want)
	}
	for value, want := range map[string]dod.Status{"λ - a-c.": dod.Passed, "λ b a-c.": dod.Failed, "λ - a-cx": dod.Failed} {
		if got := evaluate(filled, map[string]string{"k": value})[0].Status; got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

func TestBlankValuesNeverWeakenACheck(t *testing.T) {
	text := "{v}\nx -> match: /{v}/\nx -> match: /docs.*{v}/\nx -> absent: /{v}/\nx -> absent: /at {v}x/\nx -> absent: /import \"{v}\"/"
	for _, blank := range []string{"", " ", "\n\t", "\u00a0", "\u200b", " \u00ad\ufe0f", "\u200d"} {
		filled := dod.FillCriteria(dod.ParseCriteria(text), map[string]string{"v": blank})
		for _, r := range evaluate(filled, map[string]string{"k": "anything of docs at x at  x at \u00a0x"}) {
			if r.Status != dod.Failed {
				t.Errorf("%q: %+v", blank, r)
			}
			if r.Criterion.Check.Kind == dod.CheckAbsent && !strings.Contains(r.Reasoning, "{v} is not filled in") {
				t.Errorf("%q: the reason does not name the placeholder: %s", blank, r.Reasoning)
			}
		}
		checkStored(t, filled)
	}
	// A folder that is there must not stand for the page in it.
	filled := dod.FillCriteria(dod.ParseCriteria("The page -> file: docs/{page}"), map[string]string{"page": " "})
	if filled[0].Check.Arg != "docs/{page}" {
		t.Errorf("looks for %q", filled[0].Check.Arg)
	}
}

func TestPlaceholders(t *testing.T) {
	got := dod.Placeholders(`{b} {a} {b} {Team B} {"x"} {print $1} {größe} {1}`)
	if !slices.Equal(got, []string{"a", "b", "größe"}) {
		t.Errorf("got %q", got)
	}
	if dod.ValidArgName("a b") || dod.ValidArgName("") || !dod.ValidArgName("a_b-c.1") || dod.ValidArgName("a}{b") {
		t.Error("argument names are judged wrongly")
	}
}
