package engine

import (
	"context"
	"errors"

	"donewhen/models"
	"donewhen/models/store"
)

var errStopped = errors.New("stopped by a person")

// StopRun ends an agent that is at work, without ending its plan. What it did is
// recorded as after any run, no pass is spent, and the phase needs attention: what
// follows is the lead's to say.
func (e *Engine) StopRun(ctx context.Context, actor models.Actor, phaseID, passID, runID int64, reason string) error {
	err := e.onPhase(ctx, actor, phaseID, passID, func(tx *store.Tx, ph models.Phase) error {
		run, err := tx.Run(ctx, runID)
		if err != nil {
			return err
		}
		if run.PhaseID != ph.ID || run.Status != models.RunRunning {
			return models.Errorf(models.CodeConflict, "The run is not at work any more. Look at the phase again.")
		}
		said, why := said("Stopped by ", models.Decision{UserName: actor.Name, Reason: reason}), run.Agent.Label()
		if reason != "" {
			why += ": " + reason
		}
		return tx.MoveRun(ctx, runID, models.RunRunning, models.RunCancelled, store.RunSet{StoppedBy: &actor.Name, Reason: &said},
			store.Why{Actor: actor, Kind: "run.stopped", Reason: why})
	})
	if err == nil {
		e.endOne(workKey{running, runID}, errStopped)
	}
	return err
}
