package engine

import (
	"encoding/json"
	"slices"

	"donewhen/dod"
	"donewhen/models"
)

// PastEvaluation is an evaluation with what people said about exactly what it
// was about, whatever has moved since.
type PastEvaluation struct {
	Summary dod.Summary
	Waived  map[int]models.Decision
	Tree    string // of the workspace's files
	Stale   bool   // the plan has something else now
}

// Counts is what became of the criteria.
func (p PastEvaluation) Counts() dod.Counts { return counts(p.Summary, p.Waived) }

// PastEvaluation lays the plan's decisions over one of its evaluations. What was
// decided after next, the evaluation that followed it, is not about this one; nil is
// none that followed.
func (e *Engine) PastEvaluation(plan models.Plan, ev models.Evaluation, decisions []models.Decision, next *models.Evaluation) PastEvaluation {
	if next != nil {
		decisions = slices.DeleteFunc(slices.Clone(decisions), func(d models.Decision) bool { return !d.CreatedAt.Before(next.CreatedAt) })
	}
	out := PastEvaluation{Summary: withDecisions(SummaryOf(&ev), decisions, ev.Fingerprint), Waived: map[int]models.Decision{}, Stale: ev.Fingerprint != e.fingerprint(plan)}
	for _, d := range decisions {
		if d.Kind == models.DecisionWaive && d.Fingerprint == ev.Fingerprint {
			out.Waived[d.Criterion] = d
		}
	}
	var parts fingerprintParts
	if json.Unmarshal([]byte(ev.PartsJSON), &parts) == nil {
		out.Tree = parts.Tree
	}
	return out
}

func counts(s dod.Summary, waived map[int]models.Decision) dod.Counts {
	return s.Counts(func(c dod.Criterion) bool {
		_, yes := waived[c.Index]
		return yes && c.Level == dod.Required
	})
}
