package store

import (
	"context"
	"time"

	"donewhen/models"
)

// What a tick of the sweep and recovery ask. Each is one range of a small
// index, so that it costs what is due and not what is stored. Statuses are
// spelt out where the index is a partial one: it is used only for exactly its
// own condition, never for a bound value.

// DuePhases are the phases whose time has come, the most overdue first.
func (r Reader) DuePhases(ctx context.Context, now time.Time, limit int) ([]models.Phase, error) {
	q := r.q(ctx).Where("due_at <= ?", stamp(now)).Order("due_at, id").Limit(pageSize(limit))
	return rows[models.Phase](q, "the due phases")
}

// NextDue is the earliest time after the given one at which a phase is due, nil
// when none is waiting for its time.
func (r Reader) NextDue(ctx context.Context, after time.Time) (*time.Time, error) {
	p, err := first[models.Phase](r.q(ctx).Select("due_at").Where("due_at > ?", stamp(after)).Order("due_at, id"), "the next due phase")
	if err != nil || p == nil {
		return nil, err
	}
	return p.DueAt, nil
}

// QueuedEvaluations are the evaluations that wait to be carried out, the oldest
// first.
func (r Reader) QueuedEvaluations(ctx context.Context, limit int) ([]models.Evaluation, error) {
	q := r.q(ctx).Where("status = 'queued'").Order("id").Limit(pageSize(limit))
	return rows[models.Evaluation](q, "the queued evaluations")
}

// RunningEvaluations are the evaluations being carried out.
func (r Reader) RunningEvaluations(ctx context.Context) ([]models.Evaluation, error) {
	return rows[models.Evaluation](r.q(ctx).Where("status = 'running'").Order("id"), "the running evaluations")
}

// CutRuns are the runs that were cancelled while they ran, when the server ended
// before it had written down what came of them.
func (r Reader) CutRuns(ctx context.Context) ([]models.Run, error) {
	return rows[models.Run](r.q(ctx).Where("status = 'cancelled' AND ended_at IS NULL AND started_at IS NOT NULL").Order("id"), "the runs that were cut off")
}

// RunningRuns are the runs whose process runs, or did when the server ended.
func (r Reader) RunningRuns(ctx context.Context) ([]models.Run, error) {
	return rows[models.Run](r.q(ctx).Where("status = 'running'").Order("id"), "the running runs")
}

// ClaimedPasses are the passes that a worker or judge has, in the order of
// their names.
func (r Reader) ClaimedPasses(ctx context.Context) ([]models.Pass, error) {
	return rows[models.Pass](r.q(ctx).Where("claimed_by > ''").Order("claimed_by, id"), "the claimed passes")
}
