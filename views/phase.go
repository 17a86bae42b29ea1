package views

import (
	"strconv"
	"strings"

	"donewhen/views/ui"
)

// limits is what a phase may take, in few words.
func (p PhaseCard) limits() string {
	s := "at most " + count(p.MaxIterations, "pass", "passes")
	if len(p.DoneWhen) == 0 {
		s = "one pass"
	}
	if p.Opinions > 1 {
		s += ", " + count(p.Opinions, "judge", "judges")
	}
	if p.NeedsApproval {
		s += ", then an approval"
	}
	return s
}

// note is the quiet end of a pass's line.
func (p PassRow) note() string {
	var parts []string
	if p.Took > 0 {
		parts = append(parts, ui.Duration(p.Took))
	}
	if p.Judge != "" && p.Judge != "none" {
		parts = append(parts, "judged by "+p.Judge)
	}
	return strings.Join(parts, ", ")
}

func exitCode(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func (p PhaseCard) agentsTitle() string {
	if len(p.Agents) == 1 {
		return "Agent"
	}
	return "Agents, in order"
}

func (a AgentRow) command() string {
	if a.CommandCut {
		return a.Command + " …"
	}
	return a.Command
}
