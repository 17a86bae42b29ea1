package store

import (
	"context"
	"fmt"
	"slices"

	"donewhen/models"
)

// Who has to move next is asked in two questions about a plan, which every list
// and count shares. Both begin at what is under way, which is little.
const (
	beingEvaluated = `id IN (SELECT w.plan_id
		FROM (SELECT id, plan_id FROM evaluations WHERE status = 'queued' UNION ALL SELECT id, plan_id FROM evaluations WHERE status = 'running') w
		WHERE w.id = (SELECT MAX(n.id) FROM evaluations n WHERE n.plan_id = w.plan_id))`
	passInHand = `id IN (SELECT plan_id FROM passes WHERE claimed_by > '')` // a worker or a judge has one
)

// waitingPlans wait for a person. One that is being evaluated needs only time.
var waitingPlans = planSet{models.PlanWaiting: "", models.PlanFailed: "", models.PlanFinished: "NOT " + beingEvaluated}

// workingPlans are at work by themselves. A paused one is while the pass that it
// was paused in comes to its end.
var workingPlans = planSet{models.PlanRunning: "", models.PlanApplying: "", models.PlanFinished: beingEvaluated, models.PlanPaused: passInHand}

// WorkingPlans are the plans at work, newest first.
func (r Reader) WorkingPlans(ctx context.Context, limit int) (list []models.PlanRow, err error) {
	err = r.snapshot(ctx, func(r Reader) error {
		ids, err := r.planIDsOf(ctx, models.PlanFilter{}, workingPlans, true, pageSize(limit))
		if err != nil {
			return err
		}
		lines, err := r.planLines(ctx, ids)
		for _, l := range lines {
			list = append(list, l.PlanRow)
		}
		return err
	})
	return list, err
}

// InboxCount is how many plans Inbox would list, at most limit.
func (r Reader) InboxCount(ctx context.Context, limit int) (int, error) {
	ids, err := r.planIDsOf(ctx, models.PlanFilter{}, waitingPlans, false, pageSize(limit))
	return len(ids), err
}

// Inbox lists the plans that wait for a person: a phase needs one, a phase
// failed, or all are completed and the plan can be looked at and applied. Of
// the limit oldest plans, those that have waited longest come first.
func (r Reader) Inbox(ctx context.Context, limit int) ([]models.InboxItem, error) {
	var items []models.InboxItem
	err := r.snapshot(ctx, func(r Reader) error {
		ids, err := r.planIDsOf(ctx, models.PlanFilter{}, waitingPlans, false, pageSize(limit))
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
		flagged, err := r.flaggedPhases(ctx, ids)
		if err != nil {
			return err
		}
		for _, l := range lines {
			item := models.InboxItem{Plan: l.PlanRow, Phase: byID[l.decidedBy], Since: l.since}
			for _, f := range flagged {
				item.Flagged = item.Flagged || f.PlanID == l.ID && (item.Phase == nil || item.Phase.ID == f.ID)
			}
			items = append(items, item)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(items, func(a, b models.InboxItem) int { return a.Since.Compare(b.Since) })
	return items, nil
}

type flaggedPhase struct {
	ID     int64 // 0 = the plan's definition of done
	PlanID string
}

// flaggedPhases are the plans' phases of whose current pass the newest verdict
// has flags, and the plans whose newest evaluation has.
func (r Reader) flaggedPhases(ctx context.Context, planIDs []string) (out []flaggedPhase, err error) {
	if len(planIDs) == 0 {
		return nil, nil
	}
	if err := r.q(ctx).Raw(flaggedPhasesQuery, planIDs, planIDs).Find(&out).Error; err != nil {
		return nil, fmt.Errorf("read which evidence has flags: %w", err)
	}
	return out, nil
}

const flaggedPhasesQuery = `SELECT p.id, p.plan_id
	FROM phases p
	JOIN verdicts v ON v.id = (SELECT MAX(n.id) FROM verdicts n WHERE n.pass_id = p.pass_id)
	WHERE p.plan_id IN ? AND v.flags_json <> ''
	UNION ALL
	SELECT 0, e.plan_id
	FROM evaluations e
	WHERE e.plan_id IN ? AND e.flags_json <> '' AND e.id = (SELECT MAX(n.id) FROM evaluations n WHERE n.plan_id = e.plan_id)`
