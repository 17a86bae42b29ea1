package store

import (
	"context"
	"fmt"

	"donewhen/models"
)

// Plan reads one plan.
func (r Reader) Plan(ctx context.Context, id string) (models.Plan, error) {
	return byID[models.Plan](ctx, r, "plan", id)
}

// PlanVersion reads the number that goes up with every change of the plan; it
// is the ETag of the plan's pages and costs one indexed row.
func (r Reader) PlanVersion(ctx context.Context, id string) (int64, error) {
	var p models.Plan
	if err := r.q(ctx).Select("version").Where("id = ?", id).Take(&p).Error; err != nil {
		return 0, notFound(err, "plan", id)
	}
	return p.Version, nil
}

// PlanByFormKey finds the plan that a form with this hidden id has made, nil
// when it has made none.
func (r Reader) PlanByFormKey(ctx context.Context, key string) (*models.Plan, error) {
	// The second condition lets the partial index be used; it also keeps "" from matching.
	return first[models.Plan](r.q(ctx).Where("form_key = ? AND form_key <> ''", key), "the plan of a form")
}

// ApplyingPlans are the plans whose merge is under way, or was when the server
// ended.
func (r Reader) ApplyingPlans(ctx context.Context) ([]models.Plan, error) {
	return rows[models.Plan](r.q(ctx).Where("status = ?", models.PlanApplying).Order("id"), "the plans being applied")
}

// InsertPlan writes a plan with its phases and fills in what is empty: ids,
// times, status draft and pending, positions in order, attempt 1. The phases'
// max_iterations and the numbers of opinions are clamped to the allowed range. A second plan with the same
// form key is a CodeConflict.
func (tx *Tx) InsertPlan(ctx context.Context, p *models.Plan, phases []models.Phase) error {
	if p.ID == "" {
		p.ID = newID(tx.now)
	}
	if p.Status == "" {
		p.Status = models.PlanDraft
	}
	p.DodOpinions = models.ClampOpinions(p.DodOpinions)
	p.CreatedAt, p.UpdatedAt = tx.now, tx.now
	stampAll(&p.StartedAt, &p.EndedAt, &p.CleanedAt)
	if err := tx.q(ctx).Create(p).Error; err != nil {
		if uniqueOf(err) == "plans.form_key" {
			return models.Errorf(models.CodeConflict, "This form was sent already and its plan was made. Find it in the list of plans.")
		}
		return fmt.Errorf("insert the plan: %w", err)
	}
	for i := range phases {
		ph := &phases[i]
		ph.PlanID = p.ID
		if ph.Position == 0 {
			ph.Position = i + 1
		}
		if ph.Attempt == 0 {
			ph.Attempt = 1
		}
		if ph.Status == "" {
			ph.Status = models.PhasePending
		}
		ph.MaxIterations, ph.Opinions = models.ClampIterations(ph.MaxIterations), models.ClampOpinions(ph.Opinions)
		ph.CreatedAt, ph.UpdatedAt = tx.now, tx.now
		stampAll(&ph.DueAt)
		if err := tx.q(ctx).Create(ph).Error; err != nil {
			return fmt.Errorf("insert phase %d of the plan: %w", ph.Position, err)
		}
	}
	tx.reword(p.ID)
	return nil
}

// MovePlan moves a plan from one status to another.
func (tx *Tx) MovePlan(ctx context.Context, id string, from, to models.PlanStatus, set PlanSet, why Why) error {
	c, err := set.columns()
	if err != nil {
		return err
	}
	set.reword(tx, id)
	return move(ctx, tx, plansTable, id, from, to, c, why)
}

// SetPlan changes columns of a plan that is in status when; "" is any status.
func (tx *Tx) SetPlan(ctx context.Context, id string, when models.PlanStatus, set PlanSet) error {
	c, err := set.columns()
	if err != nil {
		return err
	}
	set.reword(tx, id)
	return update(ctx, tx, plansTable, id, when, c, nil)
}

// reword notes when the set changes what a plan is found by.
func (set PlanSet) reword(tx *Tx, id string) {
	if set.Title != nil || set.Goal != nil || set.DodText != nil {
		tx.reword(id)
	}
}
