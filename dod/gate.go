package dod

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Gate decides whether a plan may be applied. It collects every reason that holds,
// in the order of the table:
//
//	plan not finished (or ended) · no definition of done · not evaluated, evaluating,
//	evaluation errored · fingerprint moved · nothing required · required failed ·
//	required skipped · rejected, approvals missing · unrecorded files · nothing to
//	apply, conflict, target busy, target dirty · applying
//
// Rows that make no sense yet are left out: results are not read before the plan
// is finished or when the evaluation is missing or stale. A plan without a
// definition of done, in a project that demands none, passes over the rows about
// it; the others still hold, so that nothing is lost.
func Gate(f GateFacts) GateState {
	notes, dropped := gateDropped(f.Dropped)
	if r, ended := planEnded(f); ended {
		return GateState{Sentence: r.Sentence, Reasons: []Reason{r}, Notes: notes}
	}
	notes = append(notes, gateDecided(f)...)
	if f.ChangedSince {
		notes = append(notes, "Files were changed after the last pass, outside of any run: no condition was judged on that. The activity names them.")
	}
	var reasons []Reason
	add := func(rs ...Reason) { reasons = append(reasons, rs...) }
	finished := f.PlanStatus == planFinished || f.PlanStatus == planApplying
	passed := "No definition of done."
	if !finished || f.UnfinishedPhase > 0 {
		add(planNotFinished(f))
	} else {
		switch {
		case f.HasDoD:
			var dodReasons []Reason
			dodReasons, passed = gateDoD(f)
			add(dodReasons...)
		case f.ProjectRequiresDoD:
			add(Reason{Code: ReasonNoDoD, Action: ActionEditDoD,
				Sentence: "This project demands a definition of done, and the plan has none. Write one."})
		}
	}
	add(gateApprovals(f, finished)...)
	add(gateFiles(f)...)
	if f.PlanStatus == planApplying {
		add(Reason{Code: ReasonApplying, Action: ActionWait, Sentence: "The plan is being applied. Wait for it to end."})
	}
	if len(reasons) > 0 {
		return GateState{Sentence: reasons[0].Sentence, Reasons: reasons, Notes: notes}
	}
	return GateState{Open: true, Sentence: passed + dropped, Notes: notes}
}

// gateDropped says what was taken out of the definition of done: a note for each,
// and what an open gate's sentence ends with.
func gateDropped(dropped []DroppedCriterion) (notes []string, ending string) {
	for _, d := range dropped {
		what := "A required criterion"
		if d.Level == Must {
			what = "A (must) criterion"
		}
		if d.Position > 0 {
			what += fmt.Sprintf(" of phase %d (%s)", d.Position, clip(foldLine(d.Phase), 200))
		}
		notes = append(notes, fmt.Sprintf("%s was taken out or changed after the start by %s: \u201c%s\u201d. Why: %s",
			what, d.By, clip(foldLine(d.Text), 200), clip(foldLine(d.Reason), 500)))
	}
	if n := len(dropped); n > 0 {
		ending = fmt.Sprintf(" %s taken out or changed after the start.", pluralWords(n, "required criterion was", "required criteria were"))
	}
	return notes, ending
}

// gateDecided names what people decided instead of a check: nobody applies the
// plan without being told. An ended plan's page lists it by itself.
func gateDecided(f GateFacts) (notes []string) {
	for _, r := range f.Summary.Results {
		if r.Status == Passed || !isWaived(f, r.Criterion) {
			continue
		}
		for _, w := range f.Waivers {
			if w.Criterion == r.Criterion.Index && sameFingerprint(w.Fingerprint, f.CurrentFingerprint) {
				notes = append(notes, fmt.Sprintf("Criterion %d was waived by %s: \u201c%s\u201d. Why: %s",
					r.Criterion.Index, w.By, clip(foldLine(r.Criterion.Text), 200), clip(foldLine(w.Reason), 500)))
			}
		}
	}
	if len(f.Resolved) > 0 {
		notes = append(notes, fmt.Sprintf("The work settles a conflict with %s by itself in %s: look whether what %s changed there is still in it.",
			f.TargetBranch, clip(foldLine(strings.Join(f.Resolved, ", ")), 300), f.TargetBranch))
	}
	for _, a := range f.Accepted {
		notes = append(notes, fmt.Sprintf("Phase %d (%s) was accepted as it is by %s, its condition not met. Why: %s",
			a.Position, clip(foldLine(a.Name), 200), a.By, clip(foldLine(a.Reason), 500)))
	}
	return notes
}

// The stored plan statuses, as models names them.
const (
	planDraft     = "draft"
	planPaused    = "paused"
	planFinished  = "finished"
	planApplying  = "applying"
	planApplied   = "applied"
	planCancelled = "cancelled"
	planDiscarded = "discarded"
	planFailed    = "failed"
	planWaiting   = "waiting"
)

// planEnded: nothing can be applied any more, so no other reason matters.
func planEnded(f GateFacts) (Reason, bool) {
	sentence := map[string]string{
		planApplied:   "The plan is applied already.",
		planCancelled: "The plan was cancelled.",
		planDiscarded: "The plan was discarded.",
	}[f.PlanStatus]
	return Reason{Code: ReasonPlanEnded, Action: ActionNone, Sentence: sentence}, sentence != ""
}

func planNotFinished(f GateFacts) Reason {
	r := Reason{Code: ReasonPlanNotFinished, Action: ActionWait}
	where := "The plan"
	if f.UnfinishedPhase > 0 {
		where = fmt.Sprintf("Phase %d of %d", f.UnfinishedPhase, max(f.Phases, f.UnfinishedPhase))
	}
	switch f.PlanStatus {
	case planDraft:
		r.Action, r.Sentence = ActionStart, "The plan is a draft. Start it."
		return r
	case planPaused:
		r.Action, r.Sentence = ActionResume, "The plan is paused. Resume it."
		return r
	case planFailed, planWaiting:
		r.Action = ActionOpenPhase
	}
	state, action := phaseSentence(f.PhaseStatus)
	if action != "" {
		r.Action = action
	}
	if f.StaleApproval {
		state = "asks for something else since it was judged: it needs another pass"
	}
	if state == "" {
		state = map[string]string{planFailed: "has failed", planWaiting: "waits for a person"}[f.PlanStatus]
	}
	if state == "" {
		state = "is not finished"
	}
	if f.OverBudget != "" {
		r.Action, r.Sentence = ActionRaiseBudget, where+" was stopped: "+raiseIt(f.OverBudget)
		return r
	}
	r.Sentence = where + " " + state + "."
	return r
}

// phaseSentence says what an unfinished phase is doing, and the action for a
// phase that waits for a person.
func phaseSentence(status string) (string, Action) {
	switch status {
	case "pending":
		return "waits for its next pass to begin", ""
	case "running":
		return "is still running", ""
	case "judging":
		return "is being judged", ""
	case "awaiting_approval":
		return "waits for an approval", ActionOpenPhase
	case "exhausted":
		return "has no passes left", ActionOpenPhase
	case "stalled":
		return "is stalled", ActionOpenPhase
	case "needs_attention":
		return "needs attention", ActionOpenPhase
	case "failed":
		return "has failed", ActionOpenPhase
	case "cancelled":
		return "was cancelled", ActionOpenPhase
	}
	return "", ""
}

// gateApprovals are the rows "rejected" and "approvals n of m". Who has to approve
// is asked for only when there is a finished plan to look at.
func gateApprovals(f GateFacts, finished bool) []Reason {
	var reasons []Reason
	canAct := whoCanAct(f)
	var rejectedBy []string
	for _, r := range f.Rejections {
		// A no whose fingerprint is unknown stands: unsure means not done.
		if r.Fingerprint == "" || f.CurrentFingerprint == "" || r.Fingerprint == f.CurrentFingerprint {
			by := r.By
			if r.Reason != "" {
				by += " (" + clip(foldLine(r.Reason), 200) + ")"
			}
			rejectedBy = append(rejectedBy, by)
		}
	}
	if len(rejectedBy) > 0 {
		reasons = append(reasons, Reason{Code: ReasonRejected, Action: ActionLiftRejection, Details: rejectedBy,
			Sentence: "Rejected by " + list(rejectedBy, " and ") + "." + canAct})
	}
	given := map[string]bool{}
	for _, a := range f.Approvals {
		if a.By != "" && sameFingerprint(a.Fingerprint, f.CurrentFingerprint) {
			given[a.By] = true
		}
	}
	if finished && len(given) < f.ApprovalsNeeded {
		reasons = append(reasons, Reason{Code: ReasonApprovalsMissing, Action: ActionApprove, Details: f.CanAct,
			Sentence: fmt.Sprintf("%d of %s given.%s", len(given), plural(f.ApprovalsNeeded, "approval"), canAct)})
	}
	return reasons
}

// whoCanAct is a sentence of its own behind another one, or "".
func whoCanAct(f GateFacts) string {
	if len(f.CanAct) == 0 {
		return ""
	}
	who := list(f.CanAct, " or ")
	first, n := utf8.DecodeRuneInString(who)
	return " " + string(unicode.ToUpper(first)) + who[n:] + " can act."
}

// gateFiles are the rows about files: unrecorded ones, then the target.
func gateFiles(f GateFacts) []Reason {
	var reasons []Reason
	target := "the target branch"
	if f.TargetBranch != "" {
		target = f.TargetBranch
	}
	if n := len(f.Unrecorded); n > 0 {
		details := make([]string, n)
		for i, u := range f.Unrecorded {
			details[i] = u.Path
			if u.Why != "" {
				details[i] += " (" + u.Why + ")"
			}
		}
		reasons = append(reasons, Reason{Code: ReasonUnrecorded, Action: ActionFixFiles, Details: details,
			Sentence: plural(n, "file") + " in the workspace could not be recorded and would be missing: " + list(details, ", ") + "."})
	}
	if f.NothingToApply {
		reasons = append(reasons, Reason{Code: ReasonNothingToApply, Action: ActionRework,
			Sentence: "There are no changes to apply: " + target + " has these contents already. Give a phase another pass, or discard the plan."})
	}
	if f.Conflicted || len(f.ConflictFiles) > 0 {
		sentence := "The work conflicts with " + target
		if len(f.ConflictFiles) > 0 {
			sentence += " in " + list(f.ConflictFiles, ", ")
		}
		reasons = append(reasons, Reason{Code: ReasonConflict, Action: ActionResolveConflict, Details: f.ConflictFiles, Sentence: sentence + "."})
	}
	if f.TargetBusy != "" {
		r := Reason{Code: ReasonTargetBusy, Action: ActionClearTarget, Details: []string{f.TargetBusy},
			Sentence: "It cannot be brought to " + target + " now: " + strings.TrimRight(foldLine(f.TargetBusy), ". ") + "."}
		if len(f.BusyFiles) > 0 {
			r.Details = f.BusyFiles
			r.Sentence += " In the way: " + list(f.BusyFiles, ", ") + "."
		}
		reasons = append(reasons, r)
	}
	if n := len(f.DirtyFiles); n > 0 {
		reasons = append(reasons, Reason{Code: ReasonTargetDirty, Action: ActionClearTarget, Details: f.DirtyFiles,
			Sentence: plural(n, "file") + " that apply would touch " + isAre(n) + " not committed in the checkout of " + target + ": " + list(f.DirtyFiles, ", ") + "."})
	}
	return reasons
}

// sameFingerprint binds a decision to what it was about. An unknown fingerprint
// is the same as nothing.
func sameFingerprint(a, b string) bool { return a != "" && a == b }

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// list joins at most five parts for a sentence; all of them are in the details.
func list(parts []string, last string) string {
	const most = 5
	if len(parts) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(parts[:most], ", "), len(parts)-most)
	}
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + last + parts[len(parts)-1]
}
