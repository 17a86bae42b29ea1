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
	maxTask      = 200 << 10
	maxNote      = 8 << 10
	maxFeedback  = 2 << 10  // one criterion's reason
	maxChecks    = 24 << 10 // all that is missing, with reasons
	maxCriterion = 4 << 10  // one criterion's text
	maxList      = 64 << 10 // a list of criteria
)

// composedMark opens the part of the task text that donewhen wrote. Its lines
// are never evidence, wherever an agent puts them.
const composedMark = "=== Done when (written by donewhen) ==="

// beforeMark opens what a phase without a condition is told of the pass before.
const beforeMark = "=== The pass before (written by donewhen) ==="

// ComposeTask writes the exact text that the agents of a pass get: the task,
// its criteria, and from the second pass on what is still missing and why,
// what is satisfied already, and the lead's note. before is the verdict of the
// pass before, nil for a first pass; its results are `results`. plan is what the
// plan's definition of done was found to lack, where it was evaluated before.
func ComposeTask(ph models.Phase, before *models.Verdict, results, plan []dod.Result) string {
	var b strings.Builder
	b.WriteString(headTail(strings.TrimSpace(ph.Task), maxTask))
	b.WriteString("\n")
	if note := strings.TrimSpace(ph.Note); note != "" {
		b.WriteString("\n=== Note from the lead ===\n" + headTail(note, maxNote) + "\n")
	}
	b.WriteString(composePlan(plan))
	criteria := dod.ParseCriteria(ph.DoneWhen)
	if len(criteria) == 0 {
		if before != nil && !before.Met {
			b.WriteString("\n" + beforeMark + "\nIt did not succeed: " + indent(headTail(before.Reason, maxFeedback)) + "\n")
		}
		return b.String()
	}
	b.WriteString("\n" + composedMark + "\nThis phase is done when all of these are met. They are judged against what you produce, not against what you claim.\n")
	list(&b, maxList, len(criteria), func(i int) string {
		return fmt.Sprintf("criterion %d: %s\n", criteria[i].Index, describe(criteria[i]))
	})
	b.WriteString(howToObject + "\n")
	if before == nil {
		return b.String()
	}
	fmt.Fprintf(&b, "\nThis is pass %d of at most %d.", ph.Iteration+1, ph.MaxIterations)
	if before.Met {
		b.WriteString(" The pass before met its criteria; the lead wants another one.\n")
		return b.String()
	}
	changed := before.Reason == conditionChanged // it was judged by another one, and may have met that
	if changed {
		b.WriteString(" " + conditionChanged + "\n")
	} else {
		b.WriteString(" The pass before was not met.\n")
	}
	missing, satisfied := split(results)
	if len(missing) == 0 && !changed {
		b.WriteString("What is missing: " + headTail(before.Reason, maxFeedback) + "\n")
	} else if len(missing) > 0 {
		b.WriteString("What is missing, and why:\n")
		list(&b, maxChecks, len(missing), func(i int) string {
			r := missing[i]
			return fmt.Sprintf("missing %d: %s\n  why: %s\n", r.Criterion.Index, describe(r.Criterion), indent(headTail(r.Reasoning, maxFeedback)))
		})
	}
	if len(satisfied) > 0 {
		b.WriteString("Already satisfied, keep it so:\n")
		list(&b, maxList, len(satisfied), func(i int) string {
			return fmt.Sprintf("satisfied %d: %s\n", satisfied[i].Criterion.Index, describe(satisfied[i].Criterion))
		})
	}
	return b.String()
}

// list writes n entries until limit bytes are used, and says how many it left out.
func list(b *strings.Builder, limit, n int, entry func(int) string) {
	for i := range n {
		line := entry(i)
		if limit -= len(line); limit < 0 && i > 0 {
			fmt.Fprintf(b, "… and %d more\n", n-i)
			return
		}
		b.WriteString(line)
	}
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
	return headTail(strings.TrimSpace(text), maxCriterion)
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

// indent quotes a reason of several lines. The bar is ours: a line that an agent
// writes because a reason names it is not a line of its task said back.
func indent(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(cleanText(s)), "\n", "\n  | ")
}
