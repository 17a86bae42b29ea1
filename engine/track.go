package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"donewhen/models"
)

// What may be under way for a plan outside of any transaction.
type workKind string

const (
	running    workKind = "run"        // an agent
	judging    workKind = "judging"    // of a pass, its checks included
	evaluating workKind = "evaluation" // of the definition of done, its checks included
)

// Why work that is under way is ended before it is done.
var (
	errCancelled = errors.New("cancelled by a person")
	errOvertaken = errors.New("the plan went on before the evaluation had ended")
)

type workKey struct {
	kind workKind
	id   int64
}

type workUnderWay struct {
	planID string
	cancel context.CancelCauseFunc
}

// track makes a context for a piece of work that a verb can end, and returns
// what to call when the work is done.
func (e *Engine) track(ctx context.Context, kind workKind, id int64, planID string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	key := workKey{kind, id}
	e.mu.Lock()
	e.under[key] = workUnderWay{planID: planID, cancel: cancel}
	e.mu.Unlock()
	return ctx, func() {
		e.mu.Lock()
		delete(e.under, key)
		e.mu.Unlock()
		cancel(nil)
	}
}

// endWork ends what is under way for a plan: of the given kinds, or all of it.
func (e *Engine) endWork(planID string, cause error, kinds ...workKind) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, w := range e.under {
		if w.planID == planID && (len(kinds) == 0 || slices.Contains(kinds, key.kind)) {
			w.cancel(cause)
		}
	}
}

// endOne ends one piece of work, if it is under way.
func (e *Engine) endOne(key workKey, cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if w, ok := e.under[key]; ok {
		w.cancel(cause)
	}
}

// atWork says whether anything is still under way for a plan.
func (e *Engine) atWork(planID string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, w := range e.under {
		if w.planID == planID {
			return true
		}
	}
	return false
}

// endOvertaken ends an evaluation whose plan is not finished any more: its
// checks share the workspace with the agents that come next.
func (e *Engine) endOvertaken(ctx context.Context, planID string) {
	if plan, err := e.Store.Plan(ctx, planID); err == nil && plan.Status != models.PlanFinished {
		e.endWork(planID, errOvertaken, evaluating)
	}
}

// persist repeats a write that must not get lost (the end of something that was
// under way) while the disk is full or the database busy; without it the row
// would look busy until the next start. Conflicts are answers, not faults.
func (e *Engine) persist(what string, write func() error) error {
	wait := time.Second
	for try := 1; ; try++ {
		err := ignoreConflict(write())
		if err == nil || e.life.Err() != nil || try == 6 {
			if err != nil && e.life.Err() == nil {
				e.Log.Error("it could not be stored; it is repaired at the next start", "what", what, "err", err)
			}
			return err
		}
		e.Log.Warn("it could not be stored and is tried again", "what", what, "err", err)
		select {
		case <-e.life.Done():
			return err
		case <-time.After(wait):
			wait *= 2
		}
	}
}
