package engine

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"donewhen/models"
)

func bareEngine() *Engine {
	e := &Engine{Config: Config{Log: slog.New(slog.DiscardHandler)}, under: map[workKey]workUnderWay{}}
	e.life, e.end = context.WithCancel(context.Background())
	return e
}

func TestWorkUnderWayIsEndedByPlanAndKind(t *testing.T) {
	t.Parallel()
	e := bareEngine()
	run, runDone := e.track(e.life, running, 1, "a")
	eval, evalDone := e.track(e.life, evaluating, 1, "a") // the same id of another kind
	other, otherDone := e.track(e.life, running, 2, "b")
	defer otherDone()
	e.endWork("a", errOvertaken, evaluating)
	if context.Cause(eval) != errOvertaken || run.Err() != nil || other.Err() != nil {
		t.Errorf("evaluation %v, run %v, other plan %v", context.Cause(eval), run.Err(), other.Err())
	}
	e.endWork("a", errCancelled)
	if context.Cause(run) != errCancelled || context.Cause(eval) != errOvertaken || other.Err() != nil {
		t.Errorf("run %v, other plan %v", context.Cause(run), other.Err())
	}
	if !e.atWork("a") {
		t.Error("ended work is gone before it has said so")
	}
	runDone()
	evalDone()
	if e.atWork("a") || !e.atWork("b") {
		t.Error("the list of what is under way is wrong")
	}
	e.end()
	if other.Err() == nil {
		t.Error("work outlives the server")
	}
}

func TestPersistRepeatsFaultsAndTakesConflictsForAnAnswer(t *testing.T) {
	t.Parallel()
	full := errors.New("database or disk is full")
	for _, c := range []struct {
		name   string
		faults int
		err    error
		tries  int
		took   time.Duration
		fails  bool
	}{
		{"at once", 0, full, 1, 0, false},
		{"after two faults", 2, full, 3, 3 * time.Second, false},
		{"a conflict", 99, models.Errorf(models.CodeConflict, "moved"), 1, 0, false},
		{"never", 99, full, 6, 31 * time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := bareEngine()
			began, tries := time.Now(), 0
			err := e.persist("it", func() error {
				if tries++; tries <= c.faults {
					return c.err
				}
				return nil
			})
			if tries != c.tries || time.Since(began) != c.took || (err != nil) != c.fails {
				t.Errorf("%s: %d tries in %s, %v", c.name, tries, time.Since(began), err)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // the server stops meanwhile
		e := bareEngine()
		go func() { time.Sleep(1500 * time.Millisecond); e.end() }()
		began := time.Now()
		if err := e.persist("it", func() error { return full }); err != full || time.Since(began) != 1500*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
