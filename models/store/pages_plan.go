package store

import (
	"context"
	"fmt"

	"donewhen/models"
)

// PlanDetail reads what a plan's page shows, all from one state of the
// database. Its verdicts come without Evidence and AnswersJSON, which can be
// megabytes: Verdict reads them for a verdict's own page.
func (r Reader) PlanDetail(ctx context.Context, id string) (d models.PlanDetail, err error) {
	err = r.snapshot(ctx, func(r Reader) error {
		if d.Plan, err = r.Plan(ctx, id); err != nil {
			return err
		}
		if d.Project, err = r.Project(ctx, d.Plan.ProjectID); err != nil {
			return err
		}
		if d.Template, err = r.templateRef(ctx, d.Plan.TemplateVersionID); err != nil {
			return err
		}
		if d.Phases, err = r.phaseDetails(ctx, id); err != nil {
			return err
		}
		if d.Evaluation, err = r.LatestEvaluation(ctx, id); err != nil {
			return err
		}
		if d.Decisions, err = r.DecisionsOf(ctx, id); err != nil {
			return err
		}
		if d.Attempts, err = r.AttemptsOf(ctx, id); err != nil {
			return err
		}
		d.Creator, err = r.userName(ctx, d.Plan.CreatedBy)
		return err
	})
	if err != nil {
		return models.PlanDetail{}, err
	}
	return d, nil
}

func (r Reader) templateRef(ctx context.Context, versionID *int64) (*models.TemplateRef, error) {
	if versionID == nil {
		return nil, nil
	}
	q := r.q(ctx).Table("template_versions").Select("templates.id, templates.name, template_versions.version").
		Joins("JOIN templates ON templates.id = template_versions.template_id").
		Where("template_versions.id = ?", *versionID)
	return first[models.TemplateRef](q, "the plan's template")
}

// phaseDetails reads phases, passes, runs and newest verdicts of a plan with
// one query for each kind.
func (r Reader) phaseDetails(ctx context.Context, planID string) ([]models.PhaseDetail, error) {
	phases, err := r.PhasesOf(ctx, planID)
	if err != nil {
		return nil, err
	}
	phaseIDs := make([]int64, len(phases))
	for i, p := range phases {
		phaseIDs[i] = p.ID
	}
	passes, err := rows[models.Pass](r.q(ctx).Where("phase_id IN ?", phaseIDs).Order("id"), "the passes of the plan")
	if err != nil {
		return nil, err
	}
	passIDs := make([]int64, len(passes))
	for i, p := range passes {
		passIDs[i] = p.ID
	}
	runs, err := rows[models.Run](r.q(ctx).Where("pass_id IN ?", passIDs).Order("pass_id, position, try"), "the runs of the plan")
	if err != nil {
		return nil, err
	}
	verdicts, err := rows[models.Verdict](r.q(ctx).Omit("evidence", "answers_json").
		Where("id IN (SELECT MAX(id) FROM verdicts WHERE pass_id IN ? GROUP BY pass_id)", passIDs), "the verdicts of the plan")
	if err != nil {
		return nil, err
	}

	runsOf := map[int64][]models.Run{}
	for _, run := range runs {
		runsOf[run.PassID] = append(runsOf[run.PassID], run)
	}
	verdictOf := map[int64]*models.Verdict{}
	for i := range verdicts {
		verdictOf[verdicts[i].PassID] = &verdicts[i]
	}
	passesOf := map[int64][]models.PassDetail{}
	for _, p := range passes {
		passesOf[p.PhaseID] = append(passesOf[p.PhaseID], models.PassDetail{Pass: p, Runs: runsOf[p.ID], Verdict: verdictOf[p.ID]})
	}
	details := make([]models.PhaseDetail, len(phases))
	for i, p := range phases {
		details[i] = models.PhaseDetail{Phase: p, Passes: passesOf[p.ID]}
	}
	return details, nil
}

// userName is a user's name, "" for a user who is not in the table.
func (r Reader) userName(ctx context.Context, id int64) (string, error) {
	var names []string
	if err := r.q(ctx).Raw("SELECT name FROM users WHERE id = ?", id).Find(&names).Error; err != nil {
		return "", fmt.Errorf("read the name of user %d: %w", id, err)
	}
	if len(names) == 0 {
		return "", nil
	}
	return names[0], nil
}
