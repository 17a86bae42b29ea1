package store

import (
	"context"

	"donewhen/models"
)

// RunDetail reads a run with the pass, phase and plan that it belongs to.
func (r Reader) RunDetail(ctx context.Context, id int64) (d models.RunDetail, err error) {
	err = r.snapshot(ctx, func(r Reader) error {
		if d.Run, err = r.Run(ctx, id); err != nil {
			return err
		}
		if d.Pass, err = r.Pass(ctx, d.Run.PassID); err != nil {
			return err
		}
		if d.Phase, err = r.Phase(ctx, d.Run.PhaseID); err != nil {
			return err
		}
		d.Plan, err = r.Plan(ctx, d.Run.PlanID)
		return err
	})
	if err != nil {
		return models.RunDetail{}, err
	}
	return d, nil
}
