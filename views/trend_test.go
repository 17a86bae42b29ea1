package views

import "testing"

func TestTrendOf(t *testing.T) {
	marks := map[byte]GridMark{'.': MarkNone, '+': MarkMet, '-': MarkNotMet, '?': MarkUnchecked, '/': MarkNotAsked, 'h': MarkAwaited}
	for _, tc := range []struct {
		marks  string // oldest first
		reused bool
		want   GridTrend
	}{
		{"", false, TrendNone},
		{".", false, TrendNone},
		{"/", false, TrendNone},
		{"+", false, TrendMet},
		{"++.", false, TrendMet},
		{"-", false, TrendOpen},
		{"--", false, TrendOpen},
		{"--", true, TrendStuck}, // the same evidence gave the same answer
		{"---", false, TrendStuck},
		{"-/-/-", false, TrendStuck},
		{"-?-.", false, TrendOpen},
		{"-+", false, TrendConverging},
		{"---++", false, TrendConverging},
		{"-+", true, TrendConverging},
		{"+-", false, TrendBroken},
		{"++--", false, TrendBroken},
		{"+---", false, TrendStuck},
		{"-+-", false, TrendFlapping},
		{"+-+", false, TrendFlapping},
		{"-+-+-+", false, TrendFlapping},
		{"-+---", false, TrendStuck}, // it has come to rest, on the wrong side
		{"?", false, TrendUnchecked},
		{"+?", false, TrendUnchecked}, // what cannot be checked is not met
		{"+?.", false, TrendUnchecked},
		{"---?", false, TrendUnchecked},
		{"?+", false, TrendMet},
		{"+/", false, TrendNone}, // nobody has looked lately
		{"-+/", false, TrendNone},
		{"---/", false, TrendStuck},
		{"-/", false, TrendOpen},
		{"h", false, TrendNone},
		{"h+", false, TrendMet},
		{"+h", false, TrendNone}, // it was signed, and has to be again
	} {
		var row []GridMark
		for i := range len(tc.marks) {
			row = append(row, marks[tc.marks[i]])
		}
		if got := TrendOf(row, tc.reused); got != tc.want {
			t.Errorf("%q (reused %v): %q, want %q", tc.marks, tc.reused, got, tc.want)
		}
	}
}
