package engine

import (
	"context"
	"fmt"

	"donewhen/models"
)

// maxPatch bounds the patch that a page is made of. A larger one is cut: who
// wants to read that much fetches the branch.
const maxPatch = 4 << 20

// ChangedFile is one file of a DiffView. Paths are slash paths, as the bytes of
// the file's name.
type ChangedFile struct {
	Status  string // added, modified, deleted, renamed or type_changed
	Path    string
	OldPath string // only where renamed
	Added   int    // lines; 0 for binary files
	Deleted int
	Binary  bool
}

// DiffView is the difference between two recorded states of a plan's work.
type DiffView struct {
	Files   []ChangedFile
	Added   int // lines, all files together
	Deleted int
	Patch   []byte // in git's form, at most 4 MiB
	Cut     bool   // the patch is not whole; the list of files is
}

// Diff compares two commits of a plan's project: a plan's BaseCommit and
// WorkCommit, or a pass's StartCommit and EndCommit. from and to are full
// object names; where one is missing or both are the same nothing has changed.
// It reads the server's own copy, which is kept after a plan's clean-up.
func (e *Engine) Diff(ctx context.Context, planID, from, to string) (DiffView, error) {
	var v DiffView
	if from == "" || to == "" || from == to {
		return v, nil
	}
	_, project, err := e.planProject(ctx, planID)
	if err != nil {
		return v, err
	}
	diff, err := e.Spaces.Diff(ctx, repoOf(project), from, to)
	if err != nil {
		return v, fmt.Errorf("compare %.12s with %.12s: %w", from, to, err)
	}
	for _, f := range diff.Files {
		v.Files = append(v.Files, ChangedFile(f))
	}
	v.Added, v.Deleted = diff.Added, diff.Deleted
	if v.Patch, v.Cut, err = e.Spaces.Patch(ctx, repoOf(project), from, to, maxPatch); err != nil {
		return v, fmt.Errorf("compare %.12s with %.12s: %w", from, to, err)
	}
	return v, nil
}

// FetchCommand is the command that brings a plan's branch into a clone of the
// registered repository.
func (e *Engine) FetchCommand(plan models.Plan, project models.Project) string {
	return e.Spaces.FetchCommand(repoOf(project), plan.ID)
}
