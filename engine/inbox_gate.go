package engine

import (
	"context"

	"donewhen/dod"
	"donewhen/engine/workspace"
)

// GateOfRows is the gate as far as the rows know: for lists, which cannot ask
// git about every plan. An open gate may still turn out to be closed by a
// conflict with the target; the plan's page and apply itself ask.
func (e *Engine) GateOfRows(ctx context.Context, planID string) (dod.GateState, error) {
	plan, project, err := e.planProject(ctx, planID)
	if err != nil {
		return dod.GateState{}, err
	}
	v, err := e.gate(ctx, &e.Store.Reader, plan, project, &workspace.Preview{}, "")
	return v.State, err
}
