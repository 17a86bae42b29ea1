package engine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"donewhen/models"
	"donewhen/models/store"
)

// AddProject registers a git repository. path may be any folder inside it; its
// top level is stored. target "" is the repository's own default branch.
func (e *Engine) AddProject(ctx context.Context, actor models.Actor, name, path, target string, requireDod bool) (models.Project, error) {
	if err := require(actor, models.RoleAdmin); err != nil {
		return models.Project{}, err
	}
	p := models.Project{Name: strings.TrimSpace(name), TargetBranch: strings.TrimSpace(target), RequireDoD: requireDod}
	fields := map[string]string{}
	if p.Name == "" || len(p.Name) > 100 {
		fields["name"] = "Give the project a name of at most 100 bytes."
	}
	info, err := e.Spaces.Inspect(ctx, strings.TrimSpace(path))
	if err != nil {
		fields["path"] = fromGit(err).Error()
	} else {
		p.Path = info.Path
		if p.TargetBranch == "" {
			p.TargetBranch = info.DefaultBranch
		}
		found := false
		for _, b := range info.Branches {
			found = found || b == p.TargetBranch
		}
		if !found {
			fields["target_branch"] = "The repository has no branch " + p.TargetBranch + ". It has: " + joinSome(info.Branches) + "."
		}
	}
	if len(fields) > 0 {
		return p, &models.Error{Code: models.CodeInvalid, Message: "The project was not saved: please mend the marked fields.", Fields: fields}
	}
	return p, e.insertProject(ctx, actor, &p)
}

// ProjectMissing says whether a project's folder has gone from the disk since it
// was registered.
func (e *Engine) ProjectMissing(p models.Project) bool {
	_, err := os.Stat(p.Path)
	return errors.Is(err, fs.ErrNotExist)
}

func (e *Engine) insertProject(ctx context.Context, actor models.Actor, p *models.Project) error {
	return e.changed("", e.Store.Decide(ctx, func(tx *store.Tx) error {
		if err := tx.InsertProject(ctx, p); err != nil {
			return err
		}
		return tx.InsertEvent(ctx, models.Event{Kind: "project.added", To: p.Name, ActorID: actor.ID, Actor: actor.Name, Reason: p.Path})
	}))
}
