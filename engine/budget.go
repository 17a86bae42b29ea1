package engine

import (
	"context"
	"errors"
	"fmt"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
)

// What uses something up asks here first: a run of a pass inside the transaction
// that starts it, a question right before it is put. A used-up budget is nobody's
// fault: no pass is spent, no try of a judge is counted, nothing is fed back and
// all work is kept. The phase is parked and goes on when the budget is raised.

// errParked says that the phase was parked: whoever was at work leaves it alone.
var errParked = errors.New("the plan's budget is used up")

// usedUp says in one sentence which limits of a plan's budget keep something
// from being begun, "" when it may begin. r may be a transaction's reader.
func (e *Engine) usedUp(ctx context.Context, r *store.Reader, plan models.Plan, by models.Spends) (string, error) {
	if plan.Budget == (models.Budget{}) {
		return "", nil
	}
	u, err := r.UsageOf(ctx, plan.ID, e.Now())
	return plan.Budget.UsedUp(u, by), err
}

// park moves a phase to needs_attention because its plan's budget is used up.
func (e *Engine) park(ctx context.Context, tx *store.Tx, ph models.Phase, reason string) error {
	return e.movePhase(ctx, tx, ph, models.PhaseNeedsAttention, store.PhaseSet{Reason: &reason, NoDue: true, OverBudget: true},
		store.Why{Kind: "phase.over_budget", Reason: reason})
}

// parkRun parks a phase before a run of its pass begins. The run stays queued,
// and the pass is free for whoever goes on with it.
func (e *Engine) parkRun(ctx context.Context, tx *store.Tx, pass models.Pass, worker, reason string) error {
	ph, err := tx.Phase(ctx, pass.PhaseID)
	if err != nil {
		return err
	}
	if ph.Status != models.PhaseRunning || ph.PassID == nil || *ph.PassID != pass.ID {
		return models.Errorf(models.CodeConflict, "phase %d is not running pass %d any more", ph.ID, pass.ID)
	}
	if err := tx.ReleasePass(ctx, pass.ID, worker); err != nil {
		return err
	}
	if err := tx.MovePass(ctx, pass.ID, models.PassRunning, models.PassQueued, store.PassSet{}, store.Why{Reason: reason}); err != nil {
		return err
	}
	return e.park(ctx, tx, ph, reason)
}

// parkJudging parks a phase whose judge was not asked (any further). The pass
// stays to be judged; no verdict is written, because nobody judged. A budget that
// was raised meanwhile is looked at again: it found nothing parked that it could
// have let go on, so the judging is due again instead.
func (e *Engine) parkJudging(ctx context.Context, ph models.Phase, passID int64, reason string) error {
	return e.persist("parking of a phase", func() error {
		return e.change(ctx, ph.PlanID, func(tx *store.Tx) error {
			ph, err := tx.Phase(ctx, ph.ID)
			if err != nil {
				return err
			}
			if err := tx.ReleasePass(ctx, passID, "judge"); err != nil {
				return err
			}
			if ph.Status != models.PhaseJudging || ph.PassID == nil || *ph.PassID != passID {
				return models.Errorf(models.CodeConflict, "phase %d is not judging pass %d any more", ph.ID, passID)
			}
			if still, err := e.stillUsedUp(ctx, tx, ph.PlanID, models.SpendsQuestion); err != nil {
				return err
			} else if !still {
				return tx.SetPhase(ctx, ph.ID, models.PhaseJudging, store.PhaseSet{DueAt: new(e.Now())})
			}
			return e.park(ctx, tx, ph, reason)
		})
	})
}

// stillUsedUp says whether the budget that stopped something has no room now either.
func (e *Engine) stillUsedUp(ctx context.Context, tx *store.Tx, planID string, by models.Spends) (bool, error) {
	plan, err := tx.Plan(ctx, planID)
	if err != nil {
		return true, err
	}
	why, err := e.usedUp(ctx, &tx.Reader, plan, by)
	return why != "", err
}

// unpark lets a parked phase go on exactly where it stopped.
func (e *Engine) unpark(ctx context.Context, tx *store.Tx, ph models.Phase, why store.Why) error {
	to, _, err := whereParked(ctx, &tx.Reader, ph)
	if err != nil {
		return err
	}
	return e.movePhase(ctx, tx, ph, to, store.PhaseSet{Reason: new(""), DueAt: new(e.Now())}, why)
}

// whereParked is the state in which a parked phase goes on, and what it begins
// with there.
func whereParked(ctx context.Context, r *store.Reader, ph models.Phase) (models.PhaseStatus, models.Spends, error) {
	if ph.PassID == nil {
		return models.PhasePending, models.SpendsRun, nil
	}
	pass, err := r.Pass(ctx, *ph.PassID)
	switch {
	case err != nil:
		return "", 0, err
	case pass.Status == models.PassJudging:
		return models.PhaseJudging, models.SpendsQuestion, nil
	case pass.Status.Ended():
		return models.PhasePending, models.SpendsRun, nil
	}
	return models.PhaseRunning, models.SpendsRun, nil
}

// overBudget is the error of an evaluation that was stopped by the budget.
type overBudget string

func (o overBudget) Error() string { return string(o) }

// withinBudget is an asker whose questions a plan pays for: before each one (a
// second one after an invalid reply too) the plan's budget is looked at, and what
// it cost is written down as soon as the reply is there, whatever becomes of it.
// A question that the budget has no room for is never put: its error is a
// dod.WithheldError. Whoever asks a model on behalf of a plan asks through this.
// nil stays nil.
func (e *Engine) withinBudget(planID string, asker dod.Asker) dod.Asker {
	if asker == nil {
		return nil
	}
	return &paidAsker{Asker: asker, engine: e, planID: planID}
}

type paidAsker struct {
	dod.Asker
	engine *Engine
	planID string
}

func (p *paidAsker) Ask(ctx context.Context, q dod.Question) (dod.Reply, error) {
	e := p.engine
	plan, err := e.Store.Plan(ctx, p.planID)
	if err != nil {
		return dod.Reply{}, fmt.Errorf("the plan's budget could not be read: %w", err)
	}
	why, err := e.usedUp(ctx, &e.Store.Reader, plan, models.SpendsQuestion)
	if err != nil {
		return dod.Reply{}, fmt.Errorf("the plan's budget could not be read: %w", err)
	}
	if why != "" {
		return dod.Reply{}, &dod.WithheldError{Reason: why}
	}
	reply, err := p.Asker.Ask(ctx, q)
	row := models.Spending{PlanID: p.planID, Evaluator: p.Evaluator(), Questions: 1,
		InputTokens: reply.InputTokens, OutputTokens: reply.OutputTokens, CostUSD: reply.CostUSD}
	paid := context.WithoutCancel(ctx) // a judging that is being stopped has cost it all the same
	_ = e.persist("cost of a question", func() error {
		return e.change(paid, p.planID, func(tx *store.Tx) error { return tx.InsertSpending(paid, &row) })
	})
	return reply, err
}
