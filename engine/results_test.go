package engine

import (
	"encoding/json"
	"slices"
	"testing"

	"donewhen/dod"
	"donewhen/models"
)

func verdictWith(results ...dod.Result) models.Verdict {
	return models.Verdict{Kind: models.VerdictGiven, ResultsJSON: toJSON(results)}
}

func TestSameResults(t *testing.T) {
	t.Parallel()
	run := dod.Criterion{Index: 1, Text: "builds", Check: dod.Check{Kind: dod.CheckRun, Arg: "make"}}
	plain := dod.Criterion{Index: 2, Text: "is good", Check: dod.Check{Kind: dod.CheckText}}
	res := func(c dod.Criterion, s dod.Status, why string, kind dod.VerdictKind) dod.Result {
		return dod.Result{Criterion: c, Status: s, Reasoning: why, Kind: kind}
	}
	for _, c := range []struct {
		name string
		a, b models.Verdict
		want bool
	}{
		{"equal", verdictWith(res(run, dod.Failed, "exit code 1", "")), verdictWith(res(run, dod.Failed, "exit code 1", "")), true},
		{"only times differ", verdictWith(res(run, dod.Failed, "exit code 1 after 3 ms", "")), verdictWith(res(run, dod.Failed, "exit code 1 after 900 ms", "")), true},
		{"a check says something else", verdictWith(res(run, dod.Failed, "3 failures", "")), verdictWith(res(run, dod.Failed, "2 failures", "")), false},
		{"a judge in other words", verdictWith(res(plain, dod.Failed, "the table is missing", dod.KindVerdict)), verdictWith(res(plain, dod.Failed, "no table there", dod.KindVerdict)), true},
		{"another status", verdictWith(res(plain, dod.Failed, "x", dod.KindVerdict)), verdictWith(res(plain, dod.Passed, "x", dod.KindVerdict)), false},
		{"another criterion", verdictWith(res(plain, dod.Failed, "x", "")), verdictWith(res(run, dod.Failed, "x", "")), false},
		{"fewer results", verdictWith(res(plain, dod.Failed, "x", ""), res(run, dod.Failed, "x", "")), verdictWith(res(plain, dod.Failed, "x", "")), false},
		{"no results, same reason", models.Verdict{Reason: "Run 1 failed after 2s"}, models.Verdict{Reason: "Run 1 failed after 3s"}, true},
		{"no results, another reason", models.Verdict{Reason: "exit code 1"}, models.Verdict{Reason: "exit code 2"}, false},
		{"damaged rows have no results", models.Verdict{Reason: "a", ResultsJSON: "{"}, models.Verdict{Reason: "b", ResultsJSON: "{"}, false},
	} {
		if got := sameResults(c.a, c.b); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestPeopleAnswerOnlyHumanCriteriaOfTheCurrentFingerprint(t *testing.T) {
	t.Parallel()
	human := dod.Criterion{Index: 1, Text: "looks right", Check: dod.Check{Kind: dod.CheckHuman}}
	plain := dod.Criterion{Index: 2, Text: "builds", Check: dod.Check{Kind: dod.CheckText}}
	s := dod.Summary{Results: []dod.Result{{Criterion: human, Status: dod.Skipped, Reasoning: "waits"}, {Criterion: plain, Status: dod.Failed}}}
	d := func(criterion int, kind models.DecisionKind, fingerprint string) models.Decision {
		return models.Decision{Criterion: criterion, Kind: kind, Fingerprint: fingerprint, UserName: "lea", Reason: "because"}
	}
	for _, c := range []struct {
		name      string
		decisions []models.Decision
		want      dod.Status
	}{
		{"nobody", nil, dod.Skipped},
		{"yes", []models.Decision{d(1, models.DecisionApprove, "now")}, dod.Passed},
		{"no", []models.Decision{d(1, models.DecisionReject, "now")}, dod.Failed},
		{"no, then yes", []models.Decision{d(1, models.DecisionReject, "now"), d(1, models.DecisionApprove, "now")}, dod.Passed},
		{"yes, then no", []models.Decision{d(1, models.DecisionApprove, "now"), d(1, models.DecisionReject, "now")}, dod.Failed},
		{"yes to what is gone", []models.Decision{d(1, models.DecisionApprove, "before")}, dod.Skipped},
		{"a waiver is no answer", []models.Decision{d(1, models.DecisionWaive, "now")}, dod.Skipped},
		{"an answer to another criterion", []models.Decision{d(2, models.DecisionApprove, "now")}, dod.Skipped},
	} {
		got := withDecisions(s, c.decisions, "now")
		if got.Results[0].Status != c.want {
			t.Errorf("%s: %s, want %s", c.name, got.Results[0].Status, c.want)
		}
		if got.Results[1].Status != dod.Failed {
			t.Errorf("%s: a decision turned a check's result", c.name)
		}
	}
	if s.Results[0].Status != dod.Skipped {
		t.Error("the stored summary was changed")
	}
}

func TestWhatMovedIsNamed(t *testing.T) {
	t.Parallel()
	old := fingerprintParts{Tree: "t", Criteria: "c", Template: "1", Evaluator: "text"}
	for _, c := range []struct {
		now  fingerprintParts
		want []string
	}{
		{old, nil},
		{fingerprintParts{"x", "c", "1", "text", nil}, []string{"the workspace's files"}},
		{fingerprintParts{"t", "x", "1", "text", nil}, []string{"the criteria"}},
		{fingerprintParts{"t", "c", "2", "text", nil}, []string{"the template's version"}},
		{fingerprintParts{"t", "c", "1", "runtime:claude", nil}, []string{"the evaluator"}},
		{fingerprintParts{"x", "x", "x", "x", nil}, []string{"the workspace's files", "the criteria", "the template's version", "the evaluator"}},
	} {
		if got := c.now.moved(toJSON(old)); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.now, got, c.want)
		}
	}
	if got := old.moved("not JSON"); got != nil {
		t.Errorf("a damaged row named %q", got)
	}
}

// Damage never opens a gate.
func TestDamagedRowsPassNothing(t *testing.T) {
	t.Parallel()
	c := Criteria(models.Plan{CriteriaJSON: "[{"})
	if len(c) != 1 || c[0].Level != dod.Must {
		t.Fatalf("damaged criteria: %+v", c)
	}
	for _, ev := range []*models.Evaluation{nil, {}, {SummaryJSON: "{"}, {SummaryJSON: `{"results":3}`}} {
		if s := SummaryOf(ev); s.AllPassed() || s.Total() != 0 {
			t.Errorf("%+v passes: %+v", ev, s)
		}
	}
	if got := Results(models.Verdict{ResultsJSON: "nonsense"}); got != nil {
		t.Errorf("damaged results: %v", got)
	}
	if got := Answers(models.Verdict{AnswersJSON: "nonsense"}); got != nil {
		t.Errorf("damaged answers: %v", got)
	}
	if len(Criteria(models.Plan{})) != 0 {
		t.Error("a plan without a definition of done has criteria")
	}
	if !json.Valid([]byte(toJSON(c))) {
		t.Error("criteria do not survive the way back")
	}
}
