package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Bounds of the rendering, which is what a judge and the summary card read: it has
// to fit into a model's window beside the question, however many runs and phases
// there were.
const (
	maxPart      = 64 << 10  // of each part
	maxRendering = 256 << 10 // of all parts together
)

// section is a heading of the rendering, or a part of the evidence under its title.
type section struct {
	heading string // whole lines; "" for a part
	title   string
	text    string
	cut     bool // before it came here: it is not whole
}

// Render is the bounded rendering for the judge and the summary card: the head
// and tail of each part, cut on rune boundaries and marked. checks are the
// results of deterministic checks, one line each.
func (ev Evidence) Render(checks []string) string { return render(ev.sections(checks)) }

func (ev Evidence) sections(checks []string) []section {
	var out []section
	for _, r := range ev.Runs {
		head := fmt.Sprintf("## Run %d: %s (runtime %s), %s", r.Run.Position, r.Label, r.Run.Agent.Runtime, r.Run.Status)
		if r.Run.ExitCode != nil {
			head += fmt.Sprintf(", exit code %d", *r.Run.ExitCode)
		}
		if r.Duration > 0 {
			head += fmt.Sprintf(", %s", r.Duration.Round(time.Millisecond))
		}
		out = append(out, section{heading: head}, section{title: "Final message", text: r.Message}, section{title: "Output", text: r.Output, cut: r.Cut})
	}
	out = append(out, ev.changes()...)
	if len(checks) > 0 {
		out = append(out, section{title: "Checks", text: strings.Join(checks, "\n")})
	}
	return out
}

// changes are the changed files and the added lines.
func (ev Evidence) changes() []section {
	return []section{
		{heading: fmt.Sprintf("## Changed files: %d (+%d -%d lines)", len(ev.Files), ev.Added, ev.Gone)},
		{title: "Files", text: fileList(ev.Files)},
		{title: "Added lines", text: ev.Diff, cut: ev.Cut["diff"]},
	}
}

func render(sections []section) string {
	sizes := make([]int, len(sections))
	for i, s := range sections {
		sizes[i] = len(s.text)
	}
	most := min(maxPart, fairShare(sizes, maxRendering))
	var b strings.Builder
	for _, s := range sections {
		if s.heading != "" {
			b.WriteString(s.heading + "\n")
			continue
		}
		s.write(&b, most)
	}
	return b.String()
}

// write writes one part, bounded. What was cut before says so: "none" would be a
// claim about what nobody has seen.
func (s section) write(b *strings.Builder, most int) {
	title := s.title
	if s.cut {
		title += " (too long to be kept whole: there is more that is not shown)"
	}
	if strings.TrimSpace(s.text) == "" {
		if !s.cut {
			title += ": none"
		}
		fmt.Fprintf(b, "### %s\n", title)
		return
	}
	fmt.Fprintf(b, "### %s\n%s\n", title, headTail(s.text, most))
}

// fairShare is how much each of some sizes may have so that all have no more than
// total: what small ones leave is for the large ones.
func fairShare(sizes []int, total int) int {
	sizes = slices.Sorted(slices.Values(sizes))
	for i, size := range sizes {
		if share := total / (len(sizes) - i); size > share {
			return share
		}
		total -= size
	}
	return total + slices.Max(append(sizes, 0))
}
