package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
)

// A stalled phase whose condition asked for the wrong thing: the lead mends it,
// and the same work is judged by the new one, without running its agents.
// A pattern that does not compile could never pass: it is refused where it is
// typed, in a condition and in a definition of done.
func TestAPatternThatDoesNotCompileIsRefused(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "true")
	p.DoneWhen = "- fine\n- broken -> match: /(ab/"
	for field, in := range map[string]engine.NewPlan{
		"phases.0.done_when": {Phases: []engine.NewPhase{p}},
		"dod":                {Dod: "- fine\n- broken -> absent: /[/", Phases: []engine.NewPhase{shell("work", "true")}},
	} {
		in.ProjectID, in.Title = h.project.ID, "T"
		_, err := h.engine.CreatePlan(h.ctx, lead, in)
		var refused *models.Error
		if !errors.As(err, &refused) || !strings.Contains(refused.Fields[field], "Line 2: the pattern does not compile") {
			t.Errorf("%s: %+v", field, err)
		}
	}
}

func TestEditConditionOfAStalledPhase(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "echo the port is 8080")
	p.DoneWhen = "the port is 80\nnever seen"
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseStalled, 2)
	edit := func(text string, n int) error {
		return h.engine.EditCondition(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, engine.Condition{DoneWhen: text, MaxIterations: n, Reason: "asked otherwise"})
	}
	for _, c := range []struct {
		text  string
		n     int
		field string
	}{
		{"# only a heading", 3, "done_when"},
		{"- it is good -> human", 3, "done_when"},
		{"- it is good -> judge", 3, "done_when"}, // no judge is configured
		{"  ", 3, "done_when"},
		{"the port is 8080", 0, "max_iterations"},
		{"the port is 8080", 21, "max_iterations"},
		{p.DoneWhen, 3, "done_when"}, // nothing is different
	} {
		err := edit(c.text, c.n)
		wantErrCode(t, err, models.CodeInvalid)
		if e := err.(*models.Error); e.Fields[c.field] == "" {
			t.Errorf("%q, %d: no message at %s: %+v", c.text, c.n, c.field, e.Fields)
		}
	}
	must(t, edit("- the port is 8080\n", 1))
	d = h.wantPhase(id, 1, models.PhaseStalled, 2)
	if d.Phase.DoneWhen != "- the port is 8080" || d.Phase.MaxIterations != 2 { // two are begun already
		t.Errorf("%+v", d.Phase)
	}
	events, err := h.store.EventsOf(h.ctx, id, 0, 1)
	must(t, err)
	if e := events[0]; e.Kind != "phase.condition_changed" || e.Actor != "lea" || !strings.Contains(e.Reason, "at most 3 passes:\nthe port is 80\nnever seen") {
		t.Errorf("%+v", e)
	}
	must(t, h.engine.JudgeAgain(h.ctx, lead, d.Phase.ID, *d.Phase.PassID))
	h.settle()
	h.wantPhase(id, 1, models.PhaseCompleted, 2)
	wantErrCode(t, edit("something else", 3), models.CodeConflict)
	viewer := models.Actor{ID: 9, Name: "vic", Role: models.RoleViewer}
	wantErrCode(t, h.engine.EditCondition(h.ctx, viewer, d.Phase.ID, *d.Phase.PassID, engine.Condition{DoneWhen: "x y", MaxIterations: 3, Reason: "asked otherwise"}), models.CodeForbidden)
}

// Another pass that produces the same evidence is judged by the new condition: the
// verdict of the old one is not reused, nor told to the agent as what is missing.
func TestEditConditionIsNotAnsweredByTheOldVerdict(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "echo the port is 8080")
	p.DoneWhen = "- never seen\n- still open"
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseStalled, 2)
	must(t, h.engine.EditCondition(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, engine.Condition{DoneWhen: "- still open\n- the port is 8080", MaxIterations: 3, Reason: "asked otherwise"}))
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
	h.settle()
	d = h.wantPhase(id, 1, models.PhaseExhausted, 3)
	last := d.Passes[2]
	if last.Verdict.ReusedFrom != nil {
		t.Error("the verdict on the old condition was reused")
	}
	if results := engine.Results(*last.Verdict); len(results) != 2 || results[1].Status != "passed" {
		t.Errorf("%+v", results)
	}
	text := last.Pass.TaskText
	if !strings.Contains(text, "missing 1: still open") || strings.Contains(text, "never seen") {
		t.Errorf("the agent is told:\n%s", text)
	}
}

// What waits for approval was judged by the old condition: it cannot be approved
// under the new one.
func TestEditConditionVoidsWhatWaitsForApproval(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "echo work")
	p.DoneWhen, p.NeedsApproval = "work", true
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseAwaitingApproval, 1)
	must(t, h.engine.EditCondition(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, engine.Condition{DoneWhen: "play", MaxIterations: 3, Reason: "asked otherwise"}))
	wantErrCode(t, h.engine.ApprovePhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""), models.CodeConflict)
	must(t, h.engine.EditCondition(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, engine.Condition{DoneWhen: "work", MaxIterations: 3, Reason: "asked otherwise"}))
	must(t, h.engine.ApprovePhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
	h.wantPhase(id, 1, models.PhaseCompleted, 1)
}

// A condition's commands read the plan's arguments: with other values they are
// other checks, and a pass that was judged by the old ones is not approved.
func TestNoApprovalByCommandsThatReadOtherValues(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "echo x > made.txt")
	p.DoneWhen, p.NeedsApproval = `- there -> run: test -f "$ARG_FILE"`, true
	text := "- {file} is named"
	id := h.createWith(engine.NewPlan{Dod: text, DodArgs: map[string]string{"file": "made.txt"}, Phases: []engine.NewPhase{p}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	d := h.wantPhase(id, 1, models.PhaseAwaitingApproval, 1)
	h.Forward(time.Second)
	must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: text, DodArgs: map[string]string{"file": "never.txt"}}, "the wrong file", ""))
	wantErrCode(t, h.engine.ApprovePhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""), models.CodeConflict)
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
	h.settle()
	if d = h.phase(id, 1); d.Phase.Status == models.PhaseAwaitingApproval || d.Phase.Status == models.PhaseCompleted {
		t.Errorf("%s by a file that is not there", d.Phase.Status)
	}
	must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: text, DodArgs: map[string]string{"file": "made.txt"}}, "back", ""))
	h.Forward(time.Second)
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
	h.settle()
	d = h.phase(id, 1)
	must(t, h.engine.ApprovePhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
}

// A phase that waits for an approval does not go on saying that its criteria are
// met once it asks for something else; put back, it does.
func TestWhatAnApprovalWaitsForIsSaidOfTheCondition(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "echo the port is 8080")
	p.DoneWhen, p.NeedsApproval = "- the port is 8080", true
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseAwaitingApproval, 1)
	judged := d.Phase.Reason
	for _, step := range []struct{ doneWhen, says string }{
		{"- the port is 443", "The condition was changed after this pass was judged."},
		{p.DoneWhen, judged},
	} {
		must(t, h.engine.EditCondition(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, engine.Condition{DoneWhen: step.doneWhen, MaxIterations: 3, Reason: "asked otherwise"}))
		if says := h.phase(id, 1).Phase.Reason; !strings.HasPrefix(says, step.says) {
			t.Errorf("with %q it says %q", step.doneWhen, says)
		}
		if open := strings.Contains(h.gate(id).State.Sentence, "asks for something else since it was judged"); open != (step.says != judged) {
			t.Errorf("with %q the gate says %q", step.doneWhen, h.gate(id).State.Sentence)
		}
	}
	// The pass was met: the next one is not told that it was not.
	must(t, h.engine.EditCondition(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, engine.Condition{DoneWhen: "- the port is 443", MaxIterations: 3, Reason: "asked otherwise"}))
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
	h.settle()
	if text := h.phase(id, 1).Passes[1].Pass.TaskText; !strings.Contains(text, "This is pass 2 of at most 3. The condition was changed after the last pass.\n") || strings.Contains(text, "not met") {
		t.Errorf("the next pass is told:\n%s", text)
	}
}
