package engine_test

import (
	"slices"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

// An evaluation whose plan goes on leaves the workspace before an agent enters
// it: what its checks change is put back, and that must never be an agent's work.
func TestAnAgentNeverSharesTheWorkspaceWithAnEvaluation(t *testing.T) {
	h := newHouse(t)
	at := h.dir + "/checking"
	one := shell("one", `echo "pass $DONEWHEN_PASS" >> a.txt; echo built`)
	id := h.createWith(engine.NewPlan{Dod: "- slow -> run: touch " + at + "; [ -e " + h.dir + "/fast ] || { echo spoiled > a.txt; sleep 60; }", Phases: []engine.NewPhase{one}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	eventually(t, "the evaluation checks", func() bool { _, _ = h.engine.Once(h.ctx); return exists(at) })
	g := h.gate(id)
	if codes(g) != "evaluating" {
		t.Errorf("gate: %s", codes(g))
	}
	wantErrCode(t, h.engine.Evaluate(h.ctx, lead, id), models.CodeConflict)
	must(t, writeFile(h.dir+"/fast", ""))
	d := h.phase(id, 1)
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "more"))
	h.settle()
	h.wantPlan(id, models.PlanFinished)
	if got := h.read(h.workFile(id, "a.txt")); got != "one\npass 1\npass 2\n" {
		t.Errorf("a.txt is %q", got)
	}
	if g = h.gate(id); !g.State.Open || g.EvaluationID < 2 {
		t.Errorf("evaluation %d, gate: %s", g.EvaluationID, codes(g))
	}
	ev, err := h.store.Evaluation(h.ctx, g.EvaluationID-1)
	must(t, err)
	if ev.Status != models.EvaluationErrored || !strings.Contains(ev.Error, "went on") || ev.EndedAt == nil {
		t.Errorf("the overtaken evaluation: %+v", ev)
	}
}

func TestCancelEndsChecksAndEvaluations(t *testing.T) {
	h := newHouse(t)
	at := h.dir + "/checking"
	slow := "- slow -> run: touch " + at + "; sleep 60"
	judged := shell("one", "echo built")
	judged.DoneWhen = slow
	for name, in := range map[string]engine.NewPlan{
		"while it is judged":    {Phases: []engine.NewPhase{judged}},
		"while it is evaluated": {Dod: slow, Phases: []engine.NewPhase{shell("one", "echo built")}},
	} {
		_ = removeFile(at)
		id := h.createWith(in)
		must(t, h.engine.StartPlan(h.ctx, lead, id))
		eventually(t, name, func() bool { _, _ = h.engine.Once(h.ctx); return exists(at) })
		must(t, h.engine.CancelPlan(h.ctx, lead, id, ""))
		h.engine.Drain() // would take a minute
		h.settle()
		h.wantCancelled(id)
		if ev := h.detail(id).Evaluation; ev != nil && ev.Status == models.EvaluationRunning {
			t.Errorf("%s: the evaluation is still %s", name, ev.Status)
		}
	}
}

// A queued evaluation of a plan that went on is not carried out.
func TestAQueuedEvaluationIsOvertaken(t *testing.T) {
	h := newHouse(t)
	p := h.place(models.PhaseCompleted, true)
	h.giveDod(p.plan)
	must(t, h.engine.Evaluate(h.ctx, lead, p.plan))
	must(t, h.engine.CancelPlan(h.ctx, lead, p.plan, ""))
	h.settle()
	if ev := h.detail(p.plan).Evaluation; ev.Status != models.EvaluationErrored {
		t.Errorf("evaluation %s", ev.Status)
	}
}

// Every kind of line in one definition of done, judged by the final passes.
func TestEvaluationOfAWholeDefinitionOfDone(t *testing.T) {
	h := newHouse(t, func(c *engine.Config) {
		c.Evaluator = judgeFunc(func(q dod.Question) (string, error) { return `{"met":true,"reason":"looked"}`, nil })
		c.Secrets = []string{"hunter2-hunter2"}
	})
	first := shell("write", `echo "pass $DONEWHEN_PASS" > n.txt; echo "said in pass $DONEWHEN_PASS"; echo key hunter2-hunter2`)
	first.DoneWhen = "said in pass 2"
	asked := engine.NewPhase{Name: "write", Task: "Write this into v.txt:\nversion 2.0.1 released", MaxIterations: 1,
		Agents: []models.AgentSpec{{Runtime: "shell", Command: "tail -1 $DONEWHEN_TASK_FILE > v.txt"}}}
	id, g := h.judgedPlan(strings.Join([]string{
		"- said in pass 2",                            // the final pass
		"- said in pass 1",                            // not an earlier one
		"- number -> match: /pass \\d/",               // a pattern
		"- no panic -> absent: /panic/",               // absent
		"- there -> file: n.txt",                      // file
		"- fine -> run: grep -q 'pass 2' n.txt",       // run
		"- good -> judge",                             // the model
		"- looks right -> human",                      // a person
		"- version 2.0.1 released",                    // honest work of a later phase's task
		"- hunter2-hunter2",                           // never evidence
		"- loud -> run: echo hunter2-hunter2; exit 3", // never in a reason
	}, "\n"), first, asked)
	want := []dod.Status{dod.Passed, dod.Failed, dod.Passed, dod.Passed, dod.Passed, dod.Passed, dod.Passed, dod.Skipped, dod.Passed, dod.Failed, dod.Failed}
	for i, r := range g.Summary.Results {
		if r.Status != want[i] {
			t.Errorf("%q: %s, want %s (%s)", r.Criterion.Text, r.Status, want[i], r.Reasoning)
		}
		if strings.Contains(r.Reasoning, "hunter2") {
			t.Errorf("a secret is in the reasoning: %s", r.Reasoning)
		}
	}
	if ev := h.detail(id).Evaluation; ev.Evaluator != "runtime:scripted" || strings.Contains(ev.SummaryJSON+ev.AnswersJSON, "key hunter2") {
		t.Errorf("evaluator %s", ev.Evaluator)
	}
}

// What somebody changed in the workspace outside of any run is recorded with the
// work and stands in the activity with the files' names, whoever finds it.
func TestChangesFoundOutsideARunAreSaid(t *testing.T) {
	h := newHouse(t)
	id, g := h.judgedPlan("- built")
	if !g.State.Open {
		t.Fatalf("gate: %s", codes(g))
	}
	found := func() (out []string) {
		t.Helper()
		events, err := h.store.EventsOf(h.ctx, id, 0, 500)
		must(t, err)
		for _, e := range events {
			if e.Kind == "plan.found_changes" {
				out = append(out, e.Reason)
			}
		}
		return out
	}
	if f := found(); len(f) != 0 {
		t.Fatalf("nothing was changed, and it says %q", f)
	}
	must(t, writeFile(h.workFile(id, "by-hand.txt"), "x\n"))
	wantErrCode(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID), models.CodeConflict)
	if f := found(); len(f) != 1 || f[0] != "by-hand.txt" {
		t.Errorf("found before apply: %q", f)
	}
	must(t, writeFile(h.workFile(id, "later.txt"), "x\n"))
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	if f := found(); len(f) != 2 || !slices.Contains(f, "later.txt") {
		t.Errorf("found before the evaluation: %q", f)
	}
}
