package models

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// declared reads the constants of a type from the source, so that a status
// added later cannot be left out of these tests.
func declared(t *testing.T, file, typ string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	for _, d := range f.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if id, ok := v.Type.(*ast.Ident); !ok || id.Name != typ {
				continue
			}
			text, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, text)
			if v.Doc.Text() == "" && v.Comment.Text() == "" {
				t.Errorf("%s %q has no paragraph that says how it is entered and left", typ, text)
			}
		}
	}
	if len(values) == 0 {
		t.Fatalf("%s has no constants of type %s", file, typ)
	}
	return values
}

// allowed is the whole table of moves, written a second time by hand: from ->
// the states it may go to, by words.
type allowed map[string]string

// checkMoves tries every pair, the pairs of a state with itself and unknown
// words included.
func checkMoves[S Status](t *testing.T, typ string, want allowed) {
	t.Helper()
	all := declared(t, "status.go", typ)
	for from, tos := range want {
		for _, s := range append(strings.Fields(tos), from) {
			if !slices.Contains(all, s) {
				t.Errorf("the test's table names %q, which is no %s", s, typ)
			}
		}
	}
	tried := append(slices.Clone(all), "", "nonsense")
	for _, from := range tried {
		for _, to := range tried {
			wanted := slices.Contains(strings.Fields(want[from]), to)
			if got := MayMove(S(from), S(to)); got != wanted {
				t.Errorf("%s: MayMove(%q, %q) = %v, want %v", typ, from, to, got, wanted)
			}
		}
	}
}

func TestMayMove(t *testing.T) {
	t.Run("run", func(t *testing.T) {
		checkMoves[RunStatus](t, "RunStatus", allowed{
			"queued":  "running cancelled errored",
			"running": "succeeded failed timed_out errored lost cancelled",
		})
	})
	t.Run("pass", func(t *testing.T) {
		checkMoves[PassStatus](t, "PassStatus", allowed{
			"queued":  "running not_met cancelled superseded",
			"running": "queued judging met not_met cancelled superseded",
			"judging": "met not_met cancelled superseded",
			"not_met": "judging",
		})
	})
	t.Run("phase", func(t *testing.T) {
		checkMoves[PhaseStatus](t, "PhaseStatus", allowed{
			"pending":           "running cancelled needs_attention",
			"running":           "judging completed awaiting_approval pending exhausted stalled needs_attention failed cancelled",
			"judging":           "completed awaiting_approval pending exhausted stalled needs_attention cancelled",
			"awaiting_approval": "completed pending failed cancelled",
			"exhausted":         "pending completed judging cancelled",
			"stalled":           "pending completed judging cancelled",
			"needs_attention":   "pending running completed judging cancelled",
			"failed":            "pending completed cancelled",
			"completed":         "pending",
		})
	})
	t.Run("plan", func(t *testing.T) {
		checkMoves[PlanStatus](t, "PlanStatus", allowed{
			"draft":     "running cancelled discarded",
			"running":   "paused waiting failed finished cancelled discarded",
			"paused":    "running waiting failed finished cancelled discarded",
			"waiting":   "running paused failed finished cancelled discarded",
			"failed":    "running waiting finished cancelled discarded",
			"finished":  "running applying cancelled discarded",
			"applying":  "applied finished",
			"cancelled": "discarded",
		})
	})
	t.Run("evaluation", func(t *testing.T) {
		checkMoves[EvaluationStatus](t, "EvaluationStatus", allowed{
			"queued":  "running errored",
			"running": "done errored queued",
		})
	})
	t.Run("apply", func(t *testing.T) {
		checkMoves[ApplyStatus](t, "ApplyStatus", allowed{
			"started": "applied refused",
		})
	})
}

// What the tables must keep, whatever else is added to them.
func TestMovesKeepTheirPromises(t *testing.T) {
	t.Run("A5-04 nothing revives what was cancelled", func(t *testing.T) {
		if len(runMoves[RunCancelled]) != 0 || len(passMoves[PassCancelled]) != 0 || len(phaseMoves[PhaseCancelled]) != 0 {
			t.Error("a cancelled run, pass or phase may move")
		}
		if got := planMoves[PlanCancelled]; !slices.Equal(got, []PlanStatus{PlanDiscarded}) {
			t.Errorf("a cancelled plan may go to %v, only discard is allowed", got)
		}
	})
	t.Run("an ended run is never run again", func(t *testing.T) {
		for _, s := range declared(t, "status.go", "RunStatus") {
			if r := RunStatus(s); r.Ended() != (len(runMoves[r]) == 0) {
				t.Errorf("run %s: Ended() = %v, but it has the moves %v", s, r.Ended(), runMoves[r])
			}
		}
	})
	t.Run("an ended pass is only judged again", func(t *testing.T) {
		for _, s := range declared(t, "status.go", "PassStatus") {
			p := PassStatus(s)
			if want := s != "queued" && s != "running" && s != "judging"; p.Ended() != want {
				t.Errorf("pass %s: Ended() = %v, want %v", s, p.Ended(), want)
			}
			if p.Ended() && p != PassNotMet && len(passMoves[p]) != 0 {
				t.Errorf("an ended pass %s may go to %v", s, passMoves[p])
			}
		}
	})
	t.Run("only applying leads to applied", func(t *testing.T) {
		for from, tos := range planMoves {
			if from != PlanApplying && slices.Contains(tos, PlanApplied) {
				t.Errorf("a %s plan may become applied without a merge", from)
			}
		}
		for _, s := range declared(t, "status.go", "PlanStatus") {
			want := s == "applied" || s == "cancelled" || s == "discarded"
			if got := PlanStatus(s).Over(); got != want {
				t.Errorf("plan %s: Over() = %v, want %v", s, got, want)
			}
		}
	})
	t.Run("every state but the first is reached", func(t *testing.T) {
		reach := map[string]bool{"pending": true}
		for _, tos := range phaseMoves {
			for _, to := range tos {
				reach[string(to)] = true
			}
		}
		all := declared(t, "status.go", "PhaseStatus")
		slices.Sort(all)
		if got := slices.Sorted(maps.Keys(reach)); !slices.Equal(got, all) {
			t.Errorf("reached phase states %v, declared %v", got, all)
		}
	})
}

func TestNeedsPerson(t *testing.T) {
	want := []string{"awaiting_approval", "exhausted", "stalled", "needs_attention"}
	for _, s := range declared(t, "status.go", "PhaseStatus") {
		if got := PhaseStatus(s).NeedsPerson(); got != slices.Contains(want, s) {
			t.Errorf("phase %s: NeedsPerson() = %v", s, got)
		}
	}
}

func TestPlanStatusOf(t *testing.T) {
	const (
		done   = PhaseCompleted
		todo   = PhasePending
		run    = PhaseRunning
		judge  = PhaseJudging
		failed = PhaseFailed
	)
	ph := func(s ...PhaseStatus) []PhaseStatus { return s }
	for _, tc := range []struct {
		name   string
		now    PlanStatus
		phases []PhaseStatus
		want   PlanStatus
	}{
		{"the first phase waits for its turn", PlanRunning, ph(todo, todo), PlanRunning},
		{"a phase runs", PlanRunning, ph(done, run, todo), PlanRunning},
		{"a phase is judged", PlanRunning, ph(done, judge, todo), PlanRunning},
		{"the next phase waits for its turn", PlanRunning, ph(done, todo), PlanRunning},
		{"approval is wanted", PlanRunning, ph(done, PhaseAwaitingApproval, todo), PlanWaiting},
		{"exhausted", PlanRunning, ph(PhaseExhausted, todo), PlanWaiting},
		{"stalled", PlanRunning, ph(PhaseStalled), PlanWaiting},
		{"attention is needed", PlanRunning, ph(done, PhaseNeedsAttention), PlanWaiting},
		{"A5-08 one failed, the later ones not started", PlanRunning, ph(done, failed, todo, todo), PlanFailed},
		{"all completed", PlanRunning, ph(done, done, done), PlanFinished},
		{"no phases", PlanRunning, nil, PlanFinished},
		{"a phase was cancelled", PlanRunning, ph(done, PhaseCancelled, PhaseCancelled), PlanCancelled},
		{"approved: goes on", PlanWaiting, ph(done, todo), PlanRunning},
		{"approved: was the last", PlanWaiting, ph(done, done), PlanFinished},
		{"rejected", PlanWaiting, ph(done, failed), PlanFailed},
		{"retry after failure", PlanFailed, ph(done, todo, todo), PlanRunning},
		{"retry after the end", PlanFinished, ph(done, todo, todo), PlanRunning},
		{"paused before the next phase", PlanPaused, ph(done, todo), PlanPaused},
		{"paused while a run ends", PlanPaused, ph(run), PlanPaused},
		{"paused while judging", PlanPaused, ph(done, judge), PlanPaused},
		{"paused, and its phase needs a person", PlanPaused, ph(PhaseStalled, todo), PlanWaiting},
		{"paused, and its phase failed", PlanPaused, ph(failed, todo), PlanFailed},
		{"paused, and all is done", PlanPaused, ph(done, done), PlanFinished},
		{"the first open phase decides, not a later one", PlanRunning, ph(done, todo, failed), PlanRunning},
		{"a draft stays a draft", PlanDraft, ph(todo), PlanDraft},
		{"applying is kept", PlanApplying, ph(done), PlanApplying},
		{"applied is kept", PlanApplied, ph(done, todo), PlanApplied},
		{"A5-04 cancelled is kept", PlanCancelled, ph(done, run), PlanCancelled},
		{"A5-04 cancelled is kept when all completed", PlanCancelled, ph(done, done), PlanCancelled},
		{"discarded is kept", PlanDiscarded, ph(failed), PlanDiscarded},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := PlanStatusOf(tc.now, tc.phases); got != tc.want {
				t.Errorf("PlanStatusOf(%s, %v) = %s, want %s", tc.now, tc.phases, got, tc.want)
			}
		})
	}
}

// No plan is called finished while one of its phases is not completed.
func TestPlanStatusOfNeverFinishesEarly(t *testing.T) {
	for _, now := range []PlanStatus{PlanRunning, PlanPaused, PlanWaiting, PlanFailed, PlanFinished} {
		for _, s := range declared(t, "status.go", "PhaseStatus") {
			for place := range 3 {
				phases := []PhaseStatus{PhaseCompleted, PhaseCompleted, PhaseCompleted}
				phases[place] = PhaseStatus(s)
				got := PlanStatusOf(now, phases)
				if (got == PlanFinished) != (s == "completed") {
					t.Errorf("PlanStatusOf(%s, %v) = %s", now, phases, got)
				}
			}
		}
	}
}
