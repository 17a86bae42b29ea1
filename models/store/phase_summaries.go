package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm/clause"

	"donewhen/models"
)

// DueSummaries are the summaries to be tried, the one that is due longest first.
func (r Reader) DueSummaries(ctx context.Context, now time.Time, limit int) ([]models.PhaseSummary, error) {
	q := r.q(ctx).Where("due_at IS NOT NULL AND due_at <= ?", stamp(now)).Order("due_at").Limit(limit)
	return rows[models.PhaseSummary](q, "the summaries that are due")
}

// SummaryOf is a pass's summary, nil when it has none.
func (r Reader) SummaryOf(ctx context.Context, passID int64) (*models.PhaseSummary, error) {
	return first[models.PhaseSummary](r.q(ctx).Where("pass_id = ?", passID), "the summary of the pass")
}

// SummariesOf are a plan's summaries by pass, without exact input and raw reply.
func (r Reader) SummariesOf(ctx context.Context, planID string) (map[int64]models.PhaseSummary, error) {
	list, err := rows[models.PhaseSummary](r.q(ctx).Omit("system", "prompt", "raw").
		Where("pass_id IN (SELECT pass_id FROM phases WHERE plan_id = ?)", planID), "the summaries of the plan")
	out := make(map[int64]models.PhaseSummary, len(list))
	for _, s := range list {
		out[s.PassID] = s
	}
	return out, err
}

// InsertSummary makes a pass's summary due; one that it has already stays.
func (tx *Tx) InsertSummary(ctx context.Context, s *models.PhaseSummary) error {
	s.CreatedAt = tx.now
	stampAll(&s.DueAt)
	if err := tx.q(ctx).Clauses(clause.OnConflict{DoNothing: true}).Create(s).Error; err != nil {
		return fmt.Errorf("insert the summary of pass %d: %w", s.PassID, err)
	}
	return nil
}

// ClaimSummary counts a try of a summary that is due and has one left, and puts
// the next one off until lease, which is when it is tried after a crash.
func (tx *Tx) ClaimSummary(ctx context.Context, passID int64, lease time.Time) (bool, error) {
	res := tx.q(ctx).Exec("UPDATE phase_summaries SET tries = tries + 1, due_at = ? WHERE pass_id = ? AND due_at <= ? AND tries < ?",
		stamp(lease), passID, tx.now, models.MaxSummaryTries)
	if res.Error != nil {
		return false, fmt.Errorf("claim the summary of pass %d: %w", passID, res.Error)
	}
	return res.RowsAffected == 1, nil
}

// SaveSummary writes what a try brought.
func (tx *Tx) SaveSummary(ctx context.Context, s models.PhaseSummary) error {
	stampAll(&s.DueAt)
	res := tx.q(ctx).Model(&models.PhaseSummary{}).Where("pass_id = ?", s.PassID).
		Select("facts_json", "evidence_hash", "verdict_id", "evaluator", "model", "system", "prompt", "raw", "prose",
			"input_tokens", "output_tokens", "cost_usd", "trouble", "due_at").Updates(s)
	if res.Error != nil {
		return fmt.Errorf("write the summary of pass %d: %w", s.PassID, res.Error)
	}
	tx.touch(s.PlanID)
	return nil
}
