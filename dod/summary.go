package dod

import "time"

// Summary is one evaluation of a plan's whole definition of done.
type Summary struct {
	PlanID string `json:"plan_id"`
	// DefinitionOfDone is the rendered text, for reading.
	DefinitionOfDone string   `json:"definition_of_done"`
	Results          []Result `json:"results"`
	// EvaluatedAt is set when the evaluation is complete; the zero time means that
	// it is not, and then nothing counts as passed.
	EvaluatedAt time.Time `json:"evaluated_at"`
}

func (s Summary) count(status Status) int {
	n := 0
	for _, r := range s.Results {
		if r.Status == status {
			n++
		}
	}
	return n
}

// Total is the number of results, informational ones included.
func (s Summary) Total() int { return len(s.Results) }

// Passed is the number of passed results of any level.
func (s Summary) Passed() int { return s.count(Passed) }

// Failed is the number of failed results of any level.
func (s Summary) Failed() int { return s.count(Failed) }

// Skipped is the number of results that could not be evaluated.
func (s Summary) Skipped() int { return s.count(Skipped) }

// IsEmpty reports that there was nothing to evaluate.
func (s Summary) IsEmpty() bool { return len(s.Results) == 0 }

// Complete reports that the evaluation ended and every result has a known status.
func (s Summary) Complete() bool {
	if s.EvaluatedAt.IsZero() {
		return false
	}
	for _, r := range s.Results {
		if !r.Status.Known() {
			return false
		}
	}
	return true
}

// Required returns the results that have to pass.
func (s Summary) Required() []Result {
	var out []Result
	for _, r := range s.Results {
		if r.Criterion.Level.Counts() {
			out = append(out, r)
		}
	}
	return out
}

// AllPassed is defined positively: the evaluation is complete, there is at least
// one required criterion, and every required one is passed. It is never derived
// from "nothing failed". A waiver does not change it: that is a fact for the Gate.
func (s Summary) AllPassed() bool {
	required := s.Required()
	if !s.Complete() || len(required) == 0 {
		return false
	}
	for _, r := range required {
		if r.Status != Passed {
			return false
		}
	}
	return true
}

// ToCLIDict is the dictionary that the command line prints: the counts, the
// verdict and each result with its criterion's text, level and check.
func (s Summary) ToCLIDict() map[string]any {
	results := make([]map[string]any, 0, len(s.Results))
	for _, r := range s.Results {
		results = append(results, map[string]any{
			"index":     r.Criterion.Index,
			"criterion": r.Criterion.Text,
			"level":     string(r.Criterion.Level),
			"check":     r.Criterion.Check.String(),
			"status":    string(r.Status),
			"reasoning": r.Reasoning,
		})
	}
	evaluatedAt := ""
	if !s.EvaluatedAt.IsZero() {
		evaluatedAt = s.EvaluatedAt.UTC().Format(time.RFC3339)
	}
	return map[string]any{
		"plan_id":            s.PlanID,
		"definition_of_done": s.DefinitionOfDone,
		"total":              s.Total(),
		"passed":             s.Passed(),
		"failed":             s.Failed(),
		"skipped":            s.Skipped(),
		"all_passed":         s.AllPassed(),
		"is_empty":           s.IsEmpty(),
		"evaluated_at":       evaluatedAt,
		"results":            results,
	}
}

// ToValidationSummary is the summary other tools read: exactly these seven keys.
// required_failed counts failed only; what was skipped, waived or stale stands
// beside this summary, never in it. An empty definition of done was not evaluated.
func (s Summary) ToValidationSummary() map[string]any {
	var requiredPassed, requiredFailed, infoPassed, infoFailed int
	for _, r := range s.Results {
		switch counts := r.Criterion.Level.Counts(); {
		case counts && r.Status == Passed:
			requiredPassed++
		case counts && r.Status == Failed:
			requiredFailed++
		case !counts && r.Status == Passed:
			infoPassed++
		case !counts && r.Status == Failed:
			infoFailed++
		}
	}
	return map[string]any{
		"total":                s.Total(),
		"required_passed":      requiredPassed,
		"required_failed":      requiredFailed,
		"informational_passed": infoPassed,
		"informational_failed": infoFailed,
		"dod_evaluated":        !s.IsEmpty() && s.Complete(),
		"dod_all_passed":       s.AllPassed(),
	}
}
