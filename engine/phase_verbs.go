package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"donewhen/models"
	"donewhen/models/store"
)

// ApprovePhase completes a phase that waits for approval. passID is the pass
// that the person saw: if another one is current, nothing happens.
func (e *Engine) ApprovePhase(ctx context.Context, actor models.Actor, phaseID, passID int64, note string) error {
	return e.onPhase(ctx, actor, phaseID, passID, func(tx *store.Tx, ph models.Phase) error {
		if ph.Status != models.PhaseAwaitingApproval {
			return wrongPhase(ph, "approved")
		}
		if err := refuseStaleApproval(ctx, &tx.Reader, ph); err != nil {
			return err
		}
		if err := e.record(ctx, tx, actor, ph, models.DecisionApprove, note); err != nil {
			return err
		}
		set := store.PhaseSet{}
		if ph.DoneWhen == "" { // what it waited for is given; a condition's verdict stays what is said of it
			set.Reason = new(reasonRan)
		}
		return e.completePhase(ctx, tx, ph, set, store.Why{Actor: actor, Kind: "phase.approved", Reason: note})
	})
}

// RejectPhase fails a phase that waits for approval. A reason is needed.
func (e *Engine) RejectPhase(ctx context.Context, actor models.Actor, phaseID, passID int64, reason string) error {
	if strings.TrimSpace(reason) == "" {
		return models.Invalid("reason", "Say why it is rejected: the next attempt needs to know.")
	}
	return e.onPhase(ctx, actor, phaseID, passID, func(tx *store.Tx, ph models.Phase) error {
		if ph.Status != models.PhaseAwaitingApproval {
			return wrongPhase(ph, "rejected")
		}
		if err := e.record(ctx, tx, actor, ph, models.DecisionReject, reason); err != nil {
			return err
		}
		text := rejected(models.Decision{UserName: actor.Name, Reason: reason})
		// The reason waits as a note: whatever the next pass is, its agents read it.
		return e.movePhase(ctx, tx, ph, models.PhaseFailed, store.PhaseSet{Reason: &text, Note: &text, NoDue: true},
			store.Why{Actor: actor, Kind: "phase.rejected", Reason: reason})
	})
}

// rejected is a person's no as the agents read it.
func rejected(d models.Decision) string { return "Rejected by " + d.UserName + ": " + d.Reason }

// AnotherPass lets a phase run once more with a person's note in its task
// text. The limit grows by one if it must, never past 20 an attempt.
func (e *Engine) AnotherPass(ctx context.Context, actor models.Actor, phaseID, passID int64, note string) error {
	return e.onPhase(ctx, actor, phaseID, passID, func(tx *store.Tx, ph models.Phase) error {
		if !slices.Contains([]models.PhaseStatus{models.PhaseAwaitingApproval, models.PhaseExhausted, models.PhaseStalled,
			models.PhaseNeedsAttention, models.PhaseFailed, models.PhaseCompleted}, ph.Status) {
			return wrongPhase(ph, "given another pass")
		}
		return e.anotherPass(ctx, tx, actor, ph, max(ph.MaxIterations, ph.Iteration+2), note, "phase.another_pass")
	})
}

// MorePasses raises a phase's limit by n and lets it go on. The limit never
// passes 20 an attempt.
func (e *Engine) MorePasses(ctx context.Context, actor models.Actor, phaseID, passID int64, n int, note string) error {
	if n < 1 {
		return models.Invalid("passes", "Allow at least one more pass.")
	}
	return e.onPhase(ctx, actor, phaseID, passID, func(tx *store.Tx, ph models.Phase) error {
		if !slices.Contains([]models.PhaseStatus{models.PhaseExhausted, models.PhaseStalled, models.PhaseNeedsAttention, models.PhaseFailed}, ph.Status) {
			return wrongPhase(ph, "given more passes")
		}
		return e.anotherPass(ctx, tx, actor, ph, ph.MaxIterations+min(n, models.MaxIterations), note, "phase.more_passes")
	})
}

func (e *Engine) anotherPass(ctx context.Context, tx *store.Tx, actor models.Actor, ph models.Phase, limit int, note, kind string) error {
	if ph.PassID == nil {
		return wrongPhase(ph, "given another pass")
	}
	if ph.Iteration+1 >= models.MaxIterations {
		return models.Errorf(models.CodeConflict, "An attempt has at most %d passes, and they are used up. Retry the phase, or accept it as it is.", models.MaxIterations)
	}
	if len(note) > maxNote {
		return models.Invalid("note", "The note is too long: at most %d bytes.", maxNote)
	}
	why := store.Why{Actor: actor, Kind: kind, Reason: note}
	if err := e.endPass(ctx, tx, ph, models.PassSuperseded, why); err != nil {
		return err
	}
	if err := e.reopen(ctx, tx, ph, why); err != nil {
		return err
	}
	set := store.PhaseSet{Iteration: new(ph.Iteration + 1), MaxIterations: new(models.ClampIterations(limit)), Note: new(joinNotes(ph.Note, note)), Overridden: new(false), DueAt: new(e.Now())}
	return e.movePhase(ctx, tx, ph, models.PhasePending, set, why)
}

// TryAgain repeats what was not the work's fault in a phase that needs
// attention: the judging, or the run that could not run. No pass is spent and
// finished runs are not repeated.
func (e *Engine) TryAgain(ctx context.Context, actor models.Actor, phaseID, passID int64) error {
	return e.onPhase(ctx, actor, phaseID, passID, func(tx *store.Tx, ph models.Phase) error {
		if ph.Status != models.PhaseNeedsAttention {
			return wrongPhase(ph, "tried again")
		}
		why := store.Why{Actor: actor, Kind: "phase.tried_again"}
		if ph.OverBudget {
			return e.goOnWithin(ctx, tx, ph, why)
		}
		if ph.PassID == nil { // it could not even start
			return e.movePhase(ctx, tx, ph, models.PhasePending, store.PhaseSet{Reason: new(""), DueAt: new(e.Now())}, why)
		}
		pass, err := tx.Pass(ctx, *ph.PassID)
		if err != nil {
			return err
		}
		if pass.Status.Ended() { // the next pass could not be started
			return e.movePhase(ctx, tx, ph, models.PhasePending, store.PhaseSet{Reason: new(""), DueAt: new(e.Now())}, why)
		}
		if pass.Status == models.PassJudging {
			if err := tx.SetPass(ctx, pass.ID, models.PassJudging, store.PassSet{JudgeTries: new(0), NoQuotaWait: true}); err != nil {
				return err
			}
			return e.movePhase(ctx, tx, ph, models.PhaseJudging, store.PhaseSet{Reason: new(""), DueAt: new(e.Now())}, why)
		}
		runs, err := tx.RunsOf(ctx, pass.ID)
		if err != nil {
			return err
		}
		if decisive(runs) == nil {
			return wrongPhase(ph, "tried again")
		}
		if err := e.movePhase(ctx, tx, ph, models.PhaseRunning, store.PhaseSet{DueAt: new(e.Now())}, why); err != nil {
			return err
		}
		ph.Status = models.PhaseRunning
		if err := e.tryAgain(ctx, tx, ph, pass, runs); err != nil {
			return err
		}
		return tx.SetPhase(ctx, ph.ID, models.PhaseRunning, store.PhaseSet{DueAt: new(e.Now()), Reason: new("")}) // a person does not wait for the back-off
	})
}

// JudgeAgain judges the evidence of an exhausted or stalled phase's last pass
// once more, without running its agents.
func (e *Engine) JudgeAgain(ctx context.Context, actor models.Actor, phaseID, passID int64) error {
	return e.onPhase(ctx, actor, phaseID, passID, func(tx *store.Tx, ph models.Phase) error {
		if ph.Status == models.PhaseNeedsAttention && ph.PassID != nil {
			if pass, err := tx.Pass(ctx, *ph.PassID); err != nil || pass.Status != models.PassJudging {
				return wrongPhase(ph, "judged again")
			}
		} else if ph.Status != models.PhaseExhausted && ph.Status != models.PhaseStalled {
			return wrongPhase(ph, "judged again")
		}
		pass, err := tx.Pass(ctx, *ph.PassID)
		if err != nil {
			return err
		}
		runs, err := tx.RunsOf(ctx, pass.ID)
		if err != nil {
			return err
		}
		if decisive(runs) != nil {
			return models.Errorf(models.CodeConflict, "There is nothing to judge: a run of the last pass did not succeed. Allow another pass instead.")
		}
		why := store.Why{Actor: actor, Kind: "phase.judged_again"}
		if pass.Status == models.PassNotMet {
			if err := tx.MovePass(ctx, pass.ID, models.PassNotMet, models.PassJudging, store.PassSet{JudgeTries: new(0), NoQuotaWait: true}, store.Why{Actor: actor}); err != nil {
				return err
			}
		} else if err := tx.SetPass(ctx, pass.ID, models.PassJudging, store.PassSet{JudgeTries: new(0), NoQuotaWait: true}); err != nil {
			return err
		}
		return e.movePhase(ctx, tx, ph, models.PhaseJudging, store.PhaseSet{Reason: new(""), DueAt: new(e.Now())}, why)
	})
}

// RetryPhase starts a new attempt at iteration 0: on the tree as it is, or from
// the phase's start. Later phases return to pending and their approvals are void.
func (e *Engine) RetryPhase(ctx context.Context, actor models.Actor, phaseID, passID int64, fromStart bool, note string) error {
	return e.onPhase(ctx, actor, phaseID, passID, func(tx *store.Tx, ph models.Phase) error {
		if !slices.Contains([]models.PhaseStatus{models.PhaseExhausted, models.PhaseStalled, models.PhaseNeedsAttention,
			models.PhaseFailed, models.PhaseCompleted}, ph.Status) {
			return wrongPhase(ph, "retried")
		}
		if len(note) > maxNote {
			return models.Invalid("note", "The note is too long: at most %d bytes.", maxNote)
		}
		how := "on the tree as it is"
		set := store.PhaseSet{Attempt: new(ph.Attempt + 1), Iteration: new(0), Note: new(joinNotes(ph.Note, note)), Feedback: new(""), Reason: new(""),
			RestoreTo: new(""), Overridden: new(false), DueAt: new(e.Now())}
		if fromStart = fromStart && ph.StartCommit != ""; fromStart {
			how = fmt.Sprintf("from the phase's start (%.12s)", ph.StartCommit)
			set.RestoreTo = &ph.StartCommit
		}
		why := store.Why{Actor: actor, Kind: "phase.retried", Reason: strings.TrimSpace(how + ". " + note)}
		if err := e.endPass(ctx, tx, ph, models.PassSuperseded, why); err != nil {
			return err
		}
		if err := e.reopen(ctx, tx, ph, why); err != nil {
			return err
		}
		return e.movePhase(ctx, tx, ph, models.PhasePending, set, why)
	})
}

// AcceptPhase completes a phase as it is, recorded as an override with a
// reason and shown as one for ever. It never starts a run of that phase.
func (e *Engine) AcceptPhase(ctx context.Context, actor models.Actor, phaseID, passID int64, reason string) error {
	if strings.TrimSpace(reason) == "" {
		return models.Invalid("reason", "Say why it is accepted as it is: the reason stays on the plan for ever.")
	}
	return e.onPhase(ctx, actor, phaseID, passID, func(tx *store.Tx, ph models.Phase) error {
		if !slices.Contains([]models.PhaseStatus{models.PhaseExhausted, models.PhaseStalled, models.PhaseNeedsAttention, models.PhaseFailed}, ph.Status) {
			return wrongPhase(ph, "accepted")
		}
		why := store.Why{Actor: actor, Kind: "phase.accepted", Reason: reason}
		if err := e.endPass(ctx, tx, ph, models.PassSuperseded, why); err != nil {
			return err
		}
		if err := e.record(ctx, tx, actor, ph, models.DecisionAccept, reason); err != nil {
			return err
		}
		text := "Accepted as it is by " + actor.Name + ": " + reason
		return e.completePhase(ctx, tx, ph, store.PhaseSet{Overridden: new(true), Reason: &text, Note: new(""), RestoreTo: new("")}, why)
	})
}

// reopen returns the phases after ph to pending and voids what was decided
// about them and about the plan.
func (e *Engine) reopen(ctx context.Context, tx *store.Tx, ph models.Phase, why store.Why) error {
	phases, err := tx.PhasesOf(ctx, ph.PlanID)
	if err != nil {
		return err
	}
	why.Kind = "" // the verb's name belongs to the phase that was clicked
	ids := []int64{ph.ID}
	for _, later := range phases {
		if later.Position <= ph.Position {
			continue
		}
		if later.Status == models.PhaseRunning || later.Status == models.PhaseJudging {
			return models.Errorf(models.CodeConflict, "Phase %d (%s) is %s and builds on this one. Wait for it, or cancel the plan.", later.Position, later.Name, later.Status)
		}
		ids = append(ids, later.ID)
		if later.PassID == nil && later.Status == models.PhasePending {
			continue
		}
		if err := e.endPass(ctx, tx, later, models.PassSuperseded, why); err != nil {
			return err
		}
		set := store.PhaseSet{Attempt: new(later.Attempt + 1), Iteration: new(0), Feedback: new(""), Reason: new(""), StartCommit: new(""), RestoreTo: new(""), Overridden: new(false), NoDue: true}
		if later.Status == models.PhasePending {
			err = tx.SetPhase(ctx, later.ID, models.PhasePending, set)
		} else {
			err = tx.MovePhase(ctx, later.ID, later.Status, models.PhasePending, set, why)
		}
		if err != nil {
			return err
		}
	}
	return tx.VoidDecisions(ctx, ph.PlanID, ids, true)
}

// onPhase runs a lead's verb on a phase in one transaction. The pass that the
// person saw must still be the current one, and the plan must be alive.
func (e *Engine) onPhase(ctx context.Context, actor models.Actor, phaseID, passID int64, fn func(tx *store.Tx, ph models.Phase) error) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	seen, err := e.Store.Phase(ctx, phaseID)
	if err != nil {
		return err
	}
	err = e.decide(ctx, seen.PlanID, func(tx *store.Tx) error {
		ph, err := tx.Phase(ctx, phaseID)
		if err != nil {
			return err
		}
		plan, err := tx.Plan(ctx, ph.PlanID)
		if err != nil {
			return err
		}
		if plan.Status.Over() || plan.Status == models.PlanApplying || plan.Status == models.PlanDraft {
			return wrongState(plan, "changed")
		}
		var current int64
		if ph.PassID != nil {
			current = *ph.PassID
		}
		if current != passID {
			return models.Errorf(models.CodeConflict, "The phase has moved on to another pass since the page was shown. Look at it again.")
		}
		return fn(tx, ph)
	})
	if err == nil {
		e.endOvertaken(ctx, seen.PlanID)
	}
	return err
}

// record stores a person's decision, bound to what they saw: pass, tree and
// evidence.
func (e *Engine) record(ctx context.Context, tx *store.Tx, actor models.Actor, ph models.Phase, kind models.DecisionKind, reason string) error {
	d := models.Decision{PlanID: ph.PlanID, PhaseID: &ph.ID, Kind: kind, Reason: reason, UserID: actor.ID, UserName: actor.Name}
	if ph.PassID != nil {
		pass, err := tx.Pass(ctx, *ph.PassID)
		if err != nil {
			return err
		}
		d.Fingerprint = fmt.Sprintf("pass %d tree %s evidence %s", pass.ID, pass.EndTree, pass.EvidenceHash)
	}
	return tx.InsertDecision(ctx, &d)
}

func wrongPhase(ph models.Phase, done string) error {
	return models.Errorf(models.CodeConflict, "The phase cannot be %s: it is %s now. Look at it again.", done, strings.ReplaceAll(string(ph.Status), "_", " "))
}

// joinNotes keeps a note that no pass has read yet when another one is given.
func joinNotes(unread, note string) string {
	if strings.TrimSpace(unread) == "" || strings.TrimSpace(note) == "" {
		return strings.TrimSpace(unread + note)
	}
	return unread + "\n" + note
}
