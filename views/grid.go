package views

import (
	"slices"
	"strconv"

	"donewhen/dod"
	"donewhen/views/ui"
)

// Grid is criteria by passes or evaluations: a row for each criterion, a column
// for each time it was looked at, oldest first.
type Grid struct {
	ID      string // unique on the page
	Label   string // "Criteria by pass of phase 2"
	Groups  []GridGroup
	Columns []GridColumn
	Rows    []GridRow
	Older   int // columns that are left out at the left
	Noun    string
	Nouns   string // of a column: "pass", "passes"
}

// GridGroup is neighbouring columns with a head of their own: an attempt.
type GridGroup struct {
	Label string
	Span  int
}

// GridColumn is one pass or evaluation.
type GridColumn struct {
	Label string // "3"
	Title string // "Attempt 2, pass 3"
	Href  string // "" when it has no page of its own
}

// GridRow is one criterion. It has as many cells as the grid has columns.
type GridRow struct {
	Text    string
	Level   dod.Level
	Check   string
	Removed bool // it is not among the criteria any more
	Cells   []GridCell
	Trend   GridTrend
}

// GridCell is what became of a criterion in one column.
type GridCell struct {
	Mark   GridMark
	Reused bool // repeated from the pass before, because the evidence is identical
	Reason string
	Word   string // says more than the mark's own word, or ""
	Href   string // where more can be read, "" for nowhere
}

func (c GridCell) word() string {
	w := c.Word
	if w == "" {
		w = c.Mark.Word()
	}
	if c.Reused {
		w += ", reused"
	}
	return w
}

func (c GridCell) icon() string {
	if c.Reused {
		return "repeat"
	}
	return c.Mark.icon()
}

func (g Grid) cellID(row, column int) string {
	return g.ID + "-" + strconv.Itoa(row+1) + "-" + strconv.Itoa(column+1+g.Older)
}

func (g Grid) older() string {
	return count(g.Older, "earlier "+g.Noun+" is", "earlier "+g.Nouns+" are") + " not shown here."
}

// gridKey is one sign of the grid with its word.
type gridKey struct {
	icon, word string
	tone       ui.Tone
}

// legend is the signs that the grid has, each once.
func (g Grid) legend() []gridKey {
	var keys []gridKey
	add := func(k gridKey) {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	for _, m := range []GridMark{MarkMet, MarkNotMet, MarkUnchecked, MarkAwaited, MarkNotAsked, MarkNone} {
		for _, r := range g.Rows {
			for _, c := range r.Cells {
				if c.Mark == m && !c.Reused {
					add(gridKey{m.icon(), m.Word(), m.tone()})
				}
			}
		}
	}
	for _, r := range g.Rows {
		for _, c := range r.Cells {
			if c.Reused {
				add(gridKey{"repeat", "reused: the evidence was identical", ui.ToneIdle})
			}
		}
	}
	return keys
}
