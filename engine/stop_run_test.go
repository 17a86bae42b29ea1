package engine_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
)

// endless is a phase whose agent writes a file and then goes on for ever; its
// second try ends at once.
func endless(h *house) (ph engine.NewPhase, at string) {
	at = filepath.Join(h.dir, "at")
	ph = shell("work", `echo x >> made.txt; [ "$DONEWHEN_TRY" = 1 ] || exit 0; touch `+at+`; while :; do sleep 0.05; done`)
	ph.DoneWhen, ph.MaxIterations = "- made -> file: made.txt", 2
	return ph, at
}

// begun starts a plan and gives its one run once its command has begun.
func (h *house) begun(at string, phases ...engine.NewPhase) (id string, d models.PhaseDetail, run models.Run) {
	h.t.Helper()
	id = h.create(phases...)
	must(h.t, h.engine.StartPlan(h.ctx, lead, id))
	_, err := h.engine.Once(h.ctx)
	must(h.t, err)
	eventually(h.t, "the command begins", func() bool { return exists(at) })
	d = h.phase(id, 1)
	return id, d, d.Passes[0].Runs[0]
}

// A run that burns is stopped without ending its plan: its work is recorded, no
// pass and no try is spent, and nothing goes on before a lead says so.
func TestARunIsStoppedWithoutItsPlan(t *testing.T) {
	h := newHouse(t)
	ph, at := endless(h)
	id, d, run := h.begun(at, ph, shell("next", "touch "+h.dir+"/second"))
	stop := func(actor models.Actor, pass, run int64) error {
		return h.engine.StopRun(h.ctx, actor, d.Phase.ID, pass, run, "It burns.")
	}
	wantErrCode(t, stop(viewer, *d.Phase.PassID, run.ID), models.CodeForbidden)
	wantErrCode(t, stop(lead, *d.Phase.PassID+1, run.ID), models.CodeConflict)
	wantErrCode(t, stop(lead, *d.Phase.PassID, run.ID+1), models.CodeNotFound)
	click(t, "stop", 10, func() error { return stop(lead, *d.Phase.PassID, run.ID) })
	h.engine.Drain()
	h.settle()
	h.Forward(time.Hour)
	h.settle()
	d = h.wantPhase(id, 1, models.PhaseNeedsAttention, 1)
	r := d.Passes[0].Runs[0]
	if len(d.Passes[0].Runs) != 1 || r.Status != models.RunCancelled || r.Commit == "" || r.EndedAt == nil || r.Reason != "Stopped by lea: It burns." {
		t.Errorf("%+v", r)
	}
	if d.Phase.Reason != "shell: Stopped by lea: It burns." || d.Phase.Iteration != 0 || d.Passes[0].Verdict != nil {
		t.Errorf("the phase says %q in iteration %d", d.Phase.Reason, d.Phase.Iteration)
	}
	if exists(h.dir + "/second") {
		t.Error("the next phase began")
	}
	h.wantPlan(id, models.PlanWaiting)

	must(t, h.engine.TryAgain(h.ctx, lead, d.Phase.ID, *d.Phase.PassID))
	h.settle()
	h.wantPlan(id, models.PlanFinished)
	made, err := os.ReadFile(h.workFile(id, "made.txt"))
	must(t, err)
	if string(made) != "x\nx\n" {
		t.Errorf("what the stopped run had done is gone: %q", made)
	}
}

// The stop holds when the server ends before it was settled, and under a paused
// plan: nothing revives the run.
func TestAStoppedRunStaysStopped(t *testing.T) {
	for name, meanwhile := range map[string]func(h *house, id string){
		"restart": func(h *house, _ string) { h.engine.Close(); h.restart() },
		"paused":  func(h *house, id string) { h.engine.Drain(); must(h.t, h.engine.ResumePlan(h.ctx, lead, id)) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			ph, at := endless(h)
			id, d, run := h.begun(at, ph)
			if name == "paused" {
				must(t, h.engine.PausePlan(h.ctx, lead, id))
			}
			must(t, h.engine.StopRun(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, run.ID, ""))
			meanwhile(h, id)
			h.settle()
			d = h.wantPhase(id, 1, models.PhaseNeedsAttention, 1)
			if n := len(d.Passes[0].Runs); n != 1 || d.Phase.Reason != "shell: Stopped by lea." {
				t.Errorf("%d runs; the phase says %q", n, d.Phase.Reason)
			}
		})
	}
}

// A server that ends before the agent has ended, in good order or not, loses nothing
// of a stopped run: its work is recorded, it has an end, and it uses nothing up.
func TestAStoppedRunEndsWithItsServer(t *testing.T) {
	for _, how := range []string{"crash", "good order"} {
		t.Run(how, func(t *testing.T) {
			h := newHouse(t, quiet)
			at := filepath.Join(h.dir, "at")
			stubborn := shell("work", `trap '' TERM; echo x > made.txt; touch `+at+`; while :; do sleep 0.05; done`)
			id, d, run := h.begun(at, stubborn)
			must(t, h.engine.StopRun(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, run.ID, "It burns."))
			if how == "crash" {
				h.crash()
			} else {
				h.engine.Close()
			}
			h.Forward(2 * time.Hour)
			h.restart()
			h.settle()
			d = h.wantPhase(id, 1, models.PhaseNeedsAttention, 1)
			r := d.Passes[0].Runs[0]
			if r.Status != models.RunCancelled || r.EndedAt == nil || r.Commit == "" || r.Reason != "Stopped by lea: It burns." || d.Passes[0].Pass.EndCommit != r.Commit {
				t.Fatalf("%+v", r)
			}
			if kind, err := h.spaces.Entry(h.ctx, h.repoRef(), r.Tree, "made.txt"); err != nil || kind == "" {
				t.Errorf("made.txt is not recorded: %v", err)
			}
			h.Forward(100 * time.Hour)
			if u, err := h.store.UsageOf(h.ctx, id, h.clock()); err != nil || u.Working || u.Wall > time.Hour {
				t.Errorf("it used %v, working %v, %v", u.Wall, u.Working, err)
			}
			if cut, err := h.store.CutRuns(h.ctx); err != nil || len(cut) != 0 {
				t.Errorf("%d runs without an end, %v", len(cut), err)
			}
		})
	}
}
