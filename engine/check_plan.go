package engine

import (
	"context"

	"donewhen/models"
)

// CheckPlan says what would keep a plan from being created, as CreatePlan
// would, and stores nothing: a form with a fault of its own can show all faults
// at once.
func (e *Engine) CheckPlan(ctx context.Context, actor models.Actor, in NewPlan) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	_, _, err := e.draft(ctx, actor, in)
	return err
}
