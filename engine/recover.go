package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"donewhen/models"
	"donewhen/models/store"
)

// Recovered counts what a start found left over from before.
type Recovered struct {
	Lost        int // runs whose process is gone
	Ended       int // left-over processes that were ended
	Evaluations int
	Applies     int
}

// Recover makes the rows true after a stop or crash, before anything is
// served: left-over processes are ended, their runs marked lost, claims freed,
// evaluations queued again, merges under way reconciled with git, and what can
// go on is due. It is called once, while no other server has the data folder.
func (e *Engine) Recover(ctx context.Context) (Recovered, error) {
	var out Recovered
	runs, err := e.Store.RunningRuns(ctx)
	if err != nil {
		return out, err
	}
	cut, err := e.Store.CutRuns(ctx)
	if err != nil {
		return out, err
	}
	var left []Leftover
	for _, r := range slices.Concat(runs, cut) {
		left = append(left, Leftover{RunID: r.ID, Pid: r.Pid, PidStart: r.PidStart})
	}
	var errs []error
	if e.Reap != nil { // also without runs: checks and judges may be left
		if out.Ended, err = e.Reap(ctx, left); err != nil {
			errs = append(errs, fmt.Errorf("end left-over processes: %w", err))
		}
	}
	errs = append(errs, e.undoLeftChecks(ctx))
	for _, r := range runs {
		reason := "The server stopped while it ran; its process is gone."
		if r.Stopped {
			reason = "The server was stopped while it ran. This try does not count."
		}
		info, err := e.Logs.Info(ctx, r.ID)
		if err != nil {
			errs = append(errs, err)
		}
		ended := e.Now()
		if r.EndedAt != nil { // the server was stopped in good order, and the time since is nobody's work
			ended = *r.EndedAt
		}
		err = e.change(ctx, r.PlanID, func(tx *store.Tx) error {
			return tx.MoveRun(ctx, r.ID, models.RunRunning, models.RunLost, store.RunSet{
				Reason: &reason, Activity: new(""), LogBytes: &info.Bytes, LogCut: &info.Cut, EndedAt: &ended}, store.Why{Actor: models.Server, Reason: reason})
		})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		out.Lost++
	}
	errs = append(errs, e.endCutRuns(ctx, cut))
	errs = append(errs, e.Store.InTx(ctx, func(tx *store.Tx) error { _, err := tx.ReleaseAllClaims(ctx); return err }))
	errs = append(errs, e.Store.InTx(ctx, func(tx *store.Tx) error {
		return tx.EndLeftCanaries(ctx, "The server stopped before it answered.")
	}))
	evs, err := e.Store.RunningEvaluations(ctx)
	errs = append(errs, err)
	for _, ev := range evs {
		to, set, why := models.EvaluationQueued, store.EvaluationSet{}, "the server stopped"
		if ev.StoppedBy != "" {
			to, set.EndedAt, why = models.EvaluationErrored, new(e.Now()), ev.Error
		} else {
			out.Evaluations++
		}
		errs = append(errs, e.change(ctx, ev.PlanID, func(tx *store.Tx) error {
			return tx.MoveEvaluation(ctx, ev.ID, models.EvaluationRunning, to, set, store.Why{Actor: models.Server, Reason: why})
		}))
	}
	plans, err := e.Store.ApplyingPlans(ctx)
	errs = append(errs, err)
	for _, p := range plans {
		errs = append(errs, e.reconcile(ctx, p))
		out.Applies++
	}
	errs = append(errs, e.dueAll(ctx))
	return out, errors.Join(errs...)
}

// endCutRuns writes down what came of runs that a person had ended when the server
// died: what they left is recorded, as after any run.
func (e *Engine) endCutRuns(ctx context.Context, cut []models.Run) error {
	var errs []error
	for _, r := range cut {
		info, err := e.Logs.Info(ctx, r.ID)
		errs = append(errs, err)
		set := store.RunSet{Activity: new(""), LogBytes: &info.Bytes, LogCut: &info.Cut, EndedAt: new(e.Now())}
		if said, err := e.Store.LastEventOfRun(ctx, r); err == nil && said != nil {
			set.EndedAt = &said.CreatedAt // the decision: the time since is nobody's work
		}
		plan, project, err := e.planProject(ctx, r.PlanID)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		snap, snapErr := e.Spaces.Snapshot(ctx, repoOf(project), plan.ID, plan.BaseCommit, "What a stopped run left")
		errs = append(errs, snapErr)
		errs = append(errs, e.change(ctx, plan.ID, func(tx *store.Tx) error {
			if snapErr == nil {
				set.Commit, set.Tree = &snap.Commit, &snap.Tree
				if err := recordSnapshot(ctx, tx, plan.ID, snap); err != nil {
					return err
				}
				if err := tx.SetPass(ctx, r.PassID, "", store.PassSet{EndCommit: &snap.Commit, EndTree: &snap.Tree}); err != nil {
					return err
				}
			}
			return tx.SetRun(ctx, r.ID, models.RunCancelled, set)
		}))
	}
	return errors.Join(errs...)
}

// dueAll makes the open phase of every running plan due, whatever its row said.
func (e *Engine) dueAll(ctx context.Context) error {
	live, err := e.Store.LivePhases(ctx)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, ph := range live {
		if seen[ph.PlanID] {
			continue
		}
		seen[ph.PlanID] = true
		if err := e.Store.InTx(ctx, func(tx *store.Tx) error { return e.dueNext(ctx, tx, ph.PlanID) }); err != nil {
			return err
		}
	}
	e.Wake()
	return nil
}
