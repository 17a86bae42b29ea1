package engine_test

import (
	"errors"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

// Nobody opens a gate by quietly editing away what keeps it closed: once the plan
// has started it takes a reason, which the gate and the merge commit then name.
func TestNoRequiredCriterionIsEditedAwayInSilence(t *testing.T) {
	h := newHouse(t)
	const text = "- (must) the docs are there -> file: docs.md\n- made -> file: made.txt"
	id := h.createWith(engine.NewPlan{Dod: text, Phases: []engine.NewPhase{shell("work", "echo x > made.txt")}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	if g := h.gate(id); g.State.Open || len(g.State.Notes) > 0 {
		t.Fatalf("%+v", g.State)
	}
	weaker := map[string]string{
		"taken out":            "- made -> file: made.txt",
		"for information only": "- (info) the docs are there -> file: docs.md\n- made -> file: made.txt",
		"no must any more":     "- the docs are there -> file: docs.md\n- made -> file: made.txt",
		"another check":        "- (must) the docs are there -> file: made.txt\n- made -> file: made.txt",
		"nothing at all":       "",
	}
	for name, text := range weaker {
		for _, reason := range []string{"", " \n"} {
			err := h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: text}, reason, "")
			var refused *models.Error
			if !errors.As(err, &refused) || !strings.Contains(refused.Fields["reason"], "the docs are there") {
				t.Errorf("%s, without a reason: %v", name, err)
			}
		}
	}
	if p := h.detail(id).Plan; p.DodSource != text {
		t.Fatalf("changed all the same: %q", p.DodSource)
	}
	// More may be asked for without a word.
	must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: text + "\n- and this"}, "", ""))
	must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: weaker["taken out"]}, "The docs come with the next plan.", ""))
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	g := h.gate(id)
	if !g.State.Open || !strings.HasSuffix(g.State.Sentence, "2 required criteria were taken out or changed after the start.") {
		t.Errorf("open %v: %s", g.State.Open, g.State.Sentence)
	}
	if n := strings.Join(g.State.Notes, "\n"); len(g.State.Notes) != 2 || !strings.Contains(n, "A (must) criterion") || !strings.Contains(n, "the docs are there") ||
		!strings.Contains(n, lead.Name) || !strings.Contains(n, "The docs come with the next plan.") {
		t.Errorf("notes: %s", n)
	}
	// What is asked for again is not missing any more.
	must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: text}, "", ""))
	if g = h.gate(id); len(g.Dropped) != 1 || g.Dropped[0].Text != "and this" {
		t.Errorf("%+v", g.Dropped)
	}
	must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: weaker["taken out"]}, "Still the next plan.", ""))
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	g = h.gate(id)
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	h.settle()
	h.wantPlan(id, models.PlanApplied)
	if m := h.detail(id).Attempts[0].Message; strings.Count(m, "Donewhen-DoD-Changed: ") != 2 || !strings.Contains(m, "Donewhen-DoD-Changed: the docs are there (lea: Still the next plan.)\n") {
		t.Errorf("the merge commit says:\n%s", m)
	}
	if g = h.gate(id); len(g.State.Notes) != 2 {
		t.Errorf("the applied plan tells %q", g.State.Notes)
	}
}

// A draft is nobody's promise yet; and a command's argument, or the number of
// judges, is as much of a criterion as its text.
func TestWhatCountsAsTakenOut(t *testing.T) {
	h := newHouse(t)
	text := `- it runs -> run: test -f "$ARG_FILE"`
	id := h.createWith(engine.NewPlan{Dod: "- x\n- y", Phases: []engine.NewPhase{shell("work", "echo x > made.txt")}})
	must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: text, DodArgs: map[string]string{"file": "never.txt"}}, "", ""))
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	in := engine.NewPlan{Dod: text, DodArgs: map[string]string{"file": "made.txt"}}
	wantErrCode(t, h.engine.EditDod(h.ctx, lead, id, in, "", ""), models.CodeInvalid)
	d, err := h.engine.DraftDod(h.ctx, lead, h.detail(id).Plan, in)
	must(t, err)
	if len(d.Drops) != 1 || d.Drops[0].Check.Kind != dod.CheckRun {
		t.Errorf("the preview tells %+v", d.Drops)
	}
	must(t, h.engine.EditDod(h.ctx, lead, id, in, "It was the wrong file.", ""))
	if g := h.gate(id); len(g.Dropped) != 1 {
		t.Errorf("%+v", g.Dropped)
	}
	wantErrCode(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{}, strings.Repeat("w", 9<<10), ""), models.CodeInvalid)
}

// Two leads edit at once: who saves over what the other changed is told, loses
// nothing, and replaces it only by saving again.
func TestNobodySavesOverAnothersChangeUnseen(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "true")
	p.DoneWhen, p.NeedsApproval = "- one -> run: true", true
	id := h.createWith(engine.NewPlan{Dod: "- one -> run: true", Phases: []engine.NewPhase{p}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	other := models.Actor{ID: 77, Name: "tess", Role: models.RoleLead}

	seen := engine.SeenDod(h.detail(id).Plan)
	must(t, h.engine.EditDod(h.ctx, other, id, engine.NewPlan{Dod: "- one -> run: true\n- (must) reviewed -> human"}, "", seen))
	mine := engine.NewPlan{Dod: "- two -> run: true"}
	err := h.engine.EditDod(h.ctx, lead, id, mine, "wording", seen)
	var refused *models.Error
	if !errors.As(err, &refused) || refused.Code != models.CodeConflict || !strings.Contains(refused.Message, "tess changed the definition of done meanwhile") {
		t.Errorf("%v", err)
	}
	if got := h.detail(id).Plan.DodSource; !strings.Contains(got, "reviewed") {
		t.Errorf("tess's line is lost: %q", got)
	}
	wantErrCode(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: h.detail(id).Plan.DodSource}, "", ""), models.CodeInvalid) // nothing is different
	must(t, h.engine.EditDod(h.ctx, lead, id, mine, "wording", engine.SeenDod(h.detail(id).Plan)))

	d := h.wantPhase(id, 1, models.PhaseAwaitingApproval, 1)
	begun := engine.SeenCondition(d.Phase)
	must(t, h.engine.EditCondition(h.ctx, other, d.Phase.ID, *d.Phase.PassID, engine.Condition{DoneWhen: "- tess's -> run: true", MaxIterations: 2, Seen: begun, Reason: "asked otherwise"}))
	err = h.engine.EditCondition(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, engine.Condition{DoneWhen: "- mine -> run: true", MaxIterations: 2, Seen: begun})
	if !errors.As(err, &refused) || refused.Code != models.CodeConflict || !strings.Contains(refused.Fields["done_when"], "- tess's -> run: true") {
		t.Errorf("%v", err)
	}
	if got := h.phase(id, 1).Phase.DoneWhen; !strings.Contains(got, "tess's") {
		t.Errorf("the condition is %q", got)
	}
}

// The form sends a field for each placeholder: one that is left empty changes
// nothing, and saving without a change is said to be one.
func TestAnEmptyFieldIsNoChange(t *testing.T) {
	h := newHouse(t)
	text := "- t -> run: true\n- {who} knows -> human"
	id := h.createWith(engine.NewPlan{Dod: text, Phases: []engine.NewPhase{shell("work", "echo x > made.txt")}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	for _, blank := range []string{"", " ", "\u200b"} {
		args := map[string]string{"who": blank}
		err := h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: text, DodArgs: args}, "", "")
		var refused *models.Error
		if !errors.As(err, &refused) || !strings.Contains(refused.Fields["dod"], "Nothing is different") {
			t.Errorf("%q: %v", blank, err)
		}
		must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: text + "\n- more", DodArgs: args}, "", ""))
		must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: text, DodArgs: args}, "back", ""))
		if g := h.gate(id); len(g.Dropped) != 1 || g.Dropped[0].Text != "more" {
			t.Errorf("%q: %+v", blank, g.Dropped)
		}
	}
}
