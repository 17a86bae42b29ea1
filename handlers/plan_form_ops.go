package handlers

import (
	"slices"
	"strings"
)

// What the form's buttons do to it.
const (
	opCreate = "create"
	opUpdate = "update" // look again: previews, fields of another runtime or template
)

// blankPhase is a phase as it is offered: three passes, so that a condition has
// a chance to be met with the verdict's reason.
func blankPhase(key, runtime string) phaseDraft {
	return phaseDraft{key: key, passes: "3", agents: []agentDraft{{key: "0", runtime: runtime}}}
}

// apply does what a button of the form says: "phase.add", "phase.up:KEY",
// "agent.remove:PHASE:KEY", …. It returns the key of the phase (and agent) that
// was added. What it does not know, it leaves alone.
func (d *planDraft) apply(op, runtime string) (phase, agent string) {
	verb, rest, _ := strings.Cut(op, ":")
	key, agentKey, _ := strings.Cut(rest, ":")
	if verb == "phase.add" {
		keys := make([]string, len(d.phases))
		for i, p := range d.phases {
			keys[i] = p.key
		}
		p := blankPhase(newKey(keys), runtime)
		d.phases = append(d.phases, p)
		return p.key, ""
	}
	at := slices.IndexFunc(d.phases, func(p phaseDraft) bool { return p.key == key })
	if at < 0 {
		return "", ""
	}
	switch what, how, _ := strings.Cut(verb, "."); {
	case what == "agent":
		p := &d.phases[at]
		if i := slices.IndexFunc(p.agents, func(a agentDraft) bool { return a.key == agentKey }); i >= 0 {
			p.agents = rearranged(p.agents, i, how)
		}
	case how == "agent":
		p := &d.phases[at]
		keys := make([]string, len(p.agents))
		for i, a := range p.agents {
			keys[i] = a.key
		}
		a := agentDraft{key: newKey(keys), runtime: runtime}
		p.agents = append(p.agents, a)
		return p.key, a.key
	default:
		d.phases = rearranged(d.phases, at, how)
	}
	return "", ""
}

// rearranged is a list with one part moved up or down, or removed; the last
// part stays.
func rearranged[T any](list []T, at int, how string) []T {
	switch {
	case how == "up" && at > 0:
		list[at-1], list[at] = list[at], list[at-1]
	case how == "down" && at < len(list)-1:
		list[at+1], list[at] = list[at], list[at+1]
	case how == "remove" && len(list) > 1:
		return slices.Delete(list, at, at+1)
	}
	return list
}
