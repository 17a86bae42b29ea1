package engine_test

import (
	"strings"
	"testing"

	"donewhen/models"
)

// An approval that was given is not asked for any more.
func TestAnApprovedPhaseDoesNotWaitForItsApproval(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "true")
	p.NeedsApproval = true
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseAwaitingApproval, 1)
	if says := d.Phase.Reason; says != "Its runs succeeded; a lead has to approve it." {
		t.Errorf("before: %q", says)
	}
	must(t, h.engine.ApprovePhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "fine"))
	if got := h.phase(id, 1).Phase; got.Status != models.PhaseCompleted || got.Reason != "All its runs succeeded." {
		t.Errorf("approved: %s, %q", got.Status, got.Reason)
	}
}

func TestAPhaseWithOnePassSaysSo(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "true")
	p.DoneWhen, p.MaxIterations = "- the moon is reached", 1
	d := h.wantPhase(h.start(p), 1, models.PhaseExhausted, 1)
	if says := d.Phase.Reason; !strings.HasPrefix(says, "Not met after its only pass: The criterion is open.") {
		t.Errorf("%q", says)
	}
}
