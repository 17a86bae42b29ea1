package engine

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
)

// Waive records that a required criterion need not pass. It changes no result,
// holds only for what was evaluated, and a (must) criterion cannot be waived.
// evaluationID is the evaluation that the person saw.
func (e *Engine) Waive(ctx context.Context, actor models.Actor, planID string, criterion int, evaluationID int64, reason string) error {
	if strings.TrimSpace(reason) == "" {
		return models.Invalid("reason", "Say why the criterion is waived: the reason stays on the plan.")
	}
	return e.onCriterion(ctx, actor, planID, criterion, evaluationID, func(tx *store.Tx, plan models.Plan, r dod.Result) error {
		switch {
		case r.Criterion.Level == dod.Must:
			return models.Errorf(models.CodeConflict, "A (must) criterion can never be waived.")
		case r.Criterion.Level == dod.Info:
			return models.Errorf(models.CodeConflict, "An informational criterion does not block anything; there is nothing to waive.")
		case r.Status == dod.Passed:
			return models.Errorf(models.CodeConflict, "The criterion has passed; there is nothing to waive.")
		}
		if last, err := e.lastDecision(ctx, tx, plan, r.Criterion.Index, models.DecisionWaive); err != nil || last != nil {
			return cmp.Or(err, errDecided)
		}
		return e.decideCriterion(ctx, tx, actor, plan, r.Criterion, models.DecisionWaive, reason, "criterion.waived")
	})
}

// TakeBackWaiver makes a criterion count again that was waived. The waiver stays
// in the table and in the audit log.
func (e *Engine) TakeBackWaiver(ctx context.Context, actor models.Actor, planID string, criterion int, evaluationID int64, reason string) error {
	return e.onCriterion(ctx, actor, planID, criterion, evaluationID, func(tx *store.Tx, plan models.Plan, r dod.Result) error {
		waiver, err := e.lastDecision(ctx, tx, plan, r.Criterion.Index, models.DecisionWaive)
		if err != nil {
			return err
		}
		if waiver == nil {
			return models.Errorf(models.CodeConflict, "The criterion is not waived. Look at the plan again.")
		}
		if err := tx.WithdrawDecision(ctx, *waiver); err != nil {
			return err
		}
		return e.tellCriterion(ctx, tx, actor, plan, r.Criterion, "criterion.waiver_taken_back", reason)
	})
}

// SignOff records a person's answer to a `human` criterion.
func (e *Engine) SignOff(ctx context.Context, actor models.Actor, planID string, criterion int, evaluationID int64, yes bool, reason string) error {
	if !yes && strings.TrimSpace(reason) == "" {
		return models.Invalid("reason", "Say why it is not so: whoever mends it needs to know.")
	}
	return e.onCriterion(ctx, actor, planID, criterion, evaluationID, func(tx *store.Tx, plan models.Plan, r dod.Result) error {
		if r.Criterion.Check.Kind != dod.CheckHuman {
			return models.Errorf(models.CodeConflict, "This criterion is not for a person to decide; it may be waived.")
		}
		if role := models.Role(r.Criterion.Check.Arg); role != "" {
			if err := require(actor, role); err != nil {
				return err
			}
		}
		kind, event := models.DecisionApprove, "criterion.approved"
		if !yes {
			kind, event = models.DecisionReject, "criterion.rejected"
		}
		last, err := e.lastDecision(ctx, tx, plan, r.Criterion.Index, models.DecisionApprove, models.DecisionReject)
		if err != nil || last != nil && last.Kind == kind {
			return cmp.Or(err, errDecided)
		}
		return e.decideCriterion(ctx, tx, actor, plan, r.Criterion, kind, reason, event)
	})
}

func (e *Engine) decideCriterion(ctx context.Context, tx *store.Tx, actor models.Actor, plan models.Plan, c dod.Criterion, kind models.DecisionKind, reason, event string) error {
	d := models.Decision{PlanID: plan.ID, Criterion: c.Index, Kind: kind, Fingerprint: e.fingerprint(plan), Reason: reason, UserID: actor.ID, UserName: actor.Name}
	if err := tx.InsertDecision(ctx, &d); err != nil {
		return err
	}
	return e.tellCriterion(ctx, tx, actor, plan, c, event, reason)
}

func (e *Engine) tellCriterion(ctx context.Context, tx *store.Tx, actor models.Actor, plan models.Plan, c dod.Criterion, event, reason string) error {
	about := "criterion " + itoa(c.Index) + " (" + c.Text + ")"
	if reason != "" {
		about += ": " + reason
	}
	return tx.InsertEvent(ctx, models.Event{PlanID: plan.ID, Kind: event, ActorID: actor.ID, Actor: actor.Name, Reason: about})
}

// errDecided is the answer to the second of two equal clicks.
var errDecided error = models.Errorf(models.CodeConflict, "That was decided already. Look at the plan again.")

// lastDecision is the newest decision of the given kinds about a criterion as it
// stands now, nil when there is none.
func (e *Engine) lastDecision(ctx context.Context, tx *store.Tx, plan models.Plan, criterion int, kinds ...models.DecisionKind) (*models.Decision, error) {
	decisions, err := tx.DecisionsOf(ctx, plan.ID)
	if err != nil {
		return nil, err
	}
	for _, d := range slices.Backward(decisions) {
		if d.Criterion == criterion && d.Fingerprint == e.fingerprint(plan) && slices.Contains(kinds, d.Kind) {
			return &d, nil
		}
	}
	return nil, nil
}

// onCriterion runs a decision about one criterion of a finished plan. The
// evaluation that the person saw must be the newest, done, and not stale.
func (e *Engine) onCriterion(ctx context.Context, actor models.Actor, planID string, criterion int, evaluationID int64, fn func(*store.Tx, models.Plan, dod.Result) error) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	return e.decide(ctx, planID, func(tx *store.Tx) error {
		plan, err := tx.Plan(ctx, planID)
		if err != nil {
			return err
		}
		if plan.Status != models.PlanFinished {
			return wrongState(plan, "decided about")
		}
		ev, err := tx.LatestEvaluation(ctx, planID)
		if err != nil {
			return err
		}
		if ev == nil || ev.ID != evaluationID || ev.Status != models.EvaluationDone || ev.Fingerprint != e.fingerprint(plan) {
			return models.Errorf(models.CodeConflict, "There is a newer state than the evaluation you saw. Look at it again.")
		}
		decisions, err := tx.DecisionsOf(ctx, planID)
		if err != nil {
			return err
		}
		for _, r := range withDecisions(SummaryOf(ev), decisions, e.fingerprint(plan)).Results {
			if r.Criterion.Index == criterion {
				return fn(tx, plan, r)
			}
		}
		return models.Errorf(models.CodeNotFound, "The definition of done has no criterion %d.", criterion)
	})
}

// withDecisions lays people's answers to `human` criteria over a summary: the
// newest decision about the current fingerprint counts.
func withDecisions(s dod.Summary, decisions []models.Decision, fingerprint string) dod.Summary {
	results := make([]dod.Result, len(s.Results))
	copy(results, s.Results)
	for i, r := range results {
		if r.Criterion.Check.Kind != dod.CheckHuman {
			continue
		}
		for _, d := range decisions {
			if d.Criterion != r.Criterion.Index || d.Fingerprint != fingerprint {
				continue
			}
			switch d.Kind {
			case models.DecisionApprove:
				results[i].Status, results[i].Reasoning = dod.Passed, said("Approved by ", d)
			case models.DecisionReject:
				results[i].Status, results[i].Reasoning = dod.Failed, said("Rejected by ", d)
			}
		}
	}
	s.Results = results
	return s
}

func said(how string, d models.Decision) string {
	if d.Reason == "" {
		return how + d.UserName + "."
	}
	return how + d.UserName + ": " + d.Reason
}
