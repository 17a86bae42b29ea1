package engine_test

import (
	"strings"
	"testing"

	"donewhen/engine"
	"donewhen/models"
)

// What is merged is what was judged, or the gate and the merge commit say that it is
// not: here somebody changes a file after the only condition was met.
func TestChangesAfterTheLastPassAreSaid(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "echo good > f.txt")
	p.DoneWhen = "- good -> run: grep -q good f.txt"
	id := h.start(p)
	h.wantPlan(id, models.PlanFinished)
	g := h.gate(id)
	if !g.State.Open || len(g.State.Notes) != 0 {
		t.Fatalf("open %v, %q", g.State.Open, g.State.Notes)
	}
	must(t, writeFile(h.workFile(id, "f.txt"), "bad\n"))
	wantErrCode(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID), models.CodeConflict)
	g = h.gate(id)
	if !g.State.Open || len(g.State.Notes) != 1 || !strings.Contains(g.State.Notes[0], "no condition was judged on that") {
		t.Fatalf("open %v, %q", g.State.Open, g.State.Notes)
	}
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	if m := h.detail(id).Attempts[0].Message; !strings.Contains(m, "\nDonewhen-Changed-Since: ") {
		t.Errorf("the merge commit says:\n%s", m)
	}
}

// What somebody changes between two phases is recorded as that, and is not the next
// agent's work.
func TestChangesBetweenPhasesAreSaid(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "echo good > f.txt")
	p.DoneWhen, p.NeedsApproval = "- good -> run: grep -q good f.txt", true
	id := h.createWith(engine.NewPlan{Phases: []engine.NewPhase{p, shell("next", "echo x > x.txt")}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	ph := h.wantPhase(id, 1, models.PhaseAwaitingApproval, 1).Phase
	must(t, writeFile(h.workFile(id, "f.txt"), "bad\n"))
	must(t, h.engine.ApprovePhase(h.ctx, lead, ph.ID, *ph.PassID, ""))
	h.settle()
	h.wantPlan(id, models.PlanFinished)
	events, err := h.store.EventsOf(h.ctx, id, 0, 200)
	must(t, err)
	found := ""
	for _, e := range events {
		if e.Kind == "plan.found_changes" {
			found += e.Reason
		}
	}
	next := h.phase(id, 2).Passes[0].Pass
	diff, err := h.spaces.Diff(h.ctx, h.repoRef(), next.StartCommit, next.EndCommit)
	must(t, err)
	if found != "f.txt" || len(diff.Files) != 1 || diff.Files[0].Path != "x.txt" {
		t.Errorf("found %q; the agent's work: %+v", found, diff.Files)
	}
}
