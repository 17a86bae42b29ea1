package dod_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"donewhen/dod"
)

func evaluate(criteria []dod.Criterion, evidence map[string]string) []dod.Result {
	return dod.TextMatch{}.Evaluate(context.Background(), criteria, evidence)
}

func statuses(results []dod.Result) []dod.Status {
	out := make([]dod.Status, len(results))
	for i, r := range results {
		out[i] = r.Status
	}
	return out
}

// checkStored: what is stored comes back the same.
func checkStored(t *testing.T, criteria []dod.Criterion) {
	t.Helper()
	data, err := json.Marshal(criteria)
	if err != nil {
		t.Fatal(err)
	}
	var back []dod.Criterion
	if err := json.Unmarshal(data, &back); err != nil || !slices.Equal(back, criteria) {
		t.Errorf("through JSON: %+v, %v; want %+v", back, err, criteria)
	}
}

func TestA3_01_ADotStopsAtALineBreak(t *testing.T) {
	criteria := dod.ParseCriteria("a -> match: /START.*FINISH/\nb -> match: /(?s)START.*FINISH/")
	got := statuses(evaluate(criteria, map[string]string{"log": "START\nFINISH"}))
	if !slices.Equal(got, []dod.Status{dod.Failed, dod.Passed}) {
		t.Errorf("got %v", got)
	}
}

func TestA3_02_UnsupportedPatternFailsAlone(t *testing.T) {
	criteria := dod.ParseCriteria("ok\nb -> match: /(?=.*[0-9]).{8,}/\nok")
	results := evaluate(criteria, map[string]string{"log": "ok"})
	if got := statuses(results); !slices.Equal(got, []dod.Status{dod.Passed, dod.Failed, dod.Passed}) {
		t.Errorf("got %v", got)
	}
	if !strings.Contains(results[1].Reasoning, "invalid or unsupported Perl syntax: `(?=`") {
		t.Errorf("reasoning %q", results[1].Reasoning)
	}
}

func TestA3_03_EmptyPatternIsNoPattern(t *testing.T) {
	for _, pattern := range []string{"", "   "} {
		c := dod.Criterion{Index: 1, Text: "Report is sent", Pattern: pattern, Check: dod.Check{Kind: dod.CheckMatch, Arg: pattern}}
		if got := evaluate([]dod.Criterion{c}, map[string]string{"log": "nothing"})[0]; got.Status != dod.Failed {
			t.Errorf("pattern %q: %+v", pattern, got)
		}
		c.Check.Kind = dod.CheckAbsent
		if got := evaluate([]dod.Criterion{c}, map[string]string{"log": "nothing"})[0]; got.Status != dod.Failed {
			t.Errorf("absent, pattern %q: %+v", pattern, got)
		}
	}
}

func TestA3_04_TheHitIsShown(t *testing.T) {
	r := evaluate(dod.ParseCriteria("migration finished"), map[string]string{"log": "first line\nI can not say migration finished yet"})[0]
	want := dod.Match{Key: "log", Before: "first line\nI can not say ", Text: "migration finished", After: " yet", Line: 2}
	if r.Status != dod.Passed || r.Match == nil || *r.Match != want {
		t.Errorf("got %+v with %+v", r, r.Match)
	}
}

func TestA3_05_NothingCheckedIsSkipped(t *testing.T) {
	criteria := dod.ParseCriteria("a\nb -> match: /(/\nc -> absent: /x/")
	out := dod.Suite{}.Evaluate(context.Background(), criteria, nil)
	if got := statuses(out.Results); !slices.Equal(got, []dod.Status{dod.Skipped, dod.Skipped, dod.Skipped}) {
		t.Errorf("got %v", got)
	}
	s := dod.Summary{Results: out.Results, EvaluatedAt: time.Unix(1, 0)}
	if out.Met() || s.AllPassed() || s.Skipped() != 3 || s.Passed()+s.Failed() != 0 {
		t.Errorf("skipped counts as something: %+v", s)
	}
}

func TestA3_08_OneErrorAndNoFlood(t *testing.T) {
	evidence := map[string]string{}
	for i := range 500 {
		evidence[fmt.Sprint("key", i)] = "ready"
	}
	start := time.Now()
	results := evaluate(dod.ParseCriteria("a -> match: /^(?=.*ready)(?!.*error).*$/\nb -> match: /a{1001}/"), evidence)
	for _, r := range results {
		if r.Status != dod.Failed || strings.Count(r.Reasoning, "error parsing regexp") != 1 {
			t.Errorf("%+v", r)
		}
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("took %v", took)
	}
}

func TestA3_14_NoCriteriaIsNotMet(t *testing.T) {
	for _, text := range []string{"", "# Only\n\n## headings\n"} {
		criteria := dod.ParseCriteria(text)
		out := dod.Suite{}.Evaluate(context.Background(), criteria, map[string]string{"log": "fine"})
		s := dod.Summary{Results: out.Results, EvaluatedAt: time.Unix(1, 0)}
		if len(criteria) != 0 || out.Met() || s.AllPassed() || !s.IsEmpty() || s.ToValidationSummary()["dod_evaluated"] != false ||
			!strings.Contains(out.Reason(), "No criterion was checked") {
			t.Errorf("%q: %+v, %q", text, s.ToValidationSummary(), out.Reason())
		}
	}
}

func TestTextMatchRules(t *testing.T) {
	evidence := map[string]string{"build/output": "All Green\n0 TODO", "path/notes.md": "x"}
	for line, want := range map[string]dod.Status{
		"All Green":                 dod.Passed,
		"all green":                 dod.Failed,
		"notes.md":                  dod.Passed, // in a key
		"a -> match: /notes/":       dod.Failed, // patterns look at values only
		"a -> match: /(?i)all g/":   dod.Passed,
		"a -> absent: /FIXME/":      dod.Passed,
		"a -> absent: /TODO/":       dod.Failed,
		"a -> match: /x*/":          dod.Failed,
		"a -> run: true":            dod.Skipped,
		"a -> file: x":              dod.Skipped,
		"a -> judge":                dod.Skipped,
		"a -> human":                dod.Skipped,
		"a -> match: /Green\\n0/":   dod.Passed,
		"a -> match: /(Red|Green)/": dod.Passed,
	} {
		if r := evaluate(dod.ParseCriteria(line), evidence)[0]; r.Status != want || r.Reasoning == "" {
			t.Errorf("%q: %s (%s), want %s", line, r.Status, r.Reasoning, want)
		}
	}
	if r := evaluate([]dod.Criterion{{Text: "  "}}, evidence)[0]; r.Status != dod.Failed {
		t.Errorf("an empty text passed: %+v", r)
	}
}

func TestAbsentOverCutOutputIsSkipped(t *testing.T) {
	criteria := dod.ParseCriteria("a -> absent: /panic/\nb -> absent: /ok/\nmissing text\nok")
	evidence := map[string]string{"log": "ok", "other": "y"}
	got := dod.TextMatch{Cut: map[string]bool{"log": true}}.Evaluate(context.Background(), criteria, evidence)
	if !slices.Equal(statuses(got), []dod.Status{dod.Skipped, dod.Failed, dod.Failed, dod.Passed}) ||
		!strings.Contains(got[0].Reasoning, "log was cut") || !strings.Contains(got[2].Reasoning, "kept part of log") {
		t.Errorf("got %+v", got)
	}
	got = dod.TextMatch{Cut: map[string]bool{"gone": true}}.Evaluate(context.Background(), criteria, evidence)
	if got[0].Status != dod.Passed {
		t.Errorf("a cut key that is not there matters: %+v", got[0])
	}
}

func TestExcerptIsBoundedAndRuneSafe(t *testing.T) {
	value := strings.Repeat("é", 300) + "HIT" + strings.Repeat("日", 300) + "."
	for _, line := range []string{"HIT", "a -> match: /HIT日+/"} {
		m := evaluate(dod.ParseCriteria(line), map[string]string{"k": value})[0].Match
		if m == nil || len(m.Before) > 80 || len(m.Text) > 210 || len(m.After) > 90 ||
			!utf8.ValidString(m.Before+m.Text+m.After) || strings.ContainsRune(m.Before+m.Text+m.After, '\ufffd') {
			t.Errorf("%q: %+v", line, m)
		}
	}
}

func TestStoppedEvaluationIsSkipped(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, r := range (dod.TextMatch{}).Evaluate(ctx, dod.ParseCriteria("a\nb -> match: /a/\nc -> absent: /q/"), map[string]string{"k": "a b"}) {
		if r.Status != dod.Skipped {
			t.Errorf("%+v", r)
		}
	}
}

// The automaton is compared with strings.Contains over small alphabets, where
// texts overlap, repeat and are each other's beginnings and endings.
func TestManyTextsAgreeWithContains(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	word := func(length int) string {
		b := make([]byte, length)
		for i := range b {
			b[i] = "abé "[random.IntN(5)]
		}
		return string(b)
	}
	for range 300 {
		var criteria []dod.Criterion
		for range 9 + random.IntN(40) {
			text := word(1 + random.IntN(7))
			if random.IntN(10) == 0 {
				text = strings.Repeat(text, 90) // longer than the automaton keeps
			}
			criteria = append(criteria, dod.Criterion{Text: text})
		}
		evidence := map[string]string{"k1": word(random.IntN(60)), "k2": strings.Repeat(word(1+random.IntN(5)), random.IntN(300)), word(4): ""}
		for _, r := range evaluate(criteria, evidence) {
			want := false
			for key, value := range evidence {
				text := r.Criterion.Text
				want = want || strings.TrimSpace(text) != "" && (strings.Contains(key, text) || strings.Contains(value, text))
			}
			if want != (r.Status == dod.Passed) {
				t.Fatalf("%q in %q: %s", r.Criterion.Text, evidence, r.Status)
			}
		}
	}
}

func TestAThousandTextsOverEightMegabytes(t *testing.T) {
	if testing.Short() {
		t.Skip("measures time")
	}
	var log strings.Builder
	for i := 0; log.Len() < 8<<20; i++ {
		fmt.Fprintf(&log, "step %d of the migration has ended without a finding\n", i)
	}
	var criteria []dod.Criterion
	for i := range 1000 {
		criteria = append(criteria, dod.Criterion{Index: i + 1, Text: fmt.Sprintf("step %d of the migration has ended with a finding", i)})
		if i%2 == 0 {
			criteria[i].Text = fmt.Sprintf("step %d of", 100*i)
		}
	}
	evidence := map[string]string{"log": log.String()}
	start := time.Now()
	results := evaluate(criteria, evidence)
	took := time.Since(start)
	t.Logf("took %v", took)
	for i, r := range results {
		if want := i%2 == 0; want != (r.Status == dod.Passed) || want && r.Match.Line != 100*i+1 {
			t.Fatalf("%d: %+v %+v", i, r, r.Match)
		}
	}
	if took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}
