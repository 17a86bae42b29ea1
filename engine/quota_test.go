package engine_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"donewhen/dod"
	"donewhen/models"
)

// A judge without quota costs nothing: the phase waits until there is some, says
// so, and goes on by itself without running its agents again.
func TestQuotaIsWaitedFor(t *testing.T) {
	var h *house
	asked := 0
	until := time.Date(2026, 3, 1, 14, 30, 0, 0, time.UTC)
	h = newHouse(t, withJudge(judgeFunc(func(dod.Question) (string, error) {
		asked++
		if h.clock().Before(until) {
			return "", &dod.QuotaError{Until: until, Err: errors.New("five-hour limit reached")}
		}
		return `{"met":true,"reason":"fine"}`, nil
	})))
	p := shell("work", `echo ran >> "$HOME/runs"`)
	p.DoneWhen = "it is good"
	id := h.start(p)

	d := h.wantPhase(id, 1, models.PhaseJudging, 1)
	if d.Phase.DueAt == nil || !d.Phase.DueAt.Equal(until) {
		t.Errorf("due at %v, want %v", d.Phase.DueAt, until)
	}
	for _, says := range []string{"Waiting for quota until 14:30 UTC", "runtime:scripted", "five-hour limit reached"} {
		if !strings.Contains(d.Phase.Reason, says) {
			t.Errorf("%q does not say %q", d.Phase.Reason, says)
		}
	}
	pass := d.Passes[0].Pass
	if pass.JudgeTries != 0 || pass.Status != models.PassJudging || d.Phase.Iteration != 0 || pass.QuotaSince == nil {
		t.Errorf("a try or pass was spent: %+v", pass)
	}
	for range 5 { // nothing happens before its time
		h.Forward(time.Hour)
		h.settle()
	}
	if asked != 1 {
		t.Fatalf("asked %d times before there was quota", asked)
	}
	h.Forward(time.Hour)
	h.settle()
	d = h.wantPhase(id, 1, models.PhaseCompleted, 1)
	if asked != 2 || d.Passes[0].Pass.QuotaSince != nil {
		t.Errorf("asked %d times, waits since %v", asked, d.Passes[0].Pass.QuotaSince)
	}
	if got := h.read(filepath.Join(h.dir, "homes", id, "agents", "runs")); got != "ran\n" {
		t.Errorf("the agent ran again: %q", got)
	}
}

// Promises that are not kept end after a day, with a person; a person's press
// begins a new day.
func TestQuotaIsNotWaitedForForEver(t *testing.T) {
	var h *house
	asked := 0
	h = newHouse(t, withJudge(judgeFunc(func(dod.Question) (string, error) {
		asked++
		return "", &dod.QuotaError{Until: h.clock().Add(time.Second), Err: errors.New("limit reached")}
	})))
	p := shell("work", "echo x")
	p.DoneWhen = "it is good"
	id := h.start(p)
	for range 200 {
		if h.phase(id, 1).Phase.Status != models.PhaseJudging {
			break
		}
		h.Forward(30 * time.Minute)
		h.settle()
	}
	d := h.wantPhase(id, 1, models.PhaseNeedsAttention, 1)
	if !strings.Contains(d.Phase.Reason, "No quota for runtime:scripted within 24 hours") || !strings.Contains(d.Phase.Reason, "limit reached") {
		t.Error(d.Phase.Reason)
	}
	if took := h.clock().Sub(*d.Passes[0].Pass.QuotaSince); took < 18*time.Hour || took > 25*time.Hour {
		t.Errorf("it gave up after %s", took)
	}
	if asked > 100 || d.Passes[0].Pass.JudgeTries != 0 || d.Phase.Iteration != 0 {
		t.Errorf("asked %d times, pass %+v", asked, d.Passes[0].Pass)
	}
	must(t, h.engine.JudgeAgain(h.ctx, lead, d.Phase.ID, *d.Phase.PassID))
	h.settle()
	if ph := h.wantPhase(id, 1, models.PhaseJudging, 1).Phase; !strings.Contains(ph.Reason, "Waiting for quota until") {
		t.Error(ph.Reason)
	}
}

func TestQuotaFurtherThanADayIsForAPerson(t *testing.T) {
	var h *house
	h = newHouse(t, withJudge(judgeFunc(func(dod.Question) (string, error) {
		return "", &dod.QuotaError{Until: h.clock().Add(25 * time.Hour), Err: errors.New("weekly limit reached")}
	})))
	p := shell("work", "echo x")
	p.DoneWhen = "it is good"
	ph := h.wantPhase(h.start(p), 1, models.PhaseNeedsAttention, 1).Phase
	if !strings.Contains(ph.Reason, "2 March, 10:00 UTC") || !strings.Contains(ph.Reason, "weekly limit reached") {
		t.Error(ph.Reason)
	}
}

// A quota that says no time is trouble like any other: three tries, each named
// with its time and the judge's own words.
func TestTriesOfAJudgeInTroubleAreNamed(t *testing.T) {
	h := newHouse(t, withJudge(judgeFunc(func(dod.Question) (string, error) {
		return "", &dod.QuotaError{Err: errors.New("no quota")}
	})))
	p := shell("work", "echo x")
	p.DoneWhen = "it is good"
	id := h.start(p)
	if ph := h.phase(id, 1).Phase; ph.Reason != "runtime:scripted could not judge (try 1 of 3); try 2 of 3 at 09:00:05 UTC: no quota" {
		t.Errorf("%q", ph.Reason)
	}
	h.Forward(5 * time.Second)
	h.settle()
	if ph := h.phase(id, 1).Phase; !strings.Contains(ph.Reason, "try 3 of 3 at 09:00:35 UTC") {
		t.Errorf("%q", ph.Reason)
	}
	h.Forward(30 * time.Second)
	h.settle()
	if ph := h.wantPhase(id, 1, models.PhaseNeedsAttention, 1).Phase; ph.Reason != "runtime:scripted could not judge after 3 tries: no quota" {
		t.Errorf("%q", ph.Reason)
	}
}

// The definition of done under a judge in trouble: skipped, with its words, and
// the gate says to evaluate again.
func TestEvaluatorTroubleKeepsTheGateClosed(t *testing.T) {
	broken := true
	h := newHouse(t, withJudge(judgeFunc(func(dod.Question) (string, error) {
		if broken {
			return "", &dod.QuotaError{Until: time.Date(2026, 3, 1, 14, 30, 0, 0, time.UTC), Err: errors.New("limit reached")}
		}
		return `{"met":true,"reason":"fine"}`, nil
	})))
	id, g := h.judgedPlan("- it reads well -> judge", shell("work", "echo work > w.txt"))
	if g.State.Open || len(g.State.Reasons) != 1 {
		t.Fatalf("%+v", g.State)
	}
	r := g.Summary.Results[0]
	if r.Status != dod.Skipped || r.Kind != dod.KindEvaluatorError || !strings.Contains(r.Reasoning, "limit reached") {
		t.Errorf("%+v", r)
	}
	if reason := g.State.Reasons[0]; reason.Code != dod.ReasonRequiredSkipped || reason.Action != dod.ActionRetryEvaluation || !strings.Contains(reason.Sentence, "Evaluate again.") {
		t.Errorf("%+v", reason)
	}
	broken = false
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	if g, err := h.engine.Gate(h.ctx, id); err != nil || !g.Summary.AllPassed() {
		t.Errorf("after evaluating again: %+v %v", g.Summary.Results, err)
	}
}
