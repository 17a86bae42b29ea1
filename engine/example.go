package engine

import (
	"context"

	"donewhen/models"
)

// AddExample registers the ready-made repository of a first start and writes
// its plan as a draft. It does nothing once any project exists, and returns
// the id of the plan that it made, "" for none.
func (e *Engine) AddExample(ctx context.Context, path string, plan NewPlan) (string, error) {
	projects, err := e.Store.Projects(ctx)
	if err != nil || len(projects) > 0 {
		return "", err
	}
	info, err := e.Spaces.Inspect(ctx, path)
	if err != nil {
		return "", fromGit(err)
	}
	server := models.Actor{Name: models.Server.Name, Role: models.RoleAdmin}
	p := models.Project{Name: "Example", Path: info.Path, TargetBranch: info.DefaultBranch, Example: true}
	if err := e.insertProject(ctx, server, &p); err != nil {
		return "", err
	}
	plan.ProjectID = p.ID
	return e.CreatePlan(ctx, server, plan)
}
