package handlers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// gateCard is the gate as a card: the reasons in the gate's order, each with
// the verbs that mend it.
func (b *planBuilder) gateCard() views.GateCard {
	p, st := b.plan(), b.gate.State
	card := views.GateCard{Open: st.Open, Ended: p.Status.Over(), Applied: p.Status == models.PlanApplied, Sentence: st.Sentence, Notes: st.Notes, Now: b.now}
	if card.Ended {
		b.outcome(&card)
		return card
	}
	card.Waiting = len(st.Reasons) > 0
	var change *views.Verb // once, however many reasons are about criteria
	for _, r := range st.Reasons {
		card.Waiting = card.Waiting && r.Action == dod.ActionWait
		row := views.GateReason{Code: string(r.Code), Sentence: r.Sentence, Wait: r.Action == dod.ActionWait, Verbs: b.verbs(b.reasonVerbs(r))}
		if len(r.Criteria) == 0 && len(r.Details) > 1 {
			row.Details = r.Details
		}
		b.explain(&row, r)
		if change == nil && len(r.Criteria) > 0 && b.role.Can(lead) {
			change = &views.Verb{Key: "gate-change", Label: "Change the definition of done", Icon: "pencil", Kind: ui.Ghost, Small: true, Href: views.PlanDodPath(p.ID)}
			row.Verbs = append(row.Verbs, *change)
		}
		card.Reasons = append(card.Reasons, row)
	}
	card.Flagged, card.FlaggedHref = b.flagged()
	card.Checking = b.checking()
	card.Behind = b.behind()
	if len(b.detail.Attempts) > 0 && b.detail.Attempts[0].Status == models.ApplyRefused {
		a := b.detail.Attempts[0]
		last := &views.RefusedApply{Reason: a.Reason, By: a.UserName, At: a.CreatedAt}
		_ = json.Unmarshal([]byte(a.FilesJSON), &last.Files) // a list that cannot be read is not shown; the reason names the files too
		card.Last = last
	}
	if b.role.Can(lead) {
		apply := b.verbs([]views.Verb{b.applyVerb()})[0]
		card.Apply = &apply
		card.Will = fmt.Sprintf("Merges donewhen/%s into %s as one commit.", ui.Short(p.ID), p.TargetBranch)
	} else {
		card.Quiet = "A lead applies it. You are here to read."
	}
	return card
}

// behind is how far the target has moved since the plan's base, "" when it has not.
func (b *planBuilder) behind() string {
	pre := b.gate.Preview
	if pre == nil || pre.Behind == 0 {
		return ""
	}
	follows := "they are merged with the work, and no check saw both"
	if pre.Behind == 1 {
		follows = "it is merged with the work, and no check saw both"
	}
	if len(pre.Conflicts) > 0 {
		follows = "the work conflicts with that"
	}
	return fmt.Sprintf("%s has moved by %s since; %s.", b.plan().TargetBranch, commits(pre.Behind), follows)
}

// explain says what a reason's sentence leaves open: who said no and why, and the
// ways out of a conflict.
func (b *planBuilder) explain(row *views.GateReason, r dod.Reason) {
	if over := b.plan().Budget.UsedUp(b.usage, models.SpendsRun); r.Action == dod.ActionResume && over != "" {
		row.Advice = over + " Raise it first: a plan that is resumed stops at it again."
	}
	switch r.Code {
	case dod.ReasonRequiredFailed, dod.ReasonRequiredSkipped:
		row.Why = b.why(r.Criteria)
	case dod.ReasonEvaluating, dod.ReasonEvaluationError:
		if ev := b.detail.Evaluation; ev != nil && ev.StoppedBy != "" {
			row.Said = []string{ev.Error}
		}
	case dod.ReasonRejected:
		for _, res := range b.gate.Summary.Results {
			if slices.Contains(r.Criteria, res.Criterion.Index) {
				row.Said = append(row.Said, res.Reasoning)
			}
		}
	case dod.ReasonUnrecorded:
		row.Advice = "Another pass can remove what is not meant to be applied, or name it in .gitignore. How large a file may be is the operator's DONEWHEN_MAX_FILE_MB."
	case dod.ReasonTargetDirty:
		row.Advice = "Commit that there or put it aside (git stash), then look again: apply never overwrites what is not committed."
	case dod.ReasonConflict:
		row.Advice = fmt.Sprintf("Another pass tells its agents to merge %[1]s and how to get it. Or a copy as a new plan starts from %[1]s as it is now. Or merge it by hand: get the branch into a clone of yours and merge it there.", b.plan().TargetBranch)
		row.Fetch = b.s.Engine.FetchCommand(b.plan(), b.detail.Project)
	}
}

// maxWhy bounds how many criteria a reason of the gate names with why.
const maxWhy = 6

// why is the beginning of what was found about criteria; all of it stands in the checklist.
func (b *planBuilder) why(indexes []int) (out []views.CriterionWhy) {
	for _, r := range b.gate.Summary.Results {
		if len(out) == maxWhy || !slices.Contains(indexes, r.Criterion.Index) {
			continue
		}
		first, rest, _ := strings.Cut(strings.TrimSpace(r.Reasoning), "\n")
		if text, cut := cutText(first, 160); cut || rest != "" {
			first = text + " …"
		}
		out = append(out, views.CriterionWhy{Index: r.Criterion.Index, Text: first})
	}
	return out
}

func (b *planBuilder) checking() *views.CheckingView { return b.s.checking(b.detail.Evaluation) }

// checking is what an evaluation that is under way is at, nil when it is not.
func (s *Server) checking(ev *models.Evaluation) *views.CheckingView {
	if ev == nil || ev.Status != models.EvaluationQueued && ev.Status != models.EvaluationRunning {
		return nil
	}
	at := s.Engine.Progress(ev.ID)
	v := &views.CheckingView{Total: at.Total, Began: ev.StartedAt}
	for _, c := range at.Checking {
		v.Rows = append(v.Rows, views.CheckingRow{Index: c.Criterion.Index, What: cmp.Or(c.Criterion.Check.String(), c.Criterion.Text),
			Since: c.Since, Limit: limitText(int(c.Limit.Seconds()))})
	}
	return v
}

func commits(n int) string {
	if n == 1 {
		return "1 commit"
	}
	return strconv.Itoa(n) + " commits"
}

// outcome is the card of a plan that is over: what was applied, what was checked
// of it, and what people decided instead.
func (b *planBuilder) outcome(card *views.GateCard) {
	if !card.Applied {
		if b.ended != nil {
			how := map[models.PlanStatus]string{models.PlanCancelled: "Cancelled by ", models.PlanDiscarded: "Discarded by "}[b.plan().Status]
			card.Sentence = spoken(how+b.ended.Actor, b.ended.Reason)
		}
		return
	}
	for _, a := range b.detail.Attempts {
		if a.Status == models.ApplyDone {
			card.Sentence = fmt.Sprintf("Applied by %s: %s is in %s.", a.UserName, ui.Short(a.MergeCommit), a.TargetBranch)
			card.Message = strings.TrimSpace(a.Message)
			break
		}
	}
	card.Checked = "No definition of done: no criterion was checked."
	if b.gate.Summary.Total() > 0 {
		card.Checked = b.gate.Counts().Sentence()
	}
	for _, r := range b.gate.Summary.Results {
		about := fmt.Sprintf("Criterion %d: %s", r.Criterion.Index, r.Criterion.Text)
		if text := b.waived(r); text != "" {
			card.Said = append(card.Said, views.Spoken{About: about, What: text, Doubt: true})
		} else if r.Criterion.Check.Kind == dod.CheckHuman && r.Status != dod.Skipped {
			card.Said = append(card.Said, views.Spoken{About: about, What: r.Reasoning, Doubt: r.Status != dod.Passed})
		}
	}
	for _, d := range b.detail.Phases {
		for _, dec := range b.detail.Decisions {
			if dec.PhaseID == nil || *dec.PhaseID != d.Phase.ID {
				continue
			}
			about := fmt.Sprintf("Phase %d: %s", d.Phase.Position, d.Phase.Name)
			switch dec.Kind {
			case models.DecisionAccept:
				card.Said = append(card.Said, views.Spoken{About: about, What: spoken("Accepted as it is by "+dec.UserName, dec.Reason), Doubt: true})
			case models.DecisionApprove:
				card.Said = append(card.Said, views.Spoken{About: about, What: spoken("Approved by "+dec.UserName, dec.Reason)})
			}
		}
	}
}

// waived says who waived a result and why, "" when it was not or it passed.
func (b *planBuilder) waived(r dod.Result) string {
	if b.gate.Stale {
		return ""
	}
	return waivedBy(b.gate.Waived, r)
}

func waivedBy(waived map[int]models.Decision, r dod.Result) string {
	w, ok := waived[r.Criterion.Index]
	if !ok || r.Status == dod.Passed {
		return ""
	}
	return spoken("Waived by "+w.UserName, w.Reason)
}

// applyVerb posts what the person saw; while the gate is closed it cannot be pressed.
func (b *planBuilder) applyVerb() views.Verb {
	p := b.plan()
	v := views.Verb{Key: "apply", Label: "Apply", Icon: "git-merge", Kind: ui.Primary, Action: views.PlanVerbPath(p.ID, views.VerbApply),
		Hidden: [][2]string{{"commit", b.gate.Commit}, {"evaluation", strconv.FormatInt(b.gate.EvaluationID, 10)}}}
	if !b.gate.State.Open {
		v.Disabled, v.Why = true, b.gate.State.Sentence
		return v
	}
	v.Question = "Apply to " + p.TargetBranch + "?"
	v.Body = fmt.Sprintf("The work as recorded in %s is merged into %s of %s with one merge commit. Files there that the work does not touch stay as they are.",
		ui.Short(b.gate.Commit), p.TargetBranch, b.detail.Project.Name)
	for _, line := range slices.Concat([]string{b.gate.State.Sentence, b.behind()}, b.gate.State.Notes) {
		if line != "" {
			v.Body += "\n\n" + line
		}
	}
	return v
}

// reasonVerbs are the buttons and links that mend one reason.
func (b *planBuilder) reasonVerbs(r dod.Reason) []views.Verb {
	p := b.plan()
	link := func(key, label, icon, href string) views.Verb {
		return views.Verb{Key: key, Label: label, Icon: icon, Small: true, Href: href}
	}
	open := func() []views.Verb {
		for _, d := range b.detail.Phases {
			if d.Phase.Status != models.PhaseCompleted {
				return []views.Verb{link("gate-phase", "Open "+phaseNamed(d.Phase), "arrow-right", "#"+views.PhaseAnchor(d.Phase.ID))}
			}
		}
		return nil
	}
	rework := func() []views.Verb {
		if n := len(b.detail.Phases); n > 0 {
			return []views.Verb{link("gate-rework-"+string(r.Code), "Give a phase another pass", "repeat", "#"+views.PhaseAnchor(b.detail.Phases[n-1].Phase.ID))}
		}
		return nil
	}
	if r.Action == dod.ActionOpenPhase || r.Action == dod.ActionRaiseBudget && !b.role.Can(lead) { // a reader may open it too
		return open()
	}
	if !b.role.Can(lead) {
		return nil
	}
	evaluate := func() []views.Verb {
		if !mayEvaluate(p, b.detail.Evaluation) {
			return nil
		}
		key := "gate-evaluate-" + string(r.Code)
		label := "Evaluate again"
		if r.Code == dod.ReasonNotEvaluated {
			label = "Evaluate"
		}
		return []views.Verb{evaluateVerb(p.ID, key, label)}
	}
	switch r.Action {
	case dod.ActionWait:
		if ev := b.detail.Evaluation; r.Code == dod.ReasonEvaluating && ev != nil && ev.StoppedBy == "" {
			return []views.Verb{stopEvaluationVerb(p.ID, ev.ID)}
		}
	case dod.ActionStart:
		return []views.Verb{{Key: "gate-start", Label: "Start", Icon: "play", Small: true, Action: views.PlanVerbPath(p.ID, views.VerbStart), Hidden: [][2]string{{"key", "gate-start"}}}}
	case dod.ActionResume:
		return []views.Verb{{Key: "gate-resume", Label: "Resume", Icon: "play", Small: true, Action: views.PlanVerbPath(p.ID, views.VerbResume), Hidden: [][2]string{{"key", "gate-resume"}}}}
	case dod.ActionEditDoD:
		return []views.Verb{link("gate-edit", "Edit the definition of done", "pencil", views.PlanDodPath(p.ID))}
	case dod.ActionEvaluate, dod.ActionRetryEvaluation:
		return slices.Concat(evaluate(), b.criteriaVerbs(r.Waivable, false))
	case dod.ActionWaive:
		return slices.Concat(b.criteriaVerbs(r.Waivable, false), rework(), evaluate())
	case dod.ActionApprove, dod.ActionLiftRejection:
		if r.Code == dod.ReasonRejected {
			return slices.Concat(b.criteriaVerbs(r.Criteria, true), rework())
		}
		return b.criteriaVerbs(r.Criteria, true)
	case dod.ActionFixFiles:
		return slices.Concat(rework(), evaluate())
	case dod.ActionResolveConflict:
		return append([]views.Verb{link("gate-copy", "Copy as new plan", "copy", views.NewPlanFromPath(p.ID))}, rework()...)
	case dod.ActionRework:
		return rework()
	case dod.ActionRaiseBudget:
		return []views.Verb{raiseVerb(p, b.usage, "gate-budget", "gate-budget")}
	case dod.ActionClearTarget:
		return []views.Verb{link("gate-look", "Look again", "refresh-cw", views.PlanPath(p.ID))}
	}
	return nil
}

func (b *planBuilder) criteriaVerbs(indexes []int, human bool) []views.Verb {
	var out []views.Verb
	for _, r := range b.gate.Summary.Results {
		if slices.Contains(indexes, r.Criterion.Index) {
			out = append(out, criterionVerbs(b.plan().ID, r.Criterion, b.gate.EvaluationID, human, b.role)...)
		}
	}
	return out
}
