package handlers

import (
	"context"
	"io"
	"time"

	"donewhen/engine"
	"donewhen/models"
)

// planReader is what the pages of plans, passes, runs and verdicts read.
type planReader interface {
	Plans(ctx context.Context, f models.PlanFilter) (rows []models.PlanRow, next string, err error)
	Projects(ctx context.Context) ([]models.Project, error)
	Plan(ctx context.Context, id string) (models.Plan, error)
	PlanDetail(ctx context.Context, id string) (models.PlanDetail, error)
	UsageOf(ctx context.Context, planID string, now time.Time) (models.Usage, error)
	PlanVersion(ctx context.Context, id string) (int64, error)
	Evaluation(ctx context.Context, id int64) (models.Evaluation, error)
	User(ctx context.Context, id int64) (models.User, error)
	LatestEvaluation(ctx context.Context, planID string) (*models.Evaluation, error)
	EvaluationsOf(ctx context.Context, planID string, limit int) (list []models.Evaluation, total int, err error)
	NextEvaluation(ctx context.Context, ev models.Evaluation) (*models.Evaluation, error)
	EventsOf(ctx context.Context, planID string, before int64, limit int) ([]models.Event, error)
	Phase(ctx context.Context, id int64) (models.Phase, error)
	Pass(ctx context.Context, id int64) (models.Pass, error)
	PassBefore(ctx context.Context, pass models.Pass) (*models.Pass, error)
	RunDetail(ctx context.Context, id int64) (models.RunDetail, error)
	Run(ctx context.Context, id int64) (models.Run, error)
	Verdict(ctx context.Context, id int64) (models.Verdict, error)
	SummaryOf(ctx context.Context, passID int64) (*models.PhaseSummary, error)
	SummariesOf(ctx context.Context, planID string) (map[int64]models.PhaseSummary, error)
	Templates(ctx context.Context) ([]models.TemplateListRow, error)
	TemplateVersion(ctx context.Context, id int64) (models.TemplateVersion, error)
	LatestTemplateVersion(ctx context.Context, templateID int64) (models.TemplateVersion, error)
}

// logReader is what a run's page reads of its log.
type logReader interface {
	Lines(ctx context.Context, runID int64, from int64, n int) ([]engine.LogLine, error)
	Scan(ctx context.Context, runID, from, end int64, fn func(engine.LogLine) bool) error
	Info(ctx context.Context, runID int64) (engine.LogInfo, error)
	Wait(ctx context.Context, runID int64, seen int64) error
	Raw(ctx context.Context, runID int64, w io.Writer) error
}
