package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
)

// Condition is what a phase's passes are judged by.
type Condition struct {
	DoneWhen      string
	MaxIterations int    // never fewer than it has begun
	Opinions      int    // judges that have to say met; 0 leaves it as it is
	Seen          string // SeenCondition of what the person had before them, "" to replace whatever is there
	Reason        string // needed when it asks for less than before; the gate names it
}

// EditCondition replaces the condition of a phase that is not at work and not
// completed. The new one is checked as on creation; fields of an error are
// "done_when", "max_iterations", "opinions" and "reason". The phase stays where it
// is: what follows is another verb. The old text stays in the audit log. A condition
// cannot be taken away: that would complete the phase unjudged. One that asks for
// less needs a reason, as with EditDod.
func (e *Engine) EditCondition(ctx context.Context, actor models.Actor, phaseID, passID int64, in Condition) error {
	doneWhen, maxIterations, reason := strings.TrimSpace(in.DoneWhen), in.MaxIterations, strings.TrimSpace(in.Reason)
	fields := map[string]string{}
	bad := func(field, format string, args ...any) { fields[field] = fmt.Sprintf(format, args...) }
	if maxIterations < models.MinIterations || maxIterations > models.MaxIterations {
		bad("max_iterations", "Enter a number from %d to %d.", models.MinIterations, models.MaxIterations)
	}
	if in.Opinions != 0 && models.ClampOpinions(in.Opinions) != in.Opinions {
		bad("opinions", "Choose from %d to %d judges.", models.MinOpinions, models.MaxOpinions)
	}
	if len(reason) > maxNote {
		bad("reason", "%s", reasonTooLong)
	}
	switch {
	case len(doneWhen) > maxText:
		bad("done_when", "The condition is too long: at most 256 KiB.")
	case doneWhen == "":
	default:
		if problems := dod.ValidateDoneWhen(doneWhen); len(problems) > 0 {
			bad("done_when", "%s", problemText(problems))
		} else {
			e.checkDoneWhen(actor, doneWhen, "done_when", bad)
		}
	}
	return e.onPhase(ctx, actor, phaseID, passID, func(tx *store.Tx, ph models.Phase) error {
		if !slices.Contains([]models.PhaseStatus{models.PhaseStalled, models.PhaseExhausted, models.PhaseNeedsAttention,
			models.PhaseFailed, models.PhaseAwaitingApproval, models.PhasePending}, ph.Status) {
			return wrongPhase(ph, "given another condition")
		}
		if in.Seen != "" && in.Seen != SeenCondition(ph) {
			err := changedMeanwhile(ctx, tx, "condition", "phase.condition_changed", "done_when", ph.PlanID, ph.ID)
			if e, ok := errors.AsType[*models.Error](err); ok {
				e.Fields["done_when"] += " It says now:\n" + ph.DoneWhen
			}
			return err
		}
		if doneWhen == "" && ph.DoneWhen != "" {
			bad("done_when", "Write what must be true. To take the work without a condition, accept the phase as it is.")
		}
		if len(fields) > 0 {
			return &models.Error{Code: models.CodeInvalid, Message: "The condition was not changed: please mend the marked field.", Fields: fields}
		}
		limit, opinions := max(maxIterations, ph.Iteration+1), cmp.Or(in.Opinions, ph.Opinions)
		if doneWhen == ph.DoneWhen && limit == ph.MaxIterations && opinions == ph.Opinions {
			return models.Invalid("done_when", "Nothing is different. Change the condition, the number of passes or that of the judges.")
		}
		fresh := ph
		fresh.DoneWhen, fresh.Opinions = doneWhen, opinions
		plan, err := tx.Plan(ctx, ph.PlanID)
		if err != nil {
			return err
		}
		var drops []drop
		if was := agreedIn(plan, ph); len(dod.Dropped(was, agreedIn(plan, fresh))) > 0 {
			drops = []drop{{phaseID: &ph.ID, was: was, lines: dod.Dropped(was, agreedIn(plan, fresh))}}
		}
		if err := recordDropped(ctx, tx, actor, ph.PlanID, "condition", reason, drops); err != nil {
			return err
		}
		set := store.PhaseSet{DoneWhen: &doneWhen, MaxIterations: &limit, Opinions: &opinions}
		if ph.Status == models.PhaseAwaitingApproval { // what is said of it is about the condition that was judged
			if set.Reason, err = approvalReason(ctx, tx, fresh); err != nil {
				return err
			}
		}
		if err := tx.SetPhase(ctx, ph.ID, ph.Status, set); err != nil {
			return err
		}
		said := fmt.Sprintf("was, with at most %s%s:\n%s", passes(ph.MaxIterations), judges(ph.Opinions), ph.DoneWhen)
		if reason != "" {
			said = reason + "\n" + said
		}
		return tx.InsertEvent(ctx, models.Event{PlanID: ph.PlanID, PhaseID: &ph.ID, PassID: ph.PassID, Kind: "phase.condition_changed",
			ActorID: actor.ID, Actor: actor.Name, Reason: said})
	})
}

// approvalReason is what a phase that waits for an approval says: why it cannot be
// given one, or what its pass was judged to be.
func approvalReason(ctx context.Context, tx *store.Tx, ph models.Phase) (*string, error) {
	stale, err := staleApproval(ctx, &tx.Reader, ph)
	if err != nil || stale != "" || ph.PassID == nil {
		return &stale, err
	}
	v, err := tx.LatestVerdict(ctx, *ph.PassID)
	if err != nil || v == nil {
		return nil, err
	}
	doubt, err := markDistrusted(ctx, tx, v, Answers(*v))
	return new(cmp.Or(doubt, v.Reason)), err
}

// judges says in an event how many had to say met, where it was more than one.
func judges(opinions int) string {
	if opinions <= 1 {
		return ""
	}
	return fmt.Sprintf(" and %d judges", opinions)
}

// askedTheSame says whether a verdict is about these criteria and no others.
func askedTheSame(v models.Verdict, criteria []dod.Criterion) bool {
	results := Results(v)
	return slices.EqualFunc(results, criteria, func(r dod.Result, c dod.Criterion) bool { return r.Criterion == c })
}

// refuseStaleApproval keeps a pass from being approved under a condition, or a
// number of judges, that it was never judged by.
func refuseStaleApproval(ctx context.Context, r *store.Reader, ph models.Phase) error {
	if ph.DoneWhen == "" || ph.PassID == nil {
		return nil
	}
	v, err := r.LatestVerdict(ctx, *ph.PassID)
	if err != nil {
		return err
	}
	if v == nil || !askedTheSame(*v, dod.ParseCriteria(ph.DoneWhen)) {
		return models.Errorf(models.CodeConflict, "The condition was changed after this pass was judged. Give the phase another pass, or put the condition back.")
	}
	if v.Opinions < ph.Opinions {
		return models.Errorf(models.CodeConflict, "The phase asks for %d judges since this pass was judged by fewer. Give it another pass, or put the number back.", ph.Opinions)
	}
	return refuseOtherArgs(ctx, r, ph, *v)
}

// argsChanged marks the change of a definition of done that changed its values too.
const argsChanged = "values"

// refuseOtherArgs keeps a pass from being approved by commands that get other
// values now than when it was judged. A script that a command starts may read any.
func refuseOtherArgs(ctx context.Context, r *store.Reader, ph models.Phase, v models.Verdict) error {
	if !slices.ContainsFunc(dod.ParseCriteria(ph.DoneWhen), func(c dod.Criterion) bool {
		return c.Check.Kind == dod.CheckRun
	}) {
		return nil
	}
	for before := int64(0); ; {
		events, err := r.EventsOf(ctx, ph.PlanID, before, 100)
		if err != nil || len(events) == 0 {
			return err
		}
		for _, e := range events {
			if e.CreatedAt.Before(v.CreatedAt) {
				return nil
			}
			if e.Kind == "plan.dod_changed" && e.To == argsChanged {
				return models.Errorf(models.CodeConflict, "Its commands may read the values of the plan's definition of done, which were changed after this pass was judged. Give the phase another pass.")
			}
			before = e.ID
		}
	}
}

// conditionChanged is what a next pass is told instead of the old reason.
const conditionChanged = "The condition was changed after the last pass."

// underNewCondition fits the verdict of the pass before to criteria that may have
// been changed since: what is not asked any more is not told as missing.
func underNewCondition(v models.Verdict, criteria []dod.Criterion) (*models.Verdict, []dod.Result) {
	results := Results(v)
	if len(results) == 0 || askedTheSame(v, criteria) {
		return &v, results
	}
	var kept []dod.Result
	for _, r := range results {
		for _, c := range criteria {
			was := r.Criterion
			was.Index = c.Index
			if was == c {
				r.Criterion = c
				kept = append(kept, r)
				break
			}
		}
	}
	v.Met, v.Reason = false, conditionChanged
	return &v, kept
}
