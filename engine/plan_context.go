package engine

import (
	"context"
	"maps"
	"slices"

	"donewhen/engine/workspace"
	"donewhen/models"
)

// finalPass is the newest pass of a phase, under the name that the phase has in
// its plan's evidence.
type finalPass struct {
	models.Pass
	phase models.Phase
	name  string // no other phase of the plan has it
}

// finalPasses are those of a plan's phases, in their order; a phase that never
// began has none.
func (e *Engine) finalPasses(ctx context.Context, planID string) ([]finalPass, error) {
	phases, err := e.Store.PhasesOf(ctx, planID)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(phases))
	for i, ph := range phases {
		names[i] = ph.Name
	}
	names = distinct(names)
	var out []finalPass
	for i, ph := range phases {
		if ph.PassID == nil {
			continue
		}
		pass, err := e.Store.Pass(ctx, *ph.PassID)
		if err != nil {
			return nil, err
		}
		out = append(out, finalPass{pass, ph, names[i]})
	}
	return out, nil
}

// tasksOf are the task texts that the passes were given.
func tasksOf(passes []finalPass) []string {
	tasks := make([]string, len(passes))
	for i, p := range passes {
		tasks[i] = p.TaskText
	}
	return tasks
}

// planContext is what a definition of done is matched against: each phase's
// final pass under "<phase>/…", "<phase>/files", and the files and added lines of
// the whole plan, which is what apply would merge: a person may have changed
// something after the last pass. rendering is the same, bounded, for a judge;
// look sees each value as it came.
func (e *Engine) planContext(ctx context.Context, plan models.Plan, project models.Project, passes []finalPass, look rawLook) (all Evidence, rendering string, err error) {
	all = Evidence{Values: map[string]string{}, Whole: map[string]string{}, Cut: map[string]bool{}}
	var parts []section
	for _, p := range passes {
		ev, err := e.collectEvidence(ctx, repoOf(project), p.Pass, func(value, text string) { look(p.name+"/"+value, text) })
		if err != nil {
			return all, "", err
		}
		for _, k := range slices.Sorted(maps.Keys(ev.Whole)) {
			if k != "diff" { // the plan's own diff stands below
				all.put(p.name+"/"+k, ev.Values[k], ev.Whole[k], ev.Cut[k])
			}
		}
		parts = append(append(parts, section{heading: "# Phase " + itoa(p.phase.Position) + ": " + p.phase.Name}), ev.sections(nil)...)
	}
	if err := e.planChanges(ctx, plan, repoOf(project), newEcho(tasksOf(passes)...), look, &all); err != nil {
		return all, "", err
	}
	parts = append(append(parts, section{heading: "# The whole plan: what applying it would merge"}), all.changes()...)
	return all, render(parts), nil
}

// planChanges puts the files and added lines of the whole plan into its context.
func (e *Engine) planChanges(ctx context.Context, plan models.Plan, repo workspace.Repo, echo echo, look rawLook, all *Evidence) error {
	diff, added, cut, err := e.changesIn(ctx, repo, stretch{plan.BaseCommit, plan.WorkCommit})
	if err != nil {
		return err
	}
	look("diff", added)
	look("files", rawNames(diff.Files))
	all.putChanges(diff, added, cut, echo, e.redact)
	return nil
}
