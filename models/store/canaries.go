package store

import (
	"context"
	"fmt"
	"time"

	"donewhen/models"
)

// Canary reads one planted pass with what was asked and answered.
func (r Reader) Canary(ctx context.Context, id int64) (models.Canary, error) {
	return byID[models.Canary](ctx, r, "planted pass", id)
}

// Canaries are the newest planted passes, limit at most, without their inputs and
// replies.
func (r Reader) Canaries(ctx context.Context, limit int) ([]models.Canary, error) {
	return rows[models.Canary](r.q(ctx).Omit("answer_json").Order("id DESC").Limit(limit), "the planted passes")
}

// Judges are what is kept of evaluators; one that was never counted has no row.
func (r Reader) Judges(ctx context.Context) ([]models.Judge, error) {
	return rows[models.Judge](r.q(ctx).Order("evaluator"), "the judges")
}

// canaryCounts adds up the planted passes since then by judge and wording.
func (r Reader) canaryCounts(ctx context.Context, since time.Time) ([]models.CanaryCount, error) {
	return rows[models.CanaryCount](r.q(ctx).Table("canaries").Select("evaluator, prompt_version, outcome, COUNT(*) AS count").
		Where("created_at >= ?", since).Group("evaluator, prompt_version, outcome"), "the planted passes")
}

// InsertCanary writes a planted pass that a judge is about to be given, and counts
// it there. One under way for the same judge is a CodeConflict.
func (tx *Tx) InsertCanary(ctx context.Context, c *models.Canary) error {
	c.Outcome, c.CreatedAt = models.CanaryAsked, tx.now
	if err := tx.q(ctx).Create(c).Error; err != nil {
		if uniqueOf(err) == "canaries.evaluator" {
			return models.Errorf(models.CodeConflict, "%s has a planted pass before it already. Wait for its answer.", c.Evaluator)
		}
		return fmt.Errorf("insert a planted pass: %w", err)
	}
	_, err := tx.countJudge(ctx, c.Evaluator, "given")
	return err
}

// EndCanary stores what came of a planted pass that was asked. One that has ended
// is a CodeConflict.
func (tx *Tx) EndCanary(ctx context.Context, c models.Canary) error {
	done := tx.q(ctx).Model(&models.Canary{}).Where("id = ? AND outcome = ?", c.ID, models.CanaryAsked).Updates(map[string]any{
		"outcome": c.Outcome, "reason": c.Reason, "prompt_version": c.PromptVersion, "answer_json": c.AnswerJSON, "input_tokens": c.InputTokens,
		"output_tokens": c.OutputTokens, "cost_usd": c.CostUSD, "millis": c.Millis, "ended_at": tx.now,
	})
	if done.Error != nil {
		return fmt.Errorf("store what came of planted pass %d: %w", c.ID, done.Error)
	}
	if done.RowsAffected == 0 {
		return models.Errorf(models.CodeConflict, "planted pass %d has ended already", c.ID)
	}
	return nil
}

// EndLeftCanaries makes trouble of the planted passes that were asked when the
// server stopped.
func (tx *Tx) EndLeftCanaries(ctx context.Context, reason string) error {
	err := tx.q(ctx).Model(&models.Canary{}).Where("outcome = ?", models.CanaryAsked).
		Updates(map[string]any{"outcome": models.CanaryTrouble, "reason": reason, "ended_at": tx.now}).Error
	if err != nil {
		return fmt.Errorf("end the planted passes that were left: %w", err)
	}
	return nil
}

// CountJudging counts a judging for a judge and returns how many there are now.
func (tx *Tx) CountJudging(ctx context.Context, evaluator string) (int64, error) {
	j, err := tx.countJudge(ctx, evaluator, "asked")
	return j.Asked, err
}

func (tx *Tx) countJudge(ctx context.Context, evaluator, column string) (j models.Judge, err error) {
	if err := tx.q(ctx).Exec("INSERT INTO judges (evaluator, asked, given) VALUES (?, 0, 0) ON CONFLICT (evaluator) DO NOTHING", evaluator).Error; err != nil {
		return j, fmt.Errorf("count for the judge %s: %w", evaluator, err)
	}
	if err := tx.q(ctx).Exec("UPDATE judges SET "+column+" = "+column+" + 1 WHERE evaluator = ?", evaluator).Error; err != nil {
		return j, fmt.Errorf("count for the judge %s: %w", evaluator, err)
	}
	if err := tx.q(ctx).Where("evaluator = ?", evaluator).Take(&j).Error; err != nil {
		return j, fmt.Errorf("read the judge %s: %w", evaluator, err)
	}
	return j, nil
}

// DistrustJudge marks a judge that missed a planted pass; marked says whether it
// was trusted until now.
func (tx *Tx) DistrustJudge(ctx context.Context, evaluator string, canary int64) (marked bool, err error) {
	done := tx.q(ctx).Model(&models.Judge{}).Where("evaluator = ? AND missed_canary IS NULL", evaluator).
		Updates(map[string]any{"missed_canary": canary, "distrusted_at": tx.now})
	if done.Error != nil {
		return false, fmt.Errorf("mark the judge %s: %w", evaluator, done.Error)
	}
	return done.RowsAffected > 0, nil
}

// TrustJudge takes the mark off a judge; one that has none is a CodeConflict.
func (tx *Tx) TrustJudge(ctx context.Context, evaluator string) error {
	done := tx.q(ctx).Model(&models.Judge{}).Where("evaluator = ? AND missed_canary IS NOT NULL", evaluator).
		Updates(map[string]any{"missed_canary": nil, "distrusted_at": nil})
	if done.Error != nil {
		return fmt.Errorf("clear the judge %s: %w", evaluator, done.Error)
	}
	if done.RowsAffected == 0 {
		return models.Errorf(models.CodeConflict, "%s is trusted already.", evaluator)
	}
	return nil
}
