package engine_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

// run starts the sweep as the server does, and returns how to end it.
func (h *house) run() (stop func()) {
	ctx, cancel := context.WithCancel(h.ctx)
	ended := make(chan error, 1)
	go func() { ended <- h.engine.Run(ctx) }()
	return func() {
		h.t.Helper()
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				h.t.Errorf("the sweep ends with %v", err)
			}
		case <-time.After(10 * time.Second):
			h.t.Error("the sweep does not end")
		}
	}
}

func (h *house) comesTo(id string, want models.PlanStatus) {
	h.t.Helper()
	eventually(h.t, "plan "+string(want), func() bool { p, err := h.store.Plan(h.ctx, id); return err == nil && p.Status == want })
}

// The first tick comes at once, later ones as soon as something happens: with
// the ticker alone this plan would take minutes.
func TestSweepIsWokenByWhatHappens(t *testing.T) {
	h := newHouse(t)
	before := h.create(shell("one", "true"))
	must(t, h.engine.StartPlan(h.ctx, lead, before))
	began := time.Now()
	stop := h.run()
	defer stop()
	h.comesTo(before, models.PlanFinished)
	p := shell("two", `echo "$DONEWHEN_PASS" >> n.txt; echo "pass $DONEWHEN_PASS"`)
	p.DoneWhen = "pass 2"
	later := h.createWith(engine.NewPlan{Dod: "- pass 2", Phases: []engine.NewPhase{p, shell("three", "true")}})
	must(t, h.engine.StartPlan(h.ctx, lead, later))
	h.comesTo(later, models.PlanFinished)
	eventually(t, "the evaluation", func() bool { g, err := h.engine.Gate(h.ctx, later); return err == nil && g.State.Open })
	if took := time.Since(began); took > 60*time.Second { // eight moves, one tick every 15 s
		t.Errorf("took %s: nothing woke the sweep", took)
	}
}

// What is due later comes when its time has come, without any event.
func TestSweepWaitsForTheNextDueTime(t *testing.T) {
	h := newHouse(t, func(c *engine.Config) {
		c.Now = func() time.Time { return time.Now().UTC() }
		c.Backoff = []time.Duration{300 * time.Millisecond}
		c.Judge = judgeFunc(func(dodQuestion) (string, error) { return "prose", nil })
	})
	p := shell("one", "echo x")
	p.DoneWhen = "it is good"
	id := h.create(p)
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	began := time.Now()
	stop := h.run()
	h.comesTo(id, models.PlanWaiting)
	stop()
	vs, err := h.store.VerdictsOf(h.ctx, h.phase(id, 1).Passes[0].Pass.ID)
	must(t, err)
	if len(vs) != 3 {
		t.Fatalf("%d tries", len(vs))
	}
	if took := time.Since(began); took < 600*time.Millisecond {
		t.Errorf("two waits of 300 ms took %s", took)
	}
}

type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.b.String() }

// One broken phase is logged and comes again later; it keeps nobody up.
func TestSweepErrorsAreLoggedAndNotFatal(t *testing.T) {
	log := &logBuffer{}
	h := newHouse(t, func(c *engine.Config) { c.Log = slog.New(slog.NewTextHandler(log, nil)) })
	broken := h.create(shell("broken", "true"))
	good := h.create(shell("good", "true"))
	must(t, h.store.InTx(h.ctx, func(tx *store.Tx) error { // a running phase without a pass: a damaged row
		ph := h2phase(tx, h, broken)
		if err := tx.MovePlan(h.ctx, broken, models.PlanDraft, models.PlanRunning, store.PlanSet{}, store.Why{}); err != nil {
			return err
		}
		return tx.MovePhase(h.ctx, ph, models.PhasePending, models.PhaseRunning, store.PhaseSet{DueAt: new(h.clock())}, store.Why{})
	}))
	must(t, h.engine.StartPlan(h.ctx, lead, good))
	stop := h.run()
	h.comesTo(good, models.PlanFinished)
	stop()
	if !strings.Contains(log.String(), "a running phase has no pass") {
		t.Errorf("log: %s", log)
	}
	if n := strings.Count(log.String(), "has no pass"); n > 3 {
		t.Errorf("logged %d times while the clock stood still", n)
	}
	if due := h.phase(broken, 1).Phase.DueAt; due == nil || !due.After(h.clock()) {
		t.Errorf("the broken one is due %v", due)
	}
}

func h2phase(tx *store.Tx, h *house, id string) int64 {
	phases, err := tx.PhasesOf(h.ctx, id)
	must(h.t, err)
	return phases[0].ID
}

// A panic of an agent's runtime ends neither the worker nor the server.
func TestAPanicIsTheRunsErrorAlone(t *testing.T) {
	h := newHouse(t, quiet, func(c *engine.Config) {
		c.Runtimes = append(c.Runtimes, panicking{})
		c.Workers = 1
	})
	id := h.create(engine.NewPhase{Name: "one", Task: "x", MaxIterations: 1, Agents: []models.AgentSpec{{Runtime: "panicking"}}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	for range 3 {
		h.settle()
		h.Forward(time.Minute)
	}
	if d := h.wantPhase(id, 1, models.PhaseNeedsAttention, 1); !strings.Contains(d.Phase.Reason, "boom") {
		t.Errorf("reason: %s", d.Phase.Reason)
	}
	other := h.start(shell("one", "true"))
	h.wantPlan(other, models.PlanFinished)
}

type panicking struct{}

func (panicking) Run(context.Context, engine.Job) engine.Outcome { panic("boom") }
func (panicking) Info() engine.RuntimeInfo {
	return engine.RuntimeInfo{Alias: "panicking", Available: true}
}

// Whoever hears of a change can read it; what was rolled back is not published.
func TestNothingIsPublishedBeforeTheCommit(t *testing.T) {
	h := newHouse(t)
	p := h.place(models.PhaseAwaitingApproval, false)
	sub := h.engine.Hub().Subscribe()
	defer sub.Close()
	quietNow := func(what string) {
		t.Helper()
		if got := sub.Take(); len(got) != 0 {
			t.Errorf("%s published %v", what, got)
		}
	}
	wantErrCode(t, h.engine.ApprovePhase(h.ctx, lead, p.phase, p.pass+1, ""), models.CodeConflict)
	quietNow("a conflict")
	wantErrCode(t, h.engine.ApprovePhase(h.ctx, viewer, p.phase, p.pass, ""), models.CodeForbidden)
	quietNow("a refusal")
	// A transaction that fails at its very end, after all its writes.
	ctx, cancel := context.WithCancel(h.ctx)
	cancel()
	if err := h.engine.ApprovePhase(ctx, lead, p.phase, p.pass, ""); err == nil {
		t.Fatal("it went through")
	}
	quietNow("a rolled back transaction")
	h.wantPhase(p.plan, 1, models.PhaseAwaitingApproval, 1)
	seen := make(chan models.PhaseStatus, 1)
	go func() {
		<-sub.Kick
		seen <- h.phase(p.plan, 1).Phase.Status
	}()
	must(t, h.engine.ApprovePhase(h.ctx, lead, p.phase, p.pass, ""))
	if got := <-seen; got != models.PhaseCompleted {
		t.Errorf("who was told of it read %s", got)
	}
	if got := sub.Take(); !slices.Equal(got, []string{"plan:" + p.plan, "plans"}) {
		t.Errorf("published %v", got)
	}
}

// Close ends agents, sweeps and event streams, and the rows stay true for the
// next start.
func TestCloseInTheMiddleOfEverything(t *testing.T) {
	h := newHouse(t)
	id := h.create(shell("one", "touch "+h.dir+"/at; [ -e "+h.dir+"/go ] || sleep 60"))
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	sub := h.engine.Hub().Subscribe()
	stop := h.run()
	eventually(t, "the agent begins", func() bool { return exists(h.dir + "/at") })
	stop()
	began := time.Now()
	h.engine.Close()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("closing took %s", took)
	}
	<-sub.Done
	must(t, writeFile(h.dir+"/go", ""))
	wantErrCode(t, h.engine.Apply(h.ctx, lead, id, "", 0), models.CodeUnavailable)
	if found := h.restart(); found.Lost != 1 {
		t.Errorf("%+v", found)
	}
	h.settle()
	h.wantPlan(id, models.PlanFinished)
}
