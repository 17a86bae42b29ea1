package views

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Chart is a bar chart, drawn on the server. Its numbers also stand in a table
// beside it: the chart is for seeing, the table for reading.
type Chart struct {
	ID    string // unique on the page
	Title string // what is shown, for screen readers
	Bars  []Bar
	Full  float64 // the value of a bar of full length; 0 = that of the largest
}

// Bar is one value of a chart. The label is cut where there is no room.
type Bar struct {
	Label string
	Note  string // under the label of a column, after that of a row; "" for none
	Shown string // the value in words
	Value float64
}

// desc says all values in one sentence.
func (c Chart) desc() string {
	var parts []string
	for _, b := range c.Bars {
		label := b.Label
		if b.Note != "" {
			label += " (" + b.Note + ")"
		}
		parts = append(parts, label+": "+b.Shown)
	}
	return strings.Join(parts, "; ") + "."
}

// The charts' own units: both are so many wide and scale with their place.
const (
	chartWidth   = 400
	columnFloor  = 160 // where columns stand
	columnTop    = 24  // the upper end of a full one
	columnHeight = 200 // of the whole chart
	rowHeight    = 40  // of one bar with its label above it
	rowSigns     = 52  // signs that fit above a row's bar
)

// mark is where a bar is drawn.
type mark struct {
	Bar
	X, Y, Width, Height int
	Middle              int // of a column
	Cut                 string
}

// columns are upright bars side by side.
func (c Chart) columns() []mark {
	slot := chartWidth / max(len(c.Bars), 1)
	width := min(48, slot*2/3)
	marks := make([]mark, len(c.Bars))
	for i, b := range c.Bars {
		h := scale(b.Value, c.full(), columnFloor-columnTop)
		middle := slot*i + slot/2
		marks[i] = mark{Bar: b, X: middle - width/2, Y: columnFloor - h, Width: width, Height: h, Middle: middle, Cut: b.Label}
	}
	return marks
}

// rows are bars one below the other.
func (c Chart) rows() []mark {
	marks := make([]mark, len(c.Bars))
	for i, b := range c.Bars {
		room := rowSigns - utf8.RuneCountInString(b.Shown)
		note := cutLabel(b.Note, room/2)
		if note != "" {
			room -= utf8.RuneCountInString(note) + 3
		}
		b.Note = note
		marks[i] = mark{Bar: b, Y: i * rowHeight, Width: scale(b.Value, c.full(), chartWidth), Cut: cutLabel(b.Label, room)}
	}
	return marks
}

func (c Chart) full() float64 {
	if c.Full > 0 {
		return c.Full
	}
	var most float64
	for _, b := range c.Bars {
		most = max(most, b.Value)
	}
	return most
}

// scale is a value's length. Anything above nothing is seen.
func scale(v, full float64, length int) int {
	if v <= 0 || full <= 0 || math.IsNaN(v) {
		return 0
	}
	return max(int(math.Round(min(v/full, 1)*float64(length))), 2)
}

// cutLabel cuts a text to a room of so many narrow signs; wide ones take two.
func cutLabel(s string, room int) string {
	used := 0
	for i, r := range s {
		w := 1
		if r >= 0x1100 {
			w = 2
		}
		if used += w; used > room {
			return strings.TrimSpace(s[:i]) + "…"
		}
	}
	return s
}

func num(n int) string { return strconv.Itoa(n) }

func viewBox(height int) string { return "0 0 " + num(chartWidth) + " " + num(height) }
