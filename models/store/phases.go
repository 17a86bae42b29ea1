package store

import (
	"context"

	"donewhen/models"
)

// Phase reads one phase.
func (r Reader) Phase(ctx context.Context, id int64) (models.Phase, error) {
	return byID[models.Phase](ctx, r, "phase", id)
}

// PhasesOf reads a plan's phases in their order.
func (r Reader) PhasesOf(ctx context.Context, planID string) ([]models.Phase, error) {
	return rows[models.Phase](r.q(ctx).Where("plan_id = ?", planID).Order("position"), "the phases of the plan")
}

// LivePhases are the pending, running and judging phases of running plans, for
// recovery at the start of the server.
func (r Reader) LivePhases(ctx context.Context) ([]models.Phase, error) {
	q := r.q(ctx).Joins("JOIN plans ON plans.id = phases.plan_id").
		Where("plans.status = ?", models.PlanRunning).
		Where("phases.status IN ?", []models.PhaseStatus{models.PhasePending, models.PhaseRunning, models.PhaseJudging}).
		Order("phases.plan_id, phases.position")
	return rows[models.Phase](q, "the phases of running plans")
}

// MovePhase moves a phase from one status to another. updated_at is the time
// of its last move.
func (tx *Tx) MovePhase(ctx context.Context, id int64, from, to models.PhaseStatus, set PhaseSet, why Why) error {
	c := set.columns()
	c.put("updated_at", tx.now)
	c.put("over_budget", set.OverBudget)
	if err := set.reword(ctx, tx, id); err != nil {
		return err
	}
	return move(ctx, tx, phasesTable, id, from, to, c, why)
}

// SetPhase changes columns of a phase that is in status when; "" is any status.
func (tx *Tx) SetPhase(ctx context.Context, id int64, when models.PhaseStatus, set PhaseSet) error {
	if err := set.reword(ctx, tx, id); err != nil {
		return err
	}
	return update(ctx, tx, phasesTable, id, when, set.columns(), nil)
}

// reword notes when the set says something that a plan is found by. A reason
// that only ends costs nothing here: it goes with the next text.
func (set PhaseSet) reword(ctx context.Context, tx *Tx, id int64) error {
	if set.DoneWhen != nil || set.Reason != nil && *set.Reason != "" {
		return tx.rewordPhase(ctx, id)
	}
	return nil
}
