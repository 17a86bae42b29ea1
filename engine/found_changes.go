package engine

import (
	"context"
	"fmt"
	"strings"

	"donewhen/engine/workspace"
	"donewhen/models"
	"donewhen/models/store"
)

// foundChanges says which files somebody changed in the workspace outside of any
// run, as far as a snapshot tells against what was recorded before; "" for none.
// They are recorded and count like all others, so they must not come in unseen.
func (e *Engine) foundChanges(ctx context.Context, repo workspace.Repo, plan models.Plan, snap workspace.Snapshot) (string, error) {
	if plan.WorkTree == "" || plan.WorkCommit == "" || snap.Tree == plan.WorkTree {
		return "", nil
	}
	diff, err := e.Spaces.Diff(ctx, repo, plan.WorkCommit, snap.Commit)
	if err != nil {
		return "", fmt.Errorf("read what was changed in the workspace: %w", err)
	}
	const most = 20
	names := make([]string, 0, most)
	for _, f := range diff.Files {
		if len(names) == most {
			names = append(names, fmt.Sprintf("and %d more", len(diff.Files)-most))
			break
		}
		names = append(names, oneName(f.Path))
	}
	return strings.Join(names, ", "), nil
}

// recordFound stores a snapshot with what was found changed in it.
func recordFound(ctx context.Context, tx *store.Tx, planID string, snap workspace.Snapshot, found string) error {
	if err := recordSnapshot(ctx, tx, planID, snap); err != nil || found == "" {
		return err
	}
	return tx.InsertEvent(ctx, models.Event{PlanID: planID, Kind: "plan.found_changes", Actor: models.Server.Name, Reason: found})
}
