package engine

import (
	"context"
	"maps"
	"slices"
	"strings"

	"donewhen/engine/workspace"
	"donewhen/models"
)

// planContext is what a definition of done is matched against: each phase's
// final pass under "<phase>/…", "<phase>/files", and the files and added lines of
// the whole plan, which is what apply would merge: a person may have changed
// something after the last pass. rendering is the same, bounded, for a judge.
func (e *Engine) planContext(ctx context.Context, plan models.Plan, project models.Project) (all Evidence, rendering string, err error) {
	all = Evidence{Values: map[string]string{}, Whole: map[string]string{}, Cut: map[string]bool{}}
	phases, err := e.Store.PhasesOf(ctx, plan.ID)
	if err != nil {
		return all, "", err
	}
	names := make([]string, len(phases))
	for i, ph := range phases {
		names[i] = ph.Name
	}
	names = distinct(names)
	var tasks []string
	for i, ph := range phases {
		if ph.PassID == nil {
			continue
		}
		pass, err := e.Store.Pass(ctx, *ph.PassID)
		if err != nil {
			return all, "", err
		}
		ev, err := e.CollectEvidence(ctx, repoOf(project), pass)
		if err != nil {
			return all, "", err
		}
		for _, k := range slices.Sorted(maps.Keys(ev.Whole)) {
			if k != "diff" { // the plan's own diff stands below
				all.put(names[i]+"/"+k, ev.Values[k], ev.Whole[k], ev.Cut[k])
			}
		}
		rendering += "# Phase " + itoa(ph.Position) + ": " + ph.Name + "\n" + ev.Render(nil) + "\n"
		tasks = append(tasks, pass.TaskText)
	}
	if err := e.planChanges(ctx, plan, repoOf(project), newEcho(tasks...), &all); err != nil {
		return all, "", err
	}
	var whole strings.Builder
	whole.WriteString("# The whole plan: what applying it would merge\n")
	all.renderChanges(&whole)
	return all, rendering + whole.String() + "\n", nil
}

// planChanges puts the files and added lines of the whole plan into its context.
func (e *Engine) planChanges(ctx context.Context, plan models.Plan, repo workspace.Repo, echo echo, all *Evidence) error {
	diff, added, cut, err := e.changesIn(ctx, repo, stretch{plan.BaseCommit, plan.WorkCommit})
	if err != nil {
		return err
	}
	all.putChanges(diff, added, cut, echo, e.redact)
	return nil
}
