package dod

import (
	"fmt"
	"strings"
)

// Met reports whether a done_when is met: at least one criterion counts (is not
// informational), and every one that counts passed.
func (o Outcome) Met() bool {
	counting := 0
	for _, r := range o.Results {
		if !r.Criterion.Level.Counts() {
			continue
		}
		counting++
		if r.Status != Passed {
			return false
		}
	}
	return counting > 0
}

// Trouble returns the first invalid_reply or evaluator_error about a criterion
// that counts, or the one for which such a criterion was not asked about. With trouble the outcome is no judgement: it is to be judged again,
// and nothing of it is fed back to the agent.
func (o Outcome) Trouble() (Verdict, bool) {
	for _, a := range o.Answers {
		if a.Criterion.Level.Counts() && a.Verdict.Kind != KindVerdict {
			return a.Verdict, true
		}
	}
	for _, r := range o.Results {
		if r.Criterion.Level.Counts() && r.Kind == KindEvaluatorError {
			for _, a := range o.Answers { // about a criterion that does not count
				if a.Verdict.Kind == KindEvaluatorError {
					return a.Verdict, true
				}
			}
			return Verdict{Kind: KindEvaluatorError, Reason: r.Reasoning}, true
		}
	}
	return Verdict{}, false
}

const (
	reasonCriteria = 5   // criteria named in a reason
	reasonPart     = 300 // bytes kept of each text and each reasoning
)

// Reason says in one short text why the outcome is met, or which criteria are
// not and why. It is a verdict's reason and the feedback for the next pass.
func (o Outcome) Reason() string {
	var counting int
	var open []Result
	for _, r := range o.Results {
		if !r.Criterion.Level.Counts() {
			continue
		}
		counting++
		if r.Status != Passed {
			open = append(open, r)
		}
	}
	switch {
	case counting == 0:
		return "No criterion was checked, so nothing is met."
	case len(open) == 0 && counting == 1:
		return "The criterion is met."
	case len(open) == 0:
		return fmt.Sprintf("All %d criteria are met.", counting)
	}
	parts := make([]string, 0, reasonCriteria+1)
	for i, r := range open {
		if i == reasonCriteria {
			parts = append(parts, fmt.Sprintf("and %d more", len(open)-i))
			break
		}
		how := "not met"
		if r.Status != Failed {
			how = "could not be checked"
		}
		parts = append(parts, fmt.Sprintf("%q %s: %s",
			clip(foldLine(r.Criterion.Text), reasonPart), how, clip(strings.TrimRight(r.Reasoning, " .\n"), reasonPart)))
	}
	said := strings.Join(parts, "; ")
	if counting == 1 {
		return fmt.Sprintf("The criterion is open. %s.", said)
	}
	return fmt.Sprintf("%d of %d criteria open. %s.", len(open), counting, said)
}
