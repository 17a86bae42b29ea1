package views

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestChartScale(t *testing.T) {
	for _, tc := range []struct {
		v, full float64
		want    int
	}{
		{0, 10, 0}, {10, 10, 100}, {5, 10, 50}, {20, 10, 100}, {0.0001, 10, 2}, {-1, 10, 0}, {1, 0, 0}, {math.NaN(), 10, 0}, {math.Inf(1), 10, 100},
	} {
		if got := scale(tc.v, tc.full, 100); got != tc.want {
			t.Errorf("%v of %v is %d long, want %d", tc.v, tc.full, got, tc.want)
		}
	}
}

func TestCutLabel(t *testing.T) {
	for in, want := range map[string]string{
		"":           "",
		"0123456789": "0123456789", "01234567890": "0123456789…", "012345678 9": "012345678…",
		"日本語日本": "日本語日本", "日本語日本語": "日本語日本…",
	} {
		if got := cutLabel(in, 10); got != want {
			t.Errorf("%q is cut to %q, want %q", in, got, want)
		}
	}
}

// Bars stay inside the chart and off each other, however many there are.
func TestChartsStayInside(t *testing.T) {
	for n := 1; n <= 20; n++ {
		c := Chart{}
		for i := range n {
			c.Bars = append(c.Bars, Bar{Label: strings.Repeat("wörter ", i), Note: strings.Repeat("n", 3*i), Shown: "12 min 00 s", Value: float64(i)})
		}
		end := -1
		for i, m := range c.columns() {
			if m.X <= end || m.X+m.Width > chartWidth || m.Y < columnTop || m.Y+m.Height != columnFloor {
				t.Errorf("%d columns, the %d.: %+v", n, i+1, m)
			}
			end = m.X + m.Width
		}
		for i, m := range c.rows() {
			signs := utf8.RuneCountInString(m.Cut) + utf8.RuneCountInString(m.Shown) + utf8.RuneCountInString(m.Note)
			if m.Width > chartWidth || signs > rowSigns+2 {
				t.Errorf("%d rows, the %d.: %d signs: %+v", n, i+1, signs, m)
			}
		}
	}
}
