package engine_test

import (
	"path/filepath"
	"strings"
	"testing"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

// checked starts a plan whose evaluation has a check without end, and gives the
// evaluation once that check has begun. After mend the check ends at once.
func (h *house) checked() (id string, ev models.Evaluation, mend func()) {
	h.t.Helper()
	at, mended := filepath.Join(h.dir, "at"), filepath.Join(h.dir, "mended")
	id = h.createWith(engine.NewPlan{Phases: []engine.NewPhase{shell("one", "echo work > work.txt; echo built")},
		Dod: "- slow -> run: touch " + at + "; [ -e " + mended + " ] || { echo spoiled > work.txt; while :; do sleep 0.05; done; }"})
	must(h.t, h.engine.StartPlan(h.ctx, lead, id))
	eventually(h.t, "the check begins", func() bool { _, _ = h.engine.Once(h.ctx); return exists(at) })
	return id, *h.detail(id).Evaluation, func() { must(h.t, writeFile(mended, "")) }
}

// An evaluation that burns is stopped: it has no result, nothing is open by it,
// and what its check left in the workspace is not the agent's work.
func TestAnEvaluationIsStopped(t *testing.T) {
	h := newHouse(t)
	id, ev, mend := h.checked()
	stop := func(actor models.Actor, plan string, evaluation int64) error {
		return h.engine.StopEvaluation(h.ctx, actor, plan, evaluation, "It burns.")
	}
	wantErrCode(t, stop(viewer, id, ev.ID), models.CodeForbidden)
	wantErrCode(t, stop(lead, id, ev.ID+1), models.CodeNotFound)
	wantErrCode(t, stop(lead, h.create(shell("other", "true")), ev.ID), models.CodeConflict)
	click(t, "stop", 10, func() error { return stop(lead, id, ev.ID) })
	h.engine.Drain()
	h.settle()
	now := h.detail(id).Evaluation
	if now.ID != ev.ID || now.Status != models.EvaluationErrored || now.StoppedBy != "lea" || now.Error != "Stopped by lea: It burns." || now.EndedAt == nil || now.SummaryJSON != "" {
		t.Errorf("%+v", now)
	}
	g := h.gate(id)
	if g.State.Open || codes(g) != "evaluation_error" || !strings.Contains(g.State.Sentence, "stopped before it had a result") {
		t.Errorf("gate: %s, %s", codes(g), g.State.Sentence)
	}
	wantErrCode(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID), models.CodeConflict)
	wantErrCode(t, stop(lead, id, ev.ID), models.CodeConflict)
	if got := h.read(h.workFile(id, "work.txt")); got != "work\n" {
		t.Errorf("work.txt is %q", got)
	}
	mend()
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	if g := h.gate(id); !g.State.Open {
		t.Errorf("evaluated again: %s", codes(g))
	}
}

func TestAnEvaluationIsStoppedBeforeItBegins(t *testing.T) {
	h := newHouse(t)
	id, _ := h.judgedPlan("- built")
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	ev := h.detail(id).Evaluation
	must(t, h.engine.StopEvaluation(h.ctx, lead, id, ev.ID, ""))
	h.settle()
	if now := h.detail(id).Evaluation; now.ID != ev.ID || now.Status != models.EvaluationErrored || now.Error != "Stopped by lea." || now.StartedAt != nil {
		t.Errorf("%+v", now)
	}
}

// The decision outlives the server: what was stopped does not begin again.
func TestAStoppedEvaluationStaysStopped(t *testing.T) {
	h := newHouse(t)
	id, _ := h.judgedPlan("- built")
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	ev := h.detail(id).Evaluation
	who, why := "lea", "Stopped by lea."
	must(t, h.store.InTx(h.ctx, func(tx *store.Tx) error {
		if err := tx.MoveEvaluation(h.ctx, ev.ID, models.EvaluationQueued, models.EvaluationRunning, store.EvaluationSet{}, store.Why{}); err != nil {
			return err
		}
		return tx.SetEvaluation(h.ctx, ev.ID, models.EvaluationRunning, store.EvaluationSet{StoppedBy: &who, Error: &why})
	}))
	if found := h.restart(); found.Evaluations != 0 {
		t.Errorf("%d evaluations are queued again", found.Evaluations)
	}
	h.settle()
	if now := h.detail(id).Evaluation; now.ID != ev.ID || now.Status != models.EvaluationErrored || now.Error != why || now.EndedAt == nil {
		t.Errorf("%+v", now)
	}
}
