package store

import (
	"context"
	"fmt"

	"donewhen/models"
)

// Project reads one project.
func (r Reader) Project(ctx context.Context, id int64) (models.Project, error) {
	return byID[models.Project](ctx, r, "project", id)
}

// Projects reads all projects by name.
func (r Reader) Projects(ctx context.Context) ([]models.Project, error) {
	return rows[models.Project](r.q(ctx).Order("name"), "the projects")
}

// InsertProject writes a project and fills in its id and time. Name and path
// are unique: a second one is a CodeInvalid for the field "name" or "path".
func (tx *Tx) InsertProject(ctx context.Context, p *models.Project) error {
	p.CreatedAt = tx.now
	err := tx.q(ctx).Create(p).Error
	switch {
	case err == nil:
		return nil
	case uniqueOf(err) == "projects.name":
		return models.Invalid("name", "There is a project named %q already. Choose another name.", p.Name)
	case uniqueOf(err) == "projects.path":
		return models.Invalid("path", "The repository %s is registered already, under another name.", p.Path)
	}
	return fmt.Errorf("insert the project: %w", err)
}
