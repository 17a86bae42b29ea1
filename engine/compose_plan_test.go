package engine_test

import (
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

// Another pass from a closed gate tells its agents why the gate was closed: what
// failed, what could not be checked and a person's no; not what was waived, what
// waits for a person, what is for information, or what is asked no more.
func TestAnotherPassIsToldWhatThePlanLacks(t *testing.T) {
	h := newHouse(t)
	const text = "- made -> file: made.txt\n- the docs are there -> file: docs.md\n- the log is there -> file: log.md\n- Paul likes it -> human\n- Paula has seen it -> human\n- (info) small -> file: small.txt\n- old -> file: old.md"
	first, second := shell("work", "echo x > made.txt; cat; true"), shell("after", "true")
	id := h.createWith(engine.NewPlan{Dod: text, Phases: []engine.NewPhase{first, second}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	g := h.gate(id)
	must(t, h.engine.Waive(h.ctx, lead, id, 3, g.EvaluationID, "No log is kept."))
	must(t, h.engine.SignOff(h.ctx, lead, id, 4, g.EvaluationID, false, "The colours are wrong."))
	must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: strings.Replace(text, "\n- old -> file: old.md", "", 1)}, "It is gone.", ""))
	d := h.phase(id, 1)
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "Mind the margins."))
	h.settle()
	h.wantPlan(id, models.PlanFinished)
	for position, at := range map[int]int{1: 1, 2: 1} { // the later phase runs again on top, and is told too
		told := h.phase(id, position).Passes[at].Pass.TaskText
		for _, part := range []string{"The plan's definition of done", "plan criterion 2: the docs are there -> file: docs.md\n  why: docs.md", "plan criterion 4: Paul likes it -> human\n  why: Rejected by lea: The colours are wrong."} {
			if !strings.Contains(told, part) {
				t.Errorf("phase %d is not told %q:\n%s", position, part, told)
			}
		}
		for _, part := range []string{"made ->", "the log", "Paula", "small", "old.md"} {
			if strings.Contains(told, part) {
				t.Errorf("phase %d is told of %q:\n%s", position, part, told)
			}
		}
	}
	if told := h.phase(id, 1).Passes[0].Pass.TaskText; strings.Contains(told, "definition of done") {
		t.Errorf("the first pass is told of an evaluation that was not:\n%s", told)
	}
}

// What the plan lacks is told, and said back it proves nothing.
func TestWhatThePlanLacksIsNoEvidence(t *testing.T) {
	h := newHouse(t)
	id := h.createWith(engine.NewPlan{Dod: "- rows moved: 42 of 42", Phases: []engine.NewPhase{{Name: "work", Task: "Move them.", MaxIterations: 1,
		Agents: []models.AgentSpec{{Runtime: "shell", Name: "w", Command: `cat "$DONEWHEN_TASK_FILE" | tee copied.txt`}}}}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	for range 2 {
		d := h.phase(id, 1)
		must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
		h.settle()
		if g := h.gate(id); g.State.Open || g.Summary.Results[0].Status == dod.Passed {
			t.Fatalf("an echo of the task passed: %+v", g.Summary.Results)
		}
	}
	if told := h.phase(id, 1).Passes[1].Pass.TaskText; !strings.Contains(told, "plan criterion 1: rows moved: 42 of 42") {
		t.Errorf("not told:\n%s", told)
	}
}

// A phase without a condition has no verdict; its next pass is told how the run
// ended that failed, once, and not after a pass that succeeded.
func TestAPhaseWithoutAConditionIsToldWhyItsRunFailed(t *testing.T) {
	h := newHouse(t)
	id := h.start(shell("work", `echo "no such table: rows" >&2; test "$DONEWHEN_PASS" != 1`))
	for _, told := range []bool{true, false} {
		d := h.phase(id, 1)
		must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
		h.settle()
		d = h.wantPhase(id, 1, models.PhaseCompleted, len(d.Passes)+1)
		text := d.Passes[len(d.Passes)-1].Pass.TaskText
		if got := strings.Contains(text, "It did not succeed: Run 1 (") && strings.Contains(text, "no such table: rows"); got != told {
			t.Errorf("told %v, want %v:\n%s", got, told, text)
		}
	}
}

// A person's no of several lines names the line to be written: who writes it has
// done what was asked, and it counts at once.
func TestALineThatAReasonNamesCountsWhenItIsWritten(t *testing.T) {
	h := newHouse(t)
	id := h.createWith(engine.NewPlan{Dod: "- version 2.0.1 released\n- Paul likes it -> human", Phases: []engine.NewPhase{
		shell("work", `echo x > made.txt; if [ "$DONEWHEN_PASS" = 2 ]; then echo "version 2.0.1 released" > CHANGELOG.md; fi`)}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	g := h.gate(id)
	must(t, h.engine.SignOff(h.ctx, lead, id, 2, g.EvaluationID, false, "Write this line into CHANGELOG.md:\nversion 2.0.1 released"))
	d := h.phase(id, 1)
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
	h.settle()
	if told := h.phase(id, 1).Passes[1].Pass.TaskText; !strings.Contains(told, "  | version 2.0.1 released\n") {
		t.Fatalf("not told:\n%s", told)
	}
	if r := h.gate(id).Summary.Results[0]; r.Status != dod.Passed {
		t.Errorf("%s: %s", r.Status, r.Reasoning)
	}
}

// A person's no is told to each pass until it is a yes, also when a pass in between
// fails for another reason.
func TestARejectionIsToldUntilItIsAnApproval(t *testing.T) {
	h := newHouse(t)
	p := shell("work", `[ "$DONEWHEN_PASS" = 2 ] || echo fine > ok.txt; [ "$DONEWHEN_PASS" != 2 ] || rm -f ok.txt`)
	p.DoneWhen, p.NeedsApproval, p.MaxIterations = "- fine -> file: ok.txt", true, 4
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseAwaitingApproval, 1)
	must(t, h.engine.RejectPhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "It should use dates."))
	d = h.phase(id, 1)
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "And soon."))
	h.settle()
	d = h.wantPhase(id, 1, models.PhaseAwaitingApproval, 3)
	for _, pass := range d.Passes[1:] {
		if n := strings.Count(pass.Pass.TaskText, "Rejected by lea: It should use dates."); n != 1 {
			t.Errorf("pass %d is told %d times:\n%s", pass.Pass.Number(), n, pass.Pass.TaskText)
		}
	}
	must(t, h.engine.ApprovePhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
	d = h.phase(id, 1)
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
	h.settle()
	if text := h.phase(id, 1).Passes[3].Pass.TaskText; strings.Contains(text, "Rejected by") {
		t.Errorf("told after the approval:\n%s", text)
	}
}
