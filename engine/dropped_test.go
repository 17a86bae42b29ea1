package engine_test

import (
	"errors"
	"strings"
	"testing"

	"donewhen/engine"
	"donewhen/models"
)

// A phase's condition is made weaker as openly as the definition of done: with a
// reason, which the gate and the merge commit name until it is asked for again.
func TestNoConditionIsMadeWeakerInSilence(t *testing.T) {
	h := newHouse(t)
	const text = "- (must) the docs are there -> file: docs.md\n- made -> file: made.txt"
	p := shell("work", "echo x > made.txt")
	p.DoneWhen, p.MaxIterations = text, 2
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseExhausted, 2)
	edit := func(doneWhen, reason string) error {
		return h.engine.EditCondition(h.ctx, lead, d.Phase.ID, *h.phase(id, 1).Phase.PassID, engine.Condition{DoneWhen: doneWhen, MaxIterations: 5, Reason: reason})
	}
	const weaker = "- made -> file: made.txt"
	for name, doneWhen := range map[string]string{
		"taken out":            weaker,
		"for information only": "- (info) the docs are there -> file: docs.md\n- made -> file: made.txt",
		"no must any more":     "- the docs are there -> file: docs.md\n- made -> file: made.txt",
		"another check":        "- (must) the docs are there -> file: made.txt\n- made -> file: made.txt",
	} {
		for _, reason := range []string{"", " \n", strings.Repeat("x", 1<<20)} {
			var refused *models.Error
			if err := edit(doneWhen, reason); !errors.As(err, &refused) || refused.Fields["reason"] == "" {
				t.Errorf("%s, with the reason %.5q: %v", name, reason, err)
			}
		}
	}
	if ph := h.phase(id, 1).Phase; ph.DoneWhen != text {
		t.Fatalf("changed all the same: %q", ph.DoneWhen)
	}
	must(t, edit(text+"\n- made once more -> file: made.txt", "")) // more may be asked for without a word
	must(t, edit(weaker, "The docs come with the next plan."))
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
	h.settle()
	h.wantPhase(id, 1, models.PhaseCompleted, 3)
	g := h.gate(id)
	if n := strings.Join(g.State.Notes, "\n"); !g.State.Open || !strings.HasSuffix(g.State.Sentence, "2 required criteria were taken out or changed after the start.") || len(g.State.Notes) != 2 ||
		!strings.Contains(n, "A (must) criterion of phase 1 (work) was taken out or changed after the start by "+lead.Name+": “the docs are there”. Why: The docs come with the next plan.") {
		t.Errorf("open %v: %s\n%s", g.State.Open, g.State.Sentence, n)
	}
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	h.settle()
	h.wantPlan(id, models.PlanApplied)
	if m := h.detail(id).Attempts[0].Message; !strings.Contains(m, "Donewhen-Condition-Changed: phase 1, work: the docs are there (lea: The docs come with the next plan.)\n") {
		t.Errorf("the merge commit says:\n%s", m)
	}
}

// What a condition asks for again is not missing any more; and one phase's line is
// not another's, nor the definition of done's.
func TestALineThatIsAskedForAgainIsNotMissing(t *testing.T) {
	h := newHouse(t)
	p, q := shell("work", "echo x > made.txt"), shell("more", "true")
	p.DoneWhen, p.MaxIterations, q.DoneWhen = "- the docs are there -> file: docs.md\n- so are the notes -> file: notes.md", 1, "- the docs are there -> file: docs.md"
	id := h.createWith(engine.NewPlan{Dod: p.DoneWhen, Phases: []engine.NewPhase{p, q}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	ph := h.wantPhase(id, 1, models.PhaseExhausted, 1).Phase
	for _, step := range []struct{ doneWhen, dropped string }{
		{"- made -> file: made.txt", "so are the notes, the docs are there"},
		{"- made -> file: made.txt\n- the docs are there -> file: docs.md", "so are the notes"},
		{p.DoneWhen, "made"},
	} {
		must(t, h.engine.EditCondition(h.ctx, lead, ph.ID, *ph.PassID, engine.Condition{DoneWhen: step.doneWhen, MaxIterations: 2, Reason: "Asked otherwise."}))
		got := map[string]bool{}
		for _, d := range h.gate(id).Dropped {
			got[d.Text] = true
			if d.Position != 1 || d.Phase != "work" {
				t.Errorf("%+v", d)
			}
		}
		for _, text := range strings.Split(step.dropped, ", ") {
			if !got[text] {
				t.Errorf("%q: %q is not named in %v", step.doneWhen, text, got)
			}
			delete(got, text)
		}
		if len(got) > 0 {
			t.Errorf("%q: %v is asked for again", step.doneWhen, got)
		}
	}
}

// A condition's commands read the plan's values: other values are another condition,
// and come with a reason, which the gate and the merge commit name.
func TestOtherValuesAreAnotherCondition(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "echo bad > f.txt")
	p.DoneWhen, p.MaxIterations = `- f is good -> run: grep -q "$ARG_WANT" f.txt`, 1
	const text = "- made -> file: f.txt\n- (info) wanted {want}"
	id := h.createWith(engine.NewPlan{Dod: text, DodArgs: map[string]string{"want": "good"}, Phases: []engine.NewPhase{p, shell("other", "true")}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	ph := h.wantPhase(id, 1, models.PhaseExhausted, 1).Phase
	weaker := engine.NewPlan{Dod: text, DodArgs: map[string]string{"want": "."}}
	var refused *models.Error
	if err := h.engine.EditDod(h.ctx, lead, id, weaker, "", ""); !errors.As(err, &refused) || !strings.Contains(refused.Fields["reason"], "f is good") {
		t.Fatalf("without a reason: %v", err)
	}
	draft, err := h.engine.DraftDod(h.ctx, lead, h.detail(id).Plan, weaker)
	if must(t, err); len(draft.Drops) != 1 || draft.Drops[0].Text != "f is good" {
		t.Errorf("the form names %+v", draft.Drops)
	}
	must(t, h.engine.EditDod(h.ctx, lead, id, weaker, "Any will do.", ""))
	must(t, h.engine.JudgeAgain(h.ctx, lead, ph.ID, *ph.PassID))
	h.settle()
	h.wantPhase(id, 1, models.PhaseCompleted, 1)
	g := h.gate(id)
	if len(g.Dropped) != 1 || g.Dropped[0].Position != 1 || !strings.Contains(g.State.Sentence, "changed after the start") {
		t.Fatalf("the gate says %q of %+v", g.State.Sentence, g.Dropped)
	}
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	if m := h.detail(id).Attempts[0].Message; !strings.Contains(m, "Donewhen-Condition-Changed: phase 1, work: f is good (lea: Any will do.)\n") {
		t.Errorf("the merge commit says:\n%s", m)
	}
}
