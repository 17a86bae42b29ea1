package engine

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"donewhen/models"
	"donewhen/models/store"
)

// reasonRan is what is said of a phase without a condition that is completed.
const reasonRan = "All its runs succeeded."

// settleRuns carries out settle table 1 for a pass whose runs have ended, in
// one transaction. What it decides is read again inside it.
func (e *Engine) settleRuns(ctx context.Context, planID string, phaseID, passID int64) error {
	return e.change(ctx, planID, func(tx *store.Tx) error {
		ph, err := tx.Phase(ctx, phaseID)
		if err != nil {
			return err
		}
		if ph.Status != models.PhaseRunning || ph.PassID == nil || *ph.PassID != passID {
			return models.Errorf(models.CodeConflict, "phase %d is not running pass %d any more", phaseID, passID)
		}
		pass, err := tx.Pass(ctx, passID)
		if err != nil {
			return err
		}
		if pass.ClaimedBy != "" {
			return models.Errorf(models.CodeConflict, "a worker has pass %d", passID)
		}
		runs, err := tx.RunsOf(ctx, passID)
		if err != nil {
			return err
		}
		switch decideRuns(runs, ph.DoneWhen != "") {
		case runsGoOn:
			return models.Errorf(models.CodeConflict, "pass %d still has runs to do", passID)
		case runsTryAgain:
			return e.tryAgain(ctx, tx, ph, pass, runs)
		case runsAttention:
			r := decisive(runs)
			reason := fmt.Sprintf("%s could not run after %d tries: %s", r.Agent.Label(), triesOf(runs, r.Position), r.Reason)
			if r.StoppedBy != "" {
				reason = r.Agent.Label() + ": " + r.Reason
			}
			return e.movePhase(ctx, tx, ph, models.PhaseNeedsAttention, store.PhaseSet{Reason: &reason, NoDue: true}, store.Why{Reason: reason})
		case runsJudge:
			if err := tx.MovePass(ctx, passID, pass.Status, models.PassJudging, store.PassSet{}, store.Why{}); err != nil {
				return err
			}
			if text := e.objection(pass, runs); text != "" { // nobody is asked, nothing is spent: the lead decides
				reason := "The agent objects: " + text
				return e.movePhase(ctx, tx, ph, models.PhaseNeedsAttention, store.PhaseSet{Reason: &reason, NoDue: true}, store.Why{Reason: reason})
			}
			return e.movePhase(ctx, tx, ph, models.PhaseJudging, store.PhaseSet{DueAt: new(e.Now())}, store.Why{})
		case runsComplete:
			if err := tx.MovePass(ctx, passID, pass.Status, models.PassMet, store.PassSet{EndedAt: new(e.Now())}, store.Why{Reason: reasonRan + " No condition: nothing was judged."}); err != nil {
				return err
			}
			if ph.NeedsApproval {
				return e.movePhase(ctx, tx, ph, models.PhaseAwaitingApproval,
					store.PhaseSet{Reason: new("Its runs succeeded; a lead has to approve it."), NoDue: true}, store.Why{})
			}
			return e.completePhase(ctx, tx, ph, store.PhaseSet{Reason: new(reasonRan)}, store.Why{})
		case runsCancelled:
			return e.cancelPhase(ctx, tx, ph, store.Why{Reason: "a run was cancelled"})
		default:
			return e.settleFailed(ctx, tx, ph, pass, runs)
		}
	})
}

// tryAgain queues a new try of the run that errored or was lost, in the same
// pass. What could not run waits before it is tried; what was lost goes on now.
func (e *Engine) tryAgain(ctx context.Context, tx *store.Tx, ph models.Phase, pass models.Pass, runs []models.Run) error {
	r := decisive(runs)
	due := e.Now()
	if r.Status == models.RunErrored {
		due = due.Add(e.backoff(r.Try))
	}
	next := models.Run{PassID: pass.ID, PhaseID: ph.ID, PlanID: ph.PlanID, Position: r.Position, Try: r.Try + 1, Agent: r.Agent, Status: models.RunQueued}
	if err := tx.InsertRun(ctx, &next); err != nil {
		return err
	}
	if pass.Status == models.PassRunning {
		why := store.Why{Reason: fmt.Sprintf("try %d of %s: %s", next.Try, r.Agent.Label(), r.Reason)}
		if err := tx.MovePass(ctx, pass.ID, models.PassRunning, models.PassQueued, store.PassSet{}, why); err != nil {
			return err
		}
	}
	n := triesOf(runs, r.Position) + 1
	reason := fmt.Sprintf("%s could not run; try %d of %d at %s: %s", r.Agent.Label(), n, max(maxTries, n), clockTime(due, e.Now()), r.Reason)
	if r.Stopped {
		reason = fmt.Sprintf("%s goes on, on the files as they are: the server was stopped while it ran.", r.Agent.Label())
	}
	return tx.SetPhase(ctx, ph.ID, models.PhaseRunning, store.PhaseSet{DueAt: &due, Reason: &reason})
}

// backoff is how long to wait before the next try after the given one.
func (e *Engine) backoff(try int) time.Duration {
	if len(e.Backoff) == 0 {
		return 0
	}
	return e.Backoff[min(max(try, 1), len(e.Backoff))-1]
}

// settleFailed is table 1's row "one failed or timed out": without a condition
// the phase failed; with one the pass is spent and nobody is asked.
func (e *Engine) settleFailed(ctx context.Context, tx *store.Tx, ph models.Phase, pass models.Pass, runs []models.Run) error {
	for _, r := range runs {
		if r.Status == models.RunQueued {
			if err := tx.MoveRun(ctx, r.ID, models.RunQueued, models.RunCancelled,
				store.RunSet{Reason: new("Not started: an earlier run of the pass did not succeed."), EndedAt: new(e.Now())}, store.Why{}); err != nil {
				return err
			}
		}
	}
	r := decisive(runs)
	reason := fmt.Sprintf("Run %d (%s): %s", r.Position, r.Agent.Label(), r.Reason)
	v := models.Verdict{PassID: pass.ID, PhaseID: ph.ID, PlanID: ph.PlanID, Kind: models.VerdictRun, Reason: reason, Evaluator: "none", Tree: pass.EndTree}
	if ph.DoneWhen == "" {
		if err := tx.MovePass(ctx, pass.ID, pass.Status, models.PassNotMet, store.PassSet{EndedAt: new(e.Now()), Reason: &reason}, store.Why{Reason: reason}); err != nil {
			return err
		}
		return e.movePhase(ctx, tx, ph, models.PhaseFailed, store.PhaseSet{Reason: &reason, NoDue: true}, store.Why{Reason: reason})
	}
	same, err := sameAsBefore(ctx, &tx.Reader, pass, v)
	if err != nil {
		return err
	}
	if err := tx.InsertVerdict(ctx, &v); err != nil {
		return err
	}
	return e.settleJudged(ctx, tx, ph, pass, v, judged{SameAsBefore: same})
}

// settleJudged carries out settle table 2 for a stored verdict.
func (e *Engine) settleJudged(ctx context.Context, tx *store.Tx, ph models.Phase, pass models.Pass, v models.Verdict, j judged) error {
	j.NeedsApproval, j.Iteration, j.MaxIterations = ph.NeedsApproval, ph.Iteration, ph.MaxIterations
	to := decideJudged(j)
	why := store.Why{Reason: v.Reason}
	set := store.PassSet{Reason: &v.Reason, JudgeTries: &j.Tries}
	if to.Pass != pass.Status {
		set.EndedAt = new(e.Now())
		if err := tx.MovePass(ctx, pass.ID, pass.Status, to.Pass, set, why); err != nil {
			return err
		}
	} else if err := tx.SetPass(ctx, pass.ID, pass.Status, set); err != nil {
		return err
	}
	switch to.Phase {
	case models.PhaseCompleted:
		return e.completePhase(ctx, tx, ph, store.PhaseSet{Reason: &v.Reason, Feedback: new("")}, why)
	case models.PhaseAwaitingApproval:
		reason := cmp.Or(j.Doubt, v.Reason)
		return e.movePhase(ctx, tx, ph, to.Phase, store.PhaseSet{Reason: &reason, Feedback: new(""), NoDue: true}, why)
	case models.PhasePending:
		return e.movePhase(ctx, tx, ph, to.Phase, store.PhaseSet{
			Iteration: new(ph.Iteration + 1), Reason: &v.Reason, Feedback: &v.Reason, DueAt: new(e.Now())}, why)
	case models.PhaseJudging:
		due, now := e.Now().Add(e.backoff(j.Tries)), e.Now()
		reason := fmt.Sprintf("%s could not judge (try %d of %d); try %d of %d at %s: %s",
			v.Evaluator, j.Tries, maxTries, j.Tries+1, maxTries, clockTime(due, now), v.Reason)
		if j.Quota {
			due, reason = j.NextTry, quotaNews(v, j.NextTry, true, now)
		}
		return tx.SetPhase(ctx, ph.ID, models.PhaseJudging, store.PhaseSet{DueAt: &due, Reason: &reason})
	case models.PhaseNeedsAttention:
		reason := fmt.Sprintf("%s could not judge after %d tries: %s", v.Evaluator, j.Tries, v.Reason)
		if j.Quota {
			reason = quotaNews(v, j.NextTry, false, e.Now())
		}
		return e.movePhase(ctx, tx, ph, to.Phase, store.PhaseSet{Reason: &reason, NoDue: true}, store.Why{Reason: reason})
	case models.PhaseExhausted:
		after := fmt.Sprintf("%d of %d passes", ph.Iteration+1, ph.MaxIterations)
		if ph.MaxIterations == 1 {
			after = "its only pass"
		}
		reason := fmt.Sprintf("Not met after %s: %s", after, v.Reason)
		return e.movePhase(ctx, tx, ph, to.Phase, store.PhaseSet{Reason: &reason, Feedback: &v.Reason, NoDue: true}, store.Why{Reason: reason})
	default: // stalled
		reason := fmt.Sprintf("Pass %d changed nothing: files and results equal those of the pass before. %s", ph.Iteration+1, v.Reason)
		return e.movePhase(ctx, tx, ph, to.Phase, store.PhaseSet{Reason: &reason, Feedback: &v.Reason, NoDue: true}, store.Why{Reason: reason})
	}
}

// movePhase moves a phase and sets the plan's status from all its phases, in
// the same transaction.
func (e *Engine) movePhase(ctx context.Context, tx *store.Tx, ph models.Phase, to models.PhaseStatus, set store.PhaseSet, why store.Why) error {
	if err := tx.MovePhase(ctx, ph.ID, ph.Status, to, set, why); err != nil {
		return err
	}
	return e.derivePlan(ctx, tx, ph.PlanID, why)
}

// completePhase moves a phase to completed and makes what follows it due: the
// next phase, or the plan's evaluation.
func (e *Engine) completePhase(ctx context.Context, tx *store.Tx, ph models.Phase, set store.PhaseSet, why store.Why) error {
	set.NoDue, set.DueAt = true, nil
	if err := tx.MovePhase(ctx, ph.ID, ph.Status, models.PhaseCompleted, set, why); err != nil {
		return err
	}
	if ph.PassID != nil {
		s := models.PhaseSummary{PassID: *ph.PassID, PhaseID: ph.ID, PlanID: ph.PlanID, DueAt: new(e.Now())}
		if err := tx.InsertSummary(ctx, &s); err != nil {
			return err
		}
	}
	phases, err := tx.PhasesOf(ctx, ph.PlanID)
	if err != nil {
		return err
	}
	if next := firstOpen(phases); next != nil {
		if next.Status == models.PhasePending {
			if err := tx.SetPhase(ctx, next.ID, models.PhasePending, store.PhaseSet{DueAt: new(e.Now())}); err != nil {
				return err
			}
		}
		return e.derivePlan(ctx, tx, ph.PlanID, why)
	}
	if err := e.derivePlan(ctx, tx, ph.PlanID, why); err != nil {
		return err
	}
	return e.queueEvaluation(ctx, tx, ph.PlanID, models.Server)
}

// firstOpen is the first phase in order that is not completed, nil when all are.
func firstOpen(phases []models.Phase) *models.Phase {
	for i := range phases {
		if phases[i].Status != models.PhaseCompleted {
			return &phases[i]
		}
	}
	return nil
}

// derivePlan stores the plan's status as it follows from its phases.
func (e *Engine) derivePlan(ctx context.Context, tx *store.Tx, planID string, why store.Why) error {
	plan, err := tx.Plan(ctx, planID)
	if err != nil {
		return err
	}
	phases, err := tx.PhasesOf(ctx, planID)
	if err != nil {
		return err
	}
	states := make([]models.PhaseStatus, len(phases))
	for i, p := range phases {
		states[i] = p.Status
	}
	to := models.PlanStatusOf(plan.Status, states)
	if to == plan.Status {
		return nil
	}
	return tx.MovePlan(ctx, planID, plan.Status, to, store.PlanSet{}, store.Why{Actor: why.Actor, Reason: why.Reason})
}
