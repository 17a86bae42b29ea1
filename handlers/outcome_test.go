package handlers

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"donewhen/engine"
)

// An applied plan says for ever what was checked, waived and signed, in the words
// of the gate and of the merge commit, whoever judges by then.
func TestAppliedPlanSaysWhatWasChecked(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "echo done > b.txt")},
		Dod: "- It is there -> file: b.txt\n- never seen\n- looks good -> human\n- (info) nor this"})
	lea := func(key, reason string) {
		t.Helper()
		want(t, w.lea.press(w.lea.get("/plans/"+id), key, "reason", reason), http.StatusSeeOther)
	}
	if err := w.eng.Evaluate(t.Context(), w.lead(), id); err != nil { // two evaluations make a grid
		t.Fatal(err)
	}
	w.settle()
	if why := doc(t, w.lea.get("/plans/"+id)).Find(`#gate [data-why] li:has(a[href="#criterion-2"])`).Text(); !strings.Contains(why, "the text was not found") {
		t.Errorf("the gate says of why: %q", why)
	}
	lea("criterion-2-waive", "Nobody needs it.")
	lea("criterion-3-approve", "Very nice.")
	const counts = "2 of 3 required criteria passed, 1 waived. 0 of 1 informational criterion passed."
	page := w.lea.get("/plans/" + id)
	shows(t, page, counts)
	want(t, w.lea.press(page, "apply"), http.StatusSeeOther)
	if got := w.git(t, "-C", w.repo, "log", "-1", "--format=%(trailers:key=Donewhen-DoD,valueonly)", "main"); got != counts {
		t.Errorf("the trailer says %q", got)
	}
	look := func() {
		t.Helper()
		d := doc(t, w.vic.get("/plans/"+id))
		if got := d.Find("[data-checked]").Text(); got != counts {
			t.Errorf("the outcome says %q", got)
		}
		if got := d.Find("#dod header, #dod").First().Text(); !strings.Contains(got, "2 of 3 required criteria passed, 1 waived") || strings.Contains(got, "out of date") {
			t.Errorf("the checklist says %.300q", got)
		}
		said := d.Find("[data-said]").Map(func(_ int, s *goquery.Selection) string { return s.Text() })
		if !slices.Equal(said, []string{"Criterion 2: never seenWaived by lea: Nobody needs it.", "Criterion 3: looks goodApproved by lea: Very nice."}) {
			t.Errorf("people said %q", said)
		}
		tips := d.Find(`[data-grid="grid-dod"] tbody tr:nth-child(3) .grid-tip`)
		if text := tips.Last().Text(); tips.Length() != 2 || !strings.Contains(text, "Approved by lea: Very nice.") || strings.Contains(text, "could not be checked") {
			t.Errorf("the grid says of the newest evaluation %q", text)
		}
		if text := tips.First().Text(); !strings.Contains(text, "waits for a lead") { // it was approved after the other one
			t.Errorf("the grid says of the first evaluation %q", text)
		}
	}
	look()
	if got := doc(t, w.vic.get("/plans/"+id)).Find("#merge-message pre").Text(); !strings.Contains(got, "Donewhen-Criterion: passed: It is there (file: b.txt)\n") {
		t.Errorf("the page says of the merge commit %q", got)
	}
	w.eng.Evaluator = always("openai:another", "") // the server is started anew with another evaluator
	look()
}

// Of several reasons each is to be read, criteria have the numbers that their
// verbs name, and the definition of done can be changed from there.
func TestGateWithSeveralReasons(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "echo done > b.txt")}, Dod: "- never seen\n- looks good -> human\n- reads well -> human: admin"})
	d := doc(t, w.lea.get("/plans/"+id))
	gate := d.Find("#gate")
	if got := gate.Find("[data-gate-sentence]").Text(); got != "2 things are in the way." {
		t.Errorf("the headline is %q", got)
	}
	for _, sentence := range []string{"1 of 3 required criteria failed: never seen.", "0 of 2 approvals given: looks good, reads well. A lead or an admin can act."} {
		if n := strings.Count(gate.Text(), sentence); n != 1 {
			t.Errorf("%q stands there %d times:\n%s", sentence, n, gate.Text())
		}
	}
	if n := gate.Find(`a[href="/plans/` + id + `/dod"]`).Length(); n != 1 {
		t.Errorf("%d links to the definition of done", n)
	}
	shows(t, w.lea.get("/"), "1 of 3 required criteria failed: never seen. 1 more thing is in the way.")
	for n, text := range map[string][]string{"1": {"Failed", "1. never seen"}, "2": {"Waiting for a person", "2. looks good"}} {
		got := strings.Join(strings.Fields(d.Find("#criterion-"+n).Text()), " ")
		for _, part := range text {
			if !strings.Contains(got, part) {
				t.Errorf("criterion %s does not say %q: %q", n, part, got)
			}
		}
	}
	if text := d.Find("#dod").Text(); strings.Contains(text, "Skipped") {
		t.Error("what waits for a person is called skipped")
	}
	if n := doc(t, w.vic.get("/plans/"+id)).Find(`a[href="/plans/` + id + `/dod"]`).Length(); n != 0 {
		t.Errorf("a viewer is offered %d links to what a viewer may not do", n)
	}
}

// A file that git does not track, where apply would put one: the gate and the
// refusal name it.
func TestGateNamesUntrackedFilesInTheWay(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "echo new > notes.md")}})
	page := w.lea.get("/plans/" + id)
	w.write(t, "notes.md", "mine")
	a := w.lea.press(page, "apply")
	want(t, a, http.StatusConflict)
	for who, a := range map[string]answer{"refusal": a, "gate": w.lea.get("/plans/" + id)} {
		if got := doc(t, a).Find(`#gate`).Text(); !strings.Contains(got, "where apply would put new ones") || !strings.Contains(got, "In the way: notes.md.") {
			t.Errorf("the %s does not name the file: %s", who, got)
		}
	}
}
