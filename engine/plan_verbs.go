package engine

import (
	"context"
	"errors"
	"fmt"

	"donewhen/engine/workspace"
	"donewhen/models"
	"donewhen/models/store"
)

// StartPlan makes the plan's workspace from the tip of its target branch and
// lets the first phase begin.
func (e *Engine) StartPlan(ctx context.Context, actor models.Actor, planID string) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	plan, project, err := e.planProject(ctx, planID)
	if err != nil {
		return err
	}
	if plan.Status != models.PlanDraft {
		return wrongState(plan, "started")
	}
	ws, err := e.Spaces.Create(ctx, repoOf(project), planID, plan.TargetBranch)
	if err != nil {
		return fromGit(err)
	}
	return e.decide(ctx, planID, func(tx *store.Tx) error {
		reason := fmt.Sprintf("from %s at %.12s", plan.TargetBranch, ws.BaseCommit)
		for _, w := range ws.Warnings {
			reason += ". " + w
		}
		set := store.PlanSet{BaseCommit: &ws.BaseCommit, WorkCommit: &ws.BaseCommit, WorkTree: &ws.BaseTree, StartedAt: new(e.Now())}
		if err := tx.MovePlan(ctx, planID, models.PlanDraft, models.PlanRunning, set, store.Why{Actor: actor, Kind: "plan.started", Reason: reason}); err != nil {
			return err
		}
		return e.dueNext(ctx, tx, planID)
	})
}

// PausePlan lets running agents finish and starts nothing new.
func (e *Engine) PausePlan(ctx context.Context, actor models.Actor, planID string) error {
	return e.movePlan(ctx, actor, planID, "paused", models.PlanPaused, models.PlanRunning, models.PlanWaiting)
}

// ResumePlan goes on where the plan was paused: finished runs are not repeated.
func (e *Engine) ResumePlan(ctx context.Context, actor models.Actor, planID string) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	return e.decide(ctx, planID, func(tx *store.Tx) error {
		plan, err := tx.Plan(ctx, planID)
		if err != nil {
			return err
		}
		if plan.Status != models.PlanPaused {
			return wrongState(plan, "resumed")
		}
		why := store.Why{Actor: actor, Kind: "plan.resumed"}
		if err := tx.MovePlan(ctx, planID, models.PlanPaused, models.PlanRunning, store.PlanSet{}, why); err != nil {
			return err
		}
		if err := e.derivePlan(ctx, tx, planID, why); err != nil {
			return err
		}
		return e.dueNext(ctx, tx, planID)
	})
}

// CancelPlan ends a plan for good: its agents are stopped, nothing revives it.
// Workspace and branch are kept.
func (e *Engine) CancelPlan(ctx context.Context, actor models.Actor, planID, reason string) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	why := store.Why{Actor: actor, Reason: reason}
	err := e.decide(ctx, planID, func(tx *store.Tx) error {
		plan, err := tx.Plan(ctx, planID)
		if err != nil {
			return err
		}
		if plan.Status.Over() || plan.Status == models.PlanApplying {
			return wrongState(plan, "cancelled")
		}
		if err := e.cancelPhases(ctx, tx, planID, why); err != nil {
			return err
		}
		return tx.MovePlan(ctx, planID, plan.Status, models.PlanCancelled, store.PlanSet{EndedAt: new(e.Now())}, why)
	})
	if err == nil {
		e.endWork(planID, errCancelled)
	}
	return err
}

// DiscardPlan puts a plan away without applying it. Running work is cancelled;
// workspace and branch are kept until they are cleaned up.
func (e *Engine) DiscardPlan(ctx context.Context, actor models.Actor, planID, reason string) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	why := store.Why{Actor: actor, Reason: reason}
	err := e.decide(ctx, planID, func(tx *store.Tx) error {
		plan, err := tx.Plan(ctx, planID)
		if err != nil {
			return err
		}
		if !models.MayMove(plan.Status, models.PlanDiscarded) {
			return wrongState(plan, "discarded")
		}
		if err := e.cancelPhases(ctx, tx, planID, why); err != nil {
			return err
		}
		return tx.MovePlan(ctx, planID, plan.Status, models.PlanDiscarded, store.PlanSet{EndedAt: new(e.Now())}, why)
	})
	if err == nil {
		e.endWork(planID, errCancelled)
	}
	return err
}

// cancelPhases moves everything under a plan that has not come to its end to
// cancelled. Completed phases stay completed.
func (e *Engine) cancelPhases(ctx context.Context, tx *store.Tx, planID string, why store.Why) error {
	phases, err := tx.PhasesOf(ctx, planID)
	if err != nil {
		return err
	}
	for _, ph := range phases {
		if ph.Status == models.PhaseCompleted || ph.Status == models.PhaseCancelled {
			continue
		}
		if err := e.endPass(ctx, tx, ph, models.PassCancelled, why); err != nil {
			return err
		}
		if err := tx.MovePhase(ctx, ph.ID, ph.Status, models.PhaseCancelled, store.PhaseSet{NoDue: true}, why); err != nil {
			return err
		}
	}
	return nil
}

// cancelPhase is what follows a cancelled run: only a person cancels, so the
// plan is normally cancelled already and this is its net.
func (e *Engine) cancelPhase(ctx context.Context, tx *store.Tx, ph models.Phase, why store.Why) error {
	if err := e.endPass(ctx, tx, ph, models.PassCancelled, why); err != nil {
		return err
	}
	return e.movePhase(ctx, tx, ph, models.PhaseCancelled, store.PhaseSet{NoDue: true}, why)
}

// endPass sets the current pass of a phase and its open runs aside.
func (e *Engine) endPass(ctx context.Context, tx *store.Tx, ph models.Phase, to models.PassStatus, why store.Why) error {
	if ph.PassID == nil {
		return nil
	}
	why.Kind = "" // the verb's name belongs to its own row
	pass, err := tx.Pass(ctx, *ph.PassID)
	if err != nil {
		return err
	}
	runs, err := tx.RunsOf(ctx, pass.ID)
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Status.Ended() {
			continue
		}
		if err := tx.MoveRun(ctx, r.ID, r.Status, models.RunCancelled, store.RunSet{EndedAt: new(e.Now()), Reason: new("Cancelled by " + why.Actor.Name + ".")}, why); err != nil {
			return err
		}
	}
	if pass.Status.Ended() {
		return nil
	}
	return tx.MovePass(ctx, pass.ID, pass.Status, to, store.PassSet{EndedAt: new(e.Now())}, why)
}

// dueNext makes the first phase that is not completed due, if it can go on.
func (e *Engine) dueNext(ctx context.Context, tx *store.Tx, planID string) error {
	phases, err := tx.PhasesOf(ctx, planID)
	if err != nil {
		return err
	}
	open := firstOpen(phases)
	if open == nil {
		return nil
	}
	switch open.Status {
	case models.PhasePending, models.PhaseRunning, models.PhaseJudging:
		return tx.SetPhase(ctx, open.ID, open.Status, store.PhaseSet{DueAt: new(e.Now())})
	}
	return nil
}

// movePlan is a plain move of a plan by a lead.
func (e *Engine) movePlan(ctx context.Context, actor models.Actor, planID, done string, to models.PlanStatus, from ...models.PlanStatus) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	return e.decide(ctx, planID, func(tx *store.Tx) error {
		plan, err := tx.Plan(ctx, planID)
		if err != nil {
			return err
		}
		for _, f := range from {
			if plan.Status == f {
				return tx.MovePlan(ctx, planID, f, to, store.PlanSet{}, store.Why{Actor: actor})
			}
		}
		return wrongState(plan, done)
	})
}

func wrongState(plan models.Plan, done string) error {
	return models.Errorf(models.CodeConflict, "The plan cannot be %s: it is %s now. Look at it again.", done, plan.Status)
}

// fromGit turns a refusal of git's side into an error for people.
func fromGit(err error) error {
	if r, ok := errors.AsType[*workspace.Refused](err); ok {
		return &models.Error{Code: models.CodeConflict, Message: r.Message, Details: r.Files}
	}
	return err
}
