package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

// stopAt makes the engine stand still for ever at a named point, as if the
// server had died there, and says when it got there. Other engines pass by.
func stopAt(point string) (option, <-chan struct{}) {
	reached := make(chan struct{})
	var once sync.Once
	return func(c *engine.Config) {
		c.Failpoint = func(name string) {
			if name == point {
				once.Do(func() { close(reached) })
				select {}
			}
		}
	}, reached
}

// tick sweeps in the background until the engine stands still.
func (h *house) tickUntil(reached <-chan struct{}) {
	h.t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		_, _ = h.engine.Once(h.ctx)
		select {
		case <-reached:
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
	h.t.Fatal("the engine never came to that point")
}

// drillPlan is a plan of which each run leaves a line outside of the repository.
func (h *house) drillPlan() (id, ran string) {
	h.t.Helper()
	ran = filepath.Join(h.dir, "ran")
	agent := func(name, more string) models.AgentSpec {
		return models.AgentSpec{Runtime: "shell", Name: name, Command: "echo " + name + " >> " + ran + "; echo " + name + " >> work.txt; " + more}
	}
	slow := fmt.Sprintf("touch %[1]s/at; while [ -e %[1]s/hold ]; do sleep 0.01; done", h.dir)
	id = h.createWith(engine.NewPlan{Dod: "- is there -> file: work.txt\n- checked -> run: touch " + h.dir + "/checking; while [ -e " + h.dir + "/holdcheck ]; do sleep 0.01; done",
		Phases: []engine.NewPhase{
			{Name: "one", Agents: []models.AgentSpec{agent("a", "true")}, MaxIterations: 1},
			{Name: "two", Agents: []models.AgentSpec{agent("b", "true"), agent("c", slow)}, MaxIterations: 3, DoneWhen: "- c -> match: /(?m)^\\+?c$/"},
		}})
	must(h.t, h.engine.StartPlan(h.ctx, lead, id))
	return id, ran
}

// wantEnd checks that the plan ends as it would have without the crash.
func (h *house) wantEnd(id, ran, lines string) {
	h.t.Helper()
	h.settle()
	h.wantPlan(id, models.PlanFinished)
	if got := strings.Fields(h.read(ran)); strings.Join(got, " ") != lines {
		h.t.Errorf("ran %q, want %q", strings.Join(got, " "), lines)
	}
	for _, ph := range h.detail(id).Phases {
		h.wantPhase(id, ph.Phase.Position, models.PhaseCompleted, 1)
	}
	g := h.gate(id)
	if !g.State.Open {
		h.t.Fatalf("gate: %s %s", codes(g), g.State.Sentence)
	}
	must(h.t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	h.wantPlan(id, models.PlanApplied)
	if got := h.git("-C", h.repo, "show", "main:work.txt"); !strings.HasPrefix(got, "a\nb\n") {
		h.t.Errorf("main has %q", got)
	}
}

func TestCrashAfterClaim(t *testing.T) {
	stop, reached := stopAt("after_claim")
	h := newHouse(t, quiet, stop)
	id, ran := h.drillPlan()
	h.tickUntil(reached)
	h.crash()
	if found := h.restart(); found != (engine.Recovered{}) {
		t.Errorf("recovered %+v, nothing ran", found)
	}
	h.wantEnd(id, ran, "a b c")
}

func TestA5_02_CrashWhileAnAgentRuns(t *testing.T) {
	h := newHouse(t, quiet)
	must(t, writeFile(filepath.Join(h.dir, "hold"), ""))
	id, ran := h.drillPlan()
	for range 3 { // one, its settling, two
		_, err := h.engine.Once(h.ctx)
		must(t, err)
		if exists(filepath.Join(h.dir, "at")) {
			break
		}
		if h.phase(id, 1).Phase.Status != models.PhaseCompleted {
			h.engine.Drain()
		}
	}
	eventually(t, "c runs", func() bool { return exists(filepath.Join(h.dir, "at")) })
	var run models.Run
	eventually(t, "its pid is stored", func() bool {
		d := h.phase(id, 2)
		run = d.Passes[0].Runs[len(d.Passes[0].Runs)-1]
		return run.Pid > 0
	})
	h.crash()
	found := h.restart()
	if found.Lost != 1 || found.Ended < 1 {
		t.Errorf("recovered %+v", found)
	}
	if alive(run.Pid) {
		t.Error("the agent's process is still there")
	}
	d := h.phase(id, 2)
	lost := d.Passes[0].Runs[1]
	if lost.Status != models.RunLost || lost.EndedAt == nil || d.Passes[0].Runs[0].Status != models.RunSucceeded {
		t.Errorf("b is %s, c is %s, ended %v", d.Passes[0].Runs[0].Status, lost.Status, lost.EndedAt)
	}
	if rs, err := h.store.RunningRuns(h.ctx); err != nil || len(rs) != 0 {
		t.Errorf("%d runs are still shown as running (%v)", len(rs), err)
	}
	must(t, os.Remove(filepath.Join(h.dir, "hold")))
	h.wantEnd(id, ran, "a b c c") // c was cut off and is tried again; a and b are not
	d = h.phase(id, 2)
	if n := len(d.Passes[0].Runs); n != 3 || d.Passes[0].Runs[2].Try != 2 || d.Phase.Iteration != 0 {
		t.Errorf("%d runs, iteration %d", n, d.Phase.Iteration)
	}
}

func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return !strings.Contains(string(b), ") Z ")
}

func TestCrashAfterVerdictBeforeSettle(t *testing.T) {
	stop, reached := stopAt("after_verdict")
	h := newHouse(t, quiet, stop)
	id, ran := h.drillPlan()
	h.tickUntil(reached)
	h.crash()
	found := h.restart()
	if found.Lost != 0 {
		t.Errorf("recovered %+v", found)
	}
	ph := h.phase(id, 2)
	if ph.Phase.Status != models.PhaseJudging || ph.Passes[0].Pass.ClaimedBy != "" || ph.Passes[0].Verdict != nil {
		t.Errorf("%s, claimed by %q", ph.Phase.Status, ph.Passes[0].Pass.ClaimedBy)
	}
	h.wantEnd(id, ran, "a b c")
}

func TestCrashDuringTheEvaluation(t *testing.T) {
	h := newHouse(t, quiet)
	must(t, writeFile(filepath.Join(h.dir, "holdcheck"), ""))
	id, ran := h.drillPlan()
	checking := filepath.Join(h.dir, "checking")
	eventually(t, "the evaluation checks", func() bool {
		_, _ = h.engine.Once(h.ctx)
		return exists(checking)
	})
	h.crash()
	found := h.restart()
	if found.Evaluations != 1 || found.Ended < 1 {
		t.Errorf("recovered %+v: the check's process has no run, and must be ended all the same", found)
	}
	if ev := h.detail(id).Evaluation; ev.Status != models.EvaluationQueued {
		t.Errorf("evaluation %s", ev.Status)
	}
	must(t, os.Remove(filepath.Join(h.dir, "holdcheck")))
	h.wantEnd(id, ran, "a b c")
}

// In the middle of a log: what was written is kept and counted, and the run is
// lost, not failed.
func TestCrashInTheMiddleOfALog(t *testing.T) {
	h := newHouse(t, quiet)
	id := h.create(shell("one", fmt.Sprintf(`head -c 700000 /dev/zero | tr '\0' x; echo; touch %[1]s/at; [ -e %[1]s/go ] || sleep 60`, h.dir)))
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	_, err := h.engine.Once(h.ctx)
	must(t, err)
	eventually(t, "the agent has printed", func() bool { return exists(filepath.Join(h.dir, "at")) })
	run := h.phase(id, 1).Passes[0].Runs[0]
	eventually(t, "chunks are stored", func() bool { i, err := h.logs.Info(h.ctx, run.ID); return err == nil && i.Bytes >= 256<<10 })
	h.crash()
	must(t, writeFile(filepath.Join(h.dir, "go"), ""))
	if found := h.restart(); found.Lost != 1 {
		t.Errorf("recovered %+v", found)
	}
	lost := h.phase(id, 1).Passes[0].Runs[0]
	if lost.Status != models.RunLost || lost.LogBytes < 256<<10 {
		t.Errorf("%s with %d bytes", lost.Status, lost.LogBytes)
	}
	h.settle()
	h.wantPhase(id, 1, models.PhaseCompleted, 1)
}

func TestCrashBetweenMergeDeliveryAndApplied(t *testing.T) {
	for _, point := range []string{"after_merge", "after_deliver"} {
		t.Run(point, func(t *testing.T) {
			stop, reached := stopAt(point)
			h := newHouse(t, quiet, stop)
			id, g := h.judgedPlan("- built")
			go func() { _ = h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID) }()
			<-reached
			before := h.git("-C", h.repo, "rev-parse", "main")
			h.wantPlan(id, models.PlanApplying)
			attempt := h.detail(id).Attempts[0]
			h.crash()
			if point == "after_deliver" { // people go on working on main meanwhile
				h.write("later.txt", "later\n")
				h.git("-C", h.repo, "add", "later.txt")
				h.git("-C", h.repo, "commit", "-q", "-m", "later")
			}
			if found := h.restart(); found.Applies != 1 {
				t.Errorf("recovered %+v", found)
			}
			h.wantPlan(id, models.PlanApplied)
			now := h.detail(id).Attempts
			if len(now) != 1 || now[0].Status != models.ApplyDone || now[0].MergeCommit != attempt.MergeCommit {
				t.Errorf("attempts %+v, the merge was %s", now, attempt.MergeCommit)
			}
			h.git("-C", h.repo, "merge-base", "--is-ancestor", attempt.MergeCommit, "main")
			if n := h.git("-C", h.repo, "rev-list", "--count", "--merges", "main"); n != "1" {
				t.Errorf("%s merges", n)
			}
			if point == "after_merge" && before == h.git("-C", h.repo, "rev-parse", "main") {
				t.Error("main did not move")
			}
			if got := h.git("-C", h.repo, "status", "--porcelain"); got != "" {
				t.Errorf("status: %q", got)
			}
		})
	}
}

// Between the plan's move to applying and the merge the target may move: the
// attempt is refused, the plan is finished again, nothing is half done.
func TestCrashBeforeTheMergeAndTheTargetMovesOn(t *testing.T) {
	h := newHouse(t)
	id, g := h.judgedPlan("- built")
	must(t, h.store.InTx(h.ctx, func(tx *store.Tx) error {
		a := models.ApplyAttempt{PlanID: id, Status: models.ApplyStarted, TargetBranch: "main", WorkCommit: g.Commit,
			OldTarget: h.git("-C", h.repo, "rev-parse", "main"), Message: "m", EvaluationID: &g.EvaluationID}
		if err := tx.InsertApplyAttempt(h.ctx, &a); err != nil {
			return err
		}
		return tx.MovePlan(h.ctx, id, models.PlanFinished, models.PlanApplying, store.PlanSet{}, store.Why{})
	}))
	h.engine.Close()
	h.write("later.txt", "later\n")
	h.git("-C", h.repo, "add", "later.txt")
	h.git("-C", h.repo, "commit", "-q", "-m", "later")
	if found := h.restart(); found.Applies != 1 {
		t.Errorf("recovered %+v", found)
	}
	h.wantPlan(id, models.PlanFinished)
	if a := h.detail(id).Attempts[0]; a.Status != models.ApplyRefused || !strings.Contains(a.Reason, "moved") {
		t.Errorf("%+v", a)
	}
	g = h.gate(id)
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	h.wantPlan(id, models.PlanApplied)
	// An applying plan without any attempt is finished again.
	p := h.place(models.PhaseCompleted, true)
	h.force(p.plan, models.PlanApplying)
	h.engine.Close()
	h.restart()
	h.wantPlan(p.plan, models.PlanFinished)
}

// A run that was lost three times is left to a person.
func TestLostThreeTimesNeedsAttention(t *testing.T) {
	h := newHouse(t)
	id := h.create(shell("one", "echo once"))
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.engine.Close()
	for try := 1; try <= 3; try++ {
		h.open()
		ph := h.phase(id, 1)
		must(t, h.store.InTx(h.ctx, func(tx *store.Tx) error {
			var pass models.Pass
			var run models.Run
			if try == 1 {
				pass = models.Pass{PhaseID: ph.Phase.ID, PlanID: id, Attempt: 1}
				runs := []models.Run{{Agent: ph.Phase.Agents[0]}}
				if err := tx.InsertPass(h.ctx, &pass, runs); err != nil {
					return err
				}
				if err := tx.MovePhase(h.ctx, ph.Phase.ID, models.PhasePending, models.PhaseRunning, store.PhaseSet{PassID: &pass.ID}, store.Why{}); err != nil {
					return err
				}
				run = runs[0]
			} else {
				pass = ph.Passes[0].Pass
				run = ph.Passes[0].Runs[try-1]
			}
			if err := tx.MovePass(h.ctx, pass.ID, pass.Status, models.PassRunning, store.PassSet{ClaimedBy: new("worker")}, store.Why{}); err != nil {
				return err
			}
			return tx.MoveRun(h.ctx, run.ID, models.RunQueued, models.RunRunning, store.RunSet{}, store.Why{})
		}))
		found, err := h.engine.Recover(h.ctx)
		must(t, err)
		if found.Lost != 1 {
			t.Fatalf("try %d: %+v", try, found)
		}
		_, err = h.engine.Once(h.ctx) // delivers, or settles what was lost
		must(t, err)
		if try < 3 {
			h.wantPhase(id, 1, models.PhaseRunning, 1)
		}
		pass := h.phase(id, 1).Passes[0]
		if try < 3 && len(pass.Runs) != try+1 {
			t.Fatalf("try %d: %d runs", try, len(pass.Runs))
		}
		h.engine.Close()
	}
	h.open()
	d := h.wantPhase(id, 1, models.PhaseNeedsAttention, 1)
	if d.Phase.Iteration != 0 {
		t.Error("a pass was spent")
	}
	must(t, h.engine.TryAgain(h.ctx, lead, d.Phase.ID, *d.Phase.PassID))
	h.settle()
	h.wantPhase(id, 1, models.PhaseCompleted, 1)
}

// A server that is stopped in good order, as for an update, takes none of a run's
// three tries away, however often; and what is said of it does not outlive it.
func TestStoppingTheServerSpendsNoTry(t *testing.T) {
	h := newHouse(t)
	hold := filepath.Join(h.dir, "hold")
	must(t, writeFile(hold, ""))
	p := shell("work", fmt.Sprintf("echo x >> %[1]s/ran; touch %[1]s/at; while [ -e %[1]s/hold ]; do sleep 0.01; done; echo x > made.txt", h.dir))
	id := h.create(p)
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	for range 4 {
		eventually(t, "it runs", func() bool {
			_, err := h.engine.Once(h.ctx)
			must(t, err)
			return exists(filepath.Join(h.dir, "at"))
		})
		if got := h.phase(id, 1).Phase; got.Status != models.PhaseRunning || got.Reason != "" {
			t.Fatalf("while it runs: %s %q", got.Status, got.Reason)
		}
		must(t, removeFile(filepath.Join(h.dir, "at")))
		h.engine.Close()
		h.crash() // closes its files; the engine is closed already
		h.restart()
	}
	must(t, removeFile(hold))
	h.settle()
	d := h.wantPhase(id, 1, models.PhaseCompleted, 1)
	if runs := d.Passes[0].Runs; len(runs) != 5 || runs[0].Status != models.RunLost || !runs[0].Stopped || runs[4].Stopped {
		t.Errorf("%+v", runs)
	}
	if got := strings.Fields(h.read(filepath.Join(h.dir, "ran"))); len(got) != 5 {
		t.Errorf("it ran %d times", len(got))
	}
}

// A run whose agent was done before the stop is recorded, however the stop falls:
// no try is taken and the agent does not work a second time.
func TestStoppingWhileARunIsRecordedKeepsIt(t *testing.T) {
	var h *house
	stopped := make(chan struct{})
	h = newHouse(t, func(c *engine.Config) {
		c.Failpoint = func(point string) {
			if point == "after_agent" {
				go func() { h.engine.Close(); close(stopped) }()
				<-h.engine.Stopping()
			}
		}
	})
	ran := filepath.Join(h.dir, "ran")
	id := h.create(shell("work", "echo x >> "+ran+"; echo made > made.txt"), shell("next", "echo more >> made.txt"))
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	go func() { _, _ = h.engine.Once(h.ctx) }()
	<-stopped
	run := h.phase(id, 1).Passes[0].Runs[0]
	if run.Status != models.RunSucceeded || run.Stopped || run.Commit == "" {
		t.Errorf("after the stop: %s, stopped %v, commit %q", run.Status, run.Stopped, run.Commit)
	}
	if got := h.onBranch(id, "made.txt"); got != "made" {
		t.Errorf("recorded: %q", got)
	}
	h.crash() // closes its files; the engine is closed already
	if found := h.restart(); found.Lost != 0 {
		t.Errorf("%+v", found)
	}
	h.settle()
	h.wantPlan(id, models.PlanFinished)
	if d := h.phase(id, 1); len(d.Passes) != 1 || len(d.Passes[0].Runs) != 1 || h.read(ran) != "x\n" {
		t.Errorf("it worked again: %+v, %q", d.Passes, h.read(ran))
	}
}
