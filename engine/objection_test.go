package engine_test

import (
	"path/filepath"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

// An agent that objects pauses its phase: nobody is asked, nothing is spent.
func TestAnObjectionPausesThePhase(t *testing.T) {
	asked := 0
	judge := judgeFunc(func(dod.Question) (string, error) { asked++; return `{"met":true,"reason":"fine"}`, nil })
	objecting := func(h *house) (string, models.PhaseDetail) {
		asked = 0
		p := shell("work", `echo ran >> "$HOME/runs"; echo work > w.txt; echo "I looked at it."; echo "**DONEWHEN OBJECTION:** the port 80 cannot be bound here"`)
		p.DoneWhen = "it listens on port 80"
		id := h.start(p, shell("later", "true"))
		d := h.wantPhase(id, 1, models.PhaseNeedsAttention, 1)
		h.wantPlan(id, models.PlanWaiting)
		if d.Phase.Reason != "The agent objects: the port 80 cannot be bound here" {
			t.Errorf("reason %q", d.Phase.Reason)
		}
		if asked != 0 || d.Passes[0].Pass.Status != models.PassJudging || d.Passes[0].Verdict != nil || d.Phase.Iteration != 0 {
			t.Errorf("asked %d times, pass %+v", asked, d.Passes[0])
		}
		return id, d
	}
	h := newHouse(t, withJudge(judge))

	id, d := objecting(h)
	must(t, h.engine.JudgeAgain(h.ctx, lead, d.Phase.ID, *d.Phase.PassID)) // judge anyway
	h.settle()
	h.wantPhase(id, 1, models.PhaseCompleted, 1)
	if got := h.read(filepath.Join(h.dir, "homes", id, "agents", "runs")); asked != 1 || got != "ran\n" {
		t.Errorf("asked %d times, runs %q", asked, got)
	}

	id, d = objecting(h)
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "Take port 8080."))
	h.settle()
	d = h.phase(id, 1)
	if len(d.Passes) != 2 || d.Passes[0].Pass.Status != models.PassSuperseded || !strings.Contains(d.Passes[1].Pass.TaskText, "Take port 8080.") {
		t.Errorf("%+v", d.Passes)
	}

	id, d = objecting(h)
	must(t, h.engine.AcceptPhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "the agent is right"))
	h.settle()
	if ph := h.wantPhase(id, 1, models.PhaseCompleted, 1).Phase; !ph.Overridden || asked != 0 {
		t.Errorf("%+v, asked %d times", ph, asked)
	}
}

// An objection that quotes the task keeps what stands behind the quotation.
func TestAnObjectionMayQuoteTheTask(t *testing.T) {
	h := newHouse(t, withJudge(judgeFunc(func(dod.Question) (string, error) { return `{"met":true,"reason":"fine"}`, nil })))
	p := shell("work", `echo 'DONEWHEN OBJECTION: "Bind the port 80." cannot be done here'`)
	p.Task, p.DoneWhen = "Bind the port 80.", "it listens"
	d := h.wantPhase(h.start(p), 1, models.PhaseNeedsAttention, 1)
	if want := `The agent objects: "…" cannot be done here`; d.Phase.Reason != want {
		t.Errorf("reason %q, want %q", d.Phase.Reason, want)
	}
}

// Whoever repeats the task text, however wrapped, objects to nothing; neither do
// runs that failed, quotations, and phases without a condition.
func TestWhatIsNoObjection(t *testing.T) {
	h := newHouse(t, withJudge(judgeFunc(func(dod.Question) (string, error) { return `{"met":true,"reason":"fine"}`, nil })))
	met := func(name string, p engine.NewPhase) {
		t.Helper()
		id := h.start(p)
		if ph := h.phase(id, 1).Phase; ph.Status != models.PhaseCompleted {
			t.Errorf("%s: %s, %s", name, ph.Status, ph.Reason)
		}
	}
	with := func(command string) engine.NewPhase {
		p := shell("work", command)
		p.DoneWhen = "it is good"
		return p
	}
	met("the whole task text", with(`cat "$DONEWHEN_TASK_FILE"`))
	met("wrapped at the mark", with(`sed 's/begins with /begins with\n/' "$DONEWHEN_TASK_FILE"`))
	met("wrapped narrowly", with(`fold -s -w 40 "$DONEWHEN_TASK_FILE"`))
	met("no reason", with(`echo "DONEWHEN OBJECTION:"`))
	met("the task as the reason", with(`echo "DONEWHEN OBJECTION: $(head -n 1 "$DONEWHEN_TASK_FILE")"`))
	met("a quotation", with(`echo "> DONEWHEN OBJECTION: no"; echo "I could say DONEWHEN OBJECTION: no"`))
	met("no condition", shell("work", `echo "DONEWHEN OBJECTION: why"`))

	p := with(`echo "DONEWHEN OBJECTION: why"; exit 3`)
	p.MaxIterations = 1
	if ph := h.wantPhase(h.start(p), 1, models.PhaseExhausted, 1).Phase; strings.Contains(ph.Reason, "objects") && !strings.Contains(ph.Reason, "exit code 3") {
		t.Errorf("a failed run: %s", ph.Reason)
	}
}
