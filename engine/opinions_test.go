package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

// voice is a judge with a name of its own and a script.
type voice struct {
	spec string
	says func(q dod.Question) (string, error)
}

func (v voice) Ask(_ context.Context, q dod.Question) (dod.Reply, error) {
	raw, err := v.says(q)
	return dod.Reply{Raw: raw, InputTokens: 10, OutputTokens: 1, CostUSD: 0.25}, err
}

func (v voice) Evaluator() string { return v.spec }

// always is a voice that gives the same reply to everything.
func always(spec, raw string) voice {
	return voice{spec, func(dod.Question) (string, error) { return raw, nil }}
}

const (
	saysMet    = `{"met":true,"reason":"the table is there"}`
	saysNotMet = `{"met":false,"reason":"no test covers it"}`
)

func withMore(more ...dod.Asker) option {
	return func(c *engine.Config) { c.MoreJudges = more }
}

func TestASecondJudgeHoldsAPassBackAndItsReasonReachesTheAgent(t *testing.T) {
	careful := voice{"runtime:careful", func(q dod.Question) (string, error) {
		if strings.Contains(q.Prompt, "ran the tests") {
			return saysMet, nil
		}
		return saysNotMet, nil
	}}
	h := newHouse(t, withJudge(always("openai:quick", saysMet)), withMore(careful))
	p := shell("work", `echo "$DONEWHEN_PASS" > n; if grep -q "no test covers it" "$DONEWHEN_TASK_FILE"; then echo ran the tests; fi`)
	p.DoneWhen, p.Opinions = "- it is done well", 2
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseCompleted, 2)
	first, err := h.store.Verdict(h.ctx, d.Passes[0].Verdict.ID)
	must(t, err)
	if first.Met || first.Evaluator != "openai:quick + runtime:careful" || first.Opinions != 2 || !strings.Contains(first.Reason, "no test covers it") || !strings.Contains(first.Reason, "runtime:careful") {
		t.Errorf("%+v", first)
	}
	if r := engine.Results(first)[0]; r.Status != dod.Failed || len(r.Opinions) != 2 || !r.Opinions[0].Met || r.Opinions[1].Met {
		t.Errorf("%+v", r)
	}
	if a := engine.Answers(first); len(a) != 2 || a[0].Evaluator != "openai:quick" || a[1].Evaluator != "runtime:careful" {
		t.Errorf("%+v", a)
	}
	stats, err := h.store.JudgeStats(h.ctx, h.clock().AddDate(0, 0, -1), 100)
	must(t, err)
	for _, s := range engine.Scorecard(stats) {
		want := map[string]int{"openai:quick": 2, "runtime:careful": 1}[s.Evaluator]
		if s.Verdicts != 2 || s.Met != want || s.Replies != 2 || s.CostUSD != 0.5 {
			t.Errorf("%+v", s)
		}
	}
}

func TestADeadSecondJudgeSpendsNoPassAndCompletesNothing(t *testing.T) {
	dead := voice{"openai:dead", func(dod.Question) (string, error) { return saysMet, errors.New("connection refused") }}
	h := newHouse(t, withJudge(always("openai:quick", saysMet)), withMore(always("openai:other", saysMet), dead))
	p := shell("work", "echo x")
	p.DoneWhen, p.Opinions = "- it is done well", 3
	id := h.start(p)
	for range 3 {
		h.Forward(time.Minute)
		h.settle()
	}
	d := h.wantPhase(id, 1, models.PhaseNeedsAttention, 1)
	if !strings.Contains(d.Phase.Reason, "connection refused") || d.Passes[0].Pass.Status != models.PassJudging {
		t.Errorf("%+v", d.Phase)
	}
}

// Asked with fewer judges the pass cannot be approved under more; and what was
// judged by fewer is not reused.
func TestMoreJudgesThanWereAskedNeedANewJudging(t *testing.T) {
	asked := 0
	again := voice{"openai:quick", func(dod.Question) (string, error) { asked++; return saysMet, nil }}
	h := newHouse(t, withJudge(again))
	p := shell("work", "echo x")
	p.DoneWhen, p.NeedsApproval = "- it is done well", true
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseAwaitingApproval, 1)
	edit := func(n int) {
		t.Helper()
		must(t, h.engine.EditCondition(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, engine.Condition{DoneWhen: p.DoneWhen, MaxIterations: 3, Opinions: n, Reason: "asked of others"}))
	}
	wantErrCode(t, h.engine.EditCondition(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, engine.Condition{DoneWhen: p.DoneWhen, MaxIterations: 3, Opinions: 4}), models.CodeInvalid)
	edit(2)
	wantErrCode(t, h.engine.ApprovePhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""), models.CodeConflict)
	asked = 0
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
	h.settle()
	d = h.wantPhase(id, 1, models.PhaseAwaitingApproval, 2)
	if v := d.Passes[1].Verdict; asked != 2 || v.Evaluator != "openai:quick + openai:quick" || v.Opinions != 2 {
		t.Errorf("asked %d times: %+v", asked, v)
	}
	must(t, h.engine.ApprovePhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
}

func TestATemplatesOpinionsArePinnedAndPartOfTheFingerprint(t *testing.T) {
	h := newHouse(t, withJudge(always("openai:quick", saysMet)), withMore(always("openai:other", saysNotMet)))
	one, err := h.engine.PublishTemplate(h.ctx, lead, engine.TemplateDraft{Name: "Twice looked at", Text: "- It is good -> judge", Opinions: 2})
	must(t, err)
	_, err = h.engine.PublishTemplate(h.ctx, lead, engine.TemplateDraft{TemplateID: one.TemplateID, Base: 1, Text: one.Text, Why: "cheaper", Opinions: 1})
	must(t, err)
	_, err = h.engine.PublishTemplate(h.ctx, lead, engine.TemplateDraft{TemplateID: one.TemplateID, Base: 2, Text: one.Text, Why: "nothing"})
	wantErrCode(t, err, models.CodeInvalid)

	id := h.createWith(engine.NewPlan{TemplateVersionID: one.ID, Phases: []engine.NewPhase{shell("work", "echo x > made.txt")}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	h.wantPlan(id, models.PlanFinished)
	g, err := h.engine.Gate(h.ctx, id)
	must(t, err)
	if g.State.Open || g.Stale || g.Summary.Results[0].Status != dod.Failed || len(g.Summary.Results[0].Opinions) != 2 {
		t.Errorf("%+v %+v", g.State, g.Summary.Results)
	}
	if ev := h.detail(id).Evaluation; ev.Evaluator != "openai:quick + openai:other" {
		t.Errorf("%+v", ev)
	}
	h.engine.MoreJudges = nil // as after a restart with other settings
	if g, err = h.engine.Gate(h.ctx, id); err != nil || !g.Stale {
		t.Errorf("%v: the evaluation by other judges still counts", err)
	}
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	if g, err = h.engine.Gate(h.ctx, id); err != nil || !g.State.Open {
		t.Errorf("%v: asked twice, the same judge says met: %+v", err, g.State)
	}
}
