package store

import (
	"context"
	"fmt"

	"donewhen/models"
)

// DecisionsOf reads the decisions about a plan that still count, the oldest
// first.
func (r Reader) DecisionsOf(ctx context.Context, planID string) ([]models.Decision, error) {
	return rows[models.Decision](r.q(ctx).Where("plan_id = ? AND voided_at IS NULL", planID).Order("id"), "the decisions about the plan")
}

// DecisionsAbout reads the decisions about a plan's criteria that were bound to a
// fingerprint, also those that count no more unless a person took them back, the
// oldest first.
func (r Reader) DecisionsAbout(ctx context.Context, planID, fingerprint string) ([]models.Decision, error) {
	return rows[models.Decision](r.q(ctx).Where("plan_id = ? AND fingerprint = ? AND criterion > 0 AND NOT withdrawn", planID, fingerprint).Order("id"), "the decisions about what was evaluated")
}

// LastDecisionOn reads the newest decision about a phase, also one that counts no
// more because the phase ran again; nil when there is none.
func (r Reader) LastDecisionOn(ctx context.Context, phaseID int64) (*models.Decision, error) {
	return first[models.Decision](r.q(ctx).Where("phase_id = ?", phaseID).Order("id DESC"), "the newest decision about the phase")
}

// InsertDecision writes a decision and fills in its id and time.
func (tx *Tx) InsertDecision(ctx context.Context, d *models.Decision) error {
	d.CreatedAt = tx.now
	if err := tx.q(ctx).Create(d).Error; err != nil {
		return fmt.Errorf("insert a decision about plan %s: %w", d.PlanID, err)
	}
	tx.touch(d.PlanID)
	return nil
}

// DodChangesOf reads what was taken out of a plan's definition of done since its
// start, the oldest first.
func (r Reader) DodChangesOf(ctx context.Context, planID string) ([]models.DodChange, error) {
	return rows[models.DodChange](r.q(ctx).Where("plan_id = ?", planID).Order("id"), "the changes of the plan's definition of done")
}

// InsertDodChange writes what a change took out and fills in its id and time.
func (tx *Tx) InsertDodChange(ctx context.Context, c *models.DodChange) error {
	c.CreatedAt = tx.now
	if err := tx.q(ctx).Create(c).Error; err != nil {
		return fmt.Errorf("insert a change of plan %s's definition of done: %w", c.PlanID, err)
	}
	tx.touch(c.PlanID)
	return nil
}

// WithdrawDecision marks a decision as taken back by a person. It stays in the table.
func (tx *Tx) WithdrawDecision(ctx context.Context, d models.Decision) error {
	if err := tx.q(ctx).Exec("UPDATE decisions SET voided_at = ?, withdrawn = TRUE WHERE id = ? AND voided_at IS NULL", tx.now, d.ID).Error; err != nil {
		return fmt.Errorf("take back a decision about plan %s: %w", d.PlanID, err)
	}
	tx.touch(d.PlanID)
	return nil
}

// VoidDecisions marks the decisions about these phases of the plan, and with
// planLevel those about the plan as a whole, as no longer counting. They stay
// in the table.
func (tx *Tx) VoidDecisions(ctx context.Context, planID string, phaseIDs []int64, planLevel bool) error {
	void := func(which string, args ...any) error {
		args = append([]any{tx.now, planID}, args...)
		err := tx.q(ctx).Exec("UPDATE decisions SET voided_at = ? WHERE plan_id = ? AND voided_at IS NULL AND "+which, args...).Error
		if err != nil {
			return fmt.Errorf("void decisions about plan %s: %w", planID, err)
		}
		tx.touch(planID)
		return nil
	}
	if len(phaseIDs) > 0 {
		if err := void("phase_id IN ?", phaseIDs); err != nil {
			return err
		}
	}
	if planLevel {
		return void("phase_id IS NULL")
	}
	return nil
}
