package store

import (
	"context"
	"slices"

	"donewhen/models"
)

// inboxFilter are the plans that wait for a person.
var inboxFilter = models.PlanFilter{Status: []models.PlanStatus{models.PlanWaiting, models.PlanFailed, models.PlanFinished}}

// InboxCount is how many plans Inbox would list, at most limit.
func (r Reader) InboxCount(ctx context.Context, limit int) (int, error) {
	ids, err := r.planIDs(ctx, inboxFilter, false, pageSize(limit))
	return len(ids), err
}

// Inbox lists the plans that wait for a person: a phase needs one, a phase
// failed, or all are completed and the plan can be looked at and applied. Of
// the limit oldest plans, those that have waited longest come first.
func (r Reader) Inbox(ctx context.Context, limit int) ([]models.InboxItem, error) {
	var items []models.InboxItem
	err := r.snapshot(ctx, func(r Reader) error {
		ids, err := r.planIDs(ctx, inboxFilter, false, pageSize(limit))
		if err != nil {
			return err
		}
		lines, err := r.planLines(ctx, ids)
		if err != nil {
			return err
		}
		phaseIDs := make([]int64, 0, len(lines))
		for _, l := range lines {
			phaseIDs = append(phaseIDs, l.decidedBy)
		}
		phases, err := rows[models.Phase](r.q(ctx).Where("id IN ?", phaseIDs), "the phases of the inbox")
		if err != nil {
			return err
		}
		byID := make(map[int64]*models.Phase, len(phases))
		for i := range phases {
			byID[phases[i].ID] = &phases[i]
		}
		for _, l := range lines {
			items = append(items, models.InboxItem{Plan: l.PlanRow, Phase: byID[l.decidedBy], Since: l.since})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(items, func(a, b models.InboxItem) int { return a.Since.Compare(b.Since) })
	return items, nil
}
