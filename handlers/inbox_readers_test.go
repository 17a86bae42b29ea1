package handlers

import (
	"net/http"
	"strings"
	"testing"

	"donewhen/engine"
	"donewhen/views"
	"donewhen/views/ui"
)

// Who may only read is offered to look, and nothing waits on them.
func TestTheInboxOfAViewer(t *testing.T) {
	w := newWorks(t, nil)
	w.done(engine.NewPlan{Title: "Ready", Phases: []engine.NewPhase{sh("one", "echo x > b.txt")}})
	for _, reader := range []struct {
		client *client
		title  string
		label  string
	}{{w.vic, "Inbox · donewhen", "Look at it"}, {w.lea, "(1) Inbox · donewhen", "Apply"}} {
		d := doc(t, reader.client.get("/"))
		if got := d.Find("title").Text(); got != reader.title {
			t.Errorf("title %q, want %q", got, reader.title)
		}
		if got := d.Find(`#waiting li a[aria-label]`).Text(); !strings.Contains(got, reader.label) {
			t.Errorf("the row offers %q, want %q", got, reader.label)
		}
	}
}

// A paused plan goes on when somebody resumes it: the inbox does not forget it.
func TestTheInboxNamesPausedPlans(t *testing.T) {
	w := newWorks(t, nil)
	ph := sh("one", "true")
	ph.NeedsApproval = true
	id := w.done(engine.NewPlan{Title: "Set aside", Phases: []engine.NewPhase{ph, sh("two", "true")}})
	if err := w.eng.PausePlan(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	d := doc(t, w.lea.get("/"))
	if got := d.Find("#paused-" + id).Text(); !strings.Contains(got, "Set aside") || !strings.Contains(got, "somebody resumes it") {
		t.Errorf("it says %q", got)
	}
	if text := d.Find("main").Text(); strings.Contains(text, "Register a repository") {
		t.Error("it looks like a first start")
	}
}

// A merge commit and a branch name a plan by its id alone: that finds it.
func TestPlansAreFoundByTheirID(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Title: "Wanted", Phases: []engine.NewPhase{sh("one", "echo x > b.txt")}})
	w.create(engine.NewPlan{Title: "Other", Phases: []engine.NewPhase{sh("one", "true")}})
	want(t, w.lea.press(w.lea.get("/plans/"+id), "apply"), http.StatusSeeOther)
	commit := w.git(t, "-C", w.repo, "rev-parse", "main")
	for _, words := range []string{id, strings.ToLower(id), ui.Short(id), commit, commit[:8]} {
		text := doc(t, w.lea.get("/plans?q="+words)).Find("main").Text()
		if !strings.Contains(text, "Wanted") || strings.Contains(text, "Other") {
			t.Errorf("%s does not find it", words)
		}
	}
}

// What was decided after a later evaluation is not shown with an earlier one.
func TestAnEvaluationShowsWhatWasDecidedInItsTime(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Dod: "- looks good -> human", Phases: []engine.NewPhase{sh("one", "echo x > b.txt")}})
	first := w.detail(id).Evaluation.ID
	if err := w.eng.Evaluate(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	w.settle()
	second := w.detail(id).Evaluation.ID
	if err := w.eng.SignOff(t.Context(), w.lead(), id, 1, second, true, "Nice."); err != nil {
		t.Fatal(err)
	}
	for ev, said := range map[int64]bool{first: false, second: true} {
		if got := strings.Contains(doc(t, w.lea.get(views.EvaluationPath(ev))).Find("main").Text(), "Approved by lea"); got != said {
			t.Errorf("evaluation %d says that it was approved: %v", ev, got)
		}
	}
}
