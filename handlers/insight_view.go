package handlers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

const (
	insightNumbers   = 8  // passes from this number on are one column
	insightBars      = 8  // of a chart of names
	insightGroups    = 15 // lines of the table of phases
	insightTemplates = 15
)

// fillInsight makes the screen of what was counted. Without anything that ended
// there are no figures, and the page is the empty one.
func fillInsight(v *views.InsightView, n counted) {
	v.Counted = n.at
	for _, cut := range []struct {
		what string
		most int
		at   *time.Time
	}{{"passes", insightPasses, n.passes.CutAt}, {"runs", insightRuns, n.runs.CutAt}, {"verdicts that were not met, for the failing criteria", insightVerdicts, n.cutAt}} {
		if cut.at != nil {
			v.Notes = append(v.Notes, fmt.Sprintf("Of %s, the newest %s are counted: those since %s UTC.", cut.what, thousands(int64(cut.most)), cut.at.UTC().Format("2 Jan 2006 15:04")))
		}
	}
	fillPasses(v, n.passes.Counts)
	fillRuns(v, n.runs.Groups)
	fillCriteria(v, n)
	if len(v.Shares) == 0 && len(v.Groups) == 0 {
		v.Figures = nil
	}
}

// passSums are the passes of one template, or of all.
type passSums struct {
	name    string
	decided [insightNumbers + 1]int // by number, from 1
	met     [insightNumbers + 1]int
	total   int // passes that were decided
	phases  int // that were met
	passes  int // that those took together
}

func (s *passSums) add(c models.PassCount) {
	n := min(c.Number, insightNumbers)
	s.decided[n] += c.Count
	s.total += c.Count
	if c.Met {
		s.met[n] += c.Count
		s.phases += c.Count
		s.passes += c.Count * c.Number
	}
}

func (s *passSums) average() float64 {
	if s.phases == 0 {
		return 0
	}
	return float64(s.passes) / float64(s.phases)
}

func fillPasses(v *views.InsightView, counts []models.PassCount) {
	all := passSums{}
	byName := map[string]*passSums{}
	last := 0
	for _, c := range counts {
		t := byName[c.Template]
		if t == nil {
			t = &passSums{name: cmp.Or(c.Template, "No template")}
			byName[c.Template] = t
		}
		t.add(c)
		all.add(c)
		last = max(last, min(c.Number, insightNumbers))
	}
	v.UntilMet = views.Chart{ID: "chart-until-met", Title: "Phases that were met, by the pass that met them"}
	v.Share = views.Chart{ID: "chart-share", Title: "Share of decided passes that were met, by pass number", Full: 1}
	for i := 1; i <= last; i++ {
		number := strconv.Itoa(i)
		if i == insightNumbers {
			number += "+"
		}
		v.Numbers = append(v.Numbers, number)
		v.UntilMet.Bars = append(v.UntilMet.Bars, views.Bar{Label: number, Shown: thousands(int64(all.met[i])), Value: float64(all.met[i])})
		share := views.ShareStat{Pass: number, Judged: thousands(int64(all.decided[i])), Met: thousands(int64(all.met[i])), Share: "–"}
		bar := views.Bar{Label: number, Note: "of " + share.Judged, Shown: "–"}
		if all.decided[i] > 0 {
			bar.Value = float64(all.met[i]) / float64(all.decided[i])
			bar.Shown = fmt.Sprintf("%.0f%%", 100*bar.Value)
			share.Share = bar.Shown
		}
		v.Share.Bars, v.Shares = append(v.Share.Bars, bar), append(v.Shares, share)
	}
	v.Figures = append(v.Figures,
		views.Figure{Name: "Phases met", Value: thousands(int64(all.phases)), Note: "with a completion condition"},
		views.Figure{Name: "Passes until met", Value: oneDecimal(all.average(), all.phases), Note: "on average"})
	fillTemplates(v, byName)
}

func fillTemplates(v *views.InsightView, byName map[string]*passSums) {
	var list []*passSums
	for _, t := range byName {
		if t.phases > 0 {
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b *passSums) int { return cmp.Or(cmp.Compare(b.phases, a.phases), cmp.Compare(a.name, b.name)) })
	v.ByName = views.Chart{ID: "chart-templates", Title: "Passes until met on average, by template"}
	for i, t := range list {
		if i == insightTemplates {
			v.Notes = append(v.Notes, fmt.Sprintf("Of %d templates, the %d with the most phases met have a line of their own.", len(list), insightTemplates))
			break
		}
		row := views.TemplateStat{Name: t.name, Met: thousands(int64(t.phases)), Average: oneDecimal(t.average(), t.phases)}
		for n := range v.Numbers {
			row.Cells = append(row.Cells, thousands(int64(t.met[n+1])))
		}
		v.Templates = append(v.Templates, row)
		if i < insightBars {
			v.ByName.Bars = append(v.ByName.Bars, views.Bar{Label: t.name, Shown: row.Average, Value: t.average()})
		}
	}
}

func fillRuns(v *views.InsightView, groups []models.RunGroup) {
	v.Time = views.Chart{ID: "chart-time", Title: "Time of runs, by phase and runtime"}
	v.Money = views.Chart{ID: "chart-money", Title: "Cost of runs, by phase and runtime"}
	var (
		runs int
		time time.Duration
		cost float64
	)
	for i, g := range groups { // the longest first
		runs, time, cost = runs+g.Runs, time+g.Time, cost+g.CostUSD
		if i < insightGroups {
			v.Groups = append(v.Groups, views.GroupStat{Phase: g.Phase, Runtime: g.Runtime, Runs: thousands(int64(g.Runs)), Time: ui.Duration(g.Time), Each: each(g),
				In: thousands(g.InputTokens), Out: thousands(g.OutputTokens), Cost: money(g.CostUSD)})
		}
		if i < insightBars {
			v.Time.Bars = append(v.Time.Bars, views.Bar{Label: g.Phase, Note: g.Runtime, Shown: ui.Duration(g.Time), Value: g.Time.Seconds()})
		}
	}
	if more := len(groups) - insightGroups; more > 0 {
		v.Fewer = fmt.Sprintf("And %d more, each of which took less time.", more)
	}
	dear := slices.Clone(groups)
	slices.SortStableFunc(dear, func(a, b models.RunGroup) int { return cmp.Compare(b.CostUSD, a.CostUSD) })
	for _, g := range dear[:min(len(dear), insightBars)] {
		if g.CostUSD > 0 {
			v.Money.Bars = append(v.Money.Bars, views.Bar{Label: g.Phase, Note: g.Runtime, Shown: money(g.CostUSD), Value: g.CostUSD})
		}
	}
	v.Figures = append(v.Figures,
		views.Figure{Name: "Time of runs", Value: ui.Duration(time), Note: "in " + thousands(int64(runs)) + " runs"},
		views.Figure{Name: "Money", Value: money(cost), Note: "as runtimes reported it"})
}

func fillCriteria(v *views.InsightView, n counted) {
	for _, f := range n.criteria {
		row := views.CriterionStat{Text: f.Text, Failed: thousands(int64(f.Failed)), More: max(len(f.Plans)-insightPlansOf, 0)}
		for _, id := range f.Plans[:min(len(f.Plans), insightPlansOf)] {
			row.Plans = append(row.Plans, views.PlanRef{Title: cmp.Or(n.titles[id], ui.Short(id)), Href: views.PlanPath(id)})
		}
		v.Criteria = append(v.Criteria, row)
	}
	if more := n.failing - len(n.criteria); more > 0 {
		v.MoreCriteria = fmt.Sprintf("And %s more, each of which failed less often.", thousands(int64(more)))
	}
}

func each(g models.RunGroup) string {
	if g.Runs == 0 {
		return "–"
	}
	return ui.Duration(g.Time / time.Duration(g.Runs))
}

func oneDecimal(f float64, of int) string {
	if of == 0 {
		return "–"
	}
	return strconv.FormatFloat(f, 'f', 1, 64)
}

// money is an amount in dollars: "–" for none, never "$0.00" for some.
func money(usd float64) string {
	switch {
	case usd <= 0:
		return "–"
	case usd < 0.01:
		return "< $0.01"
	default:
		return "$" + strconv.FormatFloat(usd, 'f', 2, 64)
	}
}
