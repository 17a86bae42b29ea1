package store

import (
	"context"
	"fmt"

	"donewhen/models"
)

// Verdict reads one verdict with its evidence and raw answers.
func (r Reader) Verdict(ctx context.Context, id int64) (models.Verdict, error) {
	return byID[models.Verdict](ctx, r, "verdict", id)
}

// LatestVerdict is a pass's newest verdict, nil when it was never judged.
func (r Reader) LatestVerdict(ctx context.Context, passID int64) (*models.Verdict, error) {
	return first[models.Verdict](r.q(ctx).Where("pass_id = ?", passID).Order("id DESC"), "the verdict of the pass")
}

// VerdictsOf reads all verdicts of a pass, the newest last.
func (r Reader) VerdictsOf(ctx context.Context, passID int64) ([]models.Verdict, error) {
	return rows[models.Verdict](r.q(ctx).Where("pass_id = ?", passID).Order("id"), "the verdicts of the pass")
}

// InsertVerdict writes a verdict, with what is counted of it, and fills in its id and time. Only the kind
// "verdict" may be met; the database refuses anything else.
func (tx *Tx) InsertVerdict(ctx context.Context, v *models.Verdict) error {
	v.CreatedAt, v.Opinions = tx.now, max(v.Opinions, models.MinOpinions)
	if err := tx.q(ctx).Create(v).Error; err != nil {
		return fmt.Errorf("insert the verdict of pass %d: %w", v.PassID, err)
	}
	if err := tx.q(ctx).Create(judgingsOf(*v)).Error; err != nil {
		return fmt.Errorf("count the verdict of pass %d: %w", v.PassID, err)
	}
	tx.touch(v.PlanID)
	tx.reword(v.PlanID)
	return nil
}
