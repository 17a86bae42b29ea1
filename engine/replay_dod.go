package engine

import (
	"context"
	"fmt"
	"time"

	"donewhen/dod"
	"donewhen/models"
)

// DodReplayInput is a definition of done that is not in use yet.
type DodReplayInput struct {
	Text string
	// Args are the arguments that the text's placeholders stand for. A plan's own
	// value of the same name counts, then the default; a placeholder without a
	// value stays.
	Args []models.TemplateArg
	Last int // the newest so many finished plans; bounded by MaxReplay
	// Evaluator is ReplayConfigured (also when empty), ReplayText or one of Evaluators.
	Evaluator string
}

// ReplayedPlan is one plan: whether it got through then, and what a definition
// of done would have said.
type ReplayedPlan struct {
	Plan models.PlanRow
	// OldMet: it is applied, or its newest evaluation passed.
	OldMet  bool
	Old     []dod.Result // of its newest evaluation, with people's answers laid over
	Waived  map[int]models.Decision
	Missing []string // placeholders that nobody gave a value
	Replayed
}

// DodReplay is a definition of done tried on finished plans, newest first.
type DodReplay struct {
	Criteria  []dod.Criterion // as written, placeholders open
	Evaluator string
	Plans     []ReplayedPlan
	Cost      ReplayCost
	Took      time.Duration
}

// Count is how many plans changed so.
func (r DodReplay) Count(c ReplayChange) (n int) {
	for _, p := range r.Plans {
		if p.Change == c {
			n++
		}
	}
	return n
}

// ReplayDod tries a definition of done on the stored evidence of the plans that
// finished (or were applied) last. It writes nothing and follows the rules of
// Replay; what a person has to say to a `human` line is open. Fields of an error
// are "text" and "evaluator". No finished plan is no error.
func (e *Engine) ReplayDod(ctx context.Context, actor models.Actor, in DodReplayInput) (DodReplay, error) {
	began := e.Now()
	if err := require(actor, models.RoleLead); err != nil {
		return DodReplay{}, err
	}
	criteria := dod.ParseCriteria(in.Text)
	switch problems := dod.ValidateDoD(in.Text); {
	case len(in.Text) > maxText:
		return DodReplay{}, models.Invalid("text", "The text is too long: at most 256 KiB.")
	case len(problems) > 0:
		return DodReplay{}, models.Invalid("text", "%s", problemText(problems))
	case len(criteria) == 0:
		return DodReplay{}, models.Invalid("text", "There is no criterion in it. Write one per line, then try it.")
	}
	asker, err := e.replayAsker(e.Evaluator, in.Evaluator)
	if err != nil {
		return DodReplay{}, err
	}
	plans, _, err := e.Store.Plans(ctx, models.PlanFilter{Status: []models.PlanStatus{models.PlanFinished, models.PlanApplied}, Limit: min(max(in.Last, 1), MaxReplay)})
	if err != nil {
		return DodReplay{}, err
	}
	rep := DodReplay{Criteria: criteria, Evaluator: specOf(asker), Plans: make([]ReplayedPlan, len(plans))}
	ctx, end := e.untilClosed(ctx)
	defer end()
	err = eachOf(ctx, plans, func(ctx context.Context, i int, row models.PlanRow) (err error) {
		rep.Plans[i], err = e.replayPlan(ctx, row, criteria, in.Args, asker)
		return err
	})
	if err != nil {
		return DodReplay{}, err
	}
	for _, p := range rep.Plans {
		rep.Cost.add(p.Answers)
	}
	rep.Took = e.Now().Sub(began)
	return rep, nil
}

// replayPlan tries criteria on one plan, as evaluate would have judged them.
func (e *Engine) replayPlan(ctx context.Context, row models.PlanRow, criteria []dod.Criterion, args []models.TemplateArg, asker dod.Asker) (ReplayedPlan, error) {
	out := ReplayedPlan{Plan: row}
	plan, project, err := e.planProject(ctx, row.ID)
	if err != nil {
		return out, err
	}
	ev, err := e.Store.LatestEvaluation(ctx, plan.ID)
	if err != nil {
		return out, err
	}
	out.OldMet = plan.Status == models.PlanApplied
	var recorded []dod.Result
	if ev != nil && ev.Status == models.EvaluationDone {
		decisions, err := e.Store.DecisionsOf(ctx, plan.ID)
		if err != nil {
			return out, err
		}
		past := e.PastEvaluation(plan, *ev, decisions, nil)
		recorded, out.Old, out.Waived = SummaryOf(ev).Results, past.Summary.Results, past.Waived
		out.OldMet = out.OldMet || past.Summary.AllPassed()
	}
	values := argsOf(plan, args)
	filled := dod.FillCriteria(criteria, values)
	out.Missing = dod.OpenPlaceholders(filled)
	passes, err := e.finalPasses(ctx, plan.ID)
	if err != nil {
		return out, err
	}
	evidence, rendering, err := e.planContext(ctx, plan, project, passes, unseen)
	if err != nil {
		out.Replayed = Replayed{State: ReplayUnknown, Change: ChangeUnknown, Reason: fmt.Sprintf("The evidence cannot be collected any more: %s", err)}
		return out, ctx.Err()
	}
	suite := dod.Suite{Text: evidence.text(), Parallel: replayQuestions, Asker: asker, Task: plan.Goal, Args: values, File: e.filesOf(project, plan.WorkTree)}
	suite.Human = func(c dod.Criterion) dod.CheckOutcome {
		return dod.CheckOutcome{Status: dod.Skipped, Reasoning: "would wait for " + whoFor(c)}
	}
	out.Replayed = replayOver(ctx, suite, filled, evidence.Values, recorded, func([]string) string { return rendering })
	for i := range out.Results {
		e.redactResult(&out.Results[i].Result)
	}
	out.Change = changeOf(out.OldMet, out.State)
	return out, ctx.Err()
}

// argsOf are the values of arguments for a plan: its own, else the defaults.
func argsOf(plan models.Plan, args []models.TemplateArg) map[string]string {
	values := map[string]string{}
	for _, a := range args {
		if own, ok := plan.DodArgs[a.Name]; ok {
			values[a.Name] = own
		} else if a.Default != "" {
			values[a.Name] = a.Default
		}
	}
	return values
}
