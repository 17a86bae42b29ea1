package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

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
	history, err := e.recordBeforeCleanUp(ctx, plan, repo)
	if err != nil {
		return err
	}
	if err := e.Spaces.Remove(ctx, repo, planID); err != nil {
		return fromGit(err)
	}
	reason := "workspace removed, branch kept"
	if n := len(history); n > 0 {
		reason += fmt.Sprintf("; commits that the branch does not reach are kept in the server's repository as refs/donewhen/%s/kept/…: %s", planID, someHistory(history))
	}
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

// recordBeforeCleanUp puts what the workspace holds onto the plan's branch and the
// rest of its history beside it, and refuses while something in it would be lost that
// nobody was told of. It returns the refs that keep that rest.
func (e *Engine) recordBeforeCleanUp(ctx context.Context, plan models.Plan, repo workspace.Repo) (history []string, err error) {
	if plan.BaseCommit == "" || !isThere(e.Spaces.Dir(repo, plan.ID)) {
		return nil, nil // never started, or gone already: nothing to lose
	}
	snap := workspace.Snapshot{}
	if err = e.Spaces.Ready(repo, plan.ID); err == nil {
		snap, err = e.Spaces.Snapshot(ctx, repo, plan.ID, plan.BaseCommit, "Left in the workspace at clean-up")
	}
	var lost []workspace.Unrecorded
	if err == nil {
		history, lost, err = e.Spaces.KeepHistory(ctx, repo, plan.ID)
	}
	found := ""
	if err == nil {
		found, err = e.foundChanges(ctx, repo, plan, snap)
	}
	if err != nil {
		if !isThere(e.Spaces.Dir(repo, plan.ID)) {
			return nil, nil // somebody else cleaned it up at this moment
		}
		return nil, models.Errorf(models.CodeConflict, "The workspace was not removed, because what it holds could not be recorded: %v", fromGit(err))
	}
	for _, w := range snap.Warnings { // such as: the agents' own commits could not be read
		lost = append(lost, workspace.Unrecorded{Path: ".", Why: w})
	}
	files := len(snap.Unrecorded)
	snap.Unrecorded = append(snap.Unrecorded, lost...)
	if err := e.change(ctx, plan.ID, func(tx *store.Tx) error { return recordLeft(ctx, tx, plan, snap, found) }); err != nil {
		return nil, err
	}
	return history, refuseLoss(plan, snap.Unrecorded[:files], lost)
}

// refuseLoss names the files and the rest that a clean-up would lose and that the
// plan's record did not name before.
func refuseLoss(plan models.Plan, files, rest []workspace.Unrecorded) error {
	untold := func(all []workspace.Unrecorded, same func(a workspace.Unrecorded, b models.UnrecordedFile) bool) []workspace.Unrecorded {
		return slices.DeleteFunc(slices.Clone(all), func(u workspace.Unrecorded) bool {
			return slices.ContainsFunc(plan.Unrecorded, func(known models.UnrecordedFile) bool { return same(u, known) })
		})
	}
	files = untold(files, func(u workspace.Unrecorded, known models.UnrecordedFile) bool { return u.Path == known.Path })
	rest = untold(rest, func(u workspace.Unrecorded, known models.UnrecordedFile) bool {
		return u.Path == known.Path && u.Why == known.Why // one name can stand for other commits each time
	})
	all := slices.Concat(files, rest)
	if len(all) == 0 {
		return nil
	}
	kind, them := "file", "it"
	if len(rest) > 0 {
		kind = "thing"
	}
	if len(all) > 1 {
		kind, them = kind+"s", "them"
	}
	refused := models.Errorf(models.CodeConflict, "%d %s in the workspace could not be recorded and would be lost. Move %s away, or clean up again to let %[3]s go.", len(all), kind, them)
	for _, u := range all {
		refused.Details = append(refused.Details, oneName(u.Path)+" ("+oneName(u.Why)+")")
	}
	return refused
}

// someHistory names a few of the refs that are kept.
func someHistory(refs []string) string {
	const most = 10
	if n := len(refs); n > most {
		return strings.Join(refs[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(refs, ", ")
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
