package engine

import (
	"context"
	"slices"
	"sync"

	"donewhen/dod"
	"donewhen/engine/workspace"
	"donewhen/models"
)

// listLooks is how many of the plans of a list git is asked about for one page:
// it takes several processes for each.
const listLooks = 4

// ListedGate is a gate as a list shows it.
type ListedGate struct {
	State dod.GateState
	// Looked says whether how the target stands is in State. If not, an open gate
	// is open as far as the rows know: the plan's page and apply itself ask git.
	Looked bool
}

// ListedGates are the gates of plans in a list, which cannot ask git about each.
// The target is looked at for those that it alone can close: as it was last seen
// where the plan has not moved since, afresh for the first few.
func (e *Engine) ListedGates(ctx context.Context, planIDs []string) (map[string]ListedGate, error) {
	return e.listedGates(ctx, planIDs, listLooks)
}

// RowGates is ListedGates without asking git anything.
func (e *Engine) RowGates(ctx context.Context, planIDs []string) (map[string]ListedGate, error) {
	return e.listedGates(ctx, planIDs, 0)
}

// openPlan is a plan whose rows leave only the target in the way.
type openPlan struct {
	plan    models.Plan
	project models.Project
	seen    *look
}

func (e *Engine) listedGates(ctx context.Context, planIDs []string, most int) (map[string]ListedGate, error) {
	out := make(map[string]ListedGate, len(planIDs))
	var open []openPlan
	for _, id := range planIDs {
		plan, project, err := e.planProject(ctx, id)
		if err != nil {
			return nil, err
		}
		v, err := e.gate(ctx, &e.Store.Reader, plan, project, &workspace.Preview{}, "")
		if err != nil {
			return nil, err
		}
		out[id] = ListedGate{State: v.State}
		if v.State.Open && plan.Status == models.PlanFinished {
			open = append(open, openPlan{plan, project, e.looks.last(lookKeyOf(plan))})
		}
	}
	// Those that were never looked at come first, then those seen longest ago.
	slices.SortStableFunc(open, func(a, b openPlan) int {
		switch {
		case a.seen == nil && b.seen == nil:
			return 0
		case a.seen == nil:
			return -1
		case b.seen == nil:
			return 1
		}
		return a.seen.at.Compare(b.seen.at)
	})
	previews, problems := make([]*workspace.Preview, len(open)), make([]string, len(open))
	var wg sync.WaitGroup
	for i, o := range open {
		if i < most {
			wg.Go(func() { previews[i], problems[i] = e.shownTarget(ctx, o.plan, o.project) })
		} else if o.seen != nil {
			previews[i], problems[i] = o.seen.preview, o.seen.problem
		}
	}
	wg.Wait()
	for i, o := range open {
		if previews[i] == nil && problems[i] == "" {
			continue
		}
		v, err := e.gate(ctx, &e.Store.Reader, o.plan, o.project, previews[i], problems[i])
		if err != nil {
			return nil, err
		}
		out[o.plan.ID] = ListedGate{State: v.State, Looked: true}
	}
	return out, nil
}
