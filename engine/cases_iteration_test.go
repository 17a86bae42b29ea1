package engine_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

func TestA5_03_ResumeIsNotRepeat(t *testing.T) {
	h := newHouse(t)
	ran := filepath.Join(h.dir, "ran")
	id := h.start(shell("A", "echo A >> "+ran), shell("B", "echo B >> "+ran), shell("C", "echo C >> "+ran+"; test -e "+h.dir+"/ok"))
	for try := 1; try <= 2; try++ {
		h.wantPlan(id, models.PlanFailed)
		if try == 2 {
			must(t, writeFile(h.dir+"/ok", ""))
		}
		c := h.phase(id, 3)
		must(t, h.engine.RetryPhase(h.ctx, lead, c.Phase.ID, *c.Phase.PassID, false, ""))
		h.settle()
	}
	h.wantPlan(id, models.PlanFinished)
	if got := h.read(ran); got != "A\nB\nC\nC\nC\n" {
		t.Errorf("ran: %q", got)
	}
}

// Paused three times in the middle of one pass, and once over a restart: each of
// its runs is carried out once.
func TestA5_03_ResumeInTheMiddleOfAPass(t *testing.T) {
	h := newHouse(t)
	ran := filepath.Join(h.dir, "ran")
	p := shell("many", "")
	p.Agents = nil
	for i := 1; i <= 5; i++ {
		cmd := fmt.Sprintf(`echo %d >> %s; touch %s/at%d; while [ ! -e %s/go%d ]; do sleep 0.01; done`, i, ran, h.dir, i, h.dir, i)
		p.Agents = append(p.Agents, models.AgentSpec{Runtime: "shell", Name: fmt.Sprintf("a%d", i), Command: cmd})
	}
	id := h.create(p)
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	for i := 1; i <= 5; i++ {
		_, err := h.engine.Once(h.ctx)
		must(t, err)
		eventually(t, "the next run begins", func() bool { return exists(fmt.Sprintf("%s/at%d", h.dir, i)) })
		if i < 5 {
			must(t, h.engine.PausePlan(h.ctx, lead, id))
		}
		must(t, writeFile(fmt.Sprintf("%s/go%d", h.dir, i), ""))
		h.settle()
		if i == 5 {
			break
		}
		h.wantPlan(id, models.PlanPaused)
		if exists(fmt.Sprintf("%s/at%d", h.dir, i+1)) {
			t.Fatalf("run %d began under a paused plan", i+1)
		}
		if i == 3 { // and a restart while it is paused
			h.engine.Close()
			h.restart()
		}
		must(t, h.engine.ResumePlan(h.ctx, lead, id))
	}
	d := h.wantPhase(id, 1, models.PhaseCompleted, 1)
	if got := h.read(ran); got != "1\n2\n3\n4\n5\n" || len(d.Passes[0].Runs) != 5 {
		t.Errorf("ran %q, %d rows", got, len(d.Passes[0].Runs))
	}
}

func TestA5_04_CancelIsTerminal(t *testing.T) {
	h := newHouse(t)
	at := filepath.Join(h.dir, "at")
	id := h.create(
		shell("1", `trap '' TERM; touch `+at+`; for i in $(seq 200); do sleep 0.05; done; exit 0`),
		shell("2", "touch "+h.dir+"/second"))
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	_, err := h.engine.Once(h.ctx)
	must(t, err)
	eventually(t, "the command begins", func() bool { return exists(at) })
	must(t, h.engine.CancelPlan(h.ctx, lead, id, "enough"))
	h.engine.Drain()
	h.settle()
	h.Forward(time.Hour)
	h.settle()
	h.wantCancelled(id)
	if exists(h.dir + "/second") {
		t.Error("phase 2 began")
	}
	for _, v := range planVerbs[:3] { // nothing revives it
		wantErrCode(t, v.do(h.engine, h, lead, id), models.CodeConflict)
	}
	wantErrCode(t, h.engine.StartPlan(h.ctx, lead, id), models.CodeConflict)
	r := h.phase(id, 1).Passes[0].Runs[0]
	if r.EndedAt == nil || r.Commit == "" {
		t.Errorf("what the cancelled run left was not recorded: %+v", r)
	}
	h.engine.Close()
	h.restart()
	h.settle()
	h.wantCancelled(id)
}

func (h *house) wantCancelled(id string) {
	h.t.Helper()
	h.wantPlan(id, models.PlanCancelled)
	for _, ph := range h.detail(id).Phases {
		if ph.Phase.Status != models.PhaseCancelled && ph.Phase.Status != models.PhaseCompleted {
			h.t.Errorf("phase %s is %s", ph.Phase.Name, ph.Phase.Status)
		}
		for _, pass := range ph.Passes {
			if !pass.Pass.Status.Ended() {
				h.t.Errorf("pass %d is %s", pass.Pass.ID, pass.Pass.Status)
			}
			for _, r := range pass.Runs {
				if !r.Status.Ended() {
					h.t.Errorf("run %d is %s", r.ID, r.Status)
				}
			}
		}
	}
}

// Cancel at every moment around a start: the plan ends cancelled, and nothing
// runs on.
func TestCancelRacesWithStart(t *testing.T) {
	h := newHouse(t)
	for i := range 4 {
		id := h.create(shell("one", "sleep 5; touch "+h.dir+"/survived"))
		var wg sync.WaitGroup
		wg.Go(func() {
			_ = h.engine.StartPlan(h.ctx, lead, id)
			_, _ = h.engine.Once(h.ctx)
		})
		wg.Go(func() {
			time.Sleep(time.Duration(i) * 40 * time.Millisecond)
			must(t, h.engine.CancelPlan(h.ctx, lead, id, ""))
		})
		wg.Wait()
		began := time.Now()
		h.engine.Drain()
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("the agent ran on for %s", took)
		}
		h.wantCancelled(id)
	}
	if exists(h.dir + "/survived") {
		t.Error("a cancelled agent came to its end")
	}
}

func TestA5_05_LimitsOfPassesAreClamped(t *testing.T) {
	h := newHouse(t)
	for given, passes := range map[int]int{-3: 1, 2: 2} {
		p := shell("never", `echo "$DONEWHEN_PASS" > n.txt`)
		p.DoneWhen, p.MaxIterations = "this never appears", given
		id := h.start(p)
		h.wantPhase(id, 1, models.PhaseExhausted, passes)
	}
	for given, stored := range map[int]int{0: 1, 1: 1, 20: 20, 21: 20, 1_000_000: models.MaxIterations} {
		p := shell("never", "true")
		p.DoneWhen, p.MaxIterations = "this never appears", given
		if ph := h.phase(h.create(p), 1).Phase; ph.MaxIterations != stored {
			t.Errorf("%d is stored as %d, want %d", given, ph.MaxIterations, stored)
		}
	}
}

// Values that go back to zero are stored as such.
func TestA5_06_WhatIsClearedStaysCleared(t *testing.T) {
	h := newHouse(t)
	p := shell("one", `[ -e "$HOME/again" ] || { touch "$HOME/again"; echo c one; exit 0; }; echo nothing > n.txt`)
	p.DoneWhen, p.MaxIterations = "- c one\n- c two", 2
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseExhausted, 2)
	was, is := engine.Results(*d.Passes[0].Verdict), engine.Results(*d.Passes[1].Verdict)
	if was[0].Status != "passed" || is[0].Status != "failed" {
		t.Errorf("c1 was %s and is %s", was[0].Status, is[0].Status)
	}
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "a note"))
	h.settle()
	d = h.phase(id, 1)
	must(t, h.engine.RetryPhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, false, ""))
	if ph := h.phase(id, 1).Phase; ph.Iteration != 0 || ph.Note != "" || ph.Feedback != "" || ph.Reason != "" {
		t.Errorf("left over: %+v", ph)
	}
}

func TestA5_09_WritersDoNotStarveEachOther(t *testing.T) {
	h := newHouse(t)
	id := h.create(shell("chatty", `for i in $(seq 200); do echo "line $i"; sleep 0.005; done`))
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	_, err := h.engine.Once(h.ctx)
	must(t, err)
	var wg sync.WaitGroup
	for tab := range 2 {
		wg.Go(func() {
			for i := range 50 {
				err := h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: fmt.Sprintf("- line %d of tab %d", i, tab)}, "tidied", "")
				if err != nil && models.CodeOf(err) != models.CodeConflict {
					t.Errorf("tab %d, save %d: %v", tab, i, err)
				}
			}
		})
	}
	wg.Wait()
	h.engine.Drain()
	h.settle()
	run := h.phase(id, 1).Passes[0].Runs[0]
	raw, _, err := h.logs.HeadTail(h.ctx, run.ID, 1<<20)
	must(t, err)
	if n := strings.Count(string(raw), "\n"); n != 200 || !strings.HasSuffix(string(raw), "line 200\n") {
		t.Errorf("%d lines, the end is %q", n, raw[max(0, len(raw)-40):])
	}
	if run.LogBytes != int64(len(raw)) {
		t.Errorf("the row says %d bytes, the log has %d", run.LogBytes, len(raw))
	}
}

// A person judges an exhausted or stalled phase again: it is really judged, on
// what is there now, and no agent runs.
func TestJudgeAgainLooksAtWhatAPersonMended(t *testing.T) {
	h := newHouse(t)
	p := shell("idle", "echo nothing new")
	p.DoneWhen, p.MaxIterations = "- a file -> run: grep -q right mended.txt", 5
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseStalled, 2)
	must(t, writeFile(h.workFile(id, "mended.txt"), "right\n"))
	must(t, writeFile(h.workFile(id, "a.txt"), "one, mended by hand\n"))
	must(t, h.engine.JudgeAgain(h.ctx, lead, d.Phase.ID, *d.Phase.PassID))
	h.settle()
	d = h.wantPhase(id, 1, models.PhaseCompleted, 2)
	if got := h.read(h.workFile(id, "a.txt")) + h.read(h.workFile(id, "mended.txt")); got != "one, mended by hand\nright\n" {
		t.Errorf("what a person did in the workspace was put back: %q", got)
	}
	plan := h.detail(id).Plan
	if d.Passes[1].Pass.EndTree != plan.WorkTree || len(d.Passes[1].Runs) != 1 {
		t.Errorf("the judged tree is not the recorded one, or an agent ran")
	}
}

func TestJudgeAgainDoesNotReuseTheOldVerdict(t *testing.T) {
	met := false
	var mu sync.Mutex
	asked := 0
	h := newHouse(t, withJudge(judgeFunc(func(q dodQuestion) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		asked++
		return fmt.Sprintf(`{"met":%v,"reason":"so it is"}`, met), nil
	})))
	p := shell("idle", "echo the same")
	p.DoneWhen, p.MaxIterations = "it is good", 5
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseStalled, 2)
	if asked != 1 || d.Passes[1].Verdict.ReusedFrom == nil {
		t.Fatalf("identical evidence: asked %d times", asked)
	}
	met = true
	must(t, h.engine.JudgeAgain(h.ctx, lead, d.Phase.ID, *d.Phase.PassID))
	h.settle()
	d = h.wantPhase(id, 1, models.PhaseCompleted, 2)
	if asked != 2 || d.Passes[1].Verdict.ReusedFrom != nil || len(d.Passes[1].Runs) != 1 {
		t.Errorf("asked %d times, verdict %+v", asked, d.Passes[1].Verdict)
	}
}

// A crafted limit in the row is refused by the database itself.
func TestLimitBeyondTwentyCannotBeStored(t *testing.T) {
	h := newHouse(t)
	p := h.place(models.PhaseExhausted, false)
	big := 500
	must(t, h.store.InTx(h.ctx, func(tx *store.Tx) error {
		return tx.SetPhase(h.ctx, p.phase, "", store.PhaseSet{MaxIterations: &big})
	}))
	if got := h.phase(p.plan, 1).Phase.MaxIterations; got != models.MaxIterations {
		t.Errorf("limit %d", got)
	}
}
