package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"donewhen/models"
)

// planLine is a plan in a list, with what its phases say about it.
type planLine struct {
	models.PlanRow
	decidedBy int64     // id of the phase that decides the status, 0 when all are completed
	since     time.Time // since when the plan is as it is
}

// planLines reads the lines of a list for the given plans, in their order. It
// reads the phases of these plans and no others.
func (r Reader) planLines(ctx context.Context, ids []string) ([]*planLine, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := rows[models.PlanRow](planRowsQuery(r.q(ctx), ids), "the list of plans")
	if err != nil {
		return nil, err
	}
	byID := make(map[string]*planLine, len(list))
	for _, row := range list {
		byID[row.ID] = &planLine{PlanRow: row, since: row.UpdatedAt}
	}
	phases, err := rows[phaseLine](phaseLinesQuery(r.q(ctx), ids), "the phases of the list of plans")
	if err != nil {
		return nil, err
	}
	for _, p := range phases {
		if l := byID[p.PlanID]; l != nil {
			l.add(p)
		}
	}
	lines := make([]*planLine, len(ids))
	for i, id := range ids {
		if lines[i] = byID[id]; lines[i] == nil {
			return nil, fmt.Errorf("read the list of plans: the project of plan %s is missing", id)
		}
	}
	return lines, nil
}

// phaseLine is what a list needs of a phase.
type phaseLine struct {
	ID        int64
	PlanID    string
	Name      string
	Status    models.PhaseStatus
	Reason    string
	UpdatedAt time.Time
}

// add takes in the plan's next phase in order. The first one that is not
// completed decides; while all are, the time of the last is the plan's.
func (l *planLine) add(p phaseLine) {
	l.PhaseCount++
	if p.Status == models.PhaseCompleted {
		l.PhasesDone++
	}
	if l.decidedBy != 0 {
		return
	}
	l.since = p.UpdatedAt
	if p.Status != models.PhaseCompleted {
		l.decidedBy, l.Current, l.Phase, l.Reason = p.ID, p.Name, p.Status, p.Reason
	}
}

func planRowsQuery(q *gorm.DB, ids []string) *gorm.DB {
	return q.Table("plans").
		Select("plans.id, plans.title, plans.status, projects.name AS project_name, plans.created_at, plans.updated_at, "+
			"plans."+beingEvaluated+" AS evaluating, plans."+passInHand+" AS in_hand").
		Joins("JOIN projects ON projects.id = plans.project_id").
		Where("plans.id IN ?", ids)
}

func phaseLinesQuery(q *gorm.DB, planIDs []string) *gorm.DB {
	return q.Table("phases").Select("id, plan_id, name, status, reason, updated_at").
		Where("plan_id IN ?", planIDs).Order("plan_id, position")
}
