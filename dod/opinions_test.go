package dod_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"donewhen/dod"
)

// panelist is a judge whose replies are looked up by criterion; it keeps what it was asked about.
type panelist struct {
	name  string
	mu    sync.Mutex
	says  map[string]scripted // by the criterion's text
	asked []string
}

func (n *panelist) Evaluator() string { return n.name }

func (n *panelist) Ask(_ context.Context, q dod.Question) (dod.Reply, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, q.Criterion.Text)
	r := n.says[q.Criterion.Text]
	return dod.Reply{Raw: r.raw}, r.err
}

func panelOf(judges ...*panelist) (first dod.Asker, others []dod.Asker) {
	for i, j := range judges {
		if i == 0 {
			first = j
		} else {
			others = append(others, j)
		}
	}
	return first, others
}

// No combination of replies in which any of the judges did not give a valid
// verdict that says met ends met.
func TestOnlyAUnanimousMetIsMet(t *testing.T) {
	type reply struct {
		scripted
		met bool // a valid verdict that says met
	}
	replies := rapid.SampledFrom([]reply{
		{scripted{yes, nil}, true}, {scripted{yes, nil}, true}, {scripted{yes, nil}, true}, {scripted{"```json\n" + yes + "\n```", nil}, true},
		{scripted{no, nil}, false}, {scripted{"", nil}, false}, {scripted{"met", nil}, false}, {scripted{yes + yes, nil}, false}, {scripted{`{"Met":true,"reason":"x"}`, nil}, false},
		{scripted{"", errors.New("connection refused")}, false}, {scripted{yes, errors.New("cut off")}, false},
	})
	rapid.Check(t, func(t *rapid.T) {
		wanted, n := rapid.IntRange(1, 3).Draw(t, "judges"), rapid.IntRange(1, 4).Draw(t, "criteria")
		var criteria []dod.Criterion
		level := rapid.SampledFrom([]dod.Level{dod.Required, dod.Required, dod.Must, dod.Info})
		for i := range n {
			criteria = append(criteria, dod.Criterion{Index: i + 1, Text: fmt.Sprint("c", i), Level: level.Draw(t, "level"), Check: dod.Check{Kind: dod.CheckJudge}})
		}
		var judges []*panelist
		all := map[string]bool{}
		for j := range wanted {
			judge := &panelist{name: fmt.Sprint("openai:", j), says: map[string]scripted{}}
			for _, c := range criteria {
				r := replies.Draw(t, c.Text)
				judge.says[c.Text] = r.scripted
				all[c.Text] = r.met && (j == 0 || all[c.Text])
			}
			judges = append(judges, judge)
		}
		suite := dod.Suite{Parallel: rapid.IntRange(1, 3).Draw(t, "parallel")}
		suite.Asker, suite.Others = panelOf(judges...)
		out := suite.Evaluate(context.Background(), criteria, nil)
		counting, unanimous := 0, true
		for i, c := range criteria {
			if out.Results[i].Status == dod.Passed && !all[c.Text] {
				t.Fatalf("%s passed: %+v", c.Text, out.Results[i])
			}
			if c.Level.Counts() {
				counting++
				unanimous = unanimous && all[c.Text]
			}
		}
		if out.Met() && (!unanimous || counting == 0) {
			t.Fatalf("met: %+v", out.Results)
		}
		trouble, troubled := out.Trouble()
		if out.Met() && troubled {
			t.Fatalf("met with trouble: %+v", trouble)
		}
		// Nobody is asked about what somebody before them did not call met.
		for j, judge := range judges[1:] {
			for _, about := range judge.asked {
				before := dod.ParseVerdict(judges[j].says[about].raw)
				if judges[j].says[about].err != nil || !before.Met {
					t.Fatalf("judge %d was asked about %s after %+v", j+1, about, before)
				}
			}
		}
		// Without an error nobody goes unasked who was wanted.
		if unanimous && counting > 0 && !slices.ContainsFunc(out.Answers, func(a dod.Answer) bool { return a.Verdict.Kind == dod.KindEvaluatorError }) && !out.Met() {
			t.Fatalf("everybody says met, and it is not: %+v", out.Results)
		}
	})
}

func TestASecondOpinionDecidesAndIsShown(t *testing.T) {
	c := dod.ParseCriteria("a -> judge\nb -> judge\nc -> judge")
	first := &panelist{name: "openai:m", says: map[string]scripted{"a": {yes, nil}, "b": {yes, nil}, "c": {no, nil}}}
	second := &panelist{name: "runtime:r", says: map[string]scripted{"a": {yes, nil}, "b": {`{"met":false,"reason":"no test covers it"}`, nil}}}
	suite := dod.Suite{Asker: first, Others: []dod.Asker{second}}
	out := suite.Evaluate(context.Background(), c, nil)
	if out.Results[0].Status != dod.Passed || out.Results[1].Status != dod.Failed || out.Results[2].Status != dod.Failed {
		t.Fatalf("%+v", out.Results)
	}
	if !slices.Equal(second.asked, []string{"a", "b"}) {
		t.Errorf("the second was asked about %v", second.asked)
	}
	b := out.Results[1]
	if len(b.Opinions) != 2 || !b.Opinions[0].Met || b.Opinions[0].Evaluator != "openai:m" || b.Opinions[1].Met || b.Opinions[1].Evaluator != "runtime:r" || b.Opinions[1].Reason != "no test covers it" {
		t.Errorf("%+v", b.Opinions)
	}
	if !strings.Contains(out.Reason(), "no test covers it") || !strings.Contains(out.Reason(), "runtime:r") {
		t.Errorf("the reason does not say what the second judge misses: %s", out.Reason())
	}
	if len(out.Results[2].Opinions) != 0 || len(out.Answers) != 5 || out.Answers[3].Opinion != 1 || out.Answers[3].Evaluator != "runtime:r" {
		t.Errorf("%+v", out.Answers)
	}
}

func TestTroubleOfOneJudgeIsTroubleOfTheWhole(t *testing.T) {
	c := dod.ParseCriteria("a -> judge\nb -> judge")
	first := &panelist{name: "openai:m", says: map[string]scripted{"a": {yes, nil}, "b": {yes, nil}}}
	dead := &panelist{name: "openai:dead", says: map[string]scripted{"a": {"", errors.New("connection refused")}}}
	out := dod.Suite{Asker: first, Others: []dod.Asker{dead}}.Evaluate(context.Background(), c, nil)
	trouble, yes := out.Trouble()
	if !yes || trouble.Kind != dod.KindEvaluatorError || trouble.Reason != "connection refused" || out.Met() {
		t.Errorf("%+v %v", trouble, yes)
	}
	for _, r := range out.Results {
		if r.Status != dod.Skipped {
			t.Errorf("%+v", r)
		}
	}
}

// A question about a line that does not count may be the one that finds the
// judge dead: the lines that count are then unasked for the same reason.
func TestTroubleWithALineThatDoesNotCountKeepsTheOthersFromBeingJudged(t *testing.T) {
	dead := &panelist{name: "openai:dead", says: map[string]scripted{"a": {"", errors.New("connection refused")}}}
	out := dod.Suite{Asker: dead}.Evaluate(context.Background(), dod.ParseCriteria("(info) a -> judge\nb -> judge"), nil)
	if trouble, yes := out.Trouble(); !yes || trouble.Reason != "connection refused" {
		t.Errorf("it counts as a judgement: %+v", out)
	}
}

func TestPanel(t *testing.T) {
	a, b, c := &panelist{name: "a"}, &panelist{name: "b"}, &panelist{name: "c"}
	for _, tc := range []struct {
		more []dod.Asker
		n    int
		want string
	}{{nil, 1, "a"}, {nil, 0, "a"}, {nil, 2, "a + a"}, {[]dod.Asker{b, c}, 1, "a"}, {[]dod.Asker{b, c}, 2, "a + b"}, {[]dod.Asker{b, c}, 3, "a + b + c"},
		{[]dod.Asker{a, b}, 3, "a + b + a"}, {[]dod.Asker{b}, 3, "a + b + a"}} {
		if got := dod.PanelSpec(dod.Panel(a, tc.more, tc.n)); got != tc.want {
			t.Errorf("%d of %v: %s, want %s", tc.n, tc.more, got, tc.want)
		}
	}
	if dod.Panel(nil, []dod.Asker{b}, 3) != nil || dod.PanelSpec(nil) != "text" {
		t.Error("without a judge somebody is asked")
	}
}
