package store

import (
	"context"
	"errors"
	"fmt"

	"donewhen/models"
)

// Pass reads one pass.
func (r Reader) Pass(ctx context.Context, id int64) (models.Pass, error) {
	return byID[models.Pass](ctx, r, "pass", id)
}

// PassesOf reads a phase's passes, the newest last.
func (r Reader) PassesOf(ctx context.Context, phaseID int64) ([]models.Pass, error) {
	return rows[models.Pass](r.q(ctx).Where("phase_id = ?", phaseID).Order("id"), "the passes of the phase")
}

// PassBefore is the decided pass (met or not met) of the same phase and attempt
// with the next lower iteration, nil when there is none.
func (r Reader) PassBefore(ctx context.Context, pass models.Pass) (*models.Pass, error) {
	q := r.q(ctx).Where("phase_id = ? AND attempt = ? AND iteration < ?", pass.PhaseID, pass.Attempt, pass.Iteration).
		Where("status IN ?", []models.PassStatus{models.PassMet, models.PassNotMet}).
		Order("iteration DESC")
	return first[models.Pass](q, "the pass before")
}

// InsertPass writes a pass with its runs and fills in what is empty: ids,
// times, status queued, the runs' pass, phase, plan, positions in order and
// try 1. A second pass with the same number is a CodeConflict.
func (tx *Tx) InsertPass(ctx context.Context, p *models.Pass, runs []models.Run) error {
	if p.Status == "" {
		p.Status = models.PassQueued
	}
	if p.Attempt == 0 {
		p.Attempt = 1
	}
	p.CreatedAt = tx.now
	stampAll(&p.QuotaSince, &p.StartedAt, &p.EndedAt)
	if err := tx.q(ctx).Create(p).Error; err != nil {
		if uniqueOf(err) != "" {
			return models.Errorf(models.CodeConflict, "Pass %d of this phase was started meanwhile. Look at it again.", p.Number())
		}
		return fmt.Errorf("insert pass %d of phase %d: %w", p.Number(), p.PhaseID, err)
	}
	for i := range runs {
		r := &runs[i]
		r.PassID, r.PhaseID, r.PlanID = p.ID, p.PhaseID, p.PlanID
		if r.Position == 0 {
			r.Position = i + 1
		}
		if err := tx.InsertRun(ctx, r); err != nil {
			return err
		}
	}
	tx.touch(p.PlanID)
	return nil
}

// MovePass moves a pass from one status to another.
func (tx *Tx) MovePass(ctx context.Context, id int64, from, to models.PassStatus, set PassSet, why Why) error {
	return move(ctx, tx, passesTable, id, from, to, set.columns(), why)
}

// SetPass changes columns of a pass that is in status when; "" is any status.
func (tx *Tx) SetPass(ctx context.Context, id int64, when models.PassStatus, set PassSet) error {
	return update(ctx, tx, passesTable, id, when, set.columns(), nil)
}

// ClaimPass makes by the only worker or judge of a pass that is free and in the
// given status, and says whether it got it. Of many who claim at once one gets
// it, so that a doubled delivery is harmless.
func (tx *Tx) ClaimPass(ctx context.Context, id int64, status models.PassStatus, by string) (bool, error) {
	if by == "" {
		return false, errors.New("store: a claim needs a name")
	}
	res := tx.q(ctx).Exec("UPDATE passes SET claimed_by = ? WHERE id = ? AND status = ? AND claimed_by = ''", by, id, status)
	if res.Error != nil {
		return false, fmt.Errorf("claim pass %d: %w", id, res.Error)
	}
	return res.RowsAffected == 1, nil
}

// ReleasePass gives a pass back. It does nothing when by does not have it.
func (tx *Tx) ReleasePass(ctx context.Context, id int64, by string) error {
	if err := tx.q(ctx).Exec("UPDATE passes SET claimed_by = '' WHERE id = ? AND claimed_by = ?", id, by).Error; err != nil {
		return fmt.Errorf("release pass %d: %w", id, err)
	}
	return nil
}

// ReleaseAllClaims frees every pass at the start of the server, when nobody can
// be at work, and says how many there were.
func (tx *Tx) ReleaseAllClaims(ctx context.Context) (int64, error) {
	res := tx.q(ctx).Exec("UPDATE passes SET claimed_by = '' WHERE claimed_by > ''")
	if res.Error != nil {
		return 0, fmt.Errorf("release the claims: %w", res.Error)
	}
	return res.RowsAffected, nil
}
