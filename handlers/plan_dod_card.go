package handlers

import (
	"fmt"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

func (b *planBuilder) dodCard() views.DodCard {
	p, ev := b.plan(), b.detail.Evaluation
	current := engine.Criteria(p)
	d := views.DodCard{Defined: len(current) > 0, Over: p.Status.Over(), Demanded: b.detail.Project.RequireDoD, Text: p.DodText, Verbs: b.verbs(dodVerbs(p, ev, b.role)), Now: b.now}
	if t := b.detail.Template; t != nil {
		d.Template, d.Href = fmt.Sprintf("%s, version %d", t.Name, t.Version), views.TemplatePath(t.ID)
	}
	summary := b.gate.Summary
	if ev == nil || ev.Status != models.EvaluationDone || !sameCriteria(summary.Results, current) {
		busy := map[int]bool{}
		if at := b.checking(); at != nil {
			for _, r := range at.Rows {
				busy[r.Index] = true
			}
		}
		for _, c := range current {
			row := resultRow(dod.Result{Criterion: c})
			row.Busy = busy[c.Index]
			d.Rows = append(d.Rows, row)
		}
		if d.Defined {
			d.Word, d.Tone = "not evaluated", ui.ToneIdle
		}
		if ev != nil {
			if ev.Status != models.EvaluationDone {
				d.Word, d.Tone, d.Trouble = unresolved(*ev)
			}
			if ev.Status == models.EvaluationErrored {
				d.Error = ev.Error
			}
		}
		return d
	}
	d.Stale, d.Evaluated, d.Evaluator, d.Page = b.gate.Stale, ev.EndedAt, ev.Evaluator, views.EvaluationPath(ev.ID)
	for _, r := range summary.Results {
		row := resultRow(r)
		row.Waived = b.waived(r)
		row.Verbs = b.verbs(b.undoVerbs(r, row.Waived != ""))
		d.Rows = append(d.Rows, row)
	}
	counts := b.gate.Counts()
	d.Word, d.Tone = counts.Words(), countsTone(counts, summary)
	if d.Stale {
		d.Word, d.Tone = "out of date", ui.ToneWarn
	}
	return d
}

// countsTone is what the counts mean to the reader: what passed only by a waiver
// is no plain pass.
func countsTone(c dod.Counts, s dod.Summary) ui.Tone {
	switch {
	case s.AllPassed():
		return ui.ToneOK
	case c.Waived > 0 && c.Passed+c.Waived == c.Required:
		return ui.ToneWarn
	}
	return ui.ToneBad
}

func sameCriteria(results []dod.Result, current []dod.Criterion) bool {
	if len(results) != len(current) {
		return false
	}
	for i, r := range results {
		if r.Criterion != current[i] {
			return false
		}
	}
	return true
}

// Bounds of texts on a plan's page; the whole text is on the page of its own.
const (
	maxReasoning = 2 << 10
	maxTaskShown = 6 << 10 // of one pass
)

// resultRow is a criterion with its result as a line of a list.
func resultRow(r dod.Result) views.ResultRow {
	row := views.ResultRow{
		Index: r.Criterion.Index, Text: r.Criterion.Text, Level: r.Criterion.Level, Check: r.Criterion.Check.String(), Status: r.Status,
		Trouble: r.Kind != "" && r.Kind != dod.KindVerdict, Awaited: awaited(r), Match: r.Match,
	}
	row.Reasoning, row.Cut = cutText(r.Reasoning, maxReasoning)
	if len(r.Opinions) > 0 {
		row.Opinions = opinionRows(r.Opinions)
		switch r.Status { // the reasons stand with who gave them
		case dod.Passed:
			row.Reasoning = fmt.Sprintf("All %d judges say met.", len(r.Opinions))
		case dod.Failed:
			row.Reasoning = "The judges disagree. Only a unanimous met counts."
		}
	}
	return row
}

// awaited says whether nobody has answered yet: in data such a result is a skipped one.
func awaited(r dod.Result) bool {
	return r.Criterion.Check.Kind == dod.CheckHuman && r.Status == dod.Skipped
}
