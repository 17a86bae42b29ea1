package dod

import "fmt"

// gateDoD are the rows about a finished plan's definition of done, and the
// sentence for when none of them holds.
func gateDoD(f GateFacts) (reasons []Reason, passed string) {
	if r, ok := evaluationReason(f); ok {
		return []Reason{r}, ""
	}
	required := f.Summary.Required()
	if len(required) == 0 {
		return []Reason{{Code: ReasonNothingRequired, Action: ActionEditDoD,
			Sentence: "Only informational criteria: nothing is required."}}, ""
	}
	var failed, skipped, rejected, awaited []Result
	people := 0
	for _, r := range required {
		human := r.Criterion.Check.Kind == CheckHuman
		if human {
			people++
		}
		switch {
		case r.Status == Passed, isWaived(f, r.Criterion):
		case human && r.Status == Failed:
			rejected = append(rejected, r)
		case human:
			awaited = append(awaited, r)
		case r.Status == Failed:
			failed = append(failed, r)
		default:
			skipped = append(skipped, r)
		}
	}
	if n := len(failed); n > 0 {
		reasons = append(reasons, criteriaReason(ReasonRequiredFailed, failed,
			fmt.Sprintf("%d of %s failed", n, pluralCriteria(len(required)))))
	}
	if n := len(skipped); n > 0 {
		reasons = append(reasons, criteriaReason(ReasonRequiredSkipped, skipped,
			pluralCriteria(n)+" could not be checked"))
	}
	if len(rejected) > 0 {
		reasons = append(reasons, peopleReason(ReasonRejected, rejected, pluralWords(len(rejected), "criterion was rejected", "criteria were rejected"), f))
	}
	if n := len(awaited); n > 0 {
		reasons = append(reasons, peopleReason(ReasonApprovalsMissing, awaited,
			fmt.Sprintf("%d of %s given", people-n-len(rejected), plural(people, "approval")), f))
	}
	passed = f.Summary.Counts(func(c Criterion) bool { return isWaived(f, c) }).Sentence()
	return reasons, passed
}

// evaluationReason holds while there is no evaluation of what is there now.
func evaluationReason(f GateFacts) (Reason, bool) {
	switch f.Evaluation {
	case EvaluationDone:
	case EvaluationQueued, EvaluationRunning:
		if f.EvaluationStopped {
			return Reason{Code: ReasonEvaluating, Action: ActionWait, Details: nonEmpty(f.EvaluationError),
				Sentence: "The evaluation is being stopped. Wait until its checks have ended."}, true
		}
		return Reason{Code: ReasonEvaluating, Action: ActionWait,
			Sentence: "The definition of done is being evaluated. Wait for the result."}, true
	case EvaluationErrored:
		if f.OverBudget != "" {
			return Reason{Code: ReasonEvaluationError, Action: ActionRaiseBudget, Details: nonEmpty(f.OverBudget),
				Sentence: "The evaluation was stopped: " + raiseIt(f.OverBudget)}, true
		}
		if f.EvaluationStopped {
			return Reason{Code: ReasonEvaluationError, Action: ActionRetryEvaluation, Details: nonEmpty(f.EvaluationError),
				Sentence: "The evaluation was stopped before it had a result. Evaluate again."}, true
		}
		sentence := "The evaluation could not be carried out"
		if f.EvaluationError != "" {
			sentence += ": " + clip(foldLine(f.EvaluationError), 500)
		}
		return Reason{Code: ReasonEvaluationError, Action: ActionRetryEvaluation, Details: nonEmpty(f.EvaluationError),
			Sentence: sentence + ". Try again."}, true
	default:
		return Reason{Code: ReasonNotEvaluated, Action: ActionEvaluate,
			Sentence: "The definition of done was never evaluated. Evaluate it."}, true
	}
	if !f.Summary.Complete() {
		return Reason{Code: ReasonEvaluationError, Action: ActionRetryEvaluation,
			Sentence: "The evaluation is not complete. Try again."}, true
	}
	if !sameFingerprint(f.EvaluatedFingerprint, f.CurrentFingerprint) {
		what := ""
		if len(f.Changed) > 0 {
			what = " (" + list(f.Changed, " and ") + ")"
		}
		return Reason{Code: ReasonStale, Action: ActionEvaluate, Details: f.Changed,
			Sentence: "Evaluated before the last change" + what + ". Evaluate again."}, true
	}
	return Reason{}, false
}

func raiseIt(overBudget string) string { return clip(foldLine(overBudget), 500) + " Raise it." }

// isWaived: only a plainly required criterion can be waived, and only by a
// decision about what is there now.
func isWaived(f GateFacts, c Criterion) bool {
	if c.Level != Required {
		return false
	}
	for _, w := range f.Waivers {
		if w.Criterion == c.Index && sameFingerprint(w.Fingerprint, f.CurrentFingerprint) {
			return true
		}
	}
	return false
}

// criteriaReason names the criteria; it offers a waiver when one of them can be
// waived, else the work has to be done.
func criteriaReason(code ReasonCode, results []Result, sentence string) Reason {
	r := Reason{Code: code, Action: ActionRework}
	if code == ReasonRequiredSkipped {
		r.Action = ActionEvaluate
	}
	names := make([]string, len(results))
	trouble := false
	for i, result := range results {
		c := result.Criterion
		names[i] = clip(foldLine(c.Text), 120)
		r.Details = append(r.Details, names[i]+": "+result.Reasoning)
		r.Criteria = append(r.Criteria, c.Index)
		trouble = trouble || result.Kind != "" && result.Kind != KindVerdict
		if c.Level == Required {
			r.Waivable = append(r.Waivable, c.Index)
			r.Action = ActionWaive
		}
	}
	r.Sentence = sentence + ": " + list(names, ", ") + "."
	if trouble { // the judge's, not the work's: asking again is the remedy
		r.Action = ActionRetryEvaluation
		r.Sentence += " The judge was in trouble. Evaluate again."
	}
	return r
}

// peopleReason is about `human` criteria: who said no, or who is waited for.
func peopleReason(code ReasonCode, results []Result, sentence string, f GateFacts) Reason {
	r := criteriaReason(code, results, sentence)
	r.Action = ActionApprove
	r.Sentence += whoCanAct(f)
	return r
}

func pluralWords(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func pluralCriteria(n int) string {
	if n == 1 {
		return "1 required criterion"
	}
	return fmt.Sprintf("%d required criteria", n)
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
