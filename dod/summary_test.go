package dod_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"donewhen/dod"
)

func result(index int, level dod.Level, status dod.Status) dod.Result {
	return dod.Result{Criterion: dod.Criterion{Index: index, Text: "c", Level: level, Check: dod.Check{Kind: dod.CheckText}}, Status: status, Reasoning: "because"}
}

var evaluatedAt = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestSummary(t *testing.T) {
	s := dod.Summary{PlanID: "p", DefinitionOfDone: "- c", EvaluatedAt: evaluatedAt, Results: []dod.Result{
		result(1, dod.Required, dod.Passed), result(2, dod.Must, dod.Passed), result(3, dod.Required, dod.Failed), result(4, dod.Required, dod.Skipped),
		result(5, dod.Info, dod.Passed), result(6, dod.Info, dod.Failed), result(7, dod.Info, dod.Skipped),
	}}
	s.Results[0].Match = &dod.Match{Key: "k", Before: "b", Text: "t", After: "a", Line: 3}
	s.Results[1].Kind = dod.KindVerdict
	if s.Total() != 7 || s.Passed() != 3 || s.Failed() != 2 || s.Skipped() != 2 || s.IsEmpty() || s.AllPassed() {
		t.Errorf("counts of %+v", s)
	}
	want := map[string]any{"total": 7, "required_passed": 2, "required_failed": 1, "informational_passed": 1, "informational_failed": 1, "dod_evaluated": true, "dod_all_passed": false}
	if got := s.ToValidationSummary(); !reflect.DeepEqual(got, want) {
		t.Errorf("validation summary %v", got)
	}
	dict := s.ToCLIDict()
	if dict["plan_id"] != "p" || dict["total"] != 7 || dict["all_passed"] != false || dict["evaluated_at"] != "2026-03-01T12:00:00Z" || len(dict["results"].([]map[string]any)) != 7 {
		t.Errorf("dictionary %v", dict)
	}
	data, err := json.Marshal(s)
	var back dod.Summary
	if err != nil || json.Unmarshal(data, &back) != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("through JSON: %v\n%+v\n%+v", err, back, s)
	}
}

func TestAllPassedIsPositive(t *testing.T) {
	for name, tc := range map[string]struct {
		results []dod.Result
		at      time.Time
		want    bool
	}{
		"one required passed":          {[]dod.Result{result(1, dod.Required, dod.Passed)}, evaluatedAt, true},
		"informational may fail":       {[]dod.Result{result(1, dod.Must, dod.Passed), result(2, dod.Info, dod.Failed), result(3, dod.Info, dod.Skipped)}, evaluatedAt, true},
		"not complete":                 {[]dod.Result{result(1, dod.Required, dod.Passed)}, time.Time{}, false},
		"empty":                        {nil, evaluatedAt, false},
		"only informational":           {[]dod.Result{result(1, dod.Info, dod.Passed)}, evaluatedAt, false},
		"required skipped":             {[]dod.Result{result(1, dod.Required, dod.Passed), result(2, dod.Required, dod.Skipped)}, evaluatedAt, false},
		"required failed":              {[]dod.Result{result(1, dod.Required, dod.Passed), result(2, dod.Must, dod.Failed)}, evaluatedAt, false},
		"unknown status":               {[]dod.Result{result(1, dod.Required, dod.Passed), result(2, dod.Info, "")}, evaluatedAt, false},
		"an unknown level has to pass": {[]dod.Result{result(1, dod.Required, dod.Passed), result(2, "soft", dod.Failed)}, evaluatedAt, false},
	} {
		s := dod.Summary{Results: tc.results, EvaluatedAt: tc.at}
		if s.AllPassed() != tc.want || s.ToValidationSummary()["dod_all_passed"] != tc.want {
			t.Errorf("%s: %v", name, s.AllPassed())
		}
	}
}

func TestFingerprintTellsEveryPartApart(t *testing.T) {
	base := dod.ParseCriteria("a\nb -> match: /c/")
	other := dod.ParseCriteria("a\n(info) b -> match: /c/")
	seen := map[string]string{}
	for name, got := range map[string]string{
		"base":         dod.Fingerprint("t", base, "1", "text"),
		"tree":         dod.Fingerprint("u", base, "1", "text"),
		"criteria":     dod.Fingerprint("t", other, "1", "text"),
		"fewer":        dod.Fingerprint("t", base[:1], "1", "text"),
		"version":      dod.Fingerprint("t", base, "2", "text"),
		"evaluator":    dod.Fingerprint("t", base, "1", "runtime:claude"),
		"argument":     dod.Fingerprint("t", base, "1", "text", "ARG_A=1"),
		"another":      dod.Fingerprint("t", base, "1", "text", "ARG_A=2"),
		"two":          dod.Fingerprint("t", base, "1", "text", "ARG_A=1", "ARG_B=2"),
		"shifted":      dod.Fingerprint("t1", base, "", "text"),
		"shifted more": dod.Fingerprint("", base, "t1", "text"),
	} {
		if len(got) != 64 || seen[got] != "" {
			t.Errorf("%s has the fingerprint of %s: %s", name, seen[got], got)
		}
		seen[got] = name
	}
	if dod.Fingerprint("t", base, "1", "text") != dod.Fingerprint("t", dod.ParseCriteria("- a\n* b -> match: /c/"), "1", "text") {
		t.Error("equal inputs differ")
	}
}
