package engine_test

import (
	"path/filepath"
	"strings"
	"testing"

	"donewhen/engine"
	"donewhen/models"
)

// mender is a `run:` check that changes what it should look at, so that it would
// pass the second time, and waits then until it is let go.
func (h *house) mender() (command, at string, letGo func()) {
	at, goOn := filepath.Join(h.dir, "at"), filepath.Join(h.dir, "go")
	command = `if grep -q good f.txt; then exit 0; fi; echo good > f.txt; echo x > left.txt; touch ` + at + `; while [ ! -e ` + goOn + ` ]; do sleep 0.05; done; grep -q good f.txt`
	return command, at, func() { must(h.t, writeFile(goOn, "")) }
}

// bad is a phase whose agent does the wrong thing.
func bad() engine.NewPhase { return shell("work", "echo bad > f.txt") }

// checksNothingAway: the check's own changes are nobody's work, and copies of them are kept.
func (h *house) checksNothingAway(id string) {
	h.t.Helper()
	if got := h.read(h.workFile(id, "f.txt")); got != "bad\n" || exists(h.workFile(id, "left.txt")) {
		h.t.Errorf("f.txt is %q, left.txt is there: %v", got, exists(h.workFile(id, "left.txt")))
	}
	events, err := h.store.EventsOf(h.ctx, id, 0, 200)
	must(h.t, err)
	said := ""
	for _, e := range events {
		if e.Kind == "plan.put_back" {
			said += e.Reason
		}
		if e.Kind == "plan.found_changes" {
			h.t.Errorf("recorded as found: %s", e.Reason)
		}
	}
	if !strings.Contains(said, "f.txt") || !strings.Contains(said, "left.txt") {
		h.t.Errorf("the activity says of what was put back: %q", said)
	}
}

// A server that dies while a check is at work leaves what the check had changed in
// the workspace. It is put back before anything is recorded: no check makes itself true.
func TestACrashDuringACheckMakesNothingTrue(t *testing.T) {
	for name, made := range map[string]func(command string) engine.NewPlan{
		"of the definition of done": func(command string) engine.NewPlan {
			return engine.NewPlan{Dod: "- (must) good -> run: " + command, Phases: []engine.NewPhase{bad()}}
		},
		"of a condition": func(command string) engine.NewPlan {
			ph := bad()
			ph.DoneWhen, ph.MaxIterations = "- good -> run: "+command, 1
			return engine.NewPlan{Phases: []engine.NewPhase{ph}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, quiet)
			command, at, letGo := h.mender()
			id := h.createWith(made(command))
			must(t, h.engine.StartPlan(h.ctx, lead, id))
			eventually(t, "the check begins", func() bool { _, _ = h.engine.Once(h.ctx); return exists(at) })
			h.crash()
			h.restart()
			h.checksNothingAway(id)
			letGo()
			h.settle()
			if g := h.gate(id); g.State.Open {
				t.Errorf("the gate is open: %s", g.State.Sentence)
			}
			if ph := h.phase(id, 1).Phase; ph.DoneWhen != "" && ph.Status == models.PhaseCompleted {
				t.Error("the phase is completed")
			}
		})
	}
}

// Whoever asks to apply while a check is at work records nothing of what the check
// has changed.
func TestApplyDuringACheckRecordsNothing(t *testing.T) {
	h := newHouse(t)
	command, at, letGo := h.mender()
	id := h.createWith(engine.NewPlan{Dod: "- (must) good -> run: " + command, Phases: []engine.NewPhase{bad()}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	eventually(t, "the check begins", func() bool { _, _ = h.engine.Once(h.ctx); return exists(at) })
	g := h.gate(id)
	wantErrCode(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID), models.CodeConflict)
	letGo()
	h.settle()
	h.checksNothingAway(id)
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	if g := h.gate(id); g.State.Open {
		t.Errorf("the gate is open: %s", g.State.Sentence)
	}
}
