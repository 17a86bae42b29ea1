package engine

import (
	"context"
	"errors"
	"fmt"

	"donewhen/dod"
	"donewhen/engine/workspace"
	"donewhen/models"
	"donewhen/models/store"
)

// Apply merges a finished plan into its target branch. commit and evaluationID
// are what the person saw; the gate is computed again inside the transaction,
// and if it is closed or anything moved, the answer is a conflict with the
// gate's reasons. It returns when the plan is applied or the merge was refused;
// a refusal leaves the target as it was.
func (e *Engine) Apply(ctx context.Context, actor models.Actor, planID, commit string, evaluationID int64) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	if e.life.Err() != nil {
		return models.Errorf(models.CodeUnavailable, "The server is stopping. Try again in a moment.")
	}
	e.work.Add(1) // Close waits for it: a merge is not left half done by a stop
	defer e.work.Done()
	ctx = context.WithoutCancel(ctx) // a closed browser tab does not stop a merge

	plan, project, err := e.planProject(ctx, planID)
	if err != nil {
		return err
	}
	repo := repoOf(project)
	var preview *workspace.Preview
	problem := ""
	if plan.Status == models.PlanFinished {
		if err := e.recordBeforeApply(ctx, plan, repo); err != nil {
			return err
		}
		// What a page was shown may be old: what opens the gate is looked at now.
		p, err := e.Spaces.Preview(ctx, repo, planID, plan.BaseCommit, plan.TargetBranch)
		if err != nil {
			problem = err.Error()
		} else {
			preview = &p
		}
	}
	attempt := models.ApplyAttempt{PlanID: planID, Status: models.ApplyStarted, TargetBranch: plan.TargetBranch, UserID: actor.ID, UserName: actor.Name}
	err = e.decide(ctx, planID, func(tx *store.Tx) error {
		plan, err := tx.Plan(ctx, planID)
		if err != nil {
			return err
		}
		gate, err := e.gate(ctx, &tx.Reader, plan, project, preview, problem)
		if err != nil {
			return err
		}
		if !gate.State.Open {
			return closed(gate.State)
		}
		if commit != gate.Commit || evaluationID != gate.EvaluationID {
			return models.Errorf(models.CodeConflict, "The work or its evaluation changed since the page was shown. Look at it again, then apply.")
		}
		attempt.WorkCommit, attempt.OldTarget = plan.WorkCommit, preview.TargetTip
		if gate.EvaluationID != 0 {
			attempt.EvaluationID = &gate.EvaluationID
		}
		attempt.Message = applyMessage(plan, gate, actor)
		if err := tx.InsertApplyAttempt(ctx, &attempt); err != nil {
			return err
		}
		return tx.MovePlan(ctx, planID, models.PlanFinished, models.PlanApplying, store.PlanSet{}, store.Why{Actor: actor, Kind: "plan.applying"})
	})
	if err != nil {
		return err
	}
	return e.deliver(ctx, plan, repo, attempt, actor)
}

// recordBeforeApply takes what is in the workspace now: what somebody changed
// there after the evaluation makes it stale instead of being left behind.
func (e *Engine) recordBeforeApply(ctx context.Context, plan models.Plan, repo workspace.Repo) error {
	snap, err := e.Spaces.Snapshot(ctx, repo, plan.ID, plan.BaseCommit, "Changes found before apply")
	if err != nil {
		return fromGit(err)
	}
	if snap.Commit == plan.WorkCommit && len(snap.Unrecorded) == len(plan.Unrecorded) {
		return nil
	}
	found, err := e.foundChanges(ctx, repo, plan, snap)
	if err != nil {
		return fromGit(err)
	}
	return e.change(ctx, plan.ID, func(tx *store.Tx) error {
		// A plan that went on meanwhile records its work itself, and newer.
		if err := tx.SetPlan(ctx, plan.ID, models.PlanFinished, store.PlanSet{}); err != nil {
			return err
		}
		return recordFound(ctx, tx, plan.ID, snap, found)
	})
}

// deliver merges, brings the merge into the target and writes `applied` only
// after the target was read again and contains the commit. It may be called
// again for the same attempt after a crash: the same input makes the same commit.
func (e *Engine) deliver(ctx context.Context, plan models.Plan, repo workspace.Repo, a models.ApplyAttempt, actor models.Actor) error {
	in := workspace.ApplyInput{Repo: repo, PlanID: a.PlanID, Branch: a.TargetBranch, Base: plan.BaseCommit, Commit: a.WorkCommit,
		ExpectTarget: a.OldTarget, Message: a.Message, When: a.CreatedAt}
	merged := workspace.Merged{Commit: a.MergeCommit, Target: a.OldTarget}
	if a.MergeCommit == "" {
		var err error
		if merged, err = e.Spaces.Merge(ctx, in); err != nil {
			return e.refuseApply(ctx, a, actor, err)
		}
		if merged.NoOp {
			return e.refuseApply(ctx, a, actor, &workspace.Refused{Code: "nothing_to_apply",
				Message: "There is nothing to apply: " + a.TargetBranch + " already has these contents. Discard the plan, or give a phase another pass."})
		}
		err = e.change(ctx, a.PlanID, func(tx *store.Tx) error {
			return tx.SetApply(ctx, a.ID, store.ApplySet{MergeCommit: &merged.Commit, OldTarget: &merged.Target})
		})
		if err != nil {
			return err // still applying: recovery goes on from here
		}
	}
	e.at("after_merge")
	// Whatever the delivery said, the target is asked: it alone knows.
	failed := e.Spaces.Deliver(ctx, in, merged)
	e.at("after_deliver")
	there, err := e.Spaces.Contains(ctx, repo, a.TargetBranch, merged.Commit)
	switch {
	case err == nil && there:
	case failed != nil:
		return e.refuseApply(ctx, a, actor, failed)
	case err != nil:
		return e.refuseApply(ctx, a, actor, err)
	default:
		return e.refuseApply(ctx, a, actor, &workspace.Refused{Code: "not_there",
			Message: "After the merge " + a.TargetBranch + " does not contain the commit. Nothing was marked as applied; look at the repository and apply again."})
	}
	return e.decide(ctx, a.PlanID, func(tx *store.Tx) error {
		if err := tx.MoveApply(ctx, a.ID, models.ApplyStarted, models.ApplyDone, store.ApplySet{EndedAt: new(e.Now())}, store.Why{Actor: actor}); err != nil {
			return err
		}
		return tx.MovePlan(ctx, a.PlanID, models.PlanApplying, models.PlanApplied, store.PlanSet{EndedAt: new(e.Now())},
			store.Why{Actor: actor, Reason: fmt.Sprintf("%.12s is in %s", merged.Commit, a.TargetBranch)})
	})
}

// refuseApply puts the plan back to finished with the reason on record, and
// returns the refusal for the person.
func (e *Engine) refuseApply(ctx context.Context, a models.ApplyAttempt, actor models.Actor, cause error) error {
	out := fromGit(cause)
	var files []string
	if r, ok := errors.AsType[*workspace.Refused](cause); ok {
		files = r.Files
	}
	reason := cause.Error()
	err := e.decide(ctx, a.PlanID, func(tx *store.Tx) error {
		set := store.ApplySet{Reason: &reason, FilesJSON: new(toJSON(files)), EndedAt: new(e.Now())}
		if err := tx.MoveApply(ctx, a.ID, models.ApplyStarted, models.ApplyRefused, set, store.Why{Actor: actor, Reason: reason}); err != nil {
			return err
		}
		return tx.MovePlan(ctx, a.PlanID, models.PlanApplying, models.PlanFinished, store.PlanSet{}, store.Why{Actor: actor, Kind: "plan.apply_refused", Reason: reason})
	})
	if err != nil {
		return errors.Join(out, err)
	}
	return out
}

// reconcile brings a plan that a crash left in applying to the truth: git is
// asked, and what was begun is finished or refused.
func (e *Engine) reconcile(ctx context.Context, plan models.Plan) error {
	a, err := e.Store.UnfinishedAttempt(ctx, plan.ID)
	if err != nil {
		return err
	}
	if a == nil {
		return e.decide(ctx, plan.ID, func(tx *store.Tx) error {
			return tx.MovePlan(ctx, plan.ID, models.PlanApplying, models.PlanFinished, store.PlanSet{}, store.Why{Actor: models.Server, Reason: "no attempt was begun"})
		})
	}
	project, err := e.Store.Project(ctx, plan.ProjectID)
	if err != nil {
		return err
	}
	err = e.deliver(ctx, plan, repoOf(project), *a, models.Server)
	if models.CodeOf(err) == models.CodeConflict {
		return nil // refused, and on record
	}
	return err
}

// closed is the server's answer to an apply while the gate is closed.
func closed(g dod.GateState) error {
	e := &models.Error{Code: models.CodeConflict, Message: "The plan cannot be applied yet."}
	for _, r := range g.Reasons {
		e.Details = append(e.Details, r.Sentence)
	}
	return e
}
