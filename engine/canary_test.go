package engine_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

// gullible calls everything met; keen sees through planted passes only. Both keep
// what they were asked.
type listener struct {
	mu        sync.Mutex
	questions []dod.Question
	says      func(q dod.Question) (string, error)
}

func (l *listener) voice(spec string) voice {
	return voice{spec, func(q dod.Question) (string, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.questions = append(l.questions, q)
		return l.says(q)
	}}
}

func isPlanted(q dod.Question) bool {
	return slices.ContainsFunc(engine.PlantedPasses(), func(p engine.Planted) bool { return p.Criterion == q.Criterion.Text })
}

// A judge cannot tell a planted pass from a real one: the question has the same
// frame, and no word gives it away.
func TestPlantedPassesLookLikeRealOnes(t *testing.T) {
	l := &listener{says: func(dod.Question) (string, error) { return saysNotMet, nil }}
	h := newHouse(t, withJudge(l.voice("openai:m")))
	p := shell("work", "echo x > made.txt; echo hello")
	p.DoneWhen, p.MaxIterations = "- it is done well", 1
	h.start(p)
	kinds := map[string]bool{}
	for _, p := range engine.PlantedPasses() {
		if kinds[p.Kind] || p.Kind == "" || p.Title == "" || p.Why == "" || p.Task == "" || p.Criterion == "" || p.Message == "" || p.Output == "" {
			t.Errorf("%+v", p)
		}
		kinds[p.Kind] = true
		if c := dod.ParseCriteria(p.Criterion); len(c) != 1 || c[0].Check.Kind != dod.CheckText {
			t.Errorf("%s: its criterion is %+v", p.Kind, c)
		}
		must(t, h.engine.GivePlanted(h.ctx, lead, "openai:m"))
		h.engine.Drain()
	}
	if len(kinds) < 8 {
		t.Errorf("only %d kinds", len(kinds))
	}
	if len(l.questions) != 1+len(kinds) {
		t.Fatalf("%d questions", len(l.questions))
	}
	// What the rendering itself writes, with numbers and data taken out.
	frame := func(q dod.Question) string {
		text := strings.ReplaceAll(q.Prompt, q.Nonce, "NONCE")
		var lines []string
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "#") || strings.Contains(line, "NONCE") {
				line = regexp.MustCompile(`: none\b`).ReplaceAllString(line, "")
				line = regexp.MustCompile(`(shell|claude)`).ReplaceAllString(line, "R")
				line = regexp.MustCompile(`, [0-9][0-9a-z.µ]*s$`).ReplaceAllString(strings.TrimSpace(line), "")
				lines = append(lines, regexp.MustCompile(`[0-9]+`).ReplaceAllString(line, "N"))
			}
		}
		return q.System + "\n" + strings.Join(lines, "\n")
	}
	for _, q := range l.questions[1:] {
		if frame(q) != frame(l.questions[0]) {
			t.Errorf("it does not look like a real one:\n%s\n--\n%s", frame(q), frame(l.questions[0]))
		}
		if word := regexp.MustCompile(`(?i)canar|planted|trial|example`).FindString(q.Prompt); word != "" {
			t.Errorf("%q gives it away", word)
		}
	}
	list, err := h.store.Canaries(h.ctx, 100)
	must(t, err)
	for _, c := range list {
		if c.Outcome != models.CanaryCaught || c.AskerName != "lea" || !kinds[c.Kind] {
			t.Errorf("%+v", c)
		}
		delete(kinds, c.Kind)
	}
	if len(kinds) != 0 {
		t.Errorf("never given: %v", kinds)
	}
	c, err := h.store.Canary(h.ctx, list[0].ID)
	must(t, err)
	if !strings.Contains(c.AnswerJSON, "no test covers it") || c.CostUSD != 0.25 || c.PromptVersion != dod.PromptVersion {
		t.Errorf("%+v", c)
	}
}

func TestAJudgeThatMissesAPlantedPassIsNotTrusted(t *testing.T) {
	l := &listener{says: func(dod.Question) (string, error) { return saysMet, nil }}
	h := newHouse(t, withJudge(l.voice("openai:m")), func(c *engine.Config) { c.Canaries = 2 })
	judged := func(name string) engine.NewPhase {
		p := shell(name, "echo x > "+name)
		p.DoneWhen = "- it is done well"
		return p
	}
	id := h.start(judged("one"), judged("two"))
	h.wantPlan(id, models.PlanFinished) // two judgings; the planted pass came after the second
	list, err := h.store.Canaries(h.ctx, 10)
	must(t, err)
	if len(list) != 1 || list[0].Outcome != models.CanaryMissed || list[0].AskedBy != 0 {
		t.Fatalf("%+v", list)
	}
	events, _, err := h.store.Events(h.ctx, models.EventFilter{}, 0, 1000)
	must(t, err)
	if !slices.ContainsFunc(events, func(e models.Event) bool {
		return e.Kind == "judge.distrusted" && strings.Contains(e.Reason, "openai:m")
	}) {
		t.Error("no event says that the judge is not trusted")
	}

	// Its met alone completes nothing.
	h.engine.Canaries = 0
	next := h.start(judged("three"))
	d := h.wantPhase(next, 1, models.PhaseAwaitingApproval, 1)
	if !strings.Contains(d.Phase.Reason, "openai:m") || !strings.Contains(d.Phase.Reason, "planted pass") || d.Passes[0].Verdict.Distrusted != "openai:m" || !d.Passes[0].Verdict.Met {
		t.Errorf("%+v %+v", d.Phase, d.Passes[0].Verdict)
	}
	must(t, h.engine.ApprovePhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "looked at it"))
	h.wantPhase(next, 1, models.PhaseCompleted, 1)

	// In an evaluation its met is nothing either.
	of := h.createWith(engine.NewPlan{Dod: "- It is good -> judge\n- (info) It is fast -> judge", Phases: []engine.NewPhase{shell("four", "echo x > four")}})
	must(t, h.engine.StartPlan(h.ctx, lead, of))
	h.settle()
	g, err := h.engine.Gate(h.ctx, of)
	must(t, err)
	if r := g.Summary.Results[0]; g.State.Open || r.Status != dod.Skipped || !strings.Contains(r.Reasoning, "openai:m") {
		t.Errorf("%+v %+v", g.State, r)
	}

	viewer := models.Actor{ID: 9, Name: "vic", Role: models.RoleViewer}
	wantErrCode(t, h.engine.ClearJudge(h.ctx, viewer, "openai:m", "x"), models.CodeForbidden)
	wantErrCode(t, h.engine.GivePlanted(h.ctx, viewer, "openai:m"), models.CodeForbidden)
	wantErrCode(t, h.engine.ClearJudge(h.ctx, lead, "openai:m", "  "), models.CodeInvalid)
	wantErrCode(t, h.engine.GivePlanted(h.ctx, lead, "openai:nobody"), models.CodeNotFound)
	must(t, h.engine.ClearJudge(h.ctx, lead, "openai:m", "the model was exchanged"))
	wantErrCode(t, h.engine.ClearJudge(h.ctx, lead, "openai:m", "again"), models.CodeConflict)
	h.wantPhase(h.start(judged("five")), 1, models.PhaseCompleted, 1)
	must(t, h.engine.Evaluate(h.ctx, lead, of))
	h.settle()
	if g, err = h.engine.Gate(h.ctx, of); err != nil || !g.State.Open {
		t.Errorf("%v %+v", err, g.State)
	}
}

// A met of two judges, one of whom is not trusted, is one met too few; and trouble
// with a planted pass says nothing about a judge.
func TestPlantedPassesThatComeToNothingAndPanels(t *testing.T) {
	down := true
	l := &listener{says: func(q dod.Question) (string, error) {
		if isPlanted(q) && down {
			return "", errors.New("connection refused")
		}
		return saysMet, nil
	}}
	h := newHouse(t, withJudge(always("openai:good", saysMet)), withMore(l.voice("openai:m")))
	must(t, h.engine.GivePlanted(h.ctx, lead, "openai:m"))
	h.engine.Drain()
	list, err := h.store.Canaries(h.ctx, 10)
	must(t, err)
	if list[0].Outcome != models.CanaryTrouble || !strings.Contains(list[0].Reason, "connection refused") {
		t.Fatalf("%+v", list)
	}
	p := shell("work", "echo x")
	p.DoneWhen, p.Opinions = "- it is done well", 2
	h.wantPhase(h.start(p), 1, models.PhaseCompleted, 1)
	down = false
	must(t, h.engine.GivePlanted(h.ctx, lead, "openai:m"))
	h.engine.Drain()
	d := h.wantPhase(h.start(p), 1, models.PhaseAwaitingApproval, 1)
	if d.Passes[0].Verdict.Distrusted != "openai:m" {
		t.Errorf("%+v", d.Passes[0].Verdict)
	}
	p.Opinions = 1 // who is not asked is in nobody's way
	h.wantPhase(h.start(p), 1, models.PhaseCompleted, 1)
	stats, err := h.store.JudgeStats(h.ctx, h.clock().AddDate(0, 0, -1), 100)
	must(t, err)
	for _, s := range engine.Scorecard(stats) {
		if want := map[string]int{"openai:m": 1}[s.Evaluator]; s.Missed != want || s.Caught != 0 {
			t.Errorf("%+v", s)
		}
	}
}
