package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"donewhen/dod"
	"donewhen/engine/workspace"
	"donewhen/models"
	"donewhen/models/store"
)

// startPass begins the next pass of a pending phase whose predecessors are
// complete: the pass and its runs are inserted in one transaction, then the
// pass is delivered. The task text is composed now, so that a note that was
// given meanwhile is in it.
//
// It waits for an evaluation that is just being stopped: its checks look at the
// same workspace, and what they changed is put back.
func (e *Engine) startPass(ctx context.Context, plan models.Plan, ph models.Phase) error {
	ev, err := e.Store.LatestEvaluation(ctx, plan.ID)
	if err != nil {
		return err
	}
	if ev != nil && ev.Status == models.EvaluationRunning {
		return e.Store.InTx(ctx, func(tx *store.Tx) error {
			return tx.SetPhase(ctx, ph.ID, models.PhasePending, store.PhaseSet{DueAt: new(e.Now().Add(redeliver))})
		})
	}
	why, err := e.usedUp(ctx, &e.Store.Reader, plan, models.SpendsRun)
	if err != nil {
		return err
	}
	if ph.RestoreTo != "" && why == "" {
		if err := e.restore(ctx, plan, ph); err != nil {
			return err
		}
		if plan, err = e.Store.Plan(ctx, plan.ID); err != nil {
			return err
		}
	}
	if begun := ph.Position > 1 || ph.PassID != nil; begun && why == "" {
		if plan, err = e.recordBeforePass(ctx, plan, ph); err != nil {
			return e.attention(ctx, ph, "The workspace could not be recorded: "+err.Error())
		}
	}
	conflict := e.conflictOfPlan(ctx, plan, ph, ev != nil)
	pass := models.Pass{PhaseID: ph.ID, PlanID: plan.ID, Status: models.PassQueued}
	err = e.change(ctx, plan.ID, func(tx *store.Tx) error {
		// Everything that decides is read again inside the transaction.
		plan, err := tx.Plan(ctx, plan.ID)
		if err != nil {
			return err
		}
		phases, err := tx.PhasesOf(ctx, plan.ID)
		if err != nil {
			return err
		}
		open := firstOpen(phases)
		if plan.Status != models.PlanRunning || open == nil || open.ID != ph.ID || open.Status != models.PhasePending {
			if err := tx.SetPhase(ctx, ph.ID, models.PhasePending, store.PhaseSet{NoDue: true}); err != nil {
				return err
			}
			return nil
		}
		ph = *open
		why, err := e.usedUp(ctx, &tx.Reader, plan, models.SpendsRun)
		if err != nil {
			return err
		}
		if why != "" {
			return e.park(ctx, tx, ph, why)
		}
		if ph.RestoreTo != "" { // left out above, because the budget was used up a moment ago
			return tx.SetPhase(ctx, ph.ID, models.PhasePending, store.PhaseSet{DueAt: new(e.Now())})
		}
		text, err := composeNext(ctx, &tx.Reader, plan, ph)
		if err != nil {
			return err
		}
		pass.Attempt, pass.Iteration = ph.Attempt, ph.Iteration
		pass.TaskText, pass.Note, pass.StartCommit = text+conflict, ph.Note, plan.WorkCommit
		runs := make([]models.Run, len(ph.Agents))
		for i, a := range ph.Agents {
			runs[i] = models.Run{PhaseID: ph.ID, PlanID: plan.ID, Position: i + 1, Try: 1, Agent: a, Status: models.RunQueued}
		}
		if err := tx.InsertPass(ctx, &pass, runs); err != nil {
			return err
		}
		set := store.PhaseSet{PassID: &pass.ID, Note: new(""), Reason: new(""), DueAt: new(e.Now().Add(redeliver))}
		if ph.StartCommit == "" {
			set.StartCommit = &plan.WorkCommit
		}
		return e.movePhase(ctx, tx, ph, models.PhaseRunning, set, store.Why{Reason: fmt.Sprintf("pass %d of %d", pass.Number(), ph.MaxIterations)})
	})
	if err == nil && pass.ID != 0 {
		e.dispatcher.Deliver(pass.ID)
	}
	return err
}

// recordBeforePass takes what was changed in the workspace since it was recorded
// last, so that it is not taken for the doing of the pass's agents.
func (e *Engine) recordBeforePass(ctx context.Context, plan models.Plan, ph models.Phase) (models.Plan, error) {
	project, err := e.Store.Project(ctx, plan.ProjectID)
	if err != nil {
		return plan, err
	}
	snap, err := e.Spaces.Snapshot(ctx, repoOf(project), plan.ID, plan.BaseCommit, "Changes found before "+ph.Name)
	if err != nil || snap.Commit == plan.WorkCommit {
		return plan, err
	}
	found := ""
	if recorded, err := e.lastRunRecorded(ctx, ph); err != nil {
		return plan, err
	} else if recorded { // else it is what that run left
		if found, err = e.foundChanges(ctx, repoOf(project), plan, snap); err != nil {
			return plan, err
		}
	}
	plan.WorkCommit, plan.WorkTree = snap.Commit, snap.Tree
	return plan, e.change(ctx, plan.ID, func(tx *store.Tx) error { return recordFound(ctx, tx, plan.ID, snap, found) })
}

// lastRunRecorded is false where a run of the phase's last pass began and its work
// was not recorded: the server ended before it could be.
func (e *Engine) lastRunRecorded(ctx context.Context, ph models.Phase) (bool, error) {
	if ph.PassID == nil {
		return true, nil
	}
	runs, err := e.Store.RunsOf(ctx, *ph.PassID)
	for _, r := range slices.Backward(runs) {
		if r.StartedAt != nil {
			return r.Commit != "", err
		}
	}
	return true, err
}

// composeNext writes the task text of a phase's next pass. What the pass before
// missed is known for iterations after the first of an attempt, and after a
// person asked for another pass; what the whole plan lacked, once it was evaluated.
func composeNext(ctx context.Context, r *store.Reader, plan models.Plan, ph models.Phase) (string, error) {
	missing, err := missingOfPlan(ctx, r, plan)
	if err != nil {
		return "", err
	}
	last, err := r.LastDecisionOn(ctx, ph.ID)
	if err != nil {
		return "", err
	}
	if last != nil && last.Kind == models.DecisionReject && !strings.Contains(ph.Note, rejected(*last)) {
		ph.Note = joinNotes(rejected(*last), ph.Note) // a no stands until it is a yes
	}
	if ph.Iteration == 0 {
		return ComposeTask(ph, nil, nil, missing), nil
	}
	before, err := verdictBefore(ctx, r, models.Pass{PhaseID: ph.ID, PlanID: ph.PlanID, Attempt: ph.Attempt, Iteration: ph.Iteration})
	if err != nil {
		return "", err
	}
	if before == nil && ph.DoneWhen == "" {
		return composeAfterRun(ctx, r, ph, missing)
	}
	if before == nil || before.Kind == models.VerdictInvalid || before.Kind == models.VerdictTrouble {
		return ComposeTask(ph, nil, nil, missing), nil // a judge in trouble has nothing to tell an agent
	}
	fitted, results := underNewCondition(*before, dod.ParseCriteria(ph.DoneWhen))
	return ComposeTask(ph, fitted, results, missing), nil
}

// restore brings the workspace back to the commit that a retry asked for. It
// only adds history, so a crash in the middle is repaired by doing it again.
func (e *Engine) restore(ctx context.Context, plan models.Plan, ph models.Phase) error {
	project, err := e.Store.Project(ctx, plan.ProjectID)
	if err != nil {
		return err
	}
	repo := repoOf(project)
	if err := e.Spaces.Restore(ctx, repo, plan.ID, ph.RestoreTo); err != nil {
		return e.attention(ctx, ph, "The workspace could not be brought back to the phase's start: "+err.Error())
	}
	snap, err := e.Spaces.Snapshot(ctx, repo, plan.ID, plan.BaseCommit, "Back to the start of "+ph.Name)
	if err != nil {
		return e.attention(ctx, ph, "The workspace could not be recorded: "+err.Error())
	}
	return e.change(ctx, plan.ID, func(tx *store.Tx) error {
		if err := tx.SetPhase(ctx, ph.ID, models.PhasePending, store.PhaseSet{RestoreTo: new("")}); err != nil {
			return err
		}
		return recordSnapshot(ctx, tx, plan.ID, snap)
	})
}

// attention parks a phase that cannot go on for a reason outside of the work.
func (e *Engine) attention(ctx context.Context, ph models.Phase, reason string) error {
	err := e.change(ctx, ph.PlanID, func(tx *store.Tx) error {
		return e.movePhase(ctx, tx, ph, models.PhaseNeedsAttention, store.PhaseSet{Reason: &reason, NoDue: true}, store.Why{Reason: reason})
	})
	return errors.Join(errors.New(reason), err)
}

// recordSnapshot stores where the plan's branch is after a snapshot.
func recordSnapshot(ctx context.Context, tx *store.Tx, planID string, snap workspace.Snapshot) error {
	files := make([]models.UnrecordedFile, len(snap.Unrecorded))
	for i, f := range snap.Unrecorded {
		files[i] = models.UnrecordedFile{Path: f.Path, Why: f.Why}
	}
	if e := putBackEvent(planID, snap.PutBack); e != nil {
		if err := tx.InsertEvent(ctx, *e); err != nil {
			return err
		}
	}
	return tx.SetPlan(ctx, planID, "", store.PlanSet{WorkCommit: &snap.Commit, WorkTree: &snap.Tree, Unrecorded: &files})
}
