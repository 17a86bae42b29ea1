package engine

import (
	"context"
	"errors"
	"fmt"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
)

// beginJudging claims the current pass of a judging phase and judges it in a
// goroutine of its own, outside any transaction.
func (e *Engine) beginJudging(ctx context.Context, ph models.Phase) error {
	if ph.PassID == nil {
		return errors.New("a judging phase has no pass: phase " + itoa(ph.ID))
	}
	id, claimed := *ph.PassID, false
	err := e.Store.InTx(ctx, func(tx *store.Tx) error {
		var err error
		if claimed, err = tx.ClaimPass(ctx, id, models.PassJudging, "judge"); err != nil {
			return err
		}
		return tx.SetPhase(ctx, ph.ID, models.PhaseJudging, store.PhaseSet{NoDue: true})
	})
	if err != nil || !claimed {
		return err
	}
	e.work.Go(func() {
		ctx, done := e.track(e.life, judging, id, ph.PlanID)
		defer done()
		err := guarded(func() error { return e.judgePass(ctx, ph.ID, id) })
		if err == nil || context.Cause(ctx) == errCancelled || e.life.Err() != nil {
			return // a cancelled pass is over; after a stop recovery frees the claim and it is judged again
		}
		e.Log.Error("judging", "pass", id, "err", err)
		e.judgingBroke(id, ph, err)
	})
	return nil
}

// judgingBroke settles a judging that ended in an error of ours as evaluator
// trouble: never met, no pass spent, tried again.
func (e *Engine) judgingBroke(passID int64, ph models.Phase, cause error) {
	ctx := context.WithoutCancel(e.life)
	v := models.Verdict{PassID: passID, PhaseID: ph.ID, PlanID: ph.PlanID, Kind: models.VerdictTrouble,
		Reason: "The evidence could not be judged: " + cause.Error(), Evaluator: dod.PanelSpec(e.panelFor(e.Judge, ph.Opinions)), Opinions: ph.Opinions}
	e.persist("judging", func() error { return e.settleVerdict(ctx, ph.ID, passID, v, judged{Trouble: true}) })
}

// judgePass judges one pass: deterministic checks first, then one question per
// criterion in plain words. Evidence identical to that of the pass before is
// not judged again.
func (e *Engine) judgePass(ctx context.Context, phaseID, passID int64) error {
	began := e.Now()
	ph, err := e.Store.Phase(ctx, phaseID)
	if err != nil {
		return err
	}
	pass, err := e.Store.Pass(ctx, passID)
	if err != nil {
		return err
	}
	plan, project, err := e.planProject(ctx, ph.PlanID)
	if err != nil {
		return err
	}
	if ph.Status != models.PhaseJudging {
		return nil // cancelled before it began
	}
	criteria := dod.ParseCriteria(ph.DoneWhen)
	if looksAtWorkspace(criteria) {
		if pass, err = e.recordBeforeChecks(ctx, plan, project, pass); err != nil {
			return err
		}
	}
	flags := e.newFlagger(dod.Suite{Asker: e.Judge, PlainToAsker: e.Judge != nil}, criteria, pass.TaskText)
	ev, err := e.collectEvidence(ctx, repoOf(project), pass, flags.look)
	if err != nil {
		return err
	}
	suite := e.suite(plan, project, pass.EndTree, ev)
	panel := e.panelFor(e.Judge, ph.Opinions)
	e.seat(&suite, plan.ID, panel)
	suite.PlainToAsker, suite.StopOnFailed, suite.Task = len(panel) > 0, true, ph.Task

	before, err := verdictBefore(ctx, &e.Store.Reader, pass)
	if err != nil {
		return err
	}
	own, err := e.Store.LatestVerdict(ctx, passID)
	if err != nil {
		return err
	}
	asked := own != nil && own.Kind == models.VerdictGiven // a person wants it judged again
	v := models.Verdict{PassID: passID, PhaseID: phaseID, PlanID: ph.PlanID, Evaluator: dod.PanelSpec(panel), Opinions: ph.Opinions, Tree: pass.EndTree}
	out, checks := deterministic(ctx, suite, criteria, ev.Values)
	e.redactResults(out.Results)
	v.Evidence, v.EvidenceHash, v.FlagsJSON = ev.Render(checks), ev.Hash(checks), flags.json()
	if !asked && before != nil && before.Kind == models.VerdictGiven && before.EvidenceHash == v.EvidenceHash && before.Evaluator == v.Evaluator && !before.Met &&
		askedTheSame(*before, criteria) {
		v.Kind, v.Reason, v.ResultsJSON, v.ReusedFrom = before.Kind, before.Reason, before.ResultsJSON, &before.ID
		v.Distrusted = before.Distrusted
	} else {
		if !stops(out) {
			suite.Evidence = v.Evidence
			out = ask(ctx, suite, ev.Values, out)
		}
		if err := ctx.Err(); err != nil {
			return err // the server stops: not the judge's fault, judged again at start
		}
		if why, yes := out.Withheld(); yes && !stops(out) {
			return e.parkJudging(ctx, ph, passID, why)
		}
		fillVerdict(&v, out)
	}
	j := judged{Met: v.Met, Trouble: v.Kind != models.VerdictGiven}
	if until, waits := out.QuotaUntil(); waits && j.Trouble {
		j.Quota, j.QuotaUntil = true, until
	}
	v.Millis = e.Now().Sub(began).Milliseconds()
	if j.SameAsBefore, err = sameAsBefore(ctx, &e.Store.Reader, pass, v); err != nil {
		return err
	}
	e.at("after_verdict")
	return e.settleVerdict(ctx, phaseID, passID, v, j)
}

// looksAtWorkspace says whether a criterion is checked in the workspace itself.
func looksAtWorkspace(criteria []dod.Criterion) bool {
	for _, c := range criteria {
		if c.Check.Kind == dod.CheckRun || c.Check.Kind == dod.CheckFile {
			return true
		}
	}
	return false
}

// recordBeforeChecks records the workspace once more before checks look at it.
// Normally nothing has changed since the last run; what a person mended there by
// hand is part of what is judged, and must not look like the check's doing, which
// is put back.
func (e *Engine) recordBeforeChecks(ctx context.Context, plan models.Plan, project models.Project, pass models.Pass) (models.Pass, error) {
	snap, err := e.Spaces.Snapshot(ctx, repoOf(project), plan.ID, plan.BaseCommit, "Changes found before the checks")
	if err != nil {
		return pass, fmt.Errorf("the workspace could not be recorded: %w", err)
	}
	if snap.Commit == pass.EndCommit && snap.Commit == plan.WorkCommit {
		return pass, nil
	}
	found, err := e.foundChanges(ctx, repoOf(project), plan, snap)
	if err != nil {
		return pass, err
	}
	pass.EndCommit, pass.EndTree = snap.Commit, snap.Tree
	return pass, e.change(ctx, plan.ID, func(tx *store.Tx) error {
		if err := recordFound(ctx, tx, plan.ID, snap, found); err != nil {
			return err
		}
		return tx.SetPass(ctx, pass.ID, models.PassJudging, store.PassSet{EndCommit: &snap.Commit, EndTree: &snap.Tree})
	})
}

// settleVerdict stores a verdict and carries out settle table 2, in one
// transaction. A pass that was cancelled or superseded meanwhile stays so.
func (e *Engine) settleVerdict(ctx context.Context, phaseID, passID int64, v models.Verdict, j judged) error {
	answers := Answers(v)
	var plant []string
	err := e.change(ctx, v.PlanID, func(tx *store.Tx) error {
		ph, err := tx.Phase(ctx, phaseID)
		if err != nil {
			return err
		}
		pass, err := tx.Pass(ctx, passID)
		if err != nil {
			return err
		}
		if err := tx.ReleasePass(ctx, passID, "judge"); err != nil {
			return err
		}
		if ph.Status != models.PhaseJudging || ph.PassID == nil || *ph.PassID != passID {
			return models.Errorf(models.CodeConflict, "phase %d is not judging pass %d any more", phaseID, passID)
		}
		if j.Doubt, err = markDistrusted(ctx, tx, &v, answers); err != nil {
			return err
		}
		if err := tx.InsertVerdict(ctx, &v); err != nil {
			return err
		}
		if plant, err = e.countJudged(ctx, tx, answers); err != nil {
			return err
		}
		set := store.PassSet{NoQuotaWait: true}
		switch {
		case j.Quota: // nobody's fault: no try is counted
			since := e.Now()
			if pass.QuotaSince != nil {
				since = *pass.QuotaSince
			}
			var ok bool
			j.NextTry, ok = e.nextQuotaTry(since, j.QuotaUntil)
			j.Tries, j.WaitedTooLong = pass.JudgeTries, !ok
			set = store.PassSet{QuotaSince: &since}
		case j.Trouble:
			j.Tries = pass.JudgeTries + 1
		default:
			j.Tries = pass.JudgeTries
			set.EvidenceHash = &v.EvidenceHash
		}
		if err := tx.SetPass(ctx, passID, pass.Status, set); err != nil {
			return err
		}
		return e.settleJudged(ctx, tx, ph, pass, v, j)
	})
	if err == nil {
		e.plantAll(plant)
	}
	return err
}

// judgedBy says whether a criterion is a question to the suite's asker.
func judgedBy(s dod.Suite, c dod.Criterion) bool {
	return s.Asker != nil && (c.Check.Kind == dod.CheckJudge || s.PlainToAsker && c.Check.Kind == dod.CheckText)
}

// deterministic evaluates what needs no model; judged criteria come back
// skipped. checks are lines that go into the evidence.
func deterministic(ctx context.Context, s dod.Suite, criteria []dod.Criterion, values map[string]string) (out dod.Outcome, checks []string) {
	bare := s
	bare.Asker = nil
	out = bare.Evaluate(ctx, criteria, values)
	for i, r := range out.Results {
		if judgedBy(s, r.Criterion) {
			out.Results[i].Reasoning = "Not asked, because a check failed."
		}
	}
	return out, checkLines(out.Results)
}

// stops says whether a failed deterministic check already decides the pass.
func stops(out dod.Outcome) bool {
	for _, r := range out.Results {
		if r.Status == dod.Failed && r.Kind == "" && r.Criterion.Level != dod.Info {
			return true
		}
	}
	return false
}

// ask puts the questions that are left and merges their results in.
func ask(ctx context.Context, s dod.Suite, values map[string]string, out dod.Outcome) dod.Outcome {
	var questions []dod.Criterion
	var at []int
	for i, r := range out.Results {
		if judgedBy(s, r.Criterion) {
			questions, at = append(questions, r.Criterion), append(at, i)
		}
	}
	if len(questions) == 0 {
		return out
	}
	asked := s.Evaluate(ctx, questions, values)
	for i, r := range asked.Results {
		out.Results[at[i]] = r
	}
	out.Answers = asked.Answers
	return out
}

// fillVerdict turns an outcome into the verdict row: trouble is never met.
func fillVerdict(v *models.Verdict, out dod.Outcome) {
	v.ResultsJSON, v.AnswersJSON = toJSON(out.Results), toJSON(out.Answers)
	if trouble, yes := out.Trouble(); yes && !stops(out) {
		v.Kind, v.Reason = models.VerdictKind(trouble.Kind), trouble.Reason
		return
	}
	v.Kind, v.Met, v.Reason = models.VerdictGiven, out.Met(), out.Reason()
}
