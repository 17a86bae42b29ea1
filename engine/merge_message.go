package engine

import (
	"fmt"
	"strings"

	"donewhen/dod"
	"donewhen/models"
)

// maxSubject bounds a commit message's first line, in bytes.
const maxSubject = 100

// applyMessage is the merge commit's message, with trailers that name the plan
// and the summary of its definition of done.
func applyMessage(plan models.Plan, gate GateView, actor models.Actor) string {
	title := strings.Join(strings.Fields(cleanText(plan.Title)), " ")
	var b strings.Builder
	subject := cutLine(title, maxSubject)
	b.WriteString(subject + "\n\n")
	if subject != title {
		b.WriteString(title + "\n\n")
	}
	if goal := strings.TrimSpace(cleanText(plan.Goal)); goal != "" {
		b.WriteString(headTail(goal, 2000) + "\n\n")
	}
	fmt.Fprintf(&b, "Donewhen-Plan: %s\n", plan.ID)
	if s := gate.Summary; s.Total() > 0 {
		fmt.Fprintf(&b, "Donewhen-DoD: %s\n", gate.Counts().Sentence())
	} else {
		b.WriteString("Donewhen-DoD: none\n")
	}
	for _, line := range bounded(checkedTrailers(gate.Summary), "criteria") {
		b.WriteString(line + "\n")
	}
	for _, line := range bounded(decidedTrailers(gate), "decisions") {
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(&b, "Donewhen-Applied-By: %s\n", strings.Join(strings.Fields(actor.Name), " "))
	return b.String()
}

// maxTrailers bounds each list in a merge commit's message; the plan's page has
// all of it.
const maxTrailers = 40

// bounded is the beginning of the lines, and how many more there are.
func bounded(lines []string, of string) []string {
	if n := len(lines) - maxTrailers; n > 0 { // there may be any number of lines taken out: they come last
		lines = append(lines[:maxTrailers:maxTrailers], fmt.Sprintf("Donewhen-More: %d further %s", n, of))
	}
	return lines
}

// oneLine is text as part of a trailer, limit bytes of it.
func oneLine(text string, limit int) string {
	return cutLine(strings.Join(strings.Fields(cleanText(text)), " "), limit)
}

// checkedTrailers name each criterion with what became of it and how it was checked.
func checkedTrailers(s dod.Summary) (lines []string) {
	for _, r := range s.Results {
		line := "Donewhen-Criterion: " + string(r.Status) + ": " + oneLine(r.Criterion.Text, 200)
		if check := oneLine(r.Criterion.Check.String(), 200); check != "" && r.Criterion.Check.Kind != dod.CheckText {
			line += " (" + check + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// decidedTrailers name what people decided instead of a check, one line each: what
// was taken out of the definition of done or a condition, waived, signed off, approved or accepted as it is, and
// what nobody checked.
func decidedTrailers(gate GateView) (lines []string) {
	add := func(key, about, by, reason string) {
		line := key + ": " + oneLine(about, 200) + " (" + strings.Join(strings.Fields(by), " ")
		if reason = oneLine(reason, 300); reason != "" {
			line += ": " + reason
		}
		lines = append(lines, line+")")
	}
	for _, r := range gate.Summary.Results {
		if w, ok := gate.Waived[r.Criterion.Index]; ok && r.Status != dod.Passed {
			add("Donewhen-Waived", r.Criterion.Text, w.UserName, w.Reason)
		}
	}
	for _, d := range gate.SignedOff {
		add("Donewhen-Signed-Off", gate.criterion(d.Criterion), d.UserName, d.Reason)
	}
	for _, a := range gate.Accepted {
		add("Donewhen-Accepted-As-It-Is", fmt.Sprintf("phase %d, %s", a.Position, a.Name), a.By, a.Reason)
	}
	for _, a := range gate.Approved {
		add("Donewhen-Approved", fmt.Sprintf("phase %d, %s", a.Position, a.Name), a.By, a.Reason)
	}
	if gate.ChangedSince {
		lines = append(lines, "Donewhen-Changed-Since: files were changed after the last pass, outside of any run: no condition was judged on that")
	}
	if p := gate.Preview; p != nil && p.Behind > 0 {
		lines = append(lines, fmt.Sprintf("Donewhen-Target-Moved: by %d since the plan's base: no check saw both", p.Behind))
	}
	if p := gate.Preview; p != nil && len(p.Resolved) > 0 {
		files := make([]string, len(p.Resolved))
		for i, f := range p.Resolved {
			files[i] = oneName(f)
		}
		lines = append(lines, "Donewhen-Conflict-Settled: "+cutLine(strings.Join(files, ", "), 500))
	}
	for _, d := range gate.Dropped {
		key, what := "Donewhen-DoD-Changed", d.Text
		if d.Position > 0 {
			key, what = "Donewhen-Condition-Changed", fmt.Sprintf("phase %d, %s: %s", d.Position, d.Phase, d.Text)
		}
		add(key, what, d.By, d.Reason)
	}
	return lines
}

func (v GateView) criterion(index int) string {
	for _, r := range v.Summary.Results {
		if r.Criterion.Index == index {
			return r.Criterion.Text
		}
	}
	return "criterion " + itoa(index)
}
