package handlers

import (
	"strings"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// flagNotice is where a verdict's evidence talks to its judge; a pass without a
// verdict has none.
func flagNotice(v *models.Verdict) views.FlagNotice {
	if v == nil {
		return views.FlagNotice{}
	}
	n := flagsIn(v.FlagsJSON)
	n.Href = views.VerdictPath(v.ID) + "#flags"
	return n
}

// flagsIn is the notice of flags as they are stored.
func flagsIn(flagsJSON string) views.FlagNotice {
	f := engine.FlagsOf(flagsJSON)
	n := views.FlagNotice{More: f.More}
	for _, p := range f.Places {
		n.Rows = append(n.Rows, views.FlagRow{Kind: string(p.Kind), Value: p.Value, Line: p.Line, Excerpt: p.Excerpt})
	}
	return n
}

// flagged names the phases, and with them the evaluation, whose evidence talks to
// its judge as it was judged last; "" when none does. href leads to the places
// that only the evaluation has in one list.
func (b *planBuilder) flagged() (sentence, href string) {
	var where []string
	for _, d := range b.detail.Phases {
		for _, p := range d.Passes {
			if p.Pass.ID == deref(d.Phase.PassID) && flagNotice(p.Verdict).Any() {
				where = append(where, d.Phase.Name)
			}
		}
	}
	if ev := b.detail.Evaluation; ev != nil && flagsIn(ev.FlagsJSON).Any() {
		where, href = append(where, "the evaluation of the whole plan"), views.EvaluationPath(ev.ID)+"#flags"
	}
	if len(where) == 0 {
		return "", ""
	}
	return "The evidence talks to its judge in: " + strings.Join(where, ", ") + ". Look at it before you decide.", href
}
