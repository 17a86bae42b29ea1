package dod

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// closing answers while it has room and then withholds every question.
type closing struct {
	room    int
	replies []string
	put     int
}

func (c *closing) Ask(context.Context, Question) (Reply, error) {
	if c.put >= c.room {
		return Reply{}, &WithheldError{Reason: "The budget of 5 tokens is used up (6 used)."}
	}
	c.put++
	return Reply{Raw: c.replies[min(c.put, len(c.replies))-1]}, nil
}
func (*closing) Evaluator() string { return "scripted" }

// A withheld question is no judgement: not met, no result of its criterion, and
// told apart from a judge in trouble.
func TestWithheld(t *testing.T) {
	const yes = `{"met":true,"reason":"fine"}`
	for _, tc := range []struct {
		name     string
		criteria string
		asker    closing
		withheld bool
		asked    int
	}{
		{"none is put", "- a\n- b", closing{}, true, 0},
		{"the second", "- a\n- b", closing{room: 1, replies: []string{yes}}, true, 1},
		{"the second one after an invalid reply", "- a", closing{room: 1, replies: []string{"well"}}, true, 1},
		{"all are put", "- a\n- b", closing{room: 2, replies: []string{yes}}, false, 2},
		{"only an informational one is not", "- a\n- (info) b", closing{room: 1, replies: []string{yes}}, false, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out := Suite{Asker: &tc.asker, PlainToAsker: true}.Evaluate(t.Context(), ParseCriteria(tc.criteria), nil)
			why, yes := out.Withheld()
			if yes != tc.withheld || tc.asker.put != tc.asked {
				t.Errorf("withheld %v after %d questions: %+v", yes, tc.asker.put, out.Answers)
			}
			if tc.withheld && (out.Met() || why != "The budget of 5 tokens is used up (6 used).") {
				t.Errorf("met %v, why %q", out.Met(), why)
			}
			if !tc.withheld && !out.Met() {
				t.Errorf("not met: %+v", out.Results)
			}
		})
	}
	out := Suite{Asker: broken{}, PlainToAsker: true}.Evaluate(t.Context(), ParseCriteria("- a"), nil)
	if _, yes := out.Withheld(); yes {
		t.Error("a judge in trouble is taken for a withheld question")
	}
}

type broken struct{}

func (broken) Ask(context.Context, Question) (Reply, error) { return Reply{}, errors.New("down") }
func (broken) Evaluator() string                            { return "scripted" }

// The gate names the budget, and the action that mends it.
func TestGateOverBudget(t *testing.T) {
	const why = "The budget of $5.00 is used up ($5.03 spent)."
	for _, f := range []GateFacts{
		{PlanStatus: "waiting", Phases: 3, UnfinishedPhase: 2, PhaseStatus: "needs_attention", OverBudget: why},
		{PlanStatus: "finished", Phases: 3, HasDoD: true, Evaluation: EvaluationErrored, EvaluationError: why, OverBudget: why},
	} {
		g := Gate(f)
		if g.Open || len(g.Reasons) != 1 || g.Reasons[0].Action != ActionRaiseBudget || !strings.HasSuffix(g.Sentence, " was stopped: "+why+" Raise it.") {
			t.Errorf("%s: %+v", f.PlanStatus, g)
		}
	}
}
