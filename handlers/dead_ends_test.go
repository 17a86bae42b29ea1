package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// No pass can take back what the target has moved to: the card of a plan that
// conflicts leads out by a copy and by hand, and does not speak of merging.
func TestConflictIsNoDeadEnd(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("Do", "echo two > a.txt")}})
	w.write(t, "a.txt", "ours\n")
	w.git(t, "-C", w.repo, "commit", "-q", "-am", "ours")
	gate := doc(t, w.lea.get("/plans/"+id)).Find("#gate")
	if gate.Find(`a[href="/plans/new?from=`+id+`"]`).Length() != 1 {
		t.Error("no copy is offered")
	}
	for _, text := range []string{"starts from main as it is now", "merge it by hand", "git fetch", "main has moved by 1 commit since; the work conflicts with that."} {
		if !strings.Contains(gate.Text(), text) {
			t.Errorf("the card does not say %q:\n%s", text, gate.Text())
		}
	}
	if strings.Contains(gate.Text(), "they are merged") {
		t.Error("it says that what conflicts is merged")
	}
	if doc(t, w.vic.get("/plans/"+id)).Find(`#gate a[href^="/plans/new"]`).Length() != 0 {
		t.Error("a viewer is offered a copy")
	}
}

func TestRejectedCriterionSaysWhoAndWhyAndOffersAPass(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Dod: "- somebody looked -> human", Phases: []engine.NewPhase{sh("Do", "echo 1 > b.txt")}})
	want(t, w.lea.press(w.lea.get("/plans/"+id), criterionKey(1, "reject"), "reason", "The title is wrong."), http.StatusSeeOther)
	reason := doc(t, w.lea.get("/plans/"+id)).Find(`#gate [data-reason="rejected"]`)
	if got := reason.Find("[data-said-against]").Text(); !strings.Contains(got, "Rejected by lea") || !strings.Contains(got, "The title is wrong.") {
		t.Errorf("who and why: %q", got)
	}
	if !strings.Contains(reason.Text(), "Give a phase another pass") {
		t.Errorf("no pass is offered: %s", reason.Text())
	}
}

// An approval that could only be refused is not offered, neither on the plan's
// page nor in the inbox; what is offered instead stands out.
func TestApprovalUnderAChangedCondition(t *testing.T) {
	w := newWorks(t, nil)
	asked := sh("Do", "echo 1 > b.txt")
	asked.NeedsApproval, asked.DoneWhen, asked.MaxIterations = true, "- ok -> run: true", 3
	id := w.done(engine.NewPlan{Title: "Asked", Phases: []engine.NewPhase{asked}})
	ph := w.detail(id).Phases[0].Phase
	approve, another := phaseKey(ph.ID, "approve"), phaseKey(ph.ID, "another-pass")
	old := w.lea.get("/plans/" + id)
	if doc(t, old).Find(`[data-verb="`+approve+`"]`).Length() != 1 {
		t.Fatal("it cannot be approved before")
	}
	if err := w.eng.EditCondition(t.Context(), w.lead(), ph.ID, *ph.PassID, engine.Condition{DoneWhen: "- ok -> run: test -e b.txt", MaxIterations: 3, Reason: "asked otherwise"}); err != nil {
		t.Fatal(err)
	}
	a := w.lea.get("/plans/" + id)
	d := doc(t, a)
	if d.Find(`[data-verb="`+approve+`"]`).Length() != 0 || d.Find(`[data-verb="`+another+`"] > summary[data-variant="primary"]`).Length() != 1 {
		t.Error("approving is offered, or another pass does not stand out")
	}
	shows(t, a, "The condition was changed after this pass was judged.")
	row := doc(t, w.lea.get("/")).Find(`[data-plan="` + id + `"]`)
	if row.Find("form").Length() != 0 || !strings.Contains(row.Text(), "The condition was changed") {
		t.Errorf("the inbox: %s", row.Text())
	}
	// Who pressed the button of an older page gets the note back.
	a = w.lea.press(old, approve, "note", "I looked at <b>it</b>.")
	want(t, a, http.StatusConflict)
	if got := doc(t, a).Find("#flash").Text(); !strings.Contains(got, "The condition was changed") || !strings.Contains(got, "What you had typed: I looked at <b>it</b>.") {
		t.Errorf("the note is lost: %q", got)
	}
	if w.detail(id).Phases[0].Phase.Status != models.PhaseAwaitingApproval {
		t.Error("it was approved")
	}
}

// The outcome of a plan that was given up says who gave it up and why.
func TestOutcomeOfAPlanThatWasGivenUp(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("Do", "exit 3")}})
	if err := w.eng.CancelPlan(t.Context(), w.lead(), id, "Nobody needs it."); err != nil {
		t.Fatal(err)
	}
	if got := doc(t, w.vic.get("/plans/"+id)).Find("#gate [data-gate-sentence]").Text(); got != "Cancelled by lea: Nobody needs it." {
		t.Errorf("the outcome is %q", got)
	}
	if err := w.eng.DiscardPlan(t.Context(), w.lead(), id, ""); err != nil {
		t.Fatal(err)
	}
	if got := doc(t, w.vic.get("/plans/"+id)).Find("#gate [data-gate-sentence]").Text(); got != "Discarded by lea." {
		t.Errorf("the outcome is %q", got)
	}
}

// While a rejection stands it is the phase's reason, and is said once.
func TestRejectionIsSaidOnce(t *testing.T) {
	w := newWorks(t, nil)
	asked := sh("Do", "echo 1 > b.txt")
	asked.NeedsApproval = true
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{asked}})
	ph := w.detail(id).Phases[0].Phase
	if err := w.eng.RejectPhase(t.Context(), w.lead(), ph.ID, *ph.PassID, "Too loud."); err != nil {
		t.Fatal(err)
	}
	said := doc(t, w.lea.get("/plans/"+id)).Find("#" + views.PhaseAnchor(ph.ID)).Text()
	if n := strings.Count(said, "Rejected by lea: Too loud."); n != 1 {
		t.Errorf("it is said %d times", n)
	}
}

// Loading a refused form's answer anew leads to what it was about.
func TestVerbsAddressesLeadBack(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Dod: "- somebody looked -> human", Phases: []engine.NewPhase{sh("Do", "echo 1 > b.txt")}})
	ph := w.detail(id).Phases[0].Phase.ID
	for from, to := range map[string]string{
		fmt.Sprintf("/phases/%d/edit-condition", ph): views.PhasePath(id, ph),
		fmt.Sprintf("/phases/%d/reject", ph):         views.PhasePath(id, ph),
		"/plans/" + id + "/apply":                    "/plans/" + id,
		"/plans/" + id + "/criteria/1/reject":        "/plans/" + id,
	} {
		want(t, w.vic.get(from), http.StatusSeeOther, to)
	}
	for _, from := range []string{fmt.Sprintf("/phases/%d/nothing", ph), "/phases/99/reject", "/plans/" + id + "/nothing", "/plans/" + id + "/criteria/1/nothing"} {
		want(t, w.vic.get(from), http.StatusNotFound)
	}
}
