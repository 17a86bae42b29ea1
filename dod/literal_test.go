package dod

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNeededLiterals(t *testing.T) {
	for pattern, want := range map[string][2]string{
		"password":             {"password", ""},
		"(?i)password":         {"", "PASSWORD"},
		"token (?i:bearer) x+": {"token ", "BEARER"},
		"(?i)stra\u00dfe":      {"", "STRA\u00dfE"},
		"(?i)\u212a":           {"", "K"},
		"(?i)a|b":              {"", ""},
		"(?i)(abc)*":           {"", ""},
		"(?i)(abc)+":           {"", "ABC"},
		"\ufffd":               {"", ""},
	} {
		exact, anyCase := neededLiterals(pattern)
		if exact != want[0] || anyCase != want[1] {
			t.Errorf("%q: %q and %q", pattern, exact, anyCase)
		}
	}
}

// Looking for the needed texts first never hides a match.
func TestNeededLiteralsHideNoMatch(t *testing.T) {
	letters := []rune("kKsS\u212a\u017f\u00df\u1e9e\u01c4\u01c5\u01c6\u03c3\u03c2\u03a3aA1 \u00e9\u00c9\ufffd")
	forms := rapid.SampledFrom([]string{"(?i)%s", "%s", "(?i)(%s)+a?", "1(?i:%s)", "(?i)%s|1"})
	text := rapid.StringOfN(rapid.SampledFrom(letters), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		word := regexp.QuoteMeta(rapid.StringOfN(rapid.SampledFrom(letters), 1, 3, -1).Draw(t, "word"))
		form, err := compileForm(strings.ReplaceAll(forms.Draw(t, "form"), "%s", word))
		if err != nil {
			return
		}
		value := text.Draw(t, "before") + "\xff" + text.Draw(t, "after")
		found := newSearch(map[string]string{"v": value}, nil).first(form) != nil
		if want := form.re.MatchString(value); found != want {
			t.Fatalf("%q in %q: found %v, matches %v", form.re, value, found, want)
		}
	})
}

// Ten patterns that are in no line of a large log with colours.
func BenchmarkAbsent(b *testing.B) {
	line := "\x1b[32mPASS\x1b[0m \u2713 some package with a longer name 0.012s\n"
	log := strings.Repeat(line, (8<<20)/len(line))
	for name, pattern := range map[string]string{"exact": "password %d", "any case": "(?i)password %d"} {
		b.Run(name, func(b *testing.B) {
			var criteria []Criterion
			for i := range 10 {
				criteria = append(criteria, ParseCriteria(fmt.Sprintf("- none -> absent: /"+pattern+"/", i))...)
			}
			for b.Loop() {
				for _, r := range (TextMatch{ValuesOnly: true}).Evaluate(context.Background(), criteria, map[string]string{"a/output": log}) {
					if r.Status != Passed {
						b.Fatal(r)
					}
				}
			}
		})
	}
}
