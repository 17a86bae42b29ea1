package handlers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// Bounds of the grids on a plan's page, which may be many: a mark with its
// reason is about 700 bytes.
const (
	gridColumns = 10  // of one grid, the newest
	gridMarks   = 120 // of all grids together, but at least gridLeast columns each
	gridLeast   = 3
	gridReason  = 240 // bytes
)

// gridSource is one column with its results.
type gridSource struct {
	column  views.GridColumn
	attempt int
	results []dod.Result
	reused  bool
	href    string         // of what is to be read about its cells
	mark    views.GridMark // of cells without a result
	word    string
	reason  string
}

// phaseGrid is a phase's criteria by its passes, nil when there is nothing to
// compare. budget is how many marks the page may still have.
func phaseGrid(d models.PhaseDetail, budget *int) *views.Grid {
	criteria := dod.ParseCriteria(d.Phase.DoneWhen)
	if len(criteria) == 0 || len(d.Passes) < 2 {
		return nil
	}
	g := views.Grid{ID: fmt.Sprintf("grid-phase-%d", d.Phase.ID), Label: fmt.Sprintf("Criteria by pass of phase %d", d.Phase.Position), Noun: "pass", Nouns: "passes"}
	var sources []gridSource
	for _, p := range d.Passes {
		sources = append(sources, passSource(p, d.Phase))
	}
	fillGrid(&g, criteria, sources, budget)
	return &g
}

// passSource is what is known about the criteria in one pass.
func passSource(p models.PassDetail, ph models.Phase) gridSource {
	row := views.PassRow{Number: p.Pass.Number(), Attempt: p.Pass.Attempt, Retried: ph.Attempt > 1}
	s := gridSource{
		column:  views.GridColumn{Label: fmt.Sprint(p.Pass.Number()), Title: row.Title(), Href: views.PassPath(p.Pass.ID)},
		attempt: p.Pass.Attempt, href: views.PassPath(p.Pass.ID), word: passMark(p).Word, reason: p.Pass.Reason,
	}
	v := p.Verdict
	if v == nil {
		if p.Pass.Status == models.PassNotMet { // its runs decided it
			s.mark = views.MarkNotAsked
		}
		return s
	}
	s.results, s.reused, s.href = engine.Results(*v), v.ReusedFrom != nil, views.VerdictPath(v.ID)
	s.reason = cmp.Or(v.Reason, s.reason)
	switch v.Kind {
	case models.VerdictRun:
		s.mark, s.word = views.MarkNotAsked, "not asked, because a run failed"
	case models.VerdictInvalid, models.VerdictTrouble:
		s.mark, s.word = views.MarkUnchecked, ""
	}
	return s
}

// dodGrid is a plan's criteria by its evaluations, newest first as the store
// has them; nil when there is nothing to compare.
func dodGrid(criteria []dod.Criterion, evaluations []models.Evaluation, past func(models.Evaluation) engine.PastEvaluation, total int, budget *int) *views.Grid {
	if len(criteria) == 0 || len(evaluations) < 2 {
		return nil
	}
	g := views.Grid{ID: "grid-dod", Label: "Criteria by evaluation", Noun: "evaluation", Nouns: "evaluations", Older: max(0, total-len(evaluations))}
	var sources []gridSource
	for i := len(evaluations) - 1; i >= 0; i-- {
		ev, n := evaluations[i], total-i
		s := gridSource{column: views.GridColumn{Label: fmt.Sprint(n), Title: fmt.Sprintf("Evaluation %d, %s", n, ev.CreatedAt.UTC().Format("2 Jan 2006 15:04 UTC")), Href: views.EvaluationPath(ev.ID)}, href: views.EvaluationPath(ev.ID)}
		switch ev.Status {
		case models.EvaluationDone:
			s.results = past(ev).Summary.Results
		case models.EvaluationErrored:
			s.mark, s.reason = views.MarkUnchecked, ev.Error
		default:
			s.word = "being evaluated"
		}
		sources = append(sources, s)
	}
	fillGrid(&g, criteria, sources, budget)
	return &g
}

// checklist is the card of the definition of done with its evaluations so far.
func (b *planBuilder) checklist(ctx context.Context) (views.DodCard, error) {
	d := b.dodCard()
	if b.detail.Evaluation == nil {
		return d, nil
	}
	evaluations, total, err := b.s.Reader.EvaluationsOf(ctx, b.plan().ID, gridColumns)
	if err != nil {
		return d, err
	}
	budget := gridMarks
	past := func(ev models.Evaluation) engine.PastEvaluation {
		var next *models.Evaluation // they are listed newest first
		if i := slices.IndexFunc(evaluations, func(o models.Evaluation) bool { return o.ID == ev.ID }); i > 0 {
			next = &evaluations[i-1]
		}
		return b.s.Engine.PastEvaluation(b.plan(), ev, b.detail.Decisions, next)
	}
	d.Grid = dodGrid(engine.Criteria(b.plan()), evaluations, past, total, &budget)
	return d, nil
}

// fillGrid puts the newest sources into g, as many as the page can bear. The
// rows are the criteria as they stand, then those that were asked once.
func fillGrid(g *views.Grid, criteria []dod.Criterion, sources []gridSource, budget *int) {
	n := min(len(sources), gridColumns, max(gridLeast, *budget/len(criteria)))
	older := len(sources) - n
	g.Older += older
	all := sources
	sources = sources[older:]
	*budget -= n * len(criteria)

	rows := make([]gridCriterion, 0, len(criteria))
	seen := map[gridCriterion]bool{}
	add := func(list []gridCriterion) {
		for _, c := range list {
			if !seen[c] {
				seen[c], rows = true, append(rows, c)
			}
		}
	}
	add(gridCriteria(criteria))
	standing := len(rows)
	found := make([]map[gridCriterion]dod.Result, len(all))
	for i, s := range all {
		found[i] = map[gridCriterion]dod.Result{}
		asked := make([]dod.Criterion, len(s.results))
		for k, r := range s.results {
			asked[k] = r.Criterion
		}
		keys := gridCriteria(asked)
		for k, c := range keys {
			found[i][c] = s.results[k]
		}
		if i >= older {
			add(keys)
		}
	}

	for _, s := range sources {
		g.Columns = append(g.Columns, s.column)
		if k := len(g.Groups) - 1; k >= 0 && sources[len(g.Columns)-2].attempt == s.attempt {
			g.Groups[k].Span++
		} else {
			g.Groups = append(g.Groups, views.GridGroup{Label: fmt.Sprintf("Attempt %d", s.attempt), Span: 1})
		}
	}
	for i, c := range rows {
		row := views.GridRow{Text: c.Text, Level: c.Level, Check: c.Check.String(), Removed: i >= standing}
		var marks []views.GridMark // of the newest attempt, those that are not shown too
		reused := false
		for k, s := range all {
			cell := gridCell(s, found[k], c, row.Removed)
			if s.attempt == all[len(all)-1].attempt {
				marks = append(marks, cell.Mark)
				if cell.Mark != views.MarkNone {
					reused = cell.Reused
				}
			}
			if k >= older {
				row.Cells = append(row.Cells, cell)
			}
		}
		if !row.Removed {
			row.Trend = views.TrendOf(marks, reused)
		}
		g.Rows = append(g.Rows, row)
	}
}

// gridCriterion tells criteria apart over time: their place among the others
// may change, and equal ones are counted.
type gridCriterion struct {
	dod.Criterion
	nth int
}

func gridCriteria(list []dod.Criterion) []gridCriterion {
	out := make([]gridCriterion, len(list))
	times := map[dod.Criterion]int{}
	for i, c := range list {
		c.Index = 0
		times[c]++
		out[i] = gridCriterion{c, times[c]}
	}
	return out
}

func gridCell(s gridSource, found map[gridCriterion]dod.Result, c gridCriterion, removed bool) views.GridCell {
	r, ok := found[c]
	cell := views.GridCell{Mark: s.mark, Word: s.word, Reason: s.reason, Href: s.href}
	switch {
	case ok:
		cell.Mark, cell.Word, cell.Reused, cell.Reason = resultMark(r), "", s.reused, r.Reasoning
	case removed || len(found) > 0:
		cell = views.GridCell{Word: "was not one of the criteria"}
	}
	var cut bool
	if cell.Reason, cut = cutText(cell.Reason, gridReason); cut {
		cell.Reason += " …"
	}
	return cell
}

// resultMark is a result as a mark. Results that nobody was asked for are
// stored as skipped ones whose reasoning begins with these words.
func resultMark(r dod.Result) views.GridMark {
	switch r.Status {
	case dod.Passed:
		return views.MarkMet
	case dod.Failed:
		return views.MarkNotMet
	}
	if awaited(r) {
		return views.MarkAwaited
	}
	if r.Kind == "" && strings.HasPrefix(strings.ToLower(r.Reasoning), "not asked") {
		return views.MarkNotAsked
	}
	return views.MarkUnchecked
}
