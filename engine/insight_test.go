package engine_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

func TestFailingCriteria(t *testing.T) {
	results := func(t *testing.T, of ...dod.Result) string {
		t.Helper()
		b, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	r := func(line string, status dod.Status) dod.Result {
		return dod.Result{Criterion: dod.ParseCriteria(line)[0], Status: status, Reasoning: "because"}
	}
	got := engine.FailingCriteria([]models.NotMetVerdict{
		{PlanID: "c", ResultsJSON: results(t, r("the build is green -> run: make", dod.Failed), r("documented", dod.Passed))},
		{PlanID: "b", ResultsJSON: results(t, r("documented", dod.Failed), r("the build is green -> run: make all", dod.Failed))},
		{PlanID: "b", ResultsJSON: results(t, r("the build is green", dod.Failed), r("(info) short", dod.Failed))},
		{PlanID: "a", ResultsJSON: results(t, r("tidy", dod.Skipped))},
		{PlanID: "a", ResultsJSON: `not json`},
		{PlanID: "a"},
	})
	want := []engine.CriterionFailures{
		{Text: "the build is green", Failed: 3, Plans: []string{"c", "b"}},
		{Text: "documented", Failed: 1, Plans: []string{"b"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}
