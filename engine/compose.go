package engine

import (
	"fmt"
	"strings"

	"donewhen/dod"
	"donewhen/models"
)

// Bounds of the composed task text, in bytes. Each part has its own, so that
// none can push another out.
const (
	maxTask     = 200 << 10
	maxNote     = 8 << 10
	maxFeedback = 2 << 10  // one criterion's reason
	maxChecks   = 24 << 10 // all reasons together
)

// composedMark opens the part of the task text that donewhen wrote. Its lines
// are never evidence, wherever an agent puts them.
const composedMark = "=== Done when (written by donewhen) ==="

// ComposeTask writes the exact text that the agents of a pass get: the task,
// its criteria, and from the second pass on what is still missing and why,
// what is satisfied already, and the lead's note. before is the verdict of the
// pass before, nil for a first pass; its results are `results`.
func ComposeTask(ph models.Phase, before *models.Verdict, results []dod.Result) string {
	var b strings.Builder
	b.WriteString(headTail(strings.TrimSpace(ph.Task), maxTask))
	b.WriteString("\n")
	if note := strings.TrimSpace(ph.Note); note != "" {
		b.WriteString("\n=== Note from the lead ===\n" + headTail(note, maxNote) + "\n")
	}
	criteria := dod.ParseCriteria(ph.DoneWhen)
	if len(criteria) == 0 {
		return b.String()
	}
	b.WriteString("\n" + composedMark + "\nThis phase is done when all of these are met. They are judged against what you produce, not against what you claim.\n")
	for _, c := range criteria {
		fmt.Fprintf(&b, "criterion %d: %s\n", c.Index, describe(c))
	}
	if before == nil {
		return b.String()
	}
	fmt.Fprintf(&b, "\nThis is pass %d of at most %d.", ph.Iteration+1, ph.MaxIterations)
	if before.Met {
		b.WriteString(" The pass before met its criteria; the lead wants another one.\n")
		return b.String()
	}
	b.WriteString(" The pass before was not met.\n")
	missing, satisfied := split(results)
	if len(missing) == 0 {
		b.WriteString("What is missing: " + headTail(before.Reason, maxFeedback) + "\n")
	} else {
		b.WriteString("What is missing, and why:\n")
		left := maxChecks
		for _, r := range missing {
			line := fmt.Sprintf("missing %d: %s\n  why: %s\n", r.Criterion.Index, describe(r.Criterion), indent(headTail(r.Reasoning, min(maxFeedback, max(left, 200)))))
			left -= len(line)
			b.WriteString(line)
		}
	}
	if len(satisfied) > 0 {
		b.WriteString("Already satisfied, keep it so:\n")
		for _, r := range satisfied {
			fmt.Fprintf(&b, "satisfied %d: %s\n", r.Criterion.Index, describe(r.Criterion))
		}
	}
	return b.String()
}

// describe is a criterion in one line with how it is checked.
func describe(c dod.Criterion) string {
	text := c.Text
	if c.Level == dod.Info {
		text = "(information only) " + text
	}
	if check := c.Check.String(); check != "" && check != text {
		text += " -> " + check
	}
	return strings.TrimSpace(text)
}

func split(results []dod.Result) (missing, satisfied []dod.Result) {
	for _, r := range results {
		switch {
		case r.Status == dod.Passed:
			satisfied = append(satisfied, r)
		case r.Criterion.Level != dod.Info:
			missing = append(missing, r)
		}
	}
	return missing, satisfied
}

func indent(s string) string { return strings.ReplaceAll(strings.TrimSpace(s), "\n", "\n  ") }
