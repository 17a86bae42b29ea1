package engine

import (
	"testing"
	"time"

	"donewhen/models"
)

// run is a row of a pass: position, try, status.
func row(position, try int, status models.RunStatus) models.Run {
	return models.Run{ID: int64(position*100 + try), Position: position, Try: try, Status: status}
}

// ended is a run during which the server was stopped in good order.
func ended(position, try int) models.Run {
	r := row(position, try, models.RunLost)
	r.Stopped = true
	return r
}

func TestSettleTable1(t *testing.T) {
	t.Parallel()
	ok, q, r := models.RunSucceeded, models.RunQueued, models.RunRunning
	for _, c := range []struct {
		name             string
		runs             []models.Run
		without, withOne runsDecision // phase without and with done_when
		decisive         int64        // id of the decisive run, 0 for none
	}{
		{"one succeeded", []models.Run{row(1, 1, ok)}, runsComplete, runsJudge, 0},
		{"all succeeded", []models.Run{row(1, 1, ok), row(2, 1, ok)}, runsComplete, runsJudge, 0},
		{"a queued one goes on", []models.Run{row(1, 1, ok), row(2, 1, q)}, runsGoOn, runsGoOn, 201},
		{"a running one goes on", []models.Run{row(1, 1, r), row(2, 1, q)}, runsGoOn, runsGoOn, 101},
		{"failed", []models.Run{row(1, 1, models.RunFailed)}, runsFail, runsNotMet, 101},
		{"timed out", []models.Run{row(1, 1, models.RunTimedOut)}, runsFail, runsNotMet, 101},
		{"failed before a queued one", []models.Run{row(1, 1, models.RunFailed), row(2, 1, q)}, runsFail, runsNotMet, 101},
		{"errored once", []models.Run{row(1, 1, models.RunErrored)}, runsTryAgain, runsTryAgain, 101},
		{"errored twice", []models.Run{row(1, 1, models.RunErrored), row(1, 2, models.RunErrored)}, runsTryAgain, runsTryAgain, 102},
		{"errored three times", []models.Run{row(1, 1, models.RunErrored), row(1, 2, models.RunErrored), row(1, 3, models.RunErrored)}, runsAttention, runsAttention, 103},
		{"errored, then succeeded", []models.Run{row(1, 1, models.RunErrored), row(1, 2, ok)}, runsComplete, runsJudge, 0},
		{"errored, next try queued", []models.Run{row(1, 1, models.RunErrored), row(1, 2, q)}, runsGoOn, runsGoOn, 102},
		{"lost once", []models.Run{row(1, 1, models.RunLost)}, runsTryAgain, runsTryAgain, 101},
		{"lost three times", []models.Run{row(1, 1, models.RunLost), row(1, 2, models.RunLost), row(1, 3, models.RunLost)}, runsAttention, runsAttention, 103},
		{"stopped with the server three times", []models.Run{ended(1, 1), ended(1, 2), ended(1, 3)}, runsTryAgain, runsTryAgain, 103},
		{"stopped once and lost twice", []models.Run{row(1, 1, models.RunLost), ended(1, 2), row(1, 3, models.RunLost)}, runsTryAgain, runsTryAgain, 103},
		{"stopped once and lost three times", []models.Run{row(1, 1, models.RunLost), ended(1, 2), row(1, 3, models.RunErrored), row(1, 4, models.RunLost)}, runsAttention, runsAttention, 104},
		{"stopped after three tries that count", []models.Run{row(1, 1, models.RunLost), row(1, 2, models.RunLost), row(1, 3, models.RunErrored), ended(1, 4)}, runsTryAgain, runsTryAgain, 104},
		{"lost, then failed", []models.Run{row(1, 1, models.RunLost), row(1, 2, models.RunFailed)}, runsFail, runsNotMet, 102},
		{"lost in the second position", []models.Run{row(1, 1, ok), row(2, 1, models.RunLost), row(3, 1, q)}, runsTryAgain, runsTryAgain, 201},
		{"tries are counted for each position", []models.Run{row(1, 1, models.RunErrored), row(1, 2, models.RunErrored), row(1, 3, ok), row(2, 1, models.RunErrored)}, runsTryAgain, runsTryAgain, 201},
		{"a person's fourth try errored", []models.Run{row(1, 3, models.RunErrored), row(1, 4, models.RunErrored)}, runsAttention, runsAttention, 104},
		{"cancelled", []models.Run{row(1, 1, models.RunCancelled), row(2, 1, q)}, runsCancelled, runsCancelled, 101},
		{"an unknown status is never a success", []models.Run{row(1, 1, "odd")}, runsCancelled, runsCancelled, 101},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := decideRuns(c.runs, false); got != c.without {
				t.Errorf("without a condition: %s, want %s", got, c.without)
			}
			if got := decideRuns(c.runs, true); got != c.withOne {
				t.Errorf("with a condition: %s, want %s", got, c.withOne)
			}
			var id int64
			if d := decisive(c.runs); d != nil {
				id = d.ID
			}
			if id != c.decisive {
				t.Errorf("decisive run %d, want %d", id, c.decisive)
			}
		})
	}
}

func TestLatestTriesKeepsTheNewestOfEachPositionInOrder(t *testing.T) {
	t.Parallel()
	got := latestTries([]models.Run{row(1, 1, models.RunLost), row(1, 2, models.RunErrored), row(1, 3, models.RunSucceeded), row(2, 1, models.RunSucceeded), row(3, 1, models.RunLost), row(3, 2, models.RunQueued)})
	want := []int64{103, 201, 302}
	if len(got) != len(want) {
		t.Fatalf("got %d runs, want %d", len(got), len(want))
	}
	for i, id := range want {
		if got[i].ID != id {
			t.Errorf("position %d: run %d, want %d", i+1, got[i].ID, id)
		}
	}
	if got := latestTries(nil); len(got) != 0 {
		t.Errorf("no runs gave %v", got)
	}
}

func TestSettleTable2(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		j    judged
		want settled
	}{
		{"met", judged{Met: true, MaxIterations: 3}, settled{models.PhaseCompleted, models.PassMet}},
		{"met on the last pass", judged{Met: true, Iteration: 2, MaxIterations: 3}, settled{models.PhaseCompleted, models.PassMet}},
		{"met, equal to the pass before", judged{Met: true, SameAsBefore: true, MaxIterations: 3}, settled{models.PhaseCompleted, models.PassMet}},
		{"met, approval asked for", judged{Met: true, NeedsApproval: true, MaxIterations: 3}, settled{models.PhaseAwaitingApproval, models.PassMet}},
		{"trouble, first try", judged{Trouble: true, Tries: 1, MaxIterations: 3}, settled{models.PhaseJudging, models.PassJudging}},
		{"trouble, second try", judged{Trouble: true, Tries: 2, MaxIterations: 3}, settled{models.PhaseJudging, models.PassJudging}},
		{"trouble, third try", judged{Trouble: true, Tries: 3, MaxIterations: 3}, settled{models.PhaseNeedsAttention, models.PassJudging}},
		{"trouble is never met", judged{Trouble: true, Met: true, Tries: 1, MaxIterations: 3}, settled{models.PhaseJudging, models.PassJudging}},
		{"trouble on the last pass spends nothing", judged{Trouble: true, Tries: 3, Iteration: 2, MaxIterations: 3}, settled{models.PhaseNeedsAttention, models.PassJudging}},
		{"not met, passes left", judged{MaxIterations: 3}, settled{models.PhasePending, models.PassNotMet}},
		{"not met, one pass left", judged{Iteration: 1, MaxIterations: 3}, settled{models.PhasePending, models.PassNotMet}},
		{"not met, none left", judged{Iteration: 2, MaxIterations: 3}, settled{models.PhaseExhausted, models.PassNotMet}},
		{"A5-18 exhausted goes before stalled", judged{Iteration: 2, MaxIterations: 3, SameAsBefore: true}, settled{models.PhaseExhausted, models.PassNotMet}},
		{"not met, nothing new", judged{Iteration: 1, MaxIterations: 3, SameAsBefore: true}, settled{models.PhaseStalled, models.PassNotMet}},
		{"A5-05 a single pass", judged{MaxIterations: 1}, settled{models.PhaseExhausted, models.PassNotMet}},
		{"A5-05 a limit of zero in a damaged row still ends", judged{MaxIterations: 0}, settled{models.PhaseExhausted, models.PassNotMet}},
		{"approval does not matter when not met", judged{NeedsApproval: true, MaxIterations: 3}, settled{models.PhasePending, models.PassNotMet}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := decideJudged(c.j); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestBackoffGrowsAndStaysAtItsLastWait(t *testing.T) {
	t.Parallel()
	e := &Engine{Config: Config{Backoff: []time.Duration{5 * time.Second, 30 * time.Second}}}
	for try, want := range map[int]time.Duration{0: 5 * time.Second, 1: 5 * time.Second, 2: 30 * time.Second, 3: 30 * time.Second, 99: 30 * time.Second} {
		if got := e.backoff(try); got != want {
			t.Errorf("after try %d: %s, want %s", try, got, want)
		}
	}
	e.Backoff = []time.Duration{}
	if got := e.backoff(1); got != 0 {
		t.Errorf("no waits configured: %s", got)
	}
}
