package views

import (
	"strconv"
	"strings"

	"donewhen/views/ui"
)

func (g GateCard) tone() ui.Tone {
	switch {
	case g.Applied || g.Open:
		return ui.ToneOK
	case g.Ended:
		return ui.ToneIdle
	case g.Waiting:
		return ui.ToneBusy
	default:
		return ui.ToneWarn
	}
}

func (g GateCard) title() string {
	if g.Ended {
		return "Outcome"
	}
	return "Ready to apply?"
}

// headline is the only reason itself; of several none stands for the others.
func (g GateCard) headline() string {
	if n := len(g.Reasons); n > 1 && !g.Ended {
		return strconv.Itoa(n) + " things are in the way."
	}
	return g.Sentence
}

func (g GateCard) word() string {
	switch {
	case g.Applied:
		return "applied"
	case g.Ended:
		return "over"
	case g.Open:
		return "open"
	default:
		return "closed"
	}
}

func (g GateCard) icon() string {
	switch {
	case g.Applied:
		return "git-merge"
	case g.Open:
		return "circle-check"
	case g.Ended:
		return "circle-slash"
	default:
		return "ban"
	}
}

// note is the quiet line beside the apply button.
func (g GateCard) note() string {
	return strings.TrimSpace(g.Will + " " + g.Behind)
}

func toneText(t ui.Tone) string {
	switch t {
	case ui.ToneBusy:
		return "text-busy"
	case ui.ToneOK:
		return "text-ok"
	case ui.ToneWarn:
		return "text-warn"
	case ui.ToneBad:
		return "text-bad"
	default:
		return "text-idle"
	}
}
