package store

import (
	"context"
	"fmt"

	"donewhen/models"
)

// AttemptsOf reads the tries to apply a plan, the newest first.
func (r Reader) AttemptsOf(ctx context.Context, planID string) ([]models.ApplyAttempt, error) {
	return rows[models.ApplyAttempt](r.q(ctx).Where("plan_id = ?", planID).Order("id DESC"), "the tries to apply the plan")
}

// UnfinishedAttempt is the try that was started and has no end yet, nil when
// there is none. There is one at most.
func (r Reader) UnfinishedAttempt(ctx context.Context, planID string) (*models.ApplyAttempt, error) {
	// Spelt out, because the partial index is used only for exactly this condition.
	return first[models.ApplyAttempt](r.q(ctx).Where("plan_id = ? AND status = 'started'", planID), "the unfinished try to apply the plan")
}

// InsertApplyAttempt writes a try and fills in its id, its time and, when
// empty, the status started. A second one while the first has no end is a
// CodeConflict.
func (tx *Tx) InsertApplyAttempt(ctx context.Context, a *models.ApplyAttempt) error {
	if a.Status == "" {
		a.Status = models.ApplyStarted
	}
	a.CreatedAt = tx.now
	stampAll(&a.EndedAt)
	if err := tx.q(ctx).Create(a).Error; err != nil {
		if uniqueOf(err) != "" {
			return models.Errorf(models.CodeConflict, "The plan is being applied already. Wait for the result.")
		}
		return fmt.Errorf("insert a try to apply plan %s: %w", a.PlanID, err)
	}
	tx.touch(a.PlanID)
	return nil
}

// MoveApply moves a try from one status to another.
func (tx *Tx) MoveApply(ctx context.Context, id int64, from, to models.ApplyStatus, set ApplySet, why Why) error {
	return move(ctx, tx, attemptsTable, id, from, to, set.columns(), why)
}

// SetApply changes columns of a try, whatever its status.
func (tx *Tx) SetApply(ctx context.Context, id int64, set ApplySet) error {
	return update(ctx, tx, attemptsTable, id, models.ApplyStatus(""), set.columns(), nil)
}
