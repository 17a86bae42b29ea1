package handlers

import (
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"donewhen/engine"
	"donewhen/models"
)

// lineOf is what the list of plans says that a plan waits for.
func (w *works) lineOf(id string) string {
	w.t.Helper()
	return strings.TrimSpace(doc(w.t, w.lea.get("/plans")).Find("#plan-" + id + " td span[title]").Text())
}

func inboxRowOf(t *testing.T, w *works, id string) *goquery.Selection {
	t.Helper()
	row := doc(t, w.lea.get("/")).Find(`[data-plan="` + id + `"]`)
	if row.Length() != 1 {
		t.Fatalf("the inbox has %d rows of the plan", row.Length())
	}
	return row
}

// A plan that git refuses is never called ready, and has no blue Apply.
func TestInboxNeverCallsAPlanReadyThatCannotBeMerged(t *testing.T) {
	w := newWorks(t, nil)
	fine := w.done(engine.NewPlan{Title: "Fine", Dod: "- ok -> run: true", Phases: []engine.NewPhase{sh("Do", "echo 1 > b.txt")}})
	conflict := w.done(engine.NewPlan{Title: "Conflict", Dod: "- ok -> run: true", Phases: []engine.NewPhase{sh("Do", "echo two > a.txt")}})
	nothing := w.done(engine.NewPlan{Title: "Nothing", Dod: "- ok -> run: true", Phases: []engine.NewPhase{sh("Do", "true")}})
	w.write(t, "a.txt", "ours\n")
	w.git(t, "-C", w.repo, "commit", "-q", "-am", "ours")

	if row := inboxRowOf(t, w, fine); !strings.Contains(row.Text(), "ready to apply") || row.Find(`a[aria-label="Apply: Fine"]`).Length() != 1 {
		t.Errorf("a plan that can be applied: %s", row.Text())
	}
	for id, says := range map[string]string{conflict: "conflicts with main", nothing: "no changes to apply"} {
		row := inboxRowOf(t, w, id)
		if text := row.Text(); strings.Contains(text, "ready to apply") || !strings.Contains(text, says) || !strings.Contains(text, "gate closed") {
			t.Errorf("not %q: %s", says, text)
		}
		if row.Find(`a[aria-label^="Apply"], [data-variant="primary"]`).Length() != 0 {
			t.Error("it is offered to be applied")
		}
	}
}

// Git is asked about a few plans of a page only. Of the others it is said that
// nobody looked.
func TestInboxLooksAtAFewPlans(t *testing.T) {
	w := newWorks(t, nil)
	for range 6 {
		w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("Do", "date > b.txt")}})
	}
	d := doc(t, w.lea.get("/"))
	ready, unseen := d.Find(`a[aria-label="Apply: A plan"]`).Length(), d.Find(`a[aria-label="Look at the gate: A plan"]`).Length()
	if ready != 4 || unseen != 2 {
		t.Errorf("%d are ready, %d were not looked at", ready, unseen)
	}
	if n := strings.Count(d.Find("#waiting").Text(), "ready to apply"); n != ready {
		t.Errorf("%d are called ready", n)
	}
}

func TestPlansListSaysWhatTheGateLacks(t *testing.T) {
	w := newWorks(t, nil)
	do := sh("Do", "echo 1 > b.txt")
	asked := do
	asked.NeedsApproval, asked.DoneWhen = true, "- ok -> run: true"
	for want, in := range map[string]engine.NewPlan{
		"A lead to look at it and apply it":        {Dod: "- ok -> run: true", Phases: []engine.NewPhase{do}},
		"A lead: 1 of 1 required criterion failed": {Dod: "- bad -> run: false", Phases: []engine.NewPhase{do}},
		"A lead: 0 of 1 approval given":            {Dod: "- somebody looked -> human", Phases: []engine.NewPhase{do}},
		"Do: an approval.":                         {Phases: []engine.NewPhase{asked}},
	} {
		id := w.done(in)
		if got := w.lineOf(id); !strings.HasPrefix(got, want) {
			t.Errorf("the list says %q instead of %q", got, want)
		}
	}
}

// A run that outlasts its plan's minutes stands out, with when it began.
func TestInboxMarksARunOverItsBudget(t *testing.T) {
	w := newWorks(t, nil)
	h := hold(t)
	id := w.create(engine.NewPlan{Phases: []engine.NewPhase{sh("Burn", h.command())}, Budget: models.Budget{Minutes: 5}})
	if err := w.eng.StartPlan(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	w.once()
	h.wait()
	w.pass(34 * time.Second)
	row := doc(t, w.lea.get("/")).Find("#running-" + id)
	if text := strings.Join(strings.Fields(row.Text()), " "); !strings.Contains(text, "its run began 34 s ago") || row.Find("[data-over-budget]").Length() != 0 {
		t.Errorf("within its budget: %q", text)
	}
	w.pass(5 * time.Minute)
	row = doc(t, w.lea.get("/")).Find("#running-" + id)
	if text := row.Find("[data-over-budget]").Text(); !strings.Contains(text, "Over its budget of 5 minutes.") {
		t.Errorf("over its budget: %q", row.Text())
	}
	h.release()
	w.settle()
}
