package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"donewhen/engine"
	"donewhen/models"
)

// click does the same verb at once from n people's browsers: one succeeds, the
// others are told of a conflict.
func click(t *testing.T, name string, n int, do func() error) {
	t.Helper()
	errs := make([]error, n)
	var wg sync.WaitGroup
	gun := make(chan struct{})
	for i := range n {
		wg.Go(func() { <-gun; errs[i] = do() })
	}
	close(gun)
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case models.CodeOf(err) != models.CodeConflict:
			t.Errorf("%s: a loser gets %v (%s), want a conflict", name, err, models.CodeOf(err))
		}
	}
	if won != 1 {
		t.Errorf("%s: %d of %d succeeded, want 1", name, won, n)
	}
}

func TestTwoClicksAtOnceOnPhaseVerbs(t *testing.T) {
	h := newHouse(t)
	for _, v := range phaseVerbs {
		for _, state := range v.from[:1] {
			p := h.place(state, false)
			click(t, v.name, 10, func() error { return v.do(h.engine, h, lead, p) })
			d := h.phase(p.plan, 1)
			if d.Phase.Attempt > 2 || d.Phase.Iteration > 1 || d.Phase.MaxIterations > 5 {
				t.Errorf("%s happened more than once: %+v", v.name, d.Phase)
			}
			h.wantDerived(p.plan)
		}
	}
}

// Two people decide differently about the same pass: one decision stands.
func TestApproveAndRejectAtOnce(t *testing.T) {
	h := newHouse(t)
	for range 5 {
		p := h.place(models.PhaseAwaitingApproval, false)
		i := 0
		var mu sync.Mutex
		click(t, "approve or reject", 10, func() error {
			mu.Lock()
			i++
			v := phaseVerbs[i%2]
			mu.Unlock()
			return v.do(h.engine, h, lead, p)
		})
		if n := len(h.detail(p.plan).Decisions); n != 1 {
			t.Errorf("%d decisions", n)
		}
	}
}

func TestTwoClicksAtOnceOnPlanVerbs(t *testing.T) {
	h := newHouse(t)
	for _, v := range planVerbs {
		p := h.placePlan(v.from[0])
		h.giveDod(p.plan)
		click(t, v.name, 10, func() error { return v.do(h.engine, h, lead, p.plan) })
	}
	// Cancel and discard fight for the same plan: discard may follow cancel, never the other way round.
	p := h.placePlan(models.PlanRunning)
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() { _ = h.engine.CancelPlan(h.ctx, lead, p.plan, "") })
		wg.Go(func() { _ = h.engine.DiscardPlan(h.ctx, lead, p.plan, "") })
	}
	wg.Wait()
	h.wantPlan(p.plan, models.PlanDiscarded)
}

func TestA5_07_TwentyStartsMakeOneRun(t *testing.T) {
	h := newHouse(t)
	out := filepath.Join(h.dir, "started")
	id := h.create(shell("one", "echo x >> "+out))
	click(t, "start", 20, func() error { return h.engine.StartPlan(h.ctx, lead, id) })
	// The sweep and doubled deliveries at once.
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { _, _ = h.engine.Once(h.ctx) })
	}
	wg.Wait()
	pass := h.phase(id, 1).Passes[0].Pass.ID
	for range 8 {
		wg.Go(func() { _ = h.engine.ExecutePass(h.ctx, pass) })
	}
	wg.Wait()
	h.engine.Drain()
	h.settle()
	d := h.wantPhase(id, 1, models.PhaseCompleted, 1)
	if len(d.Passes[0].Runs) != 1 || h.read(out) != "x\n" {
		t.Errorf("%d runs, %q processes", len(d.Passes[0].Runs), h.read(out))
	}
}

func TestTheSameFormTwiceMakesOnePlan(t *testing.T) {
	h := newHouse(t)
	ids := map[string]bool{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			id, err := h.engine.CreatePlan(h.ctx, lead, engine.NewPlan{FormKey: "form-1", ProjectID: h.project.ID, Title: "Once", Phases: []engine.NewPhase{shell("one", "true")}})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			ids[id] = true
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(ids) != 1 {
		t.Errorf("%d plans were made", len(ids))
	}
}

func TestCleanUpTwiceAndTooEarly(t *testing.T) {
	h := newHouse(t)
	hold := filepath.Join(h.dir, "hold")
	id := h.create(shell("one", `trap '' TERM; touch `+hold+`; while [ -e `+hold+` ]; do sleep 0.02; done`))
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	_, err := h.engine.Once(h.ctx)
	must(t, err)
	eventually(t, "the agent begins", func() bool { return exists(hold) })
	wantErrCode(t, h.engine.CleanUp(h.ctx, lead, id), models.CodeConflict) // it runs
	must(t, h.engine.CancelPlan(h.ctx, lead, id, ""))
	h.engine.Drain()
	wantErrCode(t, h.engine.CleanUp(h.ctx, viewer, id), models.CodeForbidden)
	click(t, "clean up", 10, func() error { return h.engine.CleanUp(h.ctx, lead, id) })
	if exists(h.workFile(id, "")) {
		t.Error("the workspace is still there")
	}
	if branches := h.git("--git-dir", mirrorOf(t, h), "branch", "--list", "donewhen/*"); !strings.Contains(branches, id) {
		t.Errorf("the branch is gone: %q", branches)
	}
}

// mirrorOf finds the server's own copy of the registered repository.
func mirrorOf(t *testing.T, h *house) string {
	t.Helper()
	var found string
	_ = filepath.WalkDir(filepath.Join(h.dir, "git"), func(p string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && found == "" && strings.HasSuffix(p, ".git") && filepath.Base(p) != ".git" {
			found = p
			return filepath.SkipDir
		}
		return nil
	})
	if found == "" {
		t.Fatal("no mirror")
	}
	return found
}
