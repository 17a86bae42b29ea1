package handlers

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// replayReport is a condition tried on passes, as a page shows it.
func replayReport(r engine.ReplayReport) *views.ReplayReport {
	out := &views.ReplayReport{Of: "Passes, then and now", Cost: replayCost(r.Evaluator, r.Cost, r.Took),
		Summary: replaySummary(len(r.Passes), "pass", "passes", r.Count)}
	out.Changed = r.Count(engine.ChangeHeldBack)+r.Count(engine.ChangeLetThrough) > 0
	passes := slices.Clone(r.Passes)
	slices.SortStableFunc(passes, func(a, b engine.ReplayedPass) int { return changeOrder(a.Change) - changeOrder(b.Change) })
	for _, p := range passes {
		row := replayRow(p.Replayed, p.OldMet, p.Old)
		row.ID, row.Title, row.Href, row.Sub = strconv.FormatInt(p.Pass.ID, 10), p.Plan.Title, views.PassPath(p.Pass.ID), passName(p.Pass, p.Phase)
		if p.Verdict != nil {
			row.Verdict = views.VerdictPath(p.Verdict.ID)
		} else if p.OldMet {
			row.Then = "no condition"
		}
		if p.Moved {
			row.Note = "The evidence is not word for word what was judged then: part of a log is gone, or is hidden now."
		}
		out.Rows = append(out.Rows, row)
	}
	out.Summary += skippedLines(passes, func(p engine.ReplayedPass) []engine.ReplayResult { return p.Results })
	return out
}

// dodReplayReport is a definition of done tried on plans.
func dodReplayReport(r engine.DodReplay) *views.ReplayReport {
	out := &views.ReplayReport{Of: "Plans, then and now", Cost: replayCost(r.Evaluator, r.Cost, r.Took), Summary: "No plan is finished yet, so there is no evidence to try it on."}
	if len(r.Plans) > 0 {
		out.Summary = replaySummary(len(r.Plans), "finished plan", "finished plans", r.Count)
	}
	out.Changed = r.Count(engine.ChangeHeldBack)+r.Count(engine.ChangeLetThrough) > 0
	plans := slices.Clone(r.Plans)
	slices.SortStableFunc(plans, func(a, b engine.ReplayedPlan) int { return changeOrder(a.Change) - changeOrder(b.Change) })
	for _, p := range plans {
		row := replayRow(p.Replayed, p.OldMet, p.Old)
		for i, r := range p.Old {
			row.Old[i].Waived = waivedBy(p.Waived, r)
		}
		row.ID, row.Title, row.Href, row.Sub = p.Plan.ID, p.Plan.Title, views.PlanPath(p.Plan.ID), p.Plan.ProjectName
		switch {
		case p.Plan.Status == models.PlanApplied:
			row.Then = "applied"
		case p.OldMet:
			row.Then = "passed"
		case len(p.Old) == 0:
			row.Then, row.ThenTone = "not evaluated", ui.ToneIdle
		default:
			row.Then = "not passed"
		}
		if len(p.Missing) > 0 {
			row.Note = "Without a value: {" + strings.Join(p.Missing, "}, {") + "}."
		}
		out.Rows = append(out.Rows, row)
	}
	out.Summary += skippedLines(plans, func(p engine.ReplayedPlan) []engine.ReplayResult { return p.Results })
	return out
}

// skippedLines names the lines that were skipped somewhere, and why: a summary
// that counts findings alone reads as if all lines had been tried.
func skippedLines[T any](tried []T, results func(T) []engine.ReplayResult) string {
	why := map[int]string{}
	for _, t := range tried {
		for _, r := range results(t) {
			if r.Status == dod.Skipped {
				why[r.Criterion.Index] = skippedWhy(r)
			}
		}
	}
	var parts []string
	for _, n := range slices.Sorted(maps.Keys(why)) {
		parts = append(parts, fmt.Sprintf("line %d (%s)", n, why[n]))
	}
	if len(parts) == 0 {
		return ""
	}
	return " Skipped: " + strings.Join(parts, ", ") + "."
}

func replayRow(p engine.Replayed, oldMet bool, old []dod.Result) views.ReplayRow {
	row := views.ReplayRow{Then: "not met", ThenTone: ui.ToneBad, Now: string(p.State), NowTone: ui.ToneBad, Reason: p.Reason}
	if oldMet {
		row.Then, row.ThenTone = "met", ui.ToneOK
	}
	switch p.State {
	case engine.ReplayMet:
		row.NowTone = ui.ToneOK
	case engine.ReplayUnknown:
		row.NowTone = ui.ToneIdle
	}
	switch p.Change {
	case engine.ChangeHeldBack:
		row.Change, row.Tone = "Would have been held back"+byLines(p.Lines), ui.ToneBad
	case engine.ChangeLetThrough:
		row.Change, row.Tone = "Would have been let through", ui.ToneWarn
	case engine.ChangeUnknown:
		row.Change, row.Tone = "Cannot be said", ui.ToneIdle
		if len(p.Lines) > 0 {
			row.Change += ": " + lineWords(p.Lines) + " could not be replayed"
		}
	default:
		row.Change = "The same"
	}
	row.Tally = replayTally(p.Results)
	for _, r := range old {
		row.Old = append(row.Old, resultRow(r))
	}
	for _, r := range p.Results {
		n := resultRow(r.Result)
		if r.Origin == engine.OriginRecorded {
			n.Reasoning = "As recorded then: " + n.Reasoning
		}
		row.New = append(row.New, n)
	}
	return row
}

// replayTally counts the lines and says why those that were skipped were: "2 of 3
// passed, 1 skipped: run: is not run here".
func replayTally(results []engine.ReplayResult) string {
	if len(results) == 0 {
		return ""
	}
	n := map[dod.Status]int{}
	var why []string
	for _, r := range results {
		n[r.Status]++
		if r.Status == dod.Skipped {
			if w := skippedWhy(r); !slices.Contains(why, w) {
				why = append(why, w)
			}
		}
	}
	s := fmt.Sprintf("%d of %d passed", n[dod.Passed], len(results))
	if n[dod.Failed] > 0 {
		s += fmt.Sprintf(", %d failed", n[dod.Failed])
	}
	if n[dod.Skipped] > 0 {
		s += fmt.Sprintf(", %d skipped: %s", n[dod.Skipped], strings.Join(why, "; "))
	}
	return s + "."
}

// skippedWhy says in a few words why a line could not be replayed; its own
// reasoning stands with the line.
func skippedWhy(r engine.ReplayResult) string {
	switch r.Criterion.Check.Kind {
	case dod.CheckRun:
		return "run: is not run here"
	case dod.CheckFile:
		if len(dod.OpenPlaceholders([]dod.Criterion{{Check: r.Criterion.Check}})) > 0 {
			return "file: has no value for its placeholder"
		}
		return "file: the recorded files cannot be read"
	case dod.CheckHuman:
		return "human: a person is not asked here"
	case dod.CheckJudge:
		return "judge: there is no answer"
	}
	return "there is nothing to look at"
}

func byLines(lines []int) string {
	if len(lines) == 0 {
		return ""
	}
	return " by " + lineWords(lines)
}

// lineWords is "line 2" or "lines 2, 5 and 6".
func lineWords(lines []int) string {
	words := make([]string, len(lines))
	for i, n := range lines {
		words[i] = strconv.Itoa(n)
	}
	last := len(words) - 1
	if last == 0 {
		return "line " + words[0]
	}
	return "lines " + strings.Join(words[:last], ", ") + " and " + words[last]
}

// changeOrder brings up first what a lead looks for.
func changeOrder(c engine.ReplayChange) int {
	return slices.Index([]engine.ReplayChange{engine.ChangeHeldBack, engine.ChangeLetThrough, engine.ChangeUnknown, engine.ChangeNone}, c)
}

func replaySummary(n int, one, many string, count func(engine.ReplayChange) int) string {
	things := many
	if n == 1 {
		things = one
	}
	s := fmt.Sprintf("%d of %d %s would have been held back, %d let through.", count(engine.ChangeHeldBack), n, things, count(engine.ChangeLetThrough))
	if unknown := count(engine.ChangeUnknown); unknown > 0 {
		s += fmt.Sprintf(" %d cannot be decided.", unknown)
	}
	return s
}

func replayCost(evaluator string, c engine.ReplayCost, took time.Duration) string {
	parts := []string{"Literal matching"}
	switch {
	case c.Questions == 1:
		parts = []string{"1 question to " + evaluator}
	case c.Questions > 1:
		parts = []string{strconv.Itoa(c.Questions) + " questions to " + evaluator}
	case evaluator != "text":
		parts = []string{"Nothing was asked of " + evaluator}
	}
	if t := tokens(c.InputTokens, c.OutputTokens); t != "" {
		parts = append(parts, t+" tokens in / out")
	}
	if usd := cost(c.USD); usd != "" {
		parts = append(parts, usd)
	}
	if took > 0 {
		parts = append(parts, ui.Duration(took))
	}
	return strings.Join(parts, ", ") + ". Nothing was written to the plans."
}

func passName(p models.Pass, phase string) string {
	name := fmt.Sprintf("pass %d of %s", p.Number(), phase)
	if p.Attempt > 1 {
		name += fmt.Sprintf(", attempt %d", p.Attempt)
	}
	return name
}
