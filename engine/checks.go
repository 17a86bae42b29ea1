package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"donewhen/dod"
	"donewhen/models"
)

// suite is the evaluator for a plan's workspace, without an asker.
func (e *Engine) suite(plan models.Plan, project models.Project, cut map[string]bool) dod.Suite {
	dir := e.Spaces.Dir(repoOf(project), plan.ID)
	return dod.Suite{
		Text:     dod.TextMatch{Cut: cut},
		Parallel: 4,
		Run: func(ctx context.Context, command string) dod.CheckOutcome {
			return e.runCheck(ctx, plan, project, dir, command)
		},
		File: func(_ context.Context, path string) dod.CheckOutcome { return FileCheck(dir, path) },
	}
}

// runCheck carries out one run: check and puts back what it changed: a check
// that changes tracked files fails and says which.
func (e *Engine) runCheck(ctx context.Context, plan models.Plan, project models.Project, dir, command string) dod.CheckOutcome {
	home, err := e.home(plan.ID, "checks")
	if err != nil {
		return dod.CheckOutcome{Status: dod.Skipped, Reasoning: "The check's home folder could not be made: " + err.Error()}
	}
	out := e.Check(ctx, CheckJob{Dir: dir, Home: home, Command: command, Env: dod.ArgEnv(plan.DodArgs), Limit: e.CheckLimit})
	out.Reasoning = e.redact(cleanText(out.Reasoning))
	changed, err := e.Spaces.PutBack(context.WithoutCancel(ctx), repoOf(project), plan.ID)
	switch {
	case err != nil:
		return dod.CheckOutcome{Status: dod.Skipped, Reasoning: "What the check left behind could not be looked at: " + err.Error()}
	case len(changed) > 0:
		return dod.CheckOutcome{Status: dod.Failed, Reasoning: fmt.Sprintf("The check changed tracked files (%s); they were put back. A check must only look. %s", joinSome(changed), out.Reasoning)}
	}
	return out
}

// FileCheck is a `file:` check: it looks path up inside the folder dir and never
// outside of it.
func FileCheck(dir, path string) dod.CheckOutcome {
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
