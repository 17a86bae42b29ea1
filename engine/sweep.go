package engine

import (
	"context"
	"errors"
	"time"

	"donewhen/models"
	"donewhen/models/store"
)

const (
	sweepEvery = 15 * time.Second // the net; events wake the sweep long before
	sweepBatch = 100
	// redeliver is how long a delivered pass may stay unclaimed before it is
	// delivered again. Claims are compare-and-swap, so twice does no harm.
	redeliver = 30 * time.Second
)

// Swept counts what one tick did.
type Swept struct {
	Due         int // phases looked at
	Evaluations int // evaluations begun
}

// Run sweeps until ctx ends: at once, at every wake-up, when the next phase
// falls due, and at least every 15 seconds. Errors are logged, never fatal.
func (e *Engine) Run(ctx context.Context) error {
	for {
		swept, err := e.Once(ctx)
		if err != nil && ctx.Err() == nil {
			e.Log.Error("sweep", "err", err)
		}
		if err == nil && swept.Due == sweepBatch {
			continue
		}
		wait := time.NewTimer(e.untilNext(ctx))
		select {
		case <-ctx.Done():
			wait.Stop()
			return nil
		case <-e.wake:
		case <-wait.C:
		}
		wait.Stop()
	}
}

func (e *Engine) untilNext(ctx context.Context) time.Duration {
	now := e.Now()
	next, err := e.Store.NextDue(ctx, now)
	if err != nil || next == nil {
		return sweepEvery
	}
	return min(max(next.Sub(now), 0), sweepEvery)
}

// Once is one tick: it looks at the phases that are due and at the evaluations
// that are queued. It costs what is due, not what is stored. Judging and
// evaluating go on in goroutines of their own; Drain waits for them.
func (e *Engine) Once(ctx context.Context) (Swept, error) {
	var out Swept
	due, err := e.Store.DuePhases(ctx, e.Now(), sweepBatch)
	if err != nil {
		return out, err
	}
	var errs []error
	for _, ph := range due {
		out.Due++
		if err := e.step(ctx, ph); err != nil && models.CodeOf(err) != models.CodeConflict {
			errs = append(errs, err)
			// It comes again later instead of keeping the sweep busy.
			errs = append(errs, e.postpone(ctx, ph))
		}
	}
	waiting, err := e.Store.QueuedEvaluations(ctx, sweepBatch)
	if err != nil {
		return out, errors.Join(append(errs, err)...)
	}
	for _, ev := range waiting {
		begun, err := e.beginEvaluation(ctx, ev)
		if begun {
			out.Evaluations++
		}
		if err != nil && models.CodeOf(err) != models.CodeConflict {
			errs = append(errs, err)
		}
	}
	errs = append(errs, e.beginSummaries(ctx))
	return out, errors.Join(errs...)
}

// Drain waits until nothing that a tick began is under way. Tests use it
// between ticks; it is no part of the server's life.
func (e *Engine) Drain() {
	if l, ok := e.dispatcher.(*local); ok {
		l.busy.Wait()
	}
	e.work.Wait()
}

func (e *Engine) postpone(ctx context.Context, ph models.Phase) error {
	return e.Store.InTx(ctx, func(tx *store.Tx) error {
		return ignoreConflict(tx.SetPhase(ctx, ph.ID, ph.Status, store.PhaseSet{DueAt: new(e.Now().Add(sweepEvery))}))
	})
}

// step does what is due for one phase.
func (e *Engine) step(ctx context.Context, ph models.Phase) error {
	plan, err := e.Store.Plan(ctx, ph.PlanID)
	if err != nil {
		return err
	}
	if plan.Status != models.PlanRunning {
		// Resume, retry and the like set it due again.
		return e.Store.InTx(ctx, func(tx *store.Tx) error {
			return tx.SetPhase(ctx, ph.ID, ph.Status, store.PhaseSet{NoDue: true})
		})
	}
	switch ph.Status {
	case models.PhasePending:
		return e.startPass(ctx, plan, ph)
	case models.PhaseRunning:
		return e.stepRunning(ctx, plan, ph)
	case models.PhaseJudging:
		return e.beginJudging(ctx, ph)
	default:
		return e.Store.InTx(ctx, func(tx *store.Tx) error {
			return tx.SetPhase(ctx, ph.ID, ph.Status, store.PhaseSet{NoDue: true})
		})
	}
}

// stepRunning delivers the current pass, or settles it when its runs have
// ended. Only the current pass is asked: runs of earlier passes are still in
// the table and must not close this one.
func (e *Engine) stepRunning(ctx context.Context, plan models.Plan, ph models.Phase) error {
	if ph.PassID == nil {
		return errors.New("a running phase has no pass: phase " + itoa(ph.ID))
	}
	pass, err := e.Store.Pass(ctx, *ph.PassID)
	if err != nil {
		return err
	}
	if pass.ClaimedBy != "" { // a worker has it and sets it due when it is done
		return e.Store.InTx(ctx, func(tx *store.Tx) error {
			return tx.SetPhase(ctx, ph.ID, models.PhaseRunning, store.PhaseSet{NoDue: true})
		})
	}
	runs, err := e.Store.RunsOf(ctx, pass.ID)
	if err != nil {
		return err
	}
	if decideRuns(runs, ph.DoneWhen != "") == runsGoOn {
		err := e.Store.InTx(ctx, func(tx *store.Tx) error {
			return tx.SetPhase(ctx, ph.ID, models.PhaseRunning, store.PhaseSet{DueAt: new(e.Now().Add(redeliver))})
		})
		if err == nil {
			e.dispatcher.Deliver(pass.ID)
		}
		return err
	}
	return e.settleRuns(ctx, plan.ID, ph.ID, pass.ID)
}

func ignoreConflict(err error) error {
	if models.CodeOf(err) == models.CodeConflict {
		return nil
	}
	return err
}
