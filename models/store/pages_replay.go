package store

import (
	"context"
	"fmt"

	"donewhen/models"
)

// replayReach is how many of the passes that ended last are looked through for
// those that fit: what a question about the past may cost has an end.
const replayReach = 20_000

// DecidedPasses reads the newest passes that were decided (met or not met) and
// fit the filter, the one that ended last first. It looks through the newest
// 20,000 ended passes at most.
func (r Reader) DecidedPasses(ctx context.Context, f models.PassFilter) (list []models.DecidedPass, err error) {
	if f.Limit < 1 {
		f.Limit = 20
	}
	err = r.snapshot(ctx, func(r Reader) error {
		var found []struct {
			ID          int64
			Phase, Plan string
		}
		err := r.q(ctx).Raw(decidedPassesQuery, replayReach, f.ProjectID, f.ProjectID, f.Phase, f.Phase, f.Limit).Find(&found).Error
		if err != nil {
			return fmt.Errorf("find the decided passes: %w", err)
		}
		for _, row := range found {
			pass, err := r.Pass(ctx, row.ID)
			if err != nil {
				return err
			}
			list = append(list, models.DecidedPass{Pass: pass, Phase: row.Phase, PlanTitle: row.Plan})
		}
		return nil
	})
	return list, err
}

// The innermost query is a range of passes_ended; a pass's long texts are read
// only once it is chosen.
const decidedPassesQuery = `SELECT p.id, phases.name AS phase, plans.title AS plan
	FROM (SELECT id, phase_id, status, ended_at FROM passes WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT ?) p
	JOIN phases ON phases.id = p.phase_id
	JOIN plans ON plans.id = phases.plan_id
	WHERE p.status IN ('met', 'not_met') AND (? = 0 OR plans.project_id = ?) AND (? = '' OR phases.name = ?)
	ORDER BY p.ended_at DESC, p.id DESC
	LIMIT ?`
