package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"donewhen/models"
)

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }

func itoa[N int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// home makes and returns a HOME of the plan, apart from the server's own.
func (e *Engine) home(planID, whose string) (string, error) {
	dir := filepath.Join(e.HomeDir, planID, whose)
	return dir, os.MkdirAll(dir, 0o755)
}

func (e *Engine) planProject(ctx context.Context, planID string) (models.Plan, models.Project, error) {
	plan, err := e.Store.Plan(ctx, planID)
	if err != nil {
		return plan, models.Project{}, err
	}
	project, err := e.Store.Project(ctx, plan.ProjectID)
	return plan, project, err
}
