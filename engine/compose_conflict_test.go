package engine_test

import (
	"strings"
	"testing"

	"donewhen/engine"
	"donewhen/models"
)

// Another pass of a plan that conflicts with its target is told so, and how to get
// the target: an agent that does as it is told opens the gate, and both sides stay.
func TestAnotherPassResolvesAConflict(t *testing.T) {
	h := newHouse(t)
	work := shell("work", `if [ "$DONEWHEN_PASS" = 1 ]; then echo mine > a.txt; else
  git add -A && git -c user.name=a -c user.email=a@b commit -q -m mine
  eval "$(grep '^  git fetch' "$DONEWHEN_TASK_FILE")"
  printf 'hers\nmine\n' > a.txt
  git add -A && git -c user.name=a -c user.email=a@b commit -q -m merged
fi`)
	id := h.createWith(engine.NewPlan{Dod: "- a.txt is there -> file: a.txt", Phases: []engine.NewPhase{work}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	d := h.wantPhase(id, 1, models.PhaseCompleted, 1)
	if strings.Contains(d.Passes[0].Pass.TaskText, "target branch") {
		t.Error("the first pass is told of a conflict")
	}
	h.write("a.txt", "hers\n")
	h.write("other.txt", "hers\n")
	h.git("-C", h.repo, "add", "-A")
	h.git("-C", h.repo, "commit", "-q", "-m", "by somebody else")
	h.Forward(1 << 40) // what the page was shown is old
	if g := h.gate(id); g.State.Open || !strings.Contains(codes(g), "conflict") {
		t.Fatalf("open %v: %s", g.State.Open, codes(g))
	}
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
	h.settle()
	text := h.wantPhase(id, 1, models.PhaseCompleted, 2).Passes[1].Pass.TaskText
	for _, want := range []string{"=== The target branch (written by donewhen) ===", "Merge main into your branch", "  git fetch ", " refs/origin/main && git merge FETCH_HEAD\n", "conflict in: a.txt\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	g := h.gate(id)
	if !g.State.Open {
		t.Fatalf("closed: %s", codes(g))
	}
	if notes := strings.Join(g.State.Notes, "\n"); !strings.Contains(notes, "The work settles a conflict with main by itself in a.txt: look") {
		t.Errorf("the gate does not say who settled the conflict: %q", notes)
	}
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	h.wantPlan(id, models.PlanApplied)
	if m := h.detail(id).Attempts[0].Message; !strings.Contains(m, "\nDonewhen-Conflict-Settled: a.txt\n") {
		t.Errorf("the merge commit says:\n%s", m)
	}
	for file, want := range map[string]string{"a.txt": "hers\nmine", "other.txt": "hers"} {
		if got := h.git("-C", h.repo, "show", "main:"+file); strings.TrimSpace(got) != want {
			t.Errorf("%s is %q", file, got)
		}
	}
}
