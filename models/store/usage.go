package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"donewhen/models"
)

// UsageOf adds up what a plan has used until now: its started runs, and the
// questions that were put for it. It reads two ranges of covering indexes. A
// run or question that claims less than nothing counts as nothing, so that none
// can give back what another used; sums end at the largest number.
func (r Reader) UsageOf(ctx context.Context, planID string, now time.Time) (models.Usage, error) {
	var u models.Usage
	err := r.snapshot(ctx, func(r Reader) error {
		var runs []struct {
			StartedAt, EndedAt        *time.Time
			InputTokens, OutputTokens int64
			CostUSD                   float64
		}
		if err := r.q(ctx).Raw(startedRunsQuery, planID).Find(&runs).Error; err != nil {
			return fmt.Errorf("read what the runs of plan %s used: %w", planID, err)
		}
		for _, run := range runs {
			u.Runs++
			until := now
			if run.EndedAt != nil {
				until = *run.EndedAt
			} else {
				u.Working = true
				if u.Since.IsZero() || run.StartedAt.Before(u.Since) {
					u.Since = *run.StartedAt
				}
			}
			u.Wall += max(until.Sub(*run.StartedAt), 0)
			u.Tokens = plus(u.Tokens, plus(run.InputTokens, run.OutputTokens))
			u.USD += max(run.CostUSD, 0)
		}
		var asked []models.Spending
		if err := r.q(ctx).Raw(spendingsQuery, planID).Find(&asked).Error; err != nil {
			return fmt.Errorf("read what the questions of plan %s used: %w", planID, err)
		}
		for _, q := range asked {
			u.Questions = plus(u.Questions, q.Questions)
			u.Tokens = plus(u.Tokens, plus(q.InputTokens, q.OutputTokens))
			u.USD += max(q.CostUSD, 0)
		}
		return nil
	})
	return u, err
}

const startedRunsQuery = `SELECT started_at, ended_at, input_tokens, output_tokens, cost_usd FROM runs WHERE plan_id = ? AND started_at IS NOT NULL`

const spendingsQuery = `SELECT questions, input_tokens, output_tokens, cost_usd FROM spendings WHERE plan_id = ?`

// plus adds without a negative part and without running over.
func plus(a, b int64) int64 {
	a, b = max(a, 0), max(b, 0)
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// InsertSpending writes what a question cost and fills in its id and time.
// Figures that are no cost (negative, no number) are written as 0.
func (tx *Tx) InsertSpending(ctx context.Context, s *models.Spending) error {
	s.CreatedAt = tx.now
	s.InputTokens, s.OutputTokens = max(s.InputTokens, 0), max(s.OutputTokens, 0)
	if !(s.CostUSD > 0) || math.IsInf(s.CostUSD, 1) {
		s.CostUSD = 0
	}
	if err := tx.q(ctx).Create(s).Error; err != nil {
		return fmt.Errorf("write what a question of plan %s cost: %w", s.PlanID, err)
	}
	tx.touch(s.PlanID)
	return nil
}
