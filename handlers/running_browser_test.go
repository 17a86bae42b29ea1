package handlers

import (
	"fmt"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
)

// A plan while an agent is at work, with what phases like it make one expect; its
// run while it prints nothing, the runs behind it, and what becomes of them when
// the plan is paused and cancelled.
func TestWorkUnderWayInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	a := w.album(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	quick := sh("Tidy", `n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n; echo "pass $n of it"`)
	quick.DoneWhen, quick.MaxIterations = "pass 2 of it", 4
	for range 3 { // what the forecast counts
		w.done(engine.NewPlan{Title: "Tidy the fixtures", Phases: []engine.NewPhase{quick}})
	}
	h := hold(t)
	slow := quick
	slow.Agents = []models.AgentSpec{{Runtime: "shell", Command: h.command()}, {Runtime: "shell", Name: "reviewer", Command: "true"}}
	id := w.create(engine.NewPlan{Title: "Tidy the other fixtures", Goal: "None of them is needed twice.", Dod: "- They are tidy -> run: true", Phases: []engine.NewPhase{slow, sh("Write it down", "true")}})
	must(w.eng.StartPlan(t.Context(), w.lead(), id))
	a.page("plan-started", "/plans/"+id, `[data-phase]`) // nobody has taken its first pass
	w.once()
	h.wait()
	w.pass(4 * time.Minute)
	runs := w.detail(id).Phases[0].Passes[0].Runs
	if len(runs) != 2 || runs[0].Status != models.RunRunning || runs[1].Status != models.RunQueued {
		t.Fatalf("the runs: %+v", runs)
	}
	a.page("plan-running", "/plans/"+id, "[data-forecast]")
	a.page("run-silent", fmt.Sprintf("/runs/%d", runs[0].ID), "#run")
	a.page("run-queued", fmt.Sprintf("/runs/%d", runs[1].ID), "#run")
	a.page("pass-running", fmt.Sprintf("/passes/%d", w.detail(id).Phases[0].Passes[0].Pass.ID), "#result")
	a.page("inbox-running", "/", "#inbox")
	must(w.eng.PausePlan(t.Context(), w.lead(), id))
	a.page("plan-paused", "/plans/"+id, "#gate")
	must(w.eng.CancelPlan(t.Context(), w.lead(), id, "It is not needed any more."))
	w.eng.Drain()
	w.settle()
	a.page("run-cancelled", fmt.Sprintf("/runs/%d", runs[0].ID), "#run")
	a.page("run-never-begun", fmt.Sprintf("/runs/%d", runs[1].ID), "#run")
}

// A run in each of its ends.
func TestRunEndsInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	a := w.album(t)
	failed := w.done(engine.NewPlan{Title: "Run the tests", Phases: []engine.NewPhase{sh("Run them", `printf 'ok  ledger\n\033[31mFAIL\033[0m export\n' ; echo 'export_test.go:12: twice written' >&2; exit 3`)}})
	a.page("run-failed", fmt.Sprintf("/runs/%d", w.onePhase(failed).Passes[0].Runs[0].ID), "#L1")
	late := sh("Wait for it", "echo waiting; sleep 30")
	late.Agents[0].Limit = 1
	timed := w.done(engine.NewPlan{Title: "Wait for the mirror", Phases: []engine.NewPhase{late}})
	if run := w.onePhase(timed).Passes[0].Runs[0]; run.Status != models.RunTimedOut {
		t.Fatalf("the run %s", run.Status)
	} else {
		a.page("run-timed-out", fmt.Sprintf("/runs/%d", run.ID), "#run")
	}
	missing := states["attention"](w)
	a.page("run-errored", fmt.Sprintf("/runs/%d", w.onePhase(missing).Passes[0].Runs[2].ID), "#run")
	silent := w.done(engine.NewPlan{Title: "Say nothing", Phases: []engine.NewPhase{sh("Nothing", "true")}})
	a.page("run-without-a-word", fmt.Sprintf("/runs/%d", w.onePhase(silent).Passes[0].Runs[0].ID), "#run")
}
