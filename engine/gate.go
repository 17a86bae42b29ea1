package engine

import (
	"context"
	"slices"

	"donewhen/dod"
	"donewhen/engine/workspace"
	"donewhen/models"
	"donewhen/models/store"
)

// GateView is the gate with what the page shows beside it.
type GateView struct {
	State        dod.GateState
	Summary      dod.Summary // with people's answers laid over
	Stale        bool        // the evaluation is about something else
	Waived       map[int]models.Decision
	Dropped      []dod.DroppedCriterion // asked for since the start, and not any more
	Accepted     []dod.AcceptedPhase
	ChangedSince bool                // the work is not what the last pass was judged by
	Approved     []dod.AcceptedPhase // by a person, after their condition was met or their runs succeeded
	SignedOff    []models.Decision   // people's yes to `human` criteria, as far as they count
	Commit       string              // what apply would merge: posted back by the form
	EvaluationID int64               // what the person saw: posted back by the form
	Preview      *workspace.Preview  // nil while there is nothing to merge yet
	PreviewError string
}

// Counts is what became of the criteria, in the words that are the same everywhere.
func (v GateView) Counts() dod.Counts { return counts(v.Summary, v.Waived) }

// Gate computes the gate of a plan: the rows, and for a finished plan what git
// says about the target, for showing: that may be TargetAge old. Nothing is
// changed by asking.
func (e *Engine) Gate(ctx context.Context, planID string) (GateView, error) {
	plan, project, err := e.planProject(ctx, planID)
	if err != nil {
		return GateView{}, err
	}
	var preview *workspace.Preview
	problem := ""
	if plan.Status == models.PlanFinished {
		preview, problem = e.shownTarget(ctx, plan, project)
	}
	return e.gate(ctx, &e.Store.Reader, plan, project, preview, problem)
}

// gate is the one place where facts for the gate are collected. r may be a
// transaction's reader, so that the server's check and the button cannot differ.
func (e *Engine) gate(ctx context.Context, r *store.Reader, plan models.Plan, project models.Project, preview *workspace.Preview, problem string) (GateView, error) {
	v := GateView{Waived: map[int]models.Decision{}, Commit: plan.WorkCommit, Preview: preview, PreviewError: problem}
	phases, err := r.PhasesOf(ctx, plan.ID)
	if err != nil {
		return v, err
	}
	ev, err := r.LatestEvaluation(ctx, plan.ID)
	if err != nil {
		return v, err
	}
	decisions, err := r.DecisionsOf(ctx, plan.ID)
	if err != nil {
		return v, err
	}
	changes, err := r.DodChangesOf(ctx, plan.ID)
	if err != nil {
		return v, err
	}
	current := e.fingerprint(plan)
	if plan.Status == models.PlanApplied && ev != nil {
		current = ev.Fingerprint // what was applied; another evaluator since then does not make it out of date
	}
	f := dod.GateFacts{
		PlanStatus: string(plan.Status), Phases: len(phases),
		HasDoD: len(Criteria(plan)) > 0, ProjectRequiresDoD: project.RequireDoD,
		Evaluation: dod.EvaluationNone, CurrentFingerprint: current, TargetBranch: plan.TargetBranch,
		Dropped: droppedSince(changes, plan, phases),
	}
	if open := firstOpen(phases); open != nil {
		f.UnfinishedPhase, f.PhaseStatus = open.Position, string(open.Status)
		if open.OverBudget {
			f.OverBudget = open.Reason
		}
		if open.Status == models.PhaseAwaitingApproval {
			stale, err := staleApproval(ctx, r, *open)
			if err != nil {
				return v, err
			}
			f.StaleApproval = stale != ""
		}
	}
	// Of a definition of done that is gone nothing was checked: its results are not
	// read, and whoever saw them did not see what is applied.
	if ev != nil && f.HasDoD {
		f.Evaluation, f.EvaluationError, f.EvaluationStopped, f.EvaluatedFingerprint = dod.EvaluationState(ev.Status), ev.Error, ev.StoppedBy != "", ev.Fingerprint
		v.EvaluationID = ev.ID
		if ev.OverBudget && f.UnfinishedPhase == 0 {
			f.OverBudget = ev.Error
		}
		v.Stale = ev.Status == models.EvaluationDone && ev.Fingerprint != current
		if v.Stale {
			f.Changed = e.parts(plan).moved(ev.PartsJSON)
		}
		v.Summary = withDecisions(SummaryOf(ev), decisions, current)
		f.Summary = v.Summary
		f.CanAct = whoCanAct(v.Summary)
	}
	signed := map[int]models.Decision{}
	for _, d := range decisions {
		if d.Criterion > 0 && d.Fingerprint == current && (d.Kind == models.DecisionApprove || d.Kind == models.DecisionReject) {
			signed[d.Criterion] = d // the newest counts
		}
		if d.Kind == models.DecisionWaive {
			f.Waivers = append(f.Waivers, dod.Waiver{Criterion: d.Criterion, Fingerprint: d.Fingerprint, By: d.UserName, Reason: d.Reason})
			if d.Fingerprint == current {
				v.Waived[d.Criterion] = d
			}
		}
	}
	for _, r := range v.Summary.Results {
		if d, ok := signed[r.Criterion.Index]; ok && d.Kind == models.DecisionApprove {
			v.SignedOff = append(v.SignedOff, d)
		}
	}
	f.Accepted = acceptedPhases(phases, decisions)
	if f.ChangedSince, err = changedSince(ctx, r, plan, phases); err != nil {
		return v, err
	}
	for _, u := range plan.Unrecorded {
		f.Unrecorded = append(f.Unrecorded, dod.UnrecordedFile{Path: u.Path, Why: u.Why})
	}
	if plan.Status == models.PlanFinished {
		switch {
		case problem != "":
			f.TargetBusy = problem
		case preview != nil:
			f.ConflictFiles, f.Conflicted = preview.Conflicts, len(preview.Conflicts) > 0
			if !f.Conflicted {
				f.Resolved = preview.Resolved
			}
			f.NothingToApply = preview.NoOp
			if preview.BusyCode == workspace.CodeDirty {
				f.DirtyFiles = preview.BusyFiles
			} else if preview.Busy != "" {
				f.TargetBusy, f.BusyFiles = preview.Busy, preview.BusyFiles
			}
		default: // it finished while we looked elsewhere: unsure means closed
			f.TargetBusy = "it was not looked at yet; look at the plan again"
		}
	}
	v.State, v.Dropped, v.Accepted, v.Approved, v.ChangedSince = dod.Gate(f), f.Dropped, f.Accepted, approvedPhases(phases, decisions), f.ChangedSince
	return v, nil
}

// whoCanAct names the roles that the open `human` criteria ask for.
func whoCanAct(s dod.Summary) []string {
	var out []string
	for _, r := range s.Results {
		who := "a lead"
		if models.Role(r.Criterion.Check.Arg) == models.RoleAdmin {
			who = "an admin"
		}
		if r.Criterion.Check.Kind == dod.CheckHuman && r.Status != dod.Passed && !slices.Contains(out, who) {
			out = append(out, who)
		}
	}
	return out
}

// changedSince says whether a finished plan's work is another one than its last pass
// left: somebody changed it, or a process that outlived its end.
func changedSince(ctx context.Context, r *store.Reader, plan models.Plan, phases []models.Phase) (bool, error) {
	if plan.Status != models.PlanFinished || len(phases) == 0 {
		return false, nil
	}
	last := phases[len(phases)-1]
	if last.PassID == nil {
		return false, nil
	}
	pass, err := r.Pass(ctx, *last.PassID)
	return err == nil && pass.EndTree != "" && pass.EndTree != plan.WorkTree, err
}

// acceptedPhases are those that count as completed by a person's word.
func acceptedPhases(phases []models.Phase, decisions []models.Decision) []dod.AcceptedPhase {
	return saidOf(phases, decisions, models.DecisionAccept, func(ph models.Phase) bool { return ph.Overridden })
}

// approvedPhases are those that a person approved as they are now.
func approvedPhases(phases []models.Phase, decisions []models.Decision) []dod.AcceptedPhase {
	return saidOf(phases, decisions, models.DecisionApprove, func(ph models.Phase) bool {
		return ph.NeedsApproval && !ph.Overridden && ph.Status == models.PhaseCompleted
	})
}

// saidOf are the phases that a decision of this kind let pass, with who took it.
func saidOf(phases []models.Phase, decisions []models.Decision, kind models.DecisionKind, holds func(models.Phase) bool) []dod.AcceptedPhase {
	var out []dod.AcceptedPhase
	for _, ph := range phases {
		if !holds(ph) {
			continue
		}
		a := dod.AcceptedPhase{Position: ph.Position, Name: ph.Name, By: "a lead"}
		for _, d := range decisions { // the newest counts
			if d.PhaseID != nil && *d.PhaseID == ph.ID && d.Kind == kind {
				a.By, a.Reason = d.UserName, d.Reason
			}
		}
		out = append(out, a)
	}
	return out
}
