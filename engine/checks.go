package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"donewhen/dod"
	"donewhen/engine/workspace"
	"donewhen/models"
	"donewhen/models/store"
)

// suite is the evaluator for a plan's workspace, without an asker. tree is the
// recorded state of the workspace that is judged.
func (e *Engine) suite(plan models.Plan, project models.Project, tree string, ev Evidence) dod.Suite {
	repo := repoOf(project)
	dir := e.Spaces.Dir(repo, plan.ID)
	return dod.Suite{
		Text:     ev.text(),
		Parallel: 4,
		Args:     plan.DodArgs,
		Run: func(ctx context.Context, command string) dod.CheckOutcome {
			return e.runCheck(ctx, plan, project, dir, command)
		},
		File: func(ctx context.Context, path string) dod.CheckOutcome {
			return e.recordedFile(ctx, repo, plan.ID, tree, path)
		},
	}
}

// recordedFile is a `file:` check on what was recorded, which is what apply
// brings: a file that git ignores, or an empty folder, would not be there.
func (e *Engine) recordedFile(ctx context.Context, repo workspace.Repo, planID, tree, path string) dod.CheckOutcome {
	out := e.fileInTree(ctx, repo, tree, path)
	if out.Status == dod.Failed && e.Spaces.Ready(repo, planID) == nil && FileCheck(e.Spaces.Dir(repo, planID), path).Status == dod.Passed {
		out.Reasoning = path + " is in the workspace, but git ignores it or it is empty: applying would not bring it."
	}
	return out
}

// fileInTree is a `file:` check on a recorded tree alone, which is kept when the
// workspace is gone.
func (e *Engine) fileInTree(ctx context.Context, repo workspace.Repo, tree, path string) dod.CheckOutcome {
	if dod.LeadsOut(path) {
		return dod.OutsidePath(path)
	}
	kind, err := e.Spaces.Entry(ctx, repo, tree, path)
	switch {
	case err != nil:
		return dod.CheckOutcome{Status: dod.Skipped, Reasoning: "The recorded work cannot be looked at: " + err.Error()}
	case kind != "":
		return dod.CheckOutcome{Status: dod.Passed, Reasoning: path + " is there, a " + kind + "."}
	}
	return dod.CheckOutcome{Status: dod.Failed, Reasoning: path + " does not exist in the recorded work."}
}

// redactResults takes secrets out of what results show: `absent:` looks at the
// text before redaction, and must not print what it found.
func (e *Engine) redactResults(results []dod.Result) {
	for i := range results {
		e.redactResult(&results[i])
	}
}

func (e *Engine) redactResult(r *dod.Result) {
	r.Reasoning = e.redact(r.Reasoning)
	for i := range r.Opinions {
		r.Opinions[i].Reason = e.redact(r.Opinions[i].Reason)
	}
	if m := r.Match; m != nil {
		whole := m.Before + m.Text + m.After
		// A sign in the middle of a secret, seen or not, does not make it another one.
		if plain := cleanText(whole); e.redact(whole) != whole || e.redact(plain) != plain {
			r.Match = &dod.Match{Key: m.Key, Text: redacted, Line: m.Line}
		}
	}
}

// runCheck carries out one run: check and puts back what it changed: a check
// that changes tracked files fails and says which.
func (e *Engine) runCheck(ctx context.Context, plan models.Plan, project models.Project, dir, command string) dod.CheckOutcome {
	if err := e.Spaces.Ready(repoOf(project), plan.ID); err != nil {
		return dod.CheckOutcome{Status: dod.Skipped, Reasoning: err.Error()}
	}
	home, err := e.home(plan.ID, "checks")
	if err != nil {
		return dod.CheckOutcome{Status: dod.Skipped, Reasoning: "The check's home folder could not be made: " + err.Error()}
	}
	if err := e.Spaces.BeginCheck(ctx, repoOf(project), plan.ID); err != nil {
		return dod.CheckOutcome{Status: dod.Skipped, Reasoning: "The check could not begin: " + err.Error()}
	}
	out := e.Check(ctx, CheckJob{Dir: dir, Home: home, Command: command, Env: dod.ArgEnv(plan.DodArgs), Limit: e.CheckLimit,
		AtLimit: "raise DONEWHEN_CHECK_LIMIT or make the check quicker"})
	out.Reasoning = e.redact(cleanText(out.Reasoning))
	ctx = context.WithoutCancel(ctx)
	back, err := e.Spaces.EndCheck(ctx, repoOf(project), plan.ID)
	e.sayPutBack(ctx, plan.ID, back)
	switch {
	case err != nil:
		return dod.CheckOutcome{Status: dod.Skipped, Reasoning: "What the check left behind could not be looked at: " + err.Error()}
	case len(back.Changed) > 0:
		return dod.CheckOutcome{Status: dod.Failed, Reasoning: fmt.Sprintf("The check changed tracked files (%s); they were put back. A check must only look. %s", joinSome(back.Changed), out.Reasoning)}
	}
	return out
}

// sayPutBack writes into the activity where the files are that a check, or a
// person beside it, changed: a person may look for them.
func (e *Engine) sayPutBack(ctx context.Context, planID string, back workspace.Returned) {
	said := putBackEvent(planID, back)
	if said == nil {
		return
	}
	if err := e.change(ctx, planID, func(tx *store.Tx) error { return tx.InsertEvent(ctx, *said) }); err != nil {
		e.Log.Error("where files are kept could not be stored", "plan", planID, "folder", back.Folder, "err", err)
	}
}

// putBackEvent is nil where nothing had to be kept.
func putBackEvent(planID string, back workspace.Returned) *models.Event {
	if len(back.Kept) == 0 {
		return nil
	}
	names := make([]string, len(back.Kept))
	for i, p := range back.Kept {
		names[i] = oneName(p)
	}
	return &models.Event{PlanID: planID, Kind: "plan.put_back", Actor: models.Server.Name, Reason: back.Folder + ": " + joinSome(names)}
}

// undoLeftChecks puts the workspaces back in which a check was at work when the
// server died: what it had changed must not become anybody's work. What cannot be
// put back now is not recorded before it can be.
func (e *Engine) undoLeftChecks(ctx context.Context) error {
	left, err := e.Spaces.LeftChecks()
	errs := []error{err}
	for _, l := range left {
		_, project, err := e.planProject(ctx, l.PlanID)
		if err == nil {
			var back workspace.Returned
			back, err = e.Spaces.UndoCheck(ctx, repoOf(project), l.PlanID)
			e.sayPutBack(ctx, l.PlanID, back)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("put back what a check left in plan %s: %w", l.PlanID, err))
		}
	}
	return errors.Join(errs...)
}

// FileCheck is a `file:` check: it looks path up inside the folder dir and never
// outside of it.
func FileCheck(dir, path string) dod.CheckOutcome {
	if dod.LeadsOut(path) {
		return dod.OutsidePath(path)
	}
	if filepath.Clean(path) == "." {
		return dod.CheckOutcome{Status: dod.Failed, Reasoning: path + " is the workspace itself, which says nothing: name a file or folder in it."}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return dod.CheckOutcome{Status: dod.Skipped, Reasoning: "The workspace cannot be opened: " + err.Error()}
	}
	defer root.Close()
	fi, err := root.Stat(filepath.FromSlash(path))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return dod.CheckOutcome{Status: dod.Failed, Reasoning: path + " does not exist in the workspace."}
	case err != nil:
		return dod.CheckOutcome{Status: dod.Failed, Reasoning: "It cannot be looked at inside the workspace: " + err.Error()}
	case fi.IsDir():
		return dod.CheckOutcome{Status: dod.Passed, Reasoning: path + " exists, a folder."}
	}
	return dod.CheckOutcome{Status: dod.Passed, Reasoning: fmt.Sprintf("%s exists, %d bytes.", path, fi.Size())}
}
