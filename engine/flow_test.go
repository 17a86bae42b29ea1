package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

// The regression guard: a phase with no condition completes exactly as its
// runs end, and nobody is asked.
func TestPhaseWithoutConditionCompletesAsItsRunsEnd(t *testing.T) {
	h := newHouse(t, withJudge(judgeFunc(func(dod.Question) (string, error) {
		t.Error("the judge was asked")
		return "", nil
	})))
	id := h.start(shell("one", "echo hi > new.txt"), shell("two", "cat new.txt"))
	h.wantPhase(id, 1, models.PhaseCompleted, 1)
	p := h.wantPhase(id, 2, models.PhaseCompleted, 1)
	h.wantPlan(id, models.PlanFinished)
	if p.Passes[0].Verdict != nil {
		t.Fatalf("a verdict was made: %+v", p.Passes[0].Verdict)
	}
	if got := p.Passes[0].Runs[0].FinalMessage; got != "hi" {
		t.Fatalf("the second phase did not see the first one's work: %q", got)
	}
	events, err := h.store.EventsOf(h.ctx, id, 0, 100)
	must(t, err)
	said := 0
	for _, e := range events {
		if e.Kind == "pass.met" && strings.Contains(e.Reason, "nothing was judged") {
			said++
		}
	}
	if said != 2 {
		t.Errorf("%d of 2 passes say in the audit log that nobody judged them", said)
	}
}

// On pass 2 pass 1's finished run is still in the table; it must not close
// pass 2 the moment that is queued.
func TestFinishedRunOfPassOneDoesNotClosePassTwo(t *testing.T) {
	h := newHouse(t)
	p := shell("count", `n=$(cat "$HOME/n" 2>/dev/null || echo 0); n=$((n+1)); echo $n > "$HOME/n"; echo "this is number $n"; echo $n > n.txt`)
	p.DoneWhen = "number 2"
	id := h.create(p)
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	tick := func() {
		_, err := h.engine.Once(h.ctx)
		must(t, err)
		h.engine.Drain()
	}
	tick() // starts and runs pass 1
	tick() // settles the runs
	tick() // judges
	first := h.phase(id, 1)
	if first.Phase.Status != models.PhasePending || first.Phase.Iteration != 1 || first.Passes[0].Pass.Status != models.PassNotMet {
		t.Fatalf("after pass 1: %+v", first.Phase)
	}
	tick() // starts pass 2
	second := h.phase(id, 1)
	if len(second.Passes) != 2 || second.Passes[1].Runs[0].StartedAt == nil {
		t.Fatalf("pass 2 was closed without a run: %+v", second)
	}
	h.settle()
	done := h.wantPhase(id, 1, models.PhaseCompleted, 2)
	if got := done.Passes[1].Runs[0].FinalMessage; !strings.Contains(got, "number 2") {
		t.Fatalf("pass 2 did not run: %q", got)
	}
}

func TestReasonIsInTheNextTaskTextAndConverges(t *testing.T) {
	h := newHouse(t)
	h.write("check.sh", "grep -q , a.txt || { echo 'a.txt needs a comma'; exit 3; }\n")
	h.git("-C", h.repo, "add", "-A")
	h.git("-C", h.repo, "commit", "-q", "-m", "a check")
	p := shell("fix", `if grep -q 'needs a comma' "$DONEWHEN_TASK_FILE"; then echo 'a,b' > a.txt; else echo ab > a.txt; fi`)
	p.DoneWhen = "- the file is right -> run: bash check.sh"
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseCompleted, 2)
	v := d.Passes[0].Verdict
	if v == nil || v.Met || !strings.Contains(v.Reason, "needs a comma") {
		t.Fatalf("verdict of pass 1: %+v", v)
	}
	if text := d.Passes[0].Pass.TaskText; strings.Contains(text, "needs a comma") {
		t.Fatalf("pass 1 was told what it could not know:\n%s", text)
	}
	text := d.Passes[1].Pass.TaskText
	for _, want := range []string{"Do fix.", "missing 1: the file is right", "exit code 3", "a.txt needs a comma", "pass 2 of at most 3"} {
		if !strings.Contains(text, want) {
			t.Errorf("the task text of pass 2 lacks %q:\n%s", want, text)
		}
	}
}

func TestA5_18_LimitReachedIsExhaustedAndKeepsTheWork(t *testing.T) {
	h := newHouse(t)
	p := shell("try", `echo "$DONEWHEN_PASS" >> tries.txt`)
	p.DoneWhen, p.MaxIterations = "this never appears", 2
	id := h.start(p, shell("later", "true"))
	d := h.wantPhase(id, 1, models.PhaseExhausted, 2)
	h.wantPhase(id, 2, models.PhasePending, 0)
	h.wantPlan(id, models.PlanWaiting)
	if d.Passes[1].Verdict == nil {
		t.Fatal("the last pass was not judged")
	}
	must(t, h.engine.MorePasses(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, 1, ""))
	h.settle()
	d = h.wantPhase(id, 1, models.PhaseExhausted, 3)
	b, err := os.ReadFile(filepath.Join(h.spaces.Dir(h.repoRef(), id), "tries.txt"))
	must(t, err)
	if string(b) != "1\n2\n3\n" {
		t.Fatalf("work was lost: %q", b)
	}
	must(t, h.engine.AcceptPhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "good enough"))
	h.settle()
	if d = h.wantPhase(id, 1, models.PhaseCompleted, 3); !d.Phase.Overridden {
		t.Fatal("an accepted phase must be shown as an override")
	}
	h.wantPhase(id, 2, models.PhaseCompleted, 1)
}

func TestSameTreeAndResultsStall(t *testing.T) {
	h := newHouse(t)
	p := shell("idle", "echo nothing new")
	p.DoneWhen, p.MaxIterations = "this never appears", 5
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseStalled, 2)
	if v := d.Passes[1].Verdict; v.ReusedFrom == nil {
		t.Errorf("identical evidence was judged again: %+v", v)
	}
	h.wantPlan(id, models.PlanWaiting)
}

func TestFailedRunWithConditionSpendsThePassAndAsksNobody(t *testing.T) {
	h := newHouse(t, withJudge(judgeFunc(func(dod.Question) (string, error) { t.Error("asked"); return "", nil })))
	p := shell("boom", "echo oh no; exit 7")
	p.Agents = append(p.Agents, models.AgentSpec{Runtime: "shell", Name: "second", Command: "touch second-ran"})
	p.DoneWhen, p.MaxIterations = "all is well", 2
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseExhausted, 2)
	for _, pass := range d.Passes {
		if pass.Verdict.Kind != models.VerdictRun || !strings.Contains(pass.Verdict.Reason, "7") || !strings.Contains(pass.Verdict.Reason, "oh no") {
			t.Errorf("verdict: %+v", pass.Verdict)
		}
		if pass.Runs[1].Status != models.RunCancelled || pass.Runs[1].StartedAt != nil {
			t.Errorf("a later run of a failed pass: %+v", pass.Runs[1])
		}
	}
}

func TestA5_08_FailedPhaseFailsThePlanAndOffersRetry(t *testing.T) {
	h := newHouse(t)
	id := h.start(shell("a", "true"), shell("b", "test -e ok.txt"), shell("c", "true"), shell("d", "true"))
	h.wantPlan(id, models.PlanFailed)
	b := h.wantPhase(id, 2, models.PhaseFailed, 1)
	h.wantPhase(id, 3, models.PhasePending, 0)
	h.wantPhase(id, 4, models.PhasePending, 0)
	must(t, h.engine.RetryPhase(h.ctx, lead, b.Phase.ID, *b.Phase.PassID, false, ""))
	h.settle()
	h.wantPlan(id, models.PlanFailed)
	must(t, os.WriteFile(filepath.Join(h.spaces.Dir(h.repoRef(), id), "ok.txt"), nil, 0o644))
	b = h.phase(id, 2)
	must(t, h.engine.RetryPhase(h.ctx, lead, b.Phase.ID, *b.Phase.PassID, false, ""))
	h.settle()
	h.wantPlan(id, models.PlanFinished)
}

func TestJudgeInTroubleNeverMeetsAndSpendsNoPass(t *testing.T) {
	for name, judge := range map[string]judgeFunc{
		"prose":       func(dod.Question) (string, error) { return "Looks good to me: met!", nil },
		"nothing":     func(dod.Question) (string, error) { return "", nil },
		"string true": func(dod.Question) (string, error) { return `{"met":"true","reason":"ok"}`, nil },
		"two objects": func(dod.Question) (string, error) {
			return `{"met":true,"reason":"a"} {"met":true,"reason":"b"}`, nil
		},
		"error": func(dod.Question) (string, error) { return `{"met":true,"reason":"ok"}`, errors.New("exit status 1") },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, withJudge(judge))
			p := shell("work", "echo done > d.txt; echo ran >> \"$HOME/runs\"")
			p.DoneWhen = "the work is good"
			id := h.start(p)
			h.Forward(time.Hour)
			h.settle()
			h.Forward(time.Hour)
			h.settle()
			d := h.wantPhase(id, 1, models.PhaseNeedsAttention, 1)
			if d.Phase.Iteration != 0 || d.Passes[0].Pass.Status == models.PassMet {
				t.Fatalf("%+v", d.Phase)
			}
			vs, err := h.store.VerdictsOf(h.ctx, d.Passes[0].Pass.ID)
			must(t, err)
			if len(vs) != 3 {
				t.Fatalf("%d tries, want 3", len(vs))
			}
			for _, v := range vs {
				if v.Met || v.Kind == models.VerdictGiven {
					t.Fatalf("verdict %+v", v)
				}
			}
			// Judge again by a person: still no agent runs.
			must(t, h.engine.JudgeAgain(h.ctx, lead, d.Phase.ID, *d.Phase.PassID))
			h.settle()
			b, err := os.ReadFile(filepath.Join(h.dir, "homes", id, "agents", "runs"))
			must(t, err)
			if string(b) != "ran\n" {
				t.Fatalf("the agent ran again: %q", b)
			}
		})
	}
}

func TestAgentThatEchoesItsTaskNeverPassesByIt(t *testing.T) {
	h := newHouse(t)
	p := shell("parrot", `cat "$DONEWHEN_TASK_FILE"; cp "$DONEWHEN_TASK_FILE" notes.md; sed 's/^/> /' "$DONEWHEN_TASK_FILE"; echo pass $DONEWHEN_PASS >> a.txt`)
	p.Task = "Make the migration finished and say so.\n- migration finished"
	p.DoneWhen, p.MaxIterations = "- migration finished\n- all rows moved -> match: /all rows moved/", 3
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseExhausted, 3)
	for _, pass := range d.Passes {
		for _, r := range engine.Results(*pass.Verdict) {
			if r.Status == dod.Passed {
				t.Errorf("pass %d: %q passed by an echo: %+v", pass.Pass.Number(), r.Criterion.Text, r.Match)
			}
		}
	}
}

func TestCheckThatChangesTrackedFilesFailsAndTheyArePutBack(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "echo two >> a.txt")
	p.DoneWhen, p.MaxIterations = "- it holds -> run: echo spoiled > a.txt", 1
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseExhausted, 1)
	if r := d.Passes[0].Verdict.Reason; !strings.Contains(r, "a.txt") {
		t.Errorf("the reason does not name the file: %s", r)
	}
	b, err := os.ReadFile(filepath.Join(h.spaces.Dir(h.repoRef(), id), "a.txt"))
	must(t, err)
	if string(b) != "one\ntwo\n" {
		t.Fatalf("a.txt is %q", b)
	}
}
