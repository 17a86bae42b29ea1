package engine

import (
	"context"

	"donewhen/models"
	"donewhen/models/store"
)

// StopEvaluation ends an evaluation that waits or is under way. It has no result:
// the gate stays closed until somebody evaluates again. An evaluation that is not
// under way any more is a conflict.
func (e *Engine) StopEvaluation(ctx context.Context, actor models.Actor, planID string, evaluationID int64, reason string) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	err := e.decide(ctx, planID, func(tx *store.Tx) error {
		ev, err := tx.Evaluation(ctx, evaluationID)
		if err != nil {
			return err
		}
		waits := ev.Status == models.EvaluationQueued
		if ev.PlanID != planID || ev.StoppedBy != "" || !waits && ev.Status != models.EvaluationRunning {
			return models.Errorf(models.CodeConflict, "The evaluation is not under way any more. Look at the plan again.")
		}
		set := store.EvaluationSet{StoppedBy: &actor.Name}
		text := said("Stopped by ", models.Decision{UserName: actor.Name, Reason: reason})
		set.Error = &text
		if waits {
			set.EndedAt = new(e.Now())
			return tx.MoveEvaluation(ctx, ev.ID, models.EvaluationQueued, models.EvaluationErrored, set, store.Why{Actor: actor, Kind: "evaluation.stopped", Reason: reason})
		}
		// It stays running until its checks have left the workspace: what comes next waits for that.
		if err := tx.SetEvaluation(ctx, ev.ID, models.EvaluationRunning, set); err != nil {
			return err
		}
		return tx.InsertEvent(ctx, models.Event{PlanID: planID, Kind: "evaluation.stopped", ActorID: actor.ID, Actor: actor.Name, Reason: reason})
	})
	if err == nil {
		e.endOne(workKey{evaluating, evaluationID}, errStopped)
	}
	return err
}

// endStoppedEvaluation ends one that a person stopped before it could be tracked.
func (e *Engine) endStoppedEvaluation(ctx context.Context, id int64) {
	if ev, err := e.Store.Evaluation(ctx, id); err == nil && ev.StoppedBy != "" {
		e.endOne(workKey{evaluating, id}, errStopped)
	}
}
