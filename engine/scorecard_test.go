package engine_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

func TestScorecardCounts(t *testing.T) {
	given, of := models.VerdictGiven, int64(0)
	j := func(j models.Judging) models.Judging { of++; j.VerdictID = of; return j }
	newestLast := []models.Judging{
		j(models.Judging{Evaluator: "openai:m", PromptVersion: 2, Kind: given, Met: false, Replies: 2, Millis: 100, CostUSD: 0.1, InputTokens: 10, PassID: 1, EvidenceHash: "e", AskedHash: "a"}),
		j(models.Judging{Evaluator: "openai:m", PromptVersion: 2, Kind: given, Met: true, Replies: 3, Invalid: 1, Millis: 300, CostUSD: 0.2, PassID: 1, EvidenceHash: "e", AskedHash: "a"}),
		j(models.Judging{Evaluator: "openai:m", PromptVersion: 2, Kind: given, Met: true, Replies: 1, Millis: 9000, PassID: 1, EvidenceHash: "e", AskedHash: "another condition"}),
		j(models.Judging{Evaluator: "openai:m", PromptVersion: 1, Kind: given, Met: true, Replies: 1}),
		j(models.Judging{Evaluator: "openai:m", PromptVersion: 2, Kind: models.VerdictTrouble, Replies: 1, Millis: 200}),
		j(models.Judging{Evaluator: "openai:m", PromptVersion: 2, Kind: given, Reused: true}), // nobody was asked
		j(models.Judging{Evaluator: "openai:m", Kind: given}),                                 // a check decided
		j(models.Judging{Evaluator: "openai:m", Kind: models.VerdictRun}),
		j(models.Judging{Evaluator: "text", Kind: given}),
	}
	var stats models.JudgeStats
	for i := len(newestLast) - 1; i >= 0; i-- {
		stats.Judgings = append(stats.Judgings, newestLast[i])
	}
	stats.Overrulings = []models.Overruling{{VerdictID: 1, Against: models.OverruledAccepted}, {VerdictID: 2, Against: models.OverruledSentBack}, {VerdictID: 99, Against: models.OverruledRejected}}
	got := engine.Scorecard(stats)
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	s := got[0]
	if s.Evaluator != "openai:m" || s.PromptVersion != 2 || s.Judgings != 4 || s.Verdicts != 3 || s.Met != 2 || s.Replies != 7 || s.Invalid != 1 || s.Errors != 1 ||
		s.Median != 200*time.Millisecond || s.Accepted != 1 || s.SentBack != 1 || s.Overruled() != 2 || s.Rejudged != 1 || s.Flipped != 1 || s.InputTokens != 10 {
		t.Errorf("%+v", s)
	}
	if len(engine.Scorecard(models.JudgeStats{})) != 0 {
		t.Error("nothing judged gives a score")
	}
}

func TestScorecardOfAPlanThatWasOverruled(t *testing.T) {
	dead := true
	judge := judgeFunc(func(q dod.Question) (string, error) {
		if dead {
			dead = false
			return "", errors.New("connection refused")
		}
		if strings.Contains(q.Prompt, "no way") {
			return `{"met":false,"reason":"no"}`, nil
		}
		return `{"met":true,"reason":"yes"}`, nil
	})
	h := newHouse(t, withJudge(judge))
	p, q := shell("one", "echo no way"), shell("two", "echo fine")
	p.DoneWhen, p.MaxIterations, q.DoneWhen = "- It is done well", 1, "- It is done well"
	id := h.start(p, q)
	for range 3 { // the judge that could not be reached is asked again
		h.Forward(time.Minute)
		h.settle()
	}
	one := h.wantPhase(id, 1, models.PhaseExhausted, 1)
	h.Forward(time.Minute)
	must(t, h.engine.AcceptPhase(h.ctx, lead, one.Phase.ID, *one.Phase.PassID, "good enough"))
	h.settle()
	two := h.wantPhase(id, 2, models.PhaseCompleted, 1)
	must(t, h.engine.AnotherPass(h.ctx, lead, two.Phase.ID, *two.Phase.PassID, "not quite"))
	h.settle()
	stats, err := h.store.JudgeStats(h.ctx, h.clock().AddDate(0, 0, -7), 100)
	must(t, err)
	got := engine.Scorecard(stats)
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	if s := got[0]; s.Evaluator != "runtime:scripted" || s.PromptVersion != dod.PromptVersion || s.Verdicts != 3 || s.Met != 2 || s.Errors != 1 || s.Accepted != 1 || s.SentBack != 1 || s.Rejected != 0 {
		t.Errorf("%+v", s)
	}
}
