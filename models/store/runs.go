package store

import (
	"context"
	"fmt"

	"donewhen/models"
)

// Run reads one run.
func (r Reader) Run(ctx context.Context, id int64) (models.Run, error) {
	return byID[models.Run](ctx, r, "run", id)
}

// RunsOf reads a pass's runs by position and try.
func (r Reader) RunsOf(ctx context.Context, passID int64) ([]models.Run, error) {
	return rows[models.Run](r.q(ctx).Where("pass_id = ?", passID).Order("position, try"), "the runs of the pass")
}

// InsertRun writes a run and fills in what is empty: id, time, status queued,
// try 1. A second run with the same place and try is a CodeConflict.
func (tx *Tx) InsertRun(ctx context.Context, r *models.Run) error {
	if r.Status == "" {
		r.Status = models.RunQueued
	}
	if r.Try == 0 {
		r.Try = 1
	}
	r.CreatedAt = tx.now
	stampAll(&r.StartedAt, &r.EndedAt)
	if err := tx.q(ctx).Create(r).Error; err != nil {
		if uniqueOf(err) != "" {
			return models.Errorf(models.CodeConflict, "Try %d of agent %d in this pass exists already. Look at it again.", r.Try, r.Position)
		}
		return fmt.Errorf("insert run %d of pass %d: %w", r.Position, r.PassID, err)
	}
	tx.touch(r.PlanID)
	return nil
}

// MoveRun moves a run from one status to another.
func (tx *Tx) MoveRun(ctx context.Context, id int64, from, to models.RunStatus, set RunSet, why Why) error {
	return move(ctx, tx, runsTable, id, from, to, set.columns(), why)
}

// SetRun changes columns of a run that is in status when; "" is any status.
func (tx *Tx) SetRun(ctx context.Context, id int64, when models.RunStatus, set RunSet) error {
	return update(ctx, tx, runsTable, id, when, set.columns(), nil)
}
