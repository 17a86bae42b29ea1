package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
)

// Evaluate queues an evaluation of a finished plan's definition of done.
func (e *Engine) Evaluate(ctx context.Context, actor models.Actor, planID string) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	return e.decide(ctx, planID, func(tx *store.Tx) error {
		plan, err := tx.Plan(ctx, planID)
		if err != nil {
			return err
		}
		if plan.Status != models.PlanFinished {
			return wrongState(plan, "evaluated")
		}
		if len(Criteria(plan)) == 0 {
			return models.Errorf(models.CodeConflict, "The plan has no definition of done to evaluate. Write one first.")
		}
		if ev, err := tx.LatestEvaluation(ctx, planID); err != nil {
			return err
		} else if ev != nil && (ev.Status == models.EvaluationQueued || ev.Status == models.EvaluationRunning) {
			return models.Errorf(models.CodeConflict, "An evaluation is under way already. Wait for its result.")
		}
		return e.queueEvaluation(ctx, tx, planID, actor)
	})
}

// queueEvaluation inserts an evaluation for the sweep to claim; a plan without
// criteria gets none.
func (e *Engine) queueEvaluation(ctx context.Context, tx *store.Tx, planID string, actor models.Actor) error {
	plan, err := tx.Plan(ctx, planID)
	if err != nil || len(Criteria(plan)) == 0 {
		return err
	}
	ev := models.Evaluation{PlanID: planID, Status: models.EvaluationQueued, RequestedBy: actor.ID}
	if err := tx.InsertEvaluation(ctx, &ev); err != nil {
		return err
	}
	return tx.InsertEvent(ctx, models.Event{PlanID: planID, Kind: "evaluation.queued", ActorID: actor.ID, Actor: actor.Name})
}

// beginEvaluation claims a queued evaluation by compare-and-swap and carries it
// out in a goroutine of its own.
func (e *Engine) beginEvaluation(ctx context.Context, ev models.Evaluation) (bool, error) {
	begun := false
	err := e.change(ctx, ev.PlanID, func(tx *store.Tx) error {
		plan, err := tx.Plan(ctx, ev.PlanID)
		if err != nil {
			return err
		}
		if begun = plan.Status == models.PlanFinished; begun {
			return tx.MoveEvaluation(ctx, ev.ID, models.EvaluationQueued, models.EvaluationRunning, store.EvaluationSet{StartedAt: new(e.Now())}, store.Why{})
		}
		why := errOvertaken.Error()
		return tx.MoveEvaluation(ctx, ev.ID, models.EvaluationQueued, models.EvaluationErrored,
			store.EvaluationSet{Error: &why, EndedAt: new(e.Now())}, store.Why{Reason: why})
	})
	if err != nil || !begun {
		return false, err
	}
	e.work.Go(func() {
		ctx, done := e.track(e.life, evaluating, ev.ID, ev.PlanID)
		defer done()
		e.endOvertaken(ctx, ev.PlanID) // what came before it was tracked found nothing to end
		e.endStoppedEvaluation(ctx, ev.ID)
		set := store.EvaluationSet{}
		err := guarded(func() (err error) { set, err = e.evaluate(ctx, ev); return err })
		if e.life.Err() != nil {
			return // recovery queues it again
		}
		e.endEvaluation(ev, set, err, context.Cause(ctx))
	})
	return true, nil
}

// endEvaluation stores how an evaluation ended. A pass that waited for it to
// leave the workspace may go on.
func (e *Engine) endEvaluation(ev models.Evaluation, set store.EvaluationSet, err, stopped error) {
	to, why := models.EvaluationDone, store.Why{}
	switch {
	case stopped != nil:
		to, set, why.Reason = models.EvaluationErrored, store.EvaluationSet{Error: new(stopped.Error())}, stopped.Error()
	case err != nil:
		if _, parked := errors.AsType[overBudget](err); !parked {
			e.Log.Error("evaluation", "plan", ev.PlanID, "err", err)
		}
		to, set.Error, why.Reason = models.EvaluationErrored, new(err.Error()), err.Error()
	}
	if to == models.EvaluationDone && set.SummaryJSON != nil {
		s := SummaryOf(&models.Evaluation{SummaryJSON: *set.SummaryJSON})
		why.Reason = s.Counts(func(dod.Criterion) bool { return false }).Sentence()
	}
	set.EndedAt = new(e.Now())
	ctx := context.WithoutCancel(e.life)
	var plant []string
	stored := e.persist("end of an evaluation", func() error {
		return e.change(ctx, ev.PlanID, func(tx *store.Tx) error {
			now, err := tx.Evaluation(ctx, ev.ID)
			if err != nil {
				return err
			}
			if now.StoppedBy != "" { // a person stopped it, maybe when it was all but done
				to, set, why = models.EvaluationErrored, store.EvaluationSet{EndedAt: set.EndedAt}, store.Why{Reason: now.Error}
			}
			if err := tx.MoveEvaluation(ctx, ev.ID, models.EvaluationRunning, to, set, why); err != nil {
				return err
			}
			if set.AnswersJSON != nil && to == models.EvaluationDone {
				if plant, err = e.countJudged(ctx, tx, Answers(models.Verdict{AnswersJSON: *set.AnswersJSON})); err != nil {
					return err
				}
			}
			plan, err := tx.Plan(ctx, ev.PlanID)
			if err != nil {
				return err
			}
			if to == models.EvaluationErrored && set.OverBudget != nil && *set.OverBudget && plan.Status == models.PlanFinished {
				// Raised meanwhile, the budget found nothing that it could have let go on.
				if still, err := e.stillUsedUp(ctx, tx, ev.PlanID, models.SpendsQuestion); err != nil || still {
					return err
				}
				return e.queueEvaluation(ctx, tx, ev.PlanID, models.Server)
			}
			if plan.Status != models.PlanRunning {
				return nil
			}
			return e.dueNext(ctx, tx, ev.PlanID)
		})
	})
	if stored == nil {
		e.plantAll(plant)
	}
}

// evaluate judges a plan's whole definition of done: the workspace is recorded
// first, the context is each phase's final pass, and the fingerprint says what
// exactly was judged.
func (e *Engine) evaluate(ctx context.Context, ev models.Evaluation) (store.EvaluationSet, error) {
	var set store.EvaluationSet
	plan, project, err := e.planProject(ctx, ev.PlanID)
	if err != nil {
		return set, err
	}
	repo := repoOf(project)
	snap, err := e.Spaces.Snapshot(ctx, repo, plan.ID, plan.BaseCommit, "Changes found before the evaluation")
	if err != nil {
		return set, fmt.Errorf("the workspace could not be recorded: %w", err)
	}
	found, err := e.foundChanges(ctx, repo, plan, snap)
	if err != nil {
		return set, err
	}
	if err := e.change(ctx, plan.ID, func(tx *store.Tx) error { return recordFound(ctx, tx, plan.ID, snap, found) }); err != nil {
		return set, err
	}
	plan.WorkCommit, plan.WorkTree = snap.Commit, snap.Tree

	passes, err := e.finalPasses(ctx, plan.ID)
	if err != nil {
		return set, err
	}
	criteria := Criteria(plan)
	flags := e.newFlagger(dod.Suite{Asker: e.Evaluator}, criteria, append(tasksOf(passes), plan.Goal, plan.DodText)...)
	evidence, rendering, err := e.planContext(ctx, plan, project, passes, flags.look)
	if err != nil {
		return set, err
	}
	suite := e.suite(plan, project, plan.WorkTree, evidence)
	e.seat(&suite, plan.ID, e.panelFor(e.Evaluator, plan.DodOpinions))
	suite.Task, suite.Evidence = plan.Goal, rendering
	suite.Human = func(c dod.Criterion) dod.CheckOutcome {
		return dod.CheckOutcome{Status: dod.Skipped, Reasoning: "waits for " + whoFor(c) + " to say so on the plan's page"}
	}
	var forget func()
	suite.Watch, forget = e.watch(ev.ID, plan.ID, len(criteria))
	defer forget()
	out := suite.Evaluate(ctx, criteria, evidence.Values)
	e.redactResults(out.Results)
	if err := ctx.Err(); err != nil {
		return set, err
	}
	if why, yes := out.Withheld(); yes {
		return store.EvaluationSet{AnswersJSON: new(toJSON(out.Answers)), OverBudget: new(true)}, overBudget(why)
	}
	if err := e.withoutDistrusted(ctx, &out); err != nil {
		return set, err
	}
	summary := dod.Summary{PlanID: plan.ID, DefinitionOfDone: plan.DodText, Results: out.Results, EvaluatedAt: e.Now()}
	parts := e.parts(plan)
	set.Fingerprint, set.PartsJSON, set.Evaluator = new(e.fingerprint(plan)), new(toJSON(parts)), &parts.Evaluator
	set.SummaryJSON, set.AnswersJSON, set.FlagsJSON = new(toJSON(summary)), new(toJSON(out.Answers)), new(flags.json())
	return set, nil
}

// fingerprint is what an evaluation, a waiver or a sign-off is bound to.
func (e *Engine) fingerprint(plan models.Plan) string {
	p := e.parts(plan)
	return dod.Fingerprint(p.Tree, Criteria(plan), p.Template, p.Evaluator, p.Args...)
}

// fingerprintParts tell a person which part moved.
type fingerprintParts struct {
	Tree      string   `json:"tree"`
	Criteria  string   `json:"criteria"`
	Template  string   `json:"template"`
	Evaluator string   `json:"evaluator"`
	Args      []string `json:"args"` // NAME=VALUE, sorted
}

func (e *Engine) parts(plan models.Plan) fingerprintParts {
	p := fingerprintParts{Tree: plan.WorkTree, Criteria: plan.CriteriaJSON, Template: "none", Evaluator: dod.PanelSpec(e.panelFor(e.Evaluator, plan.DodOpinions)),
		Args: dod.ArgEnv(plan.DodArgs)}
	if plan.TemplateVersionID != nil {
		p.Template = itoa(*plan.TemplateVersionID)
	}
	return p
}

// moved names the parts that differ from those of an evaluation.
func (p fingerprintParts) moved(evaluated string) []string {
	var old fingerprintParts
	if json.Unmarshal([]byte(evaluated), &old) != nil {
		return nil
	}
	var out []string
	for _, d := range []struct {
		differs bool
		name    string
	}{
		{p.Tree != old.Tree, "the workspace's files"},
		{p.Criteria != old.Criteria, "the criteria"},
		{p.Template != old.Template, "the template's version"},
		{p.Evaluator != old.Evaluator, "the evaluator"},
		{!slices.Equal(p.Args, old.Args), "the arguments"},
	} {
		if d.differs {
			out = append(out, d.name)
		}
	}
	return out
}

// Criteria decodes a plan's filled criteria. Criteria that cannot be read give
// one that always fails, so that damage never opens a gate.
func Criteria(plan models.Plan) []dod.Criterion {
	if plan.CriteriaJSON == "" {
		return nil
	}
	var out []dod.Criterion
	if err := json.Unmarshal([]byte(plan.CriteriaJSON), &out); err != nil {
		return []dod.Criterion{{Index: 1, Text: "The stored criteria can be read: " + err.Error(), Level: dod.Must, Check: dod.Check{Kind: dod.CheckText}}}
	}
	return out
}

// SummaryOf decodes an evaluation's summary; without one the zero summary,
// which passes nothing.
func SummaryOf(ev *models.Evaluation) dod.Summary {
	var s dod.Summary
	if ev != nil && ev.SummaryJSON != "" && json.Unmarshal([]byte(ev.SummaryJSON), &s) != nil {
		return dod.Summary{}
	}
	return s
}

func whoFor(c dod.Criterion) string {
	if c.Check.Arg == "" {
		return "a lead"
	}
	return "a person with the role " + c.Check.Arg
}
