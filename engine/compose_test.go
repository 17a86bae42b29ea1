package engine

import (
	"fmt"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/models"
)

func TestComposeTaskTellsEachPart(t *testing.T) {
	t.Parallel()
	ph := models.Phase{Task: "  Write the report.\n", Note: "Mind the tables.", Iteration: 1, MaxIterations: 4,
		DoneWhen: "- the report is there -> file: report.md\n- it names the owner\n- (info) it is short\n- it builds -> run: make report"}
	criteria := dod.ParseCriteria(ph.DoneWhen)
	results := []dod.Result{
		{Criterion: criteria[0], Status: dod.Passed, Reasoning: "report.md is there"},
		{Criterion: criteria[1], Status: dod.Skipped, Reasoning: "there was nothing to look at"},
		{Criterion: criteria[2], Status: dod.Failed, Reasoning: "12 pages"},
		{Criterion: criteria[3], Status: dod.Failed, Reasoning: "exit code 2\nmake: no rule for report"},
	}
	text := ComposeTask(ph, &models.Verdict{Kind: models.VerdictGiven, Reason: "two are open"}, results, nil)
	order := []string{
		"Write the report.\n", "=== Note from the lead ===\nMind the tables.", composedMark,
		"criterion 1: the report is there -> file: report.md", "criterion 2: it names the owner\n", "criterion 3: (information only) it is short", "criterion 4: it builds -> run: make report",
		"This is pass 2 of at most 4. The pass before was not met.",
		"missing 2: it names the owner\n  why: there was nothing to look at", "missing 4: it builds -> run: make report\n  why: exit code 2\n  | make: no rule for report",
		"satisfied 1: the report is there",
	}
	at := 0
	for _, part := range order {
		i := strings.Index(text[at:], part)
		if i < 0 {
			t.Fatalf("%q is missing, or not after what goes before it:\n%s", part, text)
		}
		at += i
	}
	if strings.Contains(text, "missing 3") {
		t.Error("an informational criterion is told as missing")
	}
}

func TestComposeTaskOfAFirstPassClaimsNothing(t *testing.T) {
	t.Parallel()
	text := ComposeTask(models.Phase{Task: "Do it.", DoneWhen: "it is done", MaxIterations: 3}, nil, nil, nil)
	for _, never := range []string{"pass before", "missing", "satisfied", "Note from"} {
		if strings.Contains(text, never) {
			t.Errorf("a first pass is told %q:\n%s", never, text)
		}
	}
	if got := ComposeTask(models.Phase{Task: "Do it.", Note: "Now."}, nil, nil, nil); got != "Do it.\n\n=== Note from the lead ===\nNow.\n" {
		t.Errorf("without a condition: %q", got)
	}
}

func TestComposeTaskAfterAMetPassAndAfterAFailedRun(t *testing.T) {
	t.Parallel()
	ph := models.Phase{Task: "Do it.", DoneWhen: "it is done", Iteration: 1, MaxIterations: 3, Note: "Shorter, please."}
	met := ComposeTask(ph, &models.Verdict{Met: true, Reason: "All met"}, nil, nil)
	if !strings.Contains(met, "met its criteria; the lead wants another one") || strings.Contains(met, "missing") || !strings.Contains(met, "Shorter, please.") {
		t.Errorf("after a met pass:\n%s", met)
	}
	failed := ComposeTask(ph, &models.Verdict{Kind: models.VerdictRun, Reason: "Run 1 (shell) exit code 7: oh no"}, nil, nil)
	if !strings.Contains(failed, "What is missing: Run 1 (shell) exit code 7: oh no") {
		t.Errorf("after a failed run:\n%s", failed)
	}
}

func TestComposeTaskIsBoundedPartByPart(t *testing.T) {
	t.Parallel()
	var doneWhen strings.Builder
	for i := range 500 {
		fmt.Fprintf(&doneWhen, "- criterion number %d %s\n", i, strings.Repeat("ä", 5000))
	}
	ph := models.Phase{Task: strings.Repeat("t", 10*maxTask), Note: strings.Repeat("n", 10*maxNote), DoneWhen: doneWhen.String(), Iteration: 1, MaxIterations: 3}
	var results []dod.Result
	for i, c := range dod.ParseCriteria(ph.DoneWhen) {
		r := dod.Result{Criterion: c, Status: dod.Failed, Reasoning: strings.Repeat("wüst ", 100_000)}
		if i%2 == 1 {
			r.Status = dod.Passed
		}
		results = append(results, r)
	}
	text := ComposeTask(ph, &models.Verdict{Reason: strings.Repeat("r", 1<<20)}, results, nil)
	if limit := maxTask + maxNote + 2*maxList + maxChecks + 3*(maxCriterion+maxFeedback) + 4096; len(text) > limit {
		t.Errorf("%d bytes, more than %d", len(text), limit)
	}
	if strings.ToValidUTF8(text, "?") != text {
		t.Error("a rune was cut in half")
	}
	// No part pushes another one out.
	for _, part := range []string{"tttt", "nnnn", "criterion 1:", "missing 1:", "satisfied 2:", "left out", "more\n"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q was pushed out", part)
		}
	}
}
