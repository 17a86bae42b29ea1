package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
)

// planMark opens what the task text says of the plan's definition of done. Like
// composedMark's, its lines are never evidence.
const planMark = "=== The plan's definition of done (written by donewhen) ==="

// missingOfPlan is what the plan's newest evaluation found missing and the plan
// still asks for: a phase that runs again after it is told. What a lead waived is
// not missing, and what waits for a person is not for an agent to do; a person's
// no is, with its reason.
func missingOfPlan(ctx context.Context, r *store.Reader, plan models.Plan) ([]dod.Result, error) {
	ev, err := r.LatestEvaluation(ctx, plan.ID)
	if err != nil || ev == nil || ev.Status != models.EvaluationDone {
		return nil, err
	}
	// Running a phase again voided the decisions; why it runs again stands in them.
	decisions, err := r.DecisionsAbout(ctx, plan.ID, ev.Fingerprint)
	if err != nil {
		return nil, err
	}
	decisions = slices.DeleteFunc(decisions, func(d models.Decision) bool { return d.CreatedAt.Before(ev.CreatedAt) })
	asked := Criteria(plan)
	var missing []dod.Result
	for _, result := range withDecisions(SummaryOf(ev), decisions, ev.Fingerprint).Results {
		c := result.Criterion
		at := slices.IndexFunc(asked, func(now dod.Criterion) bool { was := c; was.Index = now.Index; return was == now })
		waived := slices.ContainsFunc(decisions, func(d models.Decision) bool { return d.Kind == models.DecisionWaive && d.Criterion == c.Index })
		waits := c.Check.Kind == dod.CheckHuman && result.Status == dod.Skipped
		if at < 0 || result.Status == dod.Passed || c.Level == dod.Info || waived || waits {
			continue
		}
		result.Criterion.Index = asked[at].Index
		missing = append(missing, result)
	}
	return missing, nil
}

// composePlan writes what the plan's definition of done still lacks; "" when that
// is nothing.
func composePlan(missing []dod.Result) string {
	if len(missing) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + planMark + "\nThe whole plan was finished once and then checked against its definition of done. This was missing, and it is why there is another pass. Do what of it belongs to this phase.\n")
	list(&b, maxChecks, len(missing), func(i int) string {
		r := missing[i]
		return fmt.Sprintf("plan criterion %d: %s\n  why: %s\n", r.Criterion.Index, describe(r.Criterion), indent(headTail(r.Reasoning, maxFeedback)))
	})
	return b.String()
}

// composeAfterRun is the task text of a phase that has no condition, and so no
// verdict of the pass before: what it is told is how the run ended that failed.
func composeAfterRun(ctx context.Context, r *store.Reader, ph models.Phase, missing []dod.Result) (string, error) {
	before, err := r.PassBefore(ctx, models.Pass{PhaseID: ph.ID, PlanID: ph.PlanID, Attempt: ph.Attempt, Iteration: ph.Iteration})
	if err != nil {
		return "", err
	}
	if before == nil || before.Status != models.PassNotMet || before.Reason == "" {
		return ComposeTask(ph, nil, nil, missing), nil
	}
	return ComposeTask(ph, &models.Verdict{Kind: models.VerdictRun, Reason: before.Reason}, nil, missing), nil
}
