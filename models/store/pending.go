package store

import (
	"context"
	"time"

	"donewhen/models"
)

// TemplateListRow is one line of the templates list.
type TemplateListRow struct {
	models.Template
	Latest      int
	PublishedAt *time.Time
	PublishedBy string
}

func (r Reader) Plan(ctx context.Context, id string) (models.Plan, error) { panic("being written") }

func (r Reader) Phase(ctx context.Context, id int64) (models.Phase, error) { panic("being written") }

func (r Reader) Pass(ctx context.Context, id int64) (models.Pass, error) { panic("being written") }

func (r Reader) Run(ctx context.Context, id int64) (models.Run, error) { panic("being written") }

func (r Reader) Project(ctx context.Context, id int64) (models.Project, error) {
	panic("being written")
}

func (r Reader) Evaluation(ctx context.Context, id int64) (models.Evaluation, error) {
	panic("being written")
}

func (r Reader) Verdict(ctx context.Context, id int64) (models.Verdict, error) {
	panic("being written")
}

func (r Reader) PhasesOf(ctx context.Context, planID string) ([]models.Phase, error) {
	panic("being written")
}

func (r Reader) PassesOf(ctx context.Context, phaseID int64) ([]models.Pass, error) {
	panic("being written")
}

func (r Reader) RunsOf(ctx context.Context, passID int64) ([]models.Run, error) {
	panic("being written")
}

func (r Reader) LatestVerdict(ctx context.Context, passID int64) (*models.Verdict, error) {
	panic("being written")
}

func (r Reader) VerdictsOf(ctx context.Context, passID int64) ([]models.Verdict, error) {
	panic("being written")
}

func (r Reader) PassBefore(ctx context.Context, pass models.Pass) (*models.Pass, error) {
	panic("being written")
}

func (r Reader) LatestEvaluation(ctx context.Context, planID string) (*models.Evaluation, error) {
	panic("being written")
}

func (r Reader) DecisionsOf(ctx context.Context, planID string) ([]models.Decision, error) {
	panic("being written")
}

func (r Reader) AttemptsOf(ctx context.Context, planID string) ([]models.ApplyAttempt, error) {
	panic("being written")
}

func (r Reader) DuePhases(ctx context.Context, now time.Time, limit int) ([]models.Phase, error) {
	panic("being written")
}

func (r Reader) NextDue(ctx context.Context, after time.Time) (*time.Time, error) {
	panic("being written")
}

func (r Reader) QueuedEvaluations(ctx context.Context, limit int) ([]models.Evaluation, error) {
	panic("being written")
}

func (r Reader) RunningRuns(ctx context.Context) ([]models.Run, error) { panic("being written") }

func (r Reader) RunningEvaluations(ctx context.Context) ([]models.Evaluation, error) {
	panic("being written")
}

func (r Reader) ClaimedPasses(ctx context.Context) ([]models.Pass, error) { panic("being written") }

func (r Reader) ApplyingPlans(ctx context.Context) ([]models.Plan, error) { panic("being written") }

func (r Reader) UnfinishedAttempt(ctx context.Context, planID string) (*models.ApplyAttempt, error) {
	panic("being written")
}

func (r Reader) LivePhases(ctx context.Context) ([]models.Phase, error) { panic("being written") }

func (r Reader) PlanByFormKey(ctx context.Context, key string) (*models.Plan, error) {
	panic("being written")
}

func (r Reader) TemplateVersion(ctx context.Context, id int64) (models.TemplateVersion, error) {
	panic("being written")
}

func (r Reader) LatestTemplateVersion(ctx context.Context, templateID int64) (models.TemplateVersion, error) {
	panic("being written")
}

func (r Reader) TemplateByName(ctx context.Context, name string) (*models.Template, error) {
	panic("being written")
}

func (r Reader) PlanDetail(ctx context.Context, id string) (models.PlanDetail, error) {
	panic("being written")
}

func (r Reader) PlanVersion(ctx context.Context, id string) (int64, error) { panic("being written") }

func (r Reader) Plans(ctx context.Context, f models.PlanFilter) (rows []models.PlanRow, next string, err error) {
	panic("being written")
}

func (r Reader) Inbox(ctx context.Context, limit int) ([]models.InboxItem, error) {
	panic("being written")
}

func (r Reader) RunningPlans(ctx context.Context, limit int) ([]models.PlanRow, error) {
	panic("being written")
}

func (r Reader) RunDetail(ctx context.Context, id int64) (models.RunDetail, error) {
	panic("being written")
}

func (r Reader) EventsOf(ctx context.Context, planID string, before int64, limit int) ([]models.Event, error) {
	panic("being written")
}

func (r Reader) Events(ctx context.Context, before int64, limit int) ([]models.Event, error) {
	panic("being written")
}

func (r Reader) Projects(ctx context.Context) ([]models.Project, error) { panic("being written") }

func (r Reader) Templates(ctx context.Context) ([]TemplateListRow, error) { panic("being written") }

func (r Reader) TemplateDetail(ctx context.Context, id int64) (models.TemplateDetail, error) {
	panic("being written")
}

func (tx *Tx) InsertPlan(ctx context.Context, p *models.Plan, phases []models.Phase) error {
	panic("being written")
}

func (tx *Tx) InsertPass(ctx context.Context, p *models.Pass, runs []models.Run) error {
	panic("being written")
}

func (tx *Tx) InsertRun(ctx context.Context, r *models.Run) error { panic("being written") }

func (tx *Tx) InsertVerdict(ctx context.Context, v *models.Verdict) error { panic("being written") }

func (tx *Tx) InsertEvaluation(ctx context.Context, e *models.Evaluation) error {
	panic("being written")
}

func (tx *Tx) InsertDecision(ctx context.Context, d *models.Decision) error { panic("being written") }

func (tx *Tx) VoidDecisions(ctx context.Context, planID string, phaseIDs []int64, planLevel bool) error {
	panic("being written")
}

func (tx *Tx) InsertApplyAttempt(ctx context.Context, a *models.ApplyAttempt) error {
	panic("being written")
}

func (tx *Tx) InsertProject(ctx context.Context, p *models.Project) error { panic("being written") }

func (tx *Tx) InsertTemplate(ctx context.Context, t *models.Template) error { panic("being written") }

func (tx *Tx) InsertTemplateVersion(ctx context.Context, v *models.TemplateVersion) error {
	panic("being written")
}

func (tx *Tx) InsertEvent(ctx context.Context, e models.Event) error { panic("being written") }

func (tx *Tx) MovePlan(ctx context.Context, id string, from, to models.PlanStatus, set PlanSet, why Why) error {
	panic("being written")
}

func (tx *Tx) MovePhase(ctx context.Context, id int64, from, to models.PhaseStatus, set PhaseSet, why Why) error {
	panic("being written")
}

func (tx *Tx) MovePass(ctx context.Context, id int64, from, to models.PassStatus, set PassSet, why Why) error {
	panic("being written")
}

func (tx *Tx) MoveRun(ctx context.Context, id int64, from, to models.RunStatus, set RunSet, why Why) error {
	panic("being written")
}

func (tx *Tx) MoveEvaluation(ctx context.Context, id int64, from, to models.EvaluationStatus, set EvaluationSet, why Why) error {
	panic("being written")
}

func (tx *Tx) MoveApply(ctx context.Context, id int64, from, to models.ApplyStatus, set ApplySet, why Why) error {
	panic("being written")
}

func (tx *Tx) SetPlan(ctx context.Context, id string, when models.PlanStatus, set PlanSet) error {
	panic("being written")
}

func (tx *Tx) SetPhase(ctx context.Context, id int64, when models.PhaseStatus, set PhaseSet) error {
	panic("being written")
}

func (tx *Tx) SetPass(ctx context.Context, id int64, when models.PassStatus, set PassSet) error {
	panic("being written")
}

func (tx *Tx) SetRun(ctx context.Context, id int64, when models.RunStatus, set RunSet) error {
	panic("being written")
}

func (tx *Tx) SetApply(ctx context.Context, id int64, set ApplySet) error { panic("being written") }

func (tx *Tx) ClaimPass(ctx context.Context, id int64, status models.PassStatus, by string) (bool, error) {
	panic("being written")
}

func (tx *Tx) ReleasePass(ctx context.Context, id int64, by string) error { panic("being written") }

func (tx *Tx) ReleaseAllClaims(ctx context.Context) (int64, error) { panic("being written") }
