package views

import "donewhen/views/ui"

// GridMark is what became of a criterion in one pass or evaluation.
type GridMark string

const (
	MarkNone      GridMark = ""          // nothing was judged (yet)
	MarkMet       GridMark = "met"       //
	MarkNotMet    GridMark = "not met"   //
	MarkUnchecked GridMark = "unchecked" // somebody tried to find out and could not
	MarkNotAsked  GridMark = "not asked" // something else had decided before
	MarkAwaited   GridMark = "awaited"   // a person is to say so
)

func (m GridMark) decided() bool { return m == MarkMet || m == MarkNotMet }

// Word is the mark as people read it.
func (m GridMark) Word() string {
	switch m {
	case MarkNone:
		return "not judged"
	case MarkUnchecked:
		return "could not be checked"
	case MarkAwaited:
		return "waiting for a person"
	}
	return string(m)
}

func (m GridMark) tone() ui.Tone {
	switch m {
	case MarkMet:
		return ui.ToneOK
	case MarkNotMet:
		return ui.ToneBad
	case MarkUnchecked, MarkAwaited:
		return ui.ToneWarn
	}
	return ui.ToneIdle
}

func (m GridMark) icon() string {
	switch m {
	case MarkMet:
		return "circle-check"
	case MarkNotMet:
		return "circle-x"
	case MarkUnchecked:
		return "circle-help"
	case MarkNotAsked:
		return "circle-slash"
	case MarkAwaited:
		return "hand"
	}
	return "circle-dashed"
}

// GridTrend is where a criterion is heading, in a word.
type GridTrend string

const (
	TrendNone       GridTrend = ""              // too little is known to say anything
	TrendMet        GridTrend = "met"           // it was met each time
	TrendConverging GridTrend = "converging"    // it was not met, and is met since
	TrendOpen       GridTrend = "not yet"       // not met so far, after few passes
	TrendStuck      GridTrend = "stuck"         // not met for three passes on end, or again on the same evidence
	TrendFlapping   GridTrend = "flapping"      // it was met, was not, and was again, or the other way round
	TrendBroken     GridTrend = "broken again"  // it was met, and is not any more
	TrendUnchecked  GridTrend = "not checkable" // the newest try to find out had no answer
)

// stuckAfter is how many times on end a criterion is not met before it counts
// as stuck: most phases take two passes, so two of them say little.
const stuckAfter = 3

// TrendOf reads a row's marks, oldest first. reused says that the newest one
// repeats the one before, because the evidence is identical. What was not
// judged or not asked decides nothing; while it is the newest, nothing good is
// said of the row either, and a newest mark that could not be checked never
// looks like a met one.
func TrendOf(marks []GridMark, reused bool) GridTrend {
	last := MarkNone // of those that say anything
	var decided []GridMark
	for _, m := range marks {
		if m != MarkNone {
			last = m
		}
		if m.decided() {
			decided = append(decided, m)
		}
	}
	if last == MarkUnchecked {
		return TrendUnchecked
	}
	if len(decided) == 0 {
		return TrendNone
	}
	changes, same := 0, 1
	for i := 1; i < len(decided); i++ {
		if decided[i] != decided[i-1] {
			changes++
			same = 1
		} else {
			same++
		}
	}
	now := decided[len(decided)-1]
	switch {
	case now == MarkNotMet && (same >= stuckAfter || same > 1 && reused):
		return TrendStuck
	case changes > 1:
		return TrendFlapping
	case now == MarkNotMet && changes == 1:
		return TrendBroken
	case now == MarkNotMet:
		return TrendOpen
	case last == MarkNotAsked || last == MarkAwaited:
		return TrendNone
	case changes == 1:
		return TrendConverging
	}
	return TrendMet
}

func (t GridTrend) tone() ui.Tone {
	switch t {
	case TrendMet, TrendConverging:
		return ui.ToneOK
	case TrendStuck, TrendBroken:
		return ui.ToneBad
	case TrendFlapping, TrendUnchecked:
		return ui.ToneWarn
	}
	return ui.ToneIdle
}

func (t GridTrend) icon() string {
	switch t {
	case TrendMet:
		return "check"
	case TrendConverging:
		return "arrow-up"
	case TrendStuck:
		return "minus"
	case TrendBroken:
		return "arrow-down"
	case TrendFlapping:
		return "activity"
	case TrendUnchecked:
		return "circle-help"
	}
	return "circle-dashed"
}
