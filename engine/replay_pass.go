package engine

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"donewhen/dod"
	"donewhen/models"
)

// boundedAsker asks a handful of questions at a time, and nobody any more once
// the judge failed too often.
type boundedAsker struct {
	dod.Asker
	slots  chan struct{}
	failed atomic.Int32
}

func (b *boundedAsker) Ask(ctx context.Context, q dod.Question) (dod.Reply, error) {
	select {
	case b.slots <- struct{}{}:
		defer func() { <-b.slots }()
	case <-ctx.Done():
		return dod.Reply{}, ctx.Err()
	}
	if b.failed.Load() >= replayTrouble {
		return dod.Reply{}, errJudgeDown
	}
	reply, err := b.Asker.Ask(ctx, q)
	if err != nil && ctx.Err() == nil {
		b.failed.Add(1)
	}
	return reply, err
}

// replayPass tries criteria on one pass. An error is ctx's or the database's;
// evidence that cannot be collected any more makes the pass unknown.
func (e *Engine) replayPass(ctx context.Context, id int64, criteria []dod.Criterion, asker dod.Asker) (ReplayedPass, error) {
	var out ReplayedPass
	var err error
	if out.Pass, err = e.Store.Pass(ctx, id); err != nil {
		return out, err
	}
	ph, err := e.Store.Phase(ctx, out.Pass.PhaseID)
	if err != nil {
		return out, err
	}
	plan, project, err := e.planProject(ctx, ph.PlanID)
	if err != nil {
		return out, err
	}
	if out.Verdict, err = e.Store.LatestVerdict(ctx, id); err != nil {
		return out, err
	}
	out.Phase, out.Plan, out.OldMet = ph.Name, plan, out.Pass.Status == models.PassMet
	if out.Verdict != nil {
		out.Old, out.OldMet = Results(*out.Verdict), out.Verdict.Met
	}
	unknown := func(format string, args ...any) (ReplayedPass, error) {
		out.Replayed = Replayed{State: ReplayUnknown, Change: ChangeUnknown, Reason: fmt.Sprintf(format, args...)}
		return out, ctx.Err()
	}
	if out.Pass.Status != models.PassMet && out.Pass.Status != models.PassNotMet {
		return unknown("The pass was not decided: it is %s.", out.Pass.Status)
	}
	runs, err := e.Store.RunsOf(ctx, id)
	if err != nil {
		return out, err
	}
	if r := decisive(runs); r != nil {
		out.Replayed = Replayed{State: ReplayNotMet, Change: changeOf(out.OldMet, ReplayNotMet),
			Reason: fmt.Sprintf("Run %d did not succeed (%s), so nothing is asked under any condition.", r.Position, r.Status)}
		return out, nil
	}
	ev, err := e.CollectEvidence(ctx, repoOf(project), out.Pass)
	if err != nil {
		return unknown("The evidence cannot be collected any more: %s", err)
	}
	if v := out.Verdict; v != nil && v.Kind == models.VerdictGiven {
		out.Moved = v.EvidenceHash != ev.Hash(checkLines(out.Old))
	}
	suite := dod.Suite{Text: ev.text(), Parallel: replayQuestions, Asker: asker, PlainToAsker: asker != nil, StopOnFailed: true, Task: ph.Task, Args: plan.DodArgs,
		File: e.filesOf(project, out.Pass.EndTree)}
	out.Replayed = replayOver(ctx, suite, criteria, ev.Values, out.Old, ev.Render)
	for i := range out.Results {
		e.redactResult(&out.Results[i].Result)
	}
	out.Change = changeOf(out.OldMet, out.State)
	return out, ctx.Err()
}

// filesOf are the `file:` checks of a replay: they look at the tree that was
// recorded then, as the check itself did. nil when none was recorded.
func (e *Engine) filesOf(project models.Project, tree string) func(context.Context, string) dod.CheckOutcome {
	if tree == "" {
		return nil
	}
	return func(ctx context.Context, path string) dod.CheckOutcome {
		return e.fileInTree(ctx, repoOf(project), tree, path)
	}
}

// replayOver evaluates criteria over stored evidence. suite.File looks at the
// recorded files, where there are any; recorded are the results of then, the only
// source for checks of a workspace; render makes the evidence that a judge reads
// from those checks' lines.
func replayOver(ctx context.Context, suite dod.Suite, criteria []dod.Criterion, values map[string]string, recorded []dod.Result, render func([]string) string) Replayed {
	origins := map[dod.Check]ReplayOrigin{}
	then := map[dod.Check]dod.CheckOutcome{}
	for _, r := range recorded {
		if onWorkspace(r.Criterion) && r.Status != dod.Skipped {
			then[r.Criterion.Check] = dod.CheckOutcome{Status: r.Status, Reasoning: r.Reasoning}
		}
	}
	asRecorded := func(c dod.Check, open string) dod.CheckOutcome {
		if o, ok := then[c]; ok {
			origins[c] = OriginRecorded
			return o
		}
		origins[c] = OriginMissing
		return dod.CheckOutcome{Status: dod.Skipped, Reasoning: open}
	}
	suite.Run = func(_ context.Context, command string) dod.CheckOutcome {
		return asRecorded(dod.Check{Kind: dod.CheckRun, Arg: command}, "run: is not run here: it looks at the workspace of then, which is not there any more, and no result of this check was recorded.")
	}
	inTree := suite.File
	suite.File = func(ctx context.Context, path string) dod.CheckOutcome {
		c := dod.Check{Kind: dod.CheckFile, Arg: path}
		if open := dod.OpenPlaceholders([]dod.Criterion{{Check: c}}); len(open) > 0 {
			return asRecorded(c, "file: has no value for {"+strings.Join(open, "}, {")+"} here.")
		}
		if inTree == nil {
			return asRecorded(c, "file: no files of then were recorded.")
		}
		o := inTree(ctx, path)
		if o.Status == dod.Skipped {
			return asRecorded(c, o.Reasoning)
		}
		return o
	}
	bare := suite
	bare.Asker = nil
	out := bare.Evaluate(ctx, criteria, values)
	for i, r := range out.Results {
		switch {
		case judgedBy(suite, r.Criterion):
			out.Results[i].Reasoning = "Not asked, because a check failed."
		case r.Criterion.Check.Kind == dod.CheckJudge:
			out.Results[i].Reasoning = "Nobody is asked: this is tried with literal matching."
		}
	}
	if !suite.StopOnFailed || !stops(out) {
		var known []dod.Result // a check that was not replayed is no evidence
		for _, r := range out.Results {
			if r.Status != dod.Skipped {
				known = append(known, r)
			}
		}
		suite.Evidence = render(checkLines(known))
		out = ask(ctx, suite, values, out)
	}
	for i, r := range out.Results { // a plan is asked for its values; without one nothing was tried
		if name := dod.WaitsFor(r.Criterion, suite.Args); name != "" && r.Status == dod.Failed {
			out.Results[i].Status = dod.Skipped
			out.Results[i].Reasoning = name + " has no value here, so nothing can be said."
			if onWorkspace(r.Criterion) {
				origins[r.Criterion.Check] = OriginMissing
			}
		}
	}
	return replayed(out, origins)
}

// replayed reads an outcome: a counting criterion that failed decides; while
// none did, one that is open leaves the whole unknown.
func replayed(out dod.Outcome, origins map[dod.Check]ReplayOrigin) Replayed {
	r := Replayed{State: ReplayMet, Answers: out.Answers, Reason: out.Reason()}
	var failed, open []int
	for _, res := range out.Results {
		r.Results = append(r.Results, ReplayResult{res, origins[res.Criterion.Check]})
		switch {
		case !res.Criterion.Level.Counts():
		case res.Status == dod.Failed:
			failed = append(failed, res.Criterion.Index)
		case res.Status != dod.Passed:
			open = append(open, res.Criterion.Index)
		}
	}
	switch {
	case len(failed) > 0:
		r.State, r.Lines = ReplayNotMet, failed
	case len(open) > 0 || !out.Met():
		r.State, r.Lines = ReplayUnknown, open
	}
	return r
}

func changeOf(oldMet bool, now ReplayState) ReplayChange {
	switch {
	case now == ReplayUnknown:
		return ChangeUnknown
	case oldMet && now == ReplayNotMet:
		return ChangeHeldBack
	case !oldMet && now == ReplayMet:
		return ChangeLetThrough
	}
	return ChangeNone
}

func onWorkspace(c dod.Criterion) bool {
	return c.Check.Kind == dod.CheckRun || c.Check.Kind == dod.CheckFile
}

// checkLines are the lines that checks of a workspace put into the evidence.
func checkLines(results []dod.Result) (lines []string) {
	for _, r := range results {
		if onWorkspace(r.Criterion) {
			lines = append(lines, fmt.Sprintf("%s: %s: %s", r.Criterion.Check, r.Status, r.Reasoning))
		}
	}
	return lines
}
