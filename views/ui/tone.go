package ui

// Tone is what a status means to the reader. Each has a colour and an icon of
// its own shape; the word always stands beside them, so that nothing depends
// on telling colours apart.
type Tone string

const (
	ToneIdle Tone = "idle" // not begun, over without a judgement: draft, pending, cancelled, skipped
	ToneBusy Tone = "busy" // somebody is at work: queued, running, judging, applying
	ToneOK   Tone = "ok"   // met, passed, completed, applied
	ToneWarn Tone = "warn" // a person is asked: waiting, awaiting approval, stalled, needs attention
	ToneBad  Tone = "bad"  // not met, failed, exhausted, errored, timed out, lost
)

// icon is the shape that goes with the tone when the caller names none.
func (t Tone) icon() string {
	switch t {
	case ToneBusy:
		return "circle-dot"
	case ToneOK:
		return "circle-check"
	case ToneWarn:
		return "triangle-alert"
	case ToneBad:
		return "circle-x"
	default:
		return "circle-dashed"
	}
}

// text is the class that colours text and icons.
func (t Tone) text() string {
	switch t {
	case ToneBusy:
		return "text-busy"
	case ToneOK:
		return "text-ok"
	case ToneWarn:
		return "text-warn"
	case ToneBad:
		return "text-bad"
	default:
		return "text-idle"
	}
}

// badge is the classes of a badge: coloured text on a tint of the same colour.
func (t Tone) badge() string {
	switch t {
	case ToneBusy:
		return "text-busy bg-busy/10 border-busy/25"
	case ToneOK:
		return "text-ok bg-ok/10 border-ok/25"
	case ToneWarn:
		return "text-warn bg-warn/10 border-warn/30"
	case ToneBad:
		return "text-bad bg-bad/10 border-bad/25"
	default:
		return "text-idle bg-idle/8 border-idle/25"
	}
}

// edge is the classes of an alert's border and ground.
func (t Tone) edge() string {
	switch t {
	case ToneBusy:
		return "border-busy/30 bg-busy/6"
	case ToneOK:
		return "border-ok/30 bg-ok/6"
	case ToneWarn:
		return "border-warn/35 bg-warn/8"
	case ToneBad:
		return "border-bad/30 bg-bad/6"
	default:
		return "border-border bg-card"
	}
}
