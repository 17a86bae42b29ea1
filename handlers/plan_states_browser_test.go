package handlers

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

// moods is a judge whose answer depends on the criterion.
func moods(until time.Time) voice {
	return voice{"openai:careful", func(q dod.Question) (string, error) {
		switch q.Criterion.Text {
		case "It waits for quota":
			return "", &dod.QuotaError{Until: until, Err: errors.New("five-hour limit reached")}
		case "Its judge is in trouble":
			return "", errors.New("503 Service Unavailable: the model is overloaded, please try again later")
		case "Its judge mumbles":
			return "Well, it depends.", nil
		}
		return `{"met":false,"reason":"The last chapter is missing."}`, nil
	}}
}

// A plan in the states that the main job does not pass through, each reached by
// what really leads there.
func TestPlanStatesInABrowser(t *testing.T) {
	clock := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) // where a site's clock begins
	w := newWorks(t, moods(clock.Add(3*time.Hour)))
	a := w.album(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	judged := func(name, command, doneWhen string) engine.NewPhase {
		p := sh(name, command)
		p.DoneWhen, p.MaxIterations = doneWhen, 4
		return p
	}
	show := func(name, id string, status models.PhaseStatus, selector string) {
		t.Helper()
		if got := w.detail(id).Phases[0].Phase.Status; got != status {
			t.Errorf("%s: the phase is %s, want %s", name, got, status)
		}
		a.page(name, "/plans/"+id, selector)
	}
	const dodText = "- The guide is there -> file: guide.md\n- (must) Docs have read it -> human: lead"

	stalled := w.done(engine.NewPlan{Title: "Write the operator's guide", Dod: dodText, Phases: []engine.NewPhase{judged("Write it", "echo '# Guide' > guide.md; echo written", "- All chapters are there"), sh("Publish it", "true")}})
	show("plan-stalled", stalled, models.PhaseStalled, "[data-choice]")
	objected := w.done(engine.NewPlan{Title: "Bring the start-up below one second", Dod: "- It starts quickly -> run: true", Phases: []engine.NewPhase{
		judged("Measure and mend", "echo 'DONEWHEN OBJECTION: The criterion asks for a start below one second on the test machine, but loading its dictionary alone takes two. Either the limit or the dictionary has to change.'", "- The start takes less than a second")}})
	show("plan-objection", objected, models.PhaseNeedsAttention, "[data-choice]")
	quota := w.done(engine.NewPlan{Title: "Translate the handbook", Phases: []engine.NewPhase{judged("Translate", "date > de.md; echo translated", "- It waits for quota")}})
	show("plan-quota", quota, models.PhaseJudging, "[data-again]")
	if mark := passMark(w.onePhase(quota).Passes[0]).Word; mark != "waiting for quota" {
		t.Errorf("a pass whose judge has no quota is called %q", mark)
	}
	trouble := w.done(engine.NewPlan{Title: "Sort the tickets", Phases: []engine.NewPhase{judged("Sort", "echo sorted > tickets.txt", "- Its judge is in trouble")}})
	show("plan-judge-trouble", trouble, models.PhaseJudging, "[data-again]")
	for range 2 { // the second and the third try
		w.pass(time.Minute)
		w.settle()
	}
	show("plan-judge-gone", trouble, models.PhaseNeedsAttention, "[data-choice]")
	mumbled := w.done(engine.NewPlan{Title: "Name the new module", Phases: []engine.NewPhase{judged("Name it", "echo ledger > name.txt", "- Its judge mumbles")}})
	for range 2 {
		w.pass(time.Minute)
		w.settle()
	}
	show("plan-judge-mumbles", mumbled, models.PhaseNeedsAttention, "[data-choice]")
	missing := states["attention"](w)
	show("plan-agent-missing", missing, models.PhaseNeedsAttention, "[data-choice]")
	if mark := passMark(w.onePhase(missing).Passes[0]).Word; mark != "agent trouble" {
		t.Errorf("a pass whose agent could not run is called %q", mark)
	}

	accepted := w.done(engine.NewPlan{Title: "Tidy the fixtures", Dod: "- (info) They are small -> run: true", Phases: []engine.NewPhase{judged("Tidy", "echo tidy > fixtures.txt", "- All chapters are there")}})
	must(w.eng.AcceptPhase(t.Context(), w.lead(), w.onePhase(accepted).Phase.ID, w.onePhase(accepted).Passes[1].Pass.ID, "The chapters come with the next release."))
	w.settle()
	show("plan-accepted", accepted, models.PhaseCompleted, `[data-phase="completed"]`)
	rejected := states["awaiting"](w)
	must(w.eng.RejectPhase(t.Context(), w.lead(), w.onePhase(rejected).Phase.ID, w.onePhase(rejected).Passes[0].Pass.ID, "The numbers are last year's."))
	show("plan-rejected", rejected, models.PhaseFailed, `[data-phase="failed"]`)

	conflict := w.done(engine.NewPlan{Title: "Rename the first line", Dod: "- ok -> run: true", Phases: []engine.NewPhase{sh("Rename", "echo two > a.txt")}})
	nothing := w.done(engine.NewPlan{Title: "Look for unused flags", Dod: "- ok -> run: true", Phases: []engine.NewPhase{sh("Look", "echo none")}})
	w.write(t, "a.txt", "ours\n")
	w.git(t, "-C", w.repo, "commit", "-q", "-am", "ours")
	show("plan-conflict", conflict, models.PhaseCompleted, `[data-reason="conflict"]`)
	show("plan-nothing-to-apply", nothing, models.PhaseCompleted, "#gate [data-reason]")

	cancelled := w.done(engine.NewPlan{Title: "Move to the other queue", Phases: []engine.NewPhase{sh("Move", "echo moved > queue.txt"), judged("Prove it", "echo no", "- All chapters are there")}})
	must(w.eng.CancelPlan(t.Context(), w.lead(), cancelled, "The other queue is not bought after all."))
	w.settle()
	show("plan-cancelled", cancelled, models.PhaseCompleted, "#gate")
	must(w.eng.CleanUp(t.Context(), w.lead(), cancelled))
	show("plan-cleaned", cancelled, models.PhaseCompleted, "#plan-facts")
	discarded := w.create(engine.NewPlan{Title: "An idea", Phases: []engine.NewPhase{sh("Try it", "true")}})
	must(w.eng.DiscardPlan(t.Context(), w.lead(), discarded, "Twice written."))
	show("plan-discarded", discarded, models.PhaseCancelled, "#gate")

	// What waits and what is over, in the lists.
	a.page("plans-every-state", "/plans", "#plans")
	a.page("inbox-every-state", "/", "[data-waits]")
	for _, id := range []string{stalled, trouble} {
		a.page("pass-"+map[string]string{stalled: "stalled", trouble: "judge-gone"}[id], fmt.Sprintf("/passes/%d", w.detail(id).Phases[0].Passes[0].Pass.ID), "#result")
	}
	a.page("verdict-trouble", fmt.Sprintf("/verdicts/%d", w.detail(mumbled).Phases[0].Passes[0].Verdict.ID), "#verdict")
}
