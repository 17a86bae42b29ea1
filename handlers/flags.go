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
	f := engine.FlagsOf(*v)
	n := views.FlagNotice{More: f.More, Href: views.VerdictPath(v.ID) + "#flags"}
	for _, p := range f.Places {
		n.Rows = append(n.Rows, views.FlagRow{Kind: string(p.Kind), Value: p.Value, Line: p.Line, Excerpt: p.Excerpt})
	}
	return n
}

// flagged names the phases whose evidence, as it was judged last, talks to its
// judge; "" when none does.
func (b *planBuilder) flagged() string {
	var names []string
	for _, d := range b.detail.Phases {
		for _, p := range d.Passes {
			if p.Pass.ID == deref(d.Phase.PassID) && flagNotice(p.Verdict).Any() {
				names = append(names, d.Phase.Name)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "The evidence talks to its judge in: " + strings.Join(names, ", ") + ". Look at it before you decide."
}
