package handlers

import (
	"errors"
	"fmt"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
)

// The gate and the evaluation behind it, in the states in which something other
// than a criterion is in the way.
func TestGateStatesInABrowser(t *testing.T) {
	w := newWorks(t, voice{"openai:careful", func(q dod.Question) (string, error) {
		return "", errors.New("503 Service Unavailable: the model is overloaded, please try again later")
	}})
	a := w.album(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	plan := func(title, command, text string) string {
		t.Helper()
		return w.done(engine.NewPlan{Title: title, Dod: text, Phases: []engine.NewPhase{sh("Do", command)}})
	}
	trouble := plan("Its judge is away", "echo 1 > b.txt", "- It reads well -> judge\n- It is there -> file: b.txt")
	a.page("plan-evaluation-trouble", "/plans/"+trouble, "#gate [data-reason]")
	a.page("evaluation-trouble", fmt.Sprintf("/evaluations/%d", w.detail(trouble).Evaluation.ID), "h1")

	rejected := plan("A person says no", "echo 1 > c.txt", "- The owner agrees -> human: lead\n- It is there -> file: c.txt")
	must(w.eng.SignOff(t.Context(), w.lead(), rejected, 1, w.detail(rejected).Evaluation.ID, false, "The second table is last year's."))
	a.page("plan-criterion-rejected", "/plans/"+rejected, `[data-reason="rejected"]`)

	dirty := plan("Somebody works there", "echo two > a.txt", "- It is there -> file: a.txt")
	w.write(t, "a.txt", "not committed\n")
	a.page("plan-target-dirty", "/plans/"+dirty, `[data-reason="target_dirty"]`)
	w.git(t, "-C", w.repo, "checkout", "-q", "a.txt")

	huge := plan("It makes a dump", "echo 1 > f.txt; truncate -s 60M core.dump", "- It is there -> file: f.txt")
	a.page("plan-unrecorded", "/plans/"+huge, `[data-reason="unrecorded_files"]`)
	must(w.eng.DiscardPlan(t.Context(), w.lead(), huge, ""))
	a.page("plan-unrecorded-over", "/plans/"+huge, "#gate")

	words := plan("Nothing is required", "echo 1 > e.txt", "- (info) Words")
	a.page("plan-only-informational", "/plans/"+words, `[data-reason]`)

	h := hold(t)
	slow := w.running(sh("Do", "echo 1 > d.txt"))
	must(w.eng.EditDod(t.Context(), w.lead(), slow, engine.NewPlan{Dod: "- The slow tests pass -> run: " + h.command() + "\n- It is there -> file: d.txt"}, "they are slow", ""))
	w.untilEvaluating(slow)
	h.wait()
	a.page("plan-evaluating", "/plans/"+slow, "[data-checking]")
	a.page("evaluation-running", fmt.Sprintf("/evaluations/%d", w.detail(slow).Evaluation.ID), "[data-checking]")
	a.page("inbox-evaluating", "/", "#inbox")
	h.release()
	w.settle()
	first := w.detail(slow).Evaluation.ID
	must(w.eng.EditDod(t.Context(), w.lead(), slow, engine.NewPlan{Dod: "- It is there -> file: d.txt"}, "they are slow", ""))
	a.page("plan-changed-since", "/plans/"+slow, "#gate")
	w.settle()
	a.page("evaluation-passed-by", fmt.Sprintf("/evaluations/%d", first), "h1")
}
