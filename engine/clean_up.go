package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"donewhen/engine/workspace"
	"donewhen/models"
	"donewhen/models/store"
)

var errCleaned error = models.Errorf(models.CodeConflict, "The plan's workspace was cleaned up already.")

// CleanUp removes the workspace of a plan that is over. What lies in it is
// recorded first, because a run that was stopped, or a person, may have left work
// there that no snapshot saw. The branch, logs, decisions and kept copies stay.
func (e *Engine) CleanUp(ctx context.Context, actor models.Actor, planID string) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	plan, project, err := e.planProject(ctx, planID)
	if err != nil {
		return err
	}
	if !plan.Status.Over() {
		return wrongState(plan, "cleaned up")
	}
	if plan.CleanedAt != nil {
		return errCleaned
	}
	if e.atWork(planID) {
		return models.Errorf(models.CodeConflict, "The plan's agents and checks are still being stopped. Try again in a moment.")
	}
	repo := repoOf(project)
	if err := e.recordBeforeCleanUp(ctx, plan, repo); err != nil {
		return err
	}
	if err := e.Spaces.Remove(ctx, repo, planID); err != nil {
		return fromGit(err)
	}
	reason := "workspace removed, branch kept"
	if kept := e.Spaces.KeptDir(repo, planID); isThere(kept) {
		reason += "; copies of files that had to leave it stay in " + kept
	}
	return e.decide(ctx, planID, func(tx *store.Tx) error {
		if now, err := tx.Plan(ctx, planID); err != nil || now.CleanedAt != nil {
			return cmp.Or(err, errCleaned)
		}
		if err := tx.SetPlan(ctx, planID, plan.Status, store.PlanSet{CleanedAt: new(e.Now())}); err != nil {
			return err
		}
		return tx.InsertEvent(ctx, models.Event{PlanID: planID, Kind: "plan.cleaned_up", ActorID: actor.ID, Actor: actor.Name, Reason: reason})
	})
}

// recordBeforeCleanUp puts what the workspace holds onto the plan's branch, and
// refuses while something in it would be lost that nobody was told of.
func (e *Engine) recordBeforeCleanUp(ctx context.Context, plan models.Plan, repo workspace.Repo) error {
	if plan.BaseCommit == "" || !isThere(e.Spaces.Dir(repo, plan.ID)) {
		return nil // never started, or gone already: nothing to lose
	}
	snap, err := workspace.Snapshot{}, e.Spaces.Ready(repo, plan.ID)
	if err == nil {
		snap, err = e.Spaces.Snapshot(ctx, repo, plan.ID, plan.BaseCommit, "Left in the workspace at clean-up")
	}
	found := ""
	if err == nil {
		found, err = e.foundChanges(ctx, repo, plan, snap)
	}
	if err != nil {
		if !isThere(e.Spaces.Dir(repo, plan.ID)) {
			return nil // somebody else cleaned it up at this moment
		}
		return models.Errorf(models.CodeConflict, "The workspace was not removed, because what it holds could not be recorded: %v", fromGit(err))
	}
	for _, w := range snap.Warnings { // such as: the agents' own commits could not be read
		snap.Unrecorded = append(snap.Unrecorded, workspace.Unrecorded{Path: ".", Why: w})
	}
	if err := e.change(ctx, plan.ID, func(tx *store.Tx) error { return recordLeft(ctx, tx, plan, snap, found) }); err != nil {
		return err
	}
	untold := slices.DeleteFunc(snap.Unrecorded, func(u workspace.Unrecorded) bool {
		return slices.ContainsFunc(plan.Unrecorded, func(known models.UnrecordedFile) bool { return known.Path == u.Path })
	})
	if len(untold) == 0 {
		return nil
	}
	what, them := "1 file", "it"
	if len(untold) > 1 {
		what, them = fmt.Sprintf("%d files", len(untold)), "them"
	}
	refused := models.Errorf(models.CodeConflict, "%s in the workspace could not be recorded and would be lost. Move %s away, or clean up again to let %[2]s go.", what, them)
	for _, u := range untold {
		refused.Details = append(refused.Details, oneName(u.Path)+" ("+u.Why+")")
	}
	return refused
}

// recordLeft stores what a clean-up recorded. What an applied plan brought stays
// what its pages show: the rest is on the branch and in the activity.
func recordLeft(ctx context.Context, tx *store.Tx, plan models.Plan, snap workspace.Snapshot, found string) error {
	if plan.Status == models.PlanApplied {
		snap.Commit, snap.Tree = plan.WorkCommit, plan.WorkTree
	}
	return recordFound(ctx, tx, plan.ID, snap, found)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
