package engine

import (
	"context"
	"strings"

	"donewhen/models"
	"donewhen/models/store"
)

// SetBudget replaces a plan's limits; 0 is no limit. What the old budget had
// stopped goes on by itself where it stopped: the pass, its judging or the
// evaluation of the definition of done. Fields of an error are "budget_runs",
// "budget_minutes", "budget_tokens" and "budget_usd", and "reason". A budget that
// would leave what is stopped where it is, is refused at the limit that is still
// used up. Limits below what is used are taken while nothing is stopped: then
// nothing more begins. The reason may be empty; old and new limits stay in the
// audit log.
func (e *Engine) SetBudget(ctx context.Context, actor models.Actor, planID string, b models.Budget, reason string) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	fields := map[string]string{}
	for limit, message := range b.Problems() {
		fields[budgetField(limit)] = message
	}
	if len(reason) > maxNote {
		fields["reason"] = sprintf("The reason is too long: at most %d bytes.", maxNote)
	}
	if len(fields) > 0 {
		return notSet(fields)
	}
	return e.decide(ctx, planID, func(tx *store.Tx) error {
		plan, err := tx.Plan(ctx, planID)
		if err != nil {
			return err
		}
		if plan.Status.Over() || plan.Status == models.PlanApplying {
			return wrongState(plan, "given another budget")
		}
		if plan.Budget == b {
			return models.Invalid(budgetField(models.LimitRuns), "Nothing is different. Change a limit.")
		}
		stopped, by, err := stoppedByBudget(ctx, tx, plan)
		if err != nil {
			return err
		}
		if stopped.any() {
			used, err := tx.UsageOf(ctx, planID, e.Now())
			if err != nil {
				return err
			}
			for _, m := range b.Over(used, by) {
				fields[budgetField(m.Limit)] = sprintf("It is used up already (%s), so nothing could go on. Allow more, or leave it empty for no limit.", m.Spent)
			}
			if len(fields) > 0 {
				return notSet(fields)
			}
		}
		if err := tx.SetPlan(ctx, planID, plan.Status, store.PlanSet{Budget: &b}); err != nil {
			return err
		}
		err = tx.InsertEvent(ctx, models.Event{PlanID: planID, Kind: "plan.budget_changed", From: plan.Budget.String(), To: b.String(),
			ActorID: actor.ID, Actor: actor.Name, Reason: strings.TrimSpace(reason)})
		if err != nil {
			return err
		}
		switch {
		case stopped.phase != nil:
			return e.unpark(ctx, tx, *stopped.phase, store.Why{Reason: "The budget was raised."})
		case stopped.evaluation:
			return e.queueEvaluation(ctx, tx, planID, actor)
		}
		return nil
	})
}

// stopped is what a plan's budget has stopped.
type stopped struct {
	phase      *models.Phase
	evaluation bool
}

func (s stopped) any() bool { return s.phase != nil || s.evaluation }

// stoppedByBudget finds what waits for a larger budget, and what it will begin
// with.
func stoppedByBudget(ctx context.Context, tx *store.Tx, plan models.Plan) (s stopped, by models.Spends, err error) {
	phases, err := tx.PhasesOf(ctx, plan.ID)
	if err != nil {
		return s, 0, err
	}
	if open := firstOpen(phases); open != nil {
		if !open.OverBudget {
			return s, 0, nil
		}
		s.phase = open
		_, by, err = whereParked(ctx, &tx.Reader, *open)
		return s, by, err
	}
	ev, err := tx.LatestEvaluation(ctx, plan.ID)
	s.evaluation = err == nil && ev != nil && ev.OverBudget && plan.Status == models.PlanFinished
	return s, models.SpendsQuestion, err
}

// goOnWithin lets a parked phase go on if the budget has room again.
func (e *Engine) goOnWithin(ctx context.Context, tx *store.Tx, ph models.Phase, why store.Why) error {
	plan, err := tx.Plan(ctx, ph.PlanID)
	if err != nil {
		return err
	}
	_, by, err := whereParked(ctx, &tx.Reader, ph)
	if err != nil {
		return err
	}
	full, err := e.usedUp(ctx, &tx.Reader, plan, by)
	if err != nil {
		return err
	}
	if full != "" {
		return models.Errorf(models.CodeConflict, "%s Raise it, and the phase goes on by itself.", full)
	}
	return e.unpark(ctx, tx, ph, why)
}

// budgetField is the form field of a limit.
func budgetField(l models.Limit) string { return "budget_" + string(l) }

func notSet(fields map[string]string) error {
	return &models.Error{Code: models.CodeInvalid, Message: "The budget was not changed: please mend the marked field.", Fields: fields}
}
