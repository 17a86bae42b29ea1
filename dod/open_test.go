package dod

import (
	"slices"
	"testing"
)

func TestOpenPlaceholders(t *testing.T) {
	criteria := ParseCriteria("- {a} is there -> file: docs/{b}.md\n- runs {c} -> run: echo { d }\n- letters -> match: /\\p{Greek}{name}/\n- asked -> judge: is {e} good?")
	if got, want := OpenPlaceholders(criteria), []string{"a", "b", "c", "e", "name"}; !slices.Equal(got, want) {
		t.Errorf("open %v, want %v", got, want)
	}
	args := map[string]string{"a": "1", "b": "", "c": "3", "e": "5", "name": "n"}
	if got := OpenPlaceholders(FillCriteria(criteria, args)); !slices.Equal(got, []string{"b"}) {
		t.Errorf("open after filling, where only b's value is blank: %v", got)
	}
}
