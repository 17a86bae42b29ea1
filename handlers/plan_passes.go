package handlers

import (
	"slices"
	"time"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// passRow is a pass as a line with what opens under it.
func passRow(d models.PassDetail, ph models.Phase, now time.Time) views.PassRow {
	p := d.Pass
	row := views.PassRow{
		ID: p.ID, Position: ph.Position, Number: p.Number(), Attempt: p.Attempt, Retried: ph.Attempt > 1, Status: p.Status, Reason: p.Reason,
		Task: p.TaskText, TaskSize: len(p.TaskText), Note: p.Note, Started: p.StartedAt, Ended: p.EndedAt, Took: between(p.StartedAt, p.EndedAt),
		Changed: p.StartCommit != "" && p.EndCommit != "" && p.StartCommit != p.EndCommit, PlanID: p.PlanID, Now: now,
		Mark: passMark(d),
	}
	for _, r := range d.Runs {
		row.Runs = append(row.Runs, runRow(r))
	}
	if p.Status == models.PassJudging && d.Verdict == nil && ph.Status == models.PhaseNeedsAttention {
		row.Mark = views.PassMark{Word: "not judged", Tone: ui.ToneWarn, Icon: "hand"}
	}
	if v := d.Verdict; v != nil {
		row.Verdict, row.Judge, row.Reused, row.Distrusted, row.Flags = v.ID, v.Evaluator, v.ReusedFrom != nil, v.Distrusted, flagNotice(v)
		if row.Reason == "" {
			row.Reason = v.Reason
		}
		for _, r := range engine.Results(*v) {
			row.Results = append(row.Results, resultRow(r))
		}
		if len(row.Results) > 0 && v.Kind == models.VerdictGiven {
			row.Reason = "" // the list says the same, criterion by criterion
		}
	}
	return row
}

// stopped says whether a person stopped a run that was not tried again since.
func stopped(runs []models.Run) bool {
	newest := map[int]string{}
	for _, r := range runs { // by position, then try
		newest[r.Position] = r.StoppedBy
	}
	for _, by := range newest {
		if by != "" {
			return true
		}
	}
	return false
}

func wasStopped(d models.PhaseDetail, passID int64) bool {
	return slices.ContainsFunc(d.Passes, func(p models.PassDetail) bool { return p.Pass.ID == passID && stopped(p.Runs) })
}

// passMark is a pass in one sign and word.
func passMark(d models.PassDetail) views.PassMark {
	v := d.Verdict
	trouble := v != nil && (v.Kind == models.VerdictInvalid || v.Kind == models.VerdictTrouble)
	failedRun := v != nil && v.Kind == models.VerdictRun
	if v == nil && d.Pass.Status == models.PassNotMet {
		failedRun = true // a phase without a condition is never judged
	}
	switch d.Pass.Status {
	case models.PassMet:
		if v == nil { // its phase has no condition
			return views.PassMark{Word: "done", Tone: ui.ToneOK, Icon: "circle-check"}
		}
		return views.PassMark{Word: "met", Tone: ui.ToneOK, Icon: "circle-check"}
	case models.PassNotMet:
		switch {
		case failedRun:
			return views.PassMark{Word: "run failed", Tone: ui.ToneBad, Icon: "square-terminal"}
		case v != nil && v.ReusedFrom != nil:
			return views.PassMark{Word: "not met, reused", Tone: ui.ToneBad, Icon: "repeat"}
		}
		return views.PassMark{Word: "not met", Tone: ui.ToneBad, Icon: "circle-x"}
	case models.PassJudging:
		if d.Pass.QuotaSince != nil {
			return views.PassMark{Word: "waiting for quota", Tone: ui.ToneWarn, Icon: "clock"}
		}
		if trouble {
			return views.PassMark{Word: "evaluator trouble", Tone: ui.ToneWarn, Icon: "triangle-alert"}
		}
		return views.PassMark{Word: "being judged", Tone: ui.ToneBusy, Icon: "gavel"}
	case models.PassRunning:
		if stopped(d.Runs) {
			return views.PassMark{Word: "stopped", Tone: ui.ToneWarn, Icon: "ban"}
		}
		if n := len(d.Runs); n > 0 && (d.Runs[n-1].Status == models.RunErrored || d.Runs[n-1].Status == models.RunLost) {
			return views.PassMark{Word: "agent trouble", Tone: ui.ToneWarn, Icon: "triangle-alert"} // its next try has not begun
		}
		return views.PassMark{Word: "running", Tone: ui.ToneBusy, Icon: "circle-play"}
	case models.PassCancelled:
		return views.PassMark{Word: "cancelled", Tone: ui.ToneIdle, Icon: "ban"}
	case models.PassSuperseded:
		if trouble {
			return views.PassMark{Word: "evaluator trouble, set aside", Tone: ui.ToneIdle, Icon: "triangle-alert"}
		}
		return views.PassMark{Word: "set aside", Tone: ui.ToneIdle, Icon: "circle-slash"}
	default:
		return views.PassMark{Word: views.Word(d.Pass.Status), Tone: ui.ToneIdle, Icon: "circle-dashed"}
	}
}

func runRow(r models.Run) views.RunRow {
	return views.RunRow{ID: r.ID, Label: r.Agent.Label(), Runtime: r.Agent.Runtime, Position: r.Position, Try: r.Try, Status: r.Status,
		Exit: r.ExitCode, Took: between(r.StartedAt, r.EndedAt), Tokens: tokens(r.InputTokens, r.OutputTokens), Cost: cost(r.CostUSD),
		Reason: r.Reason, Activity: r.Activity, Started: r.StartedAt}
}

func between(from, to *time.Time) time.Duration {
	if from == nil || to == nil {
		return 0
	}
	return to.Sub(*from)
}

// tokens is "1,204 / 96", "" where none are known.
func tokens(in, out int64) string {
	if in == 0 && out == 0 {
		return ""
	}
	return thousands(in) + " / " + thousands(out)
}

func thousands(n int64) string { return models.Thousands(n) }

func cost(usd float64) string {
	if usd <= 0 {
		return ""
	}
	return models.Dollars(usd)
}
