package engine_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

// The judge of a definition of done, and `absent:`, look at what apply would
// merge: also at what a person changed after the last pass.
func TestAnEvaluationLooksAtWhatIsMerged(t *testing.T) {
	var seen []string
	h := newHouse(t, withJudge(judgeFunc(func(q dod.Question) (string, error) {
		seen = append(seen, q.Prompt)
		if strings.Contains(q.Prompt, "BACKDOOR") {
			return `{"met":false,"reason":"there is one"}`, nil
		}
		return saysMet, nil
	})))
	id := h.createWith(engine.NewPlan{Dod: "- no backdoor in the change -> judge\n- no key file -> absent: /secret\\.key/", Phases: []engine.NewPhase{shell("work", "echo x > made.txt")}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	if g := h.gate(id); !g.State.Open {
		t.Fatalf("closed at first: %+v", g.State)
	}
	must(t, writeFile(h.workFile(id, "by-hand.txt"), "BACKDOOR\n"))
	must(t, writeFile(h.workFile(id, "secret.key"), ""))
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	g := h.gate(id)
	for i, r := range g.Summary.Results {
		if r.Status != dod.Failed {
			t.Errorf("criterion %d is %s: %s", i+1, r.Status, r.Reasoning)
		}
	}
	if last := seen[len(seen)-1]; !strings.Contains(last, "secret.key") {
		t.Errorf("the judge is not told of the new file:\n%s", last)
	}
}

// What was too long to be kept is not known to be clean, also where nothing of it
// was kept: absence cannot be shown, and the judge is not told that there is none.
func TestNothingKeptOfADiffIsNotNothing(t *testing.T) {
	var seen string
	h := newHouse(t, withJudge(judgeFunc(func(q dod.Question) (string, error) { seen = q.Prompt; return saysMet, nil })))
	p := shell("work", `head -c 34000000 /dev/zero | tr '\0' a > a-bundle.js; printf 'fmt.Println("debug")\n' > b.go`)
	p.DoneWhen = `- no debug output -> absent: /fmt\.Println/`
	id := h.createWith(engine.NewPlan{Dod: p.DoneWhen, Phases: []engine.NewPhase{p}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	if d := h.phase(id, 1); d.Phase.Status == models.PhaseCompleted {
		t.Errorf("completed: %+v", engine.Results(*d.Passes[0].Verdict))
	}
	must(t, h.engine.AcceptPhase(h.ctx, lead, h.phase(id, 1).Phase.ID, *h.phase(id, 1).Phase.PassID, "for the test"))
	h.settle()
	if g := h.gate(id); g.State.Open || g.Summary.Results[0].Status != dod.Skipped {
		t.Errorf("the plan's: %+v", g.Summary.Results)
	}
	p.DoneWhen = "- it is tidy -> judge"
	h.start(p)
	if strings.Contains(seen, "### Added lines: none") || !strings.Contains(seen, "there is more that is not shown") {
		t.Errorf("the judge is told:\n%.3000s", seen)
	}
}

// A log that was lost is not an empty one.
func TestALostLogShowsNoAbsence(t *testing.T) {
	h := newHouse(t)
	id := h.createWith(engine.NewPlan{Dod: "- no panic -> absent: /panic/", Phases: []engine.NewPhase{shell("work", "echo panic: x; echo x > made.txt; seq 1 5000; echo done")}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	if g := h.gate(id); g.Summary.Results[0].Status != dod.Failed {
		t.Fatalf("%+v", g.Summary.Results)
	}
	h.engine.Close()
	h.crash()
	for _, name := range []string{"logs.db", "logs.db-wal", "logs.db-shm"} {
		_ = removeFile(filepath.Join(h.dir, name))
	}
	h.restart()
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	if g := h.gate(id); g.State.Open || g.Summary.Results[0].Status != dod.Skipped {
		t.Errorf("%+v", g.Summary.Results)
	}
}

// A later phase runs again because an earlier one does. Its own work is still in
// the tree, and so it is still looked at: for what must not be there, and for what
// must.
func TestALaterPhaseKeepsItsWorkInSight(t *testing.T) {
	h := newHouse(t)
	for name, tc := range map[string]struct {
		line, condition string
		want            models.PhaseStatus
	}{
		"what must not be there": {"fmt.Println", `- no debug output -> absent: /fmt\.Println/`, models.PhaseExhausted},
		"what must be there":     {"func Export", `- exported -> match: /func Export/`, models.PhaseCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			two := shell("two", fmt.Sprintf("[ -e two.go ] || echo '%s' > two.go; echo looked", tc.line))
			two.DoneWhen, two.MaxIterations = tc.condition, 1
			id := h.start(shell("one", "echo x >> one.txt"), two)
			h.wantPhase(id, 2, tc.want, 1)
			one := h.phase(id, 1)
			must(t, h.engine.AnotherPass(h.ctx, lead, one.Phase.ID, *one.Phase.PassID, ""))
			h.settle()
			h.wantPhase(id, 2, tc.want, 2)
			// Where the tree goes back, the work is gone, and nothing of it is counted.
			one = h.phase(id, 1)
			must(t, h.engine.RetryPhase(h.ctx, lead, one.Phase.ID, *one.Phase.PassID, true, ""))
			h.settle()
			h.wantPhase(id, 2, tc.want, 3)
		})
	}
}

// Of a definition of done that was taken away nothing is said in the merge commit,
// and who saw its results did not see what is applied.
func TestARemovedDefinitionOfDoneSaysNothing(t *testing.T) {
	h := newHouse(t)
	id := h.createWith(engine.NewPlan{Dod: "- made -> file: made.txt", Phases: []engine.NewPhase{shell("work", "echo x > made.txt")}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	seen := h.gate(id)
	if !seen.State.Open {
		t.Fatalf("%+v", seen.State)
	}
	must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{}, "We do without.", ""))
	wantErrCode(t, h.engine.Apply(h.ctx, lead, id, seen.Commit, seen.EvaluationID), models.CodeConflict)
	now := h.gate(id)
	must(t, h.engine.Apply(h.ctx, lead, id, now.Commit, now.EvaluationID))
	h.wantPlan(id, models.PlanApplied)
	if m := h.detail(id).Attempts[0].Message; !strings.Contains(m, "Donewhen-DoD: none\n") || !strings.Contains(m, "Donewhen-DoD-Changed: made (lea: We do without.)") || strings.Contains(m, "passed") {
		t.Errorf("the merge commit says:\n%s", m)
	}
}

// However often phases run again: what a phase made is looked at as long as it is
// there, and what another phase made is not taken for its own, for or against it.
func TestAPhaseAnswersForItsOwnWorkAlone(t *testing.T) {
	again := func(h *house, id string, n int, fromStart bool) {
		t.Helper()
		d := h.phase(id, n)
		must(t, h.engine.RetryPhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, fromStart, ""))
		h.settle()
	}
	runs := func(first, later string) string {
		return fmt.Sprintf(`n=$(cat ../$DONEWHEN_PHASE.n 2>/dev/null || echo 0); echo $((n+1)) > ../$DONEWHEN_PHASE.n; if [ $n = 0 ]; then %s; else %s; fi`, first, later)
	}
	t.Run("its own fault stays, though the tree went back to where it was there already", func(t *testing.T) {
		h := newHouse(t)
		two := shell("two", runs(`printf 'alpha\nDEBUG\n' > two.txt`, `echo alpha > other.txt`))
		two.DoneWhen, two.MaxIterations = "- alpha -> match: /alpha/\n- no debug -> absent: /DEBUG/", 1
		id := h.start(shell("zero", "echo 0 >> zero.txt"), shell("one", "echo 1 >> one.txt"), two)
		h.wantPhase(id, 3, models.PhaseExhausted, 1)
		again(h, id, 1, false)
		h.wantPhase(id, 3, models.PhaseExhausted, 2)
		again(h, id, 2, true)
		h.wantPhase(id, 3, models.PhaseExhausted, 3)
	})
	t.Run("an earlier phase's later work is not its own", func(t *testing.T) {
		h := newHouse(t)
		one := shell("one", runs("echo 1 > one.txt", "echo 'func TestLogin' > login_test.go"))
		two := shell("two", "echo looked")
		two.DoneWhen, two.MaxIterations = "- a test is written -> match: /func Test/", 1
		id := h.start(one, two)
		h.wantPhase(id, 2, models.PhaseExhausted, 1)
		again(h, id, 1, false)
		h.wantPhase(id, 2, models.PhaseExhausted, 2)
	})
	t.Run("nor is it held against it", func(t *testing.T) {
		h := newHouse(t)
		one := shell("one", runs("echo 1 > one.txt", "echo DEBUG=1 > one.txt"))
		two := shell("two", "echo fine > two.txt")
		two.DoneWhen, two.MaxIterations = "- no debug -> absent: /DEBUG/\n- fine -> match: /fine/", 1
		id := h.start(one, two)
		h.wantPhase(id, 2, models.PhaseCompleted, 1)
		again(h, id, 1, false)
		h.wantPhase(id, 2, models.PhaseCompleted, 2)
	})
}
