package store

import (
	"context"
	"fmt"

	"donewhen/models"
)

// Evaluation reads one evaluation.
func (r Reader) Evaluation(ctx context.Context, id int64) (models.Evaluation, error) {
	return byID[models.Evaluation](ctx, r, "evaluation", id)
}

// LatestEvaluation is a plan's newest evaluation, nil when it was never
// evaluated.
func (r Reader) LatestEvaluation(ctx context.Context, planID string) (*models.Evaluation, error) {
	return first[models.Evaluation](r.q(ctx).Where("plan_id = ?", planID).Order("id DESC"), "the evaluation of the plan")
}

// NextEvaluation is the one of the same plan that followed ev, nil when none did.
func (r Reader) NextEvaluation(ctx context.Context, ev models.Evaluation) (*models.Evaluation, error) {
	return first[models.Evaluation](r.q(ctx).Omit("answers_json").Where("plan_id = ? AND id > ?", ev.PlanID, ev.ID).Order("id"), "the evaluation that followed")
}

// InsertEvaluation writes an evaluation and fills in its id, its time and, when
// empty, the status queued.
func (tx *Tx) InsertEvaluation(ctx context.Context, e *models.Evaluation) error {
	if e.Status == "" {
		e.Status = models.EvaluationQueued
	}
	e.CreatedAt = tx.now
	stampAll(&e.StartedAt, &e.EndedAt)
	if err := tx.q(ctx).Create(e).Error; err != nil {
		return fmt.Errorf("insert an evaluation of plan %s: %w", e.PlanID, err)
	}
	tx.touch(e.PlanID)
	return nil
}

// MoveEvaluation moves an evaluation from one status to another.
func (tx *Tx) MoveEvaluation(ctx context.Context, id int64, from, to models.EvaluationStatus, set EvaluationSet, why Why) error {
	return move(ctx, tx, evaluationsTable, id, from, to, set.columns(), why)
}

// SetEvaluation changes columns of an evaluation that is in status when.
func (tx *Tx) SetEvaluation(ctx context.Context, id int64, when models.EvaluationStatus, set EvaluationSet) error {
	return update(ctx, tx, evaluationsTable, id, when, set.columns(), nil)
}

// EvaluationsOf reads a plan's newest evaluations, newest first, limit at most,
// and says how many there are in all. They come without AnswersJSON, which can
// be megabytes.
func (r Reader) EvaluationsOf(ctx context.Context, planID string, limit int) (list []models.Evaluation, total int, err error) {
	err = r.snapshot(ctx, func(r Reader) error {
		if list, err = rows[models.Evaluation](r.q(ctx).Omit("answers_json").Where("plan_id = ?", planID).Order("id DESC").Limit(limit), "the evaluations of the plan"); err != nil {
			return err
		}
		var n int64
		if err := r.q(ctx).Model(&models.Evaluation{}).Where("plan_id = ?", planID).Count(&n).Error; err != nil {
			return fmt.Errorf("count the evaluations of plan %s: %w", planID, err)
		}
		total = int(n)
		return nil
	})
	return list, total, err
}
