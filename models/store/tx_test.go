package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"donewhen/models"
)

var errStop = errors.New("stop")

// An event is there exactly when its transition is.
func TestEventAndMoveTogether(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	events, version := count(t, s, "events"), must(s.PlanVersion(ctx, d.plan.ID))(t)
	for _, in := range []func(context.Context, func(*Tx) error) error{s.InTx, s.Decide} {
		err := in(ctx, func(tx *Tx) error {
			if err := tx.MovePass(ctx, d.pass.ID, models.PassQueued, models.PassRunning, PassSet{}, Why{}); err != nil {
				return err
			}
			if got := must(tx.EventsOf(ctx, d.plan.ID, 0, 1))(t); len(got) != 1 || got[0].Kind != "pass.running" {
				t.Errorf("inside the transaction its event is not seen: %+v", got)
			}
			return errStop
		})
		if !errors.Is(err, errStop) {
			t.Fatalf("InTx returned %v, want the function's own error", err)
		}
		if got := count(t, s, "events"); got != events {
			t.Errorf("%d events after a rollback, want %d", got, events)
		}
		if got := must(s.Pass(ctx, d.pass.ID))(t).Status; got != models.PassQueued {
			t.Errorf("the pass is %s after a rollback", got)
		}
		if got := must(s.PlanVersion(ctx, d.plan.ID))(t); got != version {
			t.Errorf("the version is %d after a rollback, want %d", got, version)
		}
	}

	// The event cannot be written: the move does not happen either.
	if _, err := raw(t, s).Exec("CREATE TRIGGER no_events BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"); err != nil {
		t.Fatal(err)
	}
	err := s.InTx(ctx, func(tx *Tx) error {
		return tx.MovePass(ctx, d.pass.ID, models.PassQueued, models.PassRunning, PassSet{}, Why{})
	})
	if err == nil || !strings.Contains(err.Error(), "the disk is full") || models.CodeOf(err) != models.CodeInternal {
		t.Errorf("a move without its event: %v", err)
	}
	if got := must(s.Pass(ctx, d.pass.ID))(t).Status; got != models.PassQueued {
		t.Errorf("the pass is %s, but there is no event", got)
	}
}

// A function that panics leaves nothing behind and blocks nobody.
func TestPanicInsideTx(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = s.InTx(ctx, func(tx *Tx) error {
			if err := tx.SetPlan(ctx, d.plan.ID, "", PlanSet{Title: new("half")}); err != nil {
				t.Error(err)
			}
			panic("our fault")
		})
	}()
	if got := must(s.Plan(ctx, d.plan.ID))(t).Title; got != "Tidy up" {
		t.Errorf("title %q", got)
	}
	plant(t, s)
}

// Using the Store inside its own transaction is refused at once. Otherwise it
// would wait for itself, or read what was there before.
func TestStoreInsideItsTx(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	nothing := func(*Tx) error { return nil }
	for name, use := range map[string]func() error{
		"InTx":     func() error { return s.InTx(ctx, nothing) },
		"Decide":   func() error { return s.Decide(ctx, nothing) },
		"one row":  func() error { _, err := s.Plan(ctx, d.plan.ID); return err },
		"a list":   func() error { _, err := s.PhasesOf(ctx, d.plan.ID); return err },
		"a page":   func() error { _, err := s.PlanDetail(ctx, d.plan.ID); return err },
		"raw SQL":  func() error { _, err := s.planIDs(ctx, models.PlanFilter{}, true, 1); return err },
		"the file": func() error { return s.Integrity(ctx) },
	} {
		var inside error
		tx(t, s, func(*Tx) error { inside = use(); return nil })
		if !errors.Is(inside, errNested) {
			t.Errorf("%s through the Store inside a transaction: %v, want %v", name, inside, errNested)
		}
		if err := use(); err != nil {
			t.Errorf("%s after the transaction: %v", name, err)
		}
	}
	// Others read on meanwhile: they see the state before.
	tx(t, s, func(tx *Tx) error {
		if err := tx.SetPlan(ctx, d.plan.ID, "", PlanSet{Title: new("new")}); err != nil {
			return err
		}
		seen := make(chan string)
		go func() {
			p, err := s.Plan(ctx, d.plan.ID)
			seen <- fmt.Sprint(p.Title, err)
		}()
		if got := <-seen; got != "Tidy up<nil>" {
			t.Errorf("beside the transaction: %s", got)
		}
		if got := must(tx.Plan(ctx, d.plan.ID))(t).Title; got != "new" {
			t.Errorf("inside the transaction: %s", got)
		}
		return nil
	})
}

func TestWaitingToWriteEnds(t *testing.T) {
	s := open(t)
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	waited := make(chan error)
	tx(t, s, func(*Tx) error {
		go func() { waited <- s.InTx(short, func(*Tx) error { return nil }) }()
		if err := <-waited; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waiting ended with %v", err)
		}
		return nil
	})
}

// TestA5_07_OneClaim: of twenty who start the same at once, one does.
func TestA5_07_OneClaim(t *testing.T) {
	const n = 20
	s := open(t)
	d := plant(t, s)
	together := func(f func(i int)) {
		var ready, done sync.WaitGroup
		start := make(chan struct{})
		for i := range n {
			ready.Add(1)
			done.Go(func() {
				ready.Done()
				<-start
				f(i)
			})
		}
		ready.Wait()
		close(start)
		done.Wait()
	}

	t.Run("A5-07 claim of a pass", func(t *testing.T) {
		var got atomic.Int32
		together(func(i int) {
			err := s.InTx(ctx, func(tx *Tx) error {
				ok, err := tx.ClaimPass(ctx, d.pass.ID, models.PassQueued, fmt.Sprint("worker ", i))
				if ok {
					got.Add(1)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
		if got.Load() != 1 {
			t.Errorf("%d of %d workers got the pass, want 1", got.Load(), n)
		}
	})

	t.Run("A5-07 start of a phase", func(t *testing.T) {
		var started, told atomic.Int32
		together(func(int) {
			err := s.InTx(ctx, func(tx *Tx) error {
				second := d.phases[1]
				pass := models.Pass{PhaseID: second.ID, PlanID: d.plan.ID}
				if err := tx.MovePhase(ctx, second.ID, models.PhasePending, models.PhaseRunning, PhaseSet{}, Why{}); err != nil {
					return err
				}
				return tx.InsertPass(ctx, &pass, []models.Run{{Agent: models.AgentSpec{Runtime: "shell"}}})
			})
			switch models.CodeOf(err) {
			case "":
				started.Add(1)
			case models.CodeConflict:
				told.Add(1)
			default:
				t.Error(err)
			}
		})
		if started.Load() != 1 || told.Load() != n-1 {
			t.Errorf("%d started and %d were told, want 1 and %d", started.Load(), told.Load(), n-1)
		}
		if got := len(must(s.PassesOf(ctx, d.phases[1].ID))(t)); got != 1 {
			t.Errorf("the phase has %d passes, want 1", got)
		}
	})
}

func TestClaims(t *testing.T) {
	s := open(t)
	d := plant(t, s)
	claim := func(status models.PassStatus, by string) (ok bool) {
		tx(t, s, func(tx *Tx) (err error) { ok, err = tx.ClaimPass(ctx, d.pass.ID, status, by); return err })
		return ok
	}
	if claim(models.PassJudging, "judge") {
		t.Error("a queued pass was claimed as a judging one")
	}
	if !claim(models.PassQueued, "a") || claim(models.PassQueued, "a") || claim(models.PassQueued, "b") {
		t.Error("not exactly the first claim was taken")
	}
	if list := must(s.ClaimedPasses(ctx))(t); len(list) != 1 || list[0].ClaimedBy != "a" {
		t.Errorf("claimed passes: %+v", list)
	}
	tx(t, s, func(tx *Tx) error { return tx.ReleasePass(ctx, d.pass.ID, "b") })
	if claim(models.PassQueued, "b") {
		t.Error("b gave back what a has")
	}
	tx(t, s, func(tx *Tx) error { return tx.ReleasePass(ctx, d.pass.ID, "a") })
	if !claim(models.PassQueued, "b") {
		t.Error("a given-back pass cannot be claimed")
	}
	tx(t, s, func(tx *Tx) error {
		if n, err := tx.ReleaseAllClaims(ctx); n != 1 || err != nil {
			t.Errorf("released %d, %v", n, err)
		}
		return nil
	})
	if list := must(s.ClaimedPasses(ctx))(t); len(list) != 0 {
		t.Errorf("claimed passes after release: %+v", list)
	}
	if err := s.InTx(ctx, func(tx *Tx) error { _, err := tx.ClaimPass(ctx, d.pass.ID, models.PassQueued, ""); return err }); err == nil {
		t.Error("a claim without a name went through")
	}
}

// TestA5_09_ReadThenWrite: reading and then writing in one transaction never
// fails with "database is locked" and loses no update, from two handles on the
// file (InTx and Decide) and from a second program's handle beside them.
func TestA5_09_ReadThenWrite(t *testing.T) {
	s, _ := openAt(t, t.TempDir()+"/main.db", nil)
	d := plant(t, s)
	var file string
	if err := raw(t, s).QueryRow("SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&file); err != nil {
		t.Fatal(err)
	}
	other, _ := openAt(t, file, nil)

	const saves = 50
	var writers, readers sync.WaitGroup
	for _, in := range []func(context.Context, func(*Tx) error) error{s.InTx, s.InTx, s.Decide, s.Decide, other.InTx, other.Decide} {
		writers.Go(func() {
			for range saves {
				err := in(ctx, func(tx *Tx) error {
					p, err := tx.Pass(ctx, d.pass.ID)
					if err != nil {
						return err
					}
					return tx.SetPass(ctx, p.ID, p.Status, PassSet{JudgeTries: new(p.JudgeTries + 1)})
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	stop := make(chan struct{})
	readers.Go(func() { // the run's stream, which says what it is doing
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			err := s.InTx(ctx, func(tx *Tx) error {
				return tx.SetRun(ctx, d.run.ID, "", RunSet{Activity: new(fmt.Sprint("line ", i))})
			})
			if err != nil {
				t.Error(err)
			}
		}
	})
	readers.Go(func() { // a page
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := s.PlanDetail(ctx, d.plan.ID); err != nil {
				t.Error(err)
			}
		}
	})
	writers.Wait()
	close(stop)
	readers.Wait()
	if got := must(s.Pass(ctx, d.pass.ID))(t).JudgeTries; got != 6*saves {
		t.Errorf("%d of %d saves are stored", got, 6*saves)
	}
}
