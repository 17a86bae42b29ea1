package engine

import (
	"context"
	"fmt"
	"strings"

	"donewhen/models"
)

// targetMark opens what the task text says of the branch that the work is merged
// into. Like composedMark's, its lines are never evidence.
const targetMark = "=== The target branch (written by donewhen) ==="

// conflictOfPlan is what the agents of another pass are told of a conflict with
// the target, "" where there is none: only a merge that is in the plan's own history
// ends it. A plan that was never finished is not told: it is not merged yet.
func (e *Engine) conflictOfPlan(ctx context.Context, plan models.Plan, ph models.Phase, evaluated bool) string {
	if ph.PassID == nil || !evaluated && len(Criteria(plan)) > 0 {
		return ""
	}
	project, err := e.Store.Project(ctx, plan.ProjectID)
	if err != nil {
		return ""
	}
	p, err := e.Spaces.Preview(ctx, repoOf(project), plan.ID, plan.BaseCommit, plan.TargetBranch)
	if err != nil || len(p.Conflicts) == 0 {
		return "" // the gate says it where it is looked at again
	}
	return composeConflict(plan.TargetBranch, p.Conflicts, e.Spaces.FetchTargetCommand(repoOf(project), plan.TargetBranch))
}

func composeConflict(branch string, files []string, fetch string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\nThe work cannot be merged into %s: both changed the same places. Merge %s into your branch, resolve it so that what %s has and what this plan is for both stay, and commit the merge:\n  %s && git merge FETCH_HEAD\n",
		targetMark, branch, branch, branch, fetch)
	list(&b, maxChecks, len(files), func(i int) string { return "conflict in: " + cutLine(oneName(files[i]), 300) + "\n" })
	return b.String()
}
