package dod

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"time"
)

// Opinion is what one of several judges said about a criterion.
type Opinion struct {
	Evaluator string `json:"evaluator"`
	Verdict
}

// Panel is who is asked for n opinions: first, then those of more that are not
// first, in their order, then first again. nil when first is, for then nobody is
// asked. The askers after the first are a Suite's Others.
func Panel(first Asker, more []Asker, n int) []Asker {
	if first == nil {
		return nil
	}
	panel := []Asker{first}
	for _, a := range more {
		if len(panel) < n && a != nil && a.Evaluator() != first.Evaluator() {
			panel = append(panel, a)
		}
	}
	for len(panel) < n {
		panel = append(panel, first)
	}
	return panel
}

// PanelSpec names a panel, each asker in its turn: "openai:m + runtime:claude".
// It is "text" for nobody.
func PanelSpec(panel []Asker) string {
	if len(panel) == 0 {
		return "text"
	}
	names := make([]string, len(panel))
	for i, a := range panel {
		names[i] = a.Evaluator()
	}
	return strings.Join(names, " + ")
}

// opinions asks the judges about c one after the other. It ends with the first
// who does not say met: what one of them misses cannot become met. why says why
// one that was wanted was not asked, "" otherwise.
func (s Suite) opinions(ctx context.Context, c Criterion, unreachable *atomic.Bool) (asked []Answer, why string) {
	for i, judge := range append([]Asker{s.Asker}, s.Others...) {
		switch err := ctx.Err(); {
		case err != nil:
			return asked, "the evaluation was stopped: " + err.Error()
		case unreachable.Load():
			return asked, notReached
		case judge == nil:
			return asked, "a judge that is wanted is missing"
		}
		began := time.Now()
		a := s.ask(ctx, judge, c)
		a.Opinion, a.Millis = i, time.Since(began).Milliseconds()
		asked = append(asked, a)
		if a.Verdict.Kind == KindEvaluatorError {
			unreachable.Store(true)
		}
		if a.Verdict.Kind != KindVerdict || !a.Verdict.Met {
			break
		}
	}
	return asked, ""
}

// notReached is why a question is not begun after an evaluator error.
const notReached = "not asked, because the judge could not be reached"

// combine is the result of a criterion about which wanted judges were to be
// asked. It passes only when each of them gave a valid verdict that says met.
func combine(c Criterion, asked []Answer, wanted int, why string) Result {
	if len(asked) == 0 {
		r := skipped(c, why)
		if why == notReached {
			r.Kind = KindEvaluatorError
		}
		return r
	}
	last := asked[len(asked)-1]
	r := judgedResult(last)
	if len(asked) > 1 {
		for _, a := range asked {
			r.Opinions = append(r.Opinions, Opinion{Evaluator: a.Evaluator, Verdict: a.Verdict})
		}
	}
	switch {
	case r.Status == Passed && len(asked) < wanted:
		r.Status, r.Reasoning = Skipped, fmt.Sprintf("%d of %d judges said met, the next was %s", len(asked), wanted, why)
		if why == notReached {
			r.Kind = KindEvaluatorError
		}
	case r.Status == Passed && wanted > 1:
		r.Reasoning = fmt.Sprintf("all %d judges say met: %s", wanted, asked[0].Verdict.Reason)
	case len(asked) > 1 && r.Status == Failed:
		r.Reasoning = fmt.Sprintf("the %s judge (%s) does not agree that it is met: %s", nth(len(asked)), last.Evaluator, last.Verdict.Reason)
	case len(asked) > 1:
		r.Reasoning = fmt.Sprintf("the %s judge (%s): %s", nth(len(asked)), last.Evaluator, r.Reasoning)
	}
	return r
}

func nth(n int) string {
	words := []string{"first", "second", "third"}
	if n > len(words) {
		return fmt.Sprintf("%dth", n)
	}
	return words[n-1]
}
