package engine

import (
	"context"
	"fmt"
	"slices"

	"donewhen/models"
)

const (
	forecastPlans = 300 // plans of the project that are looked at
	forecastFrom  = 3   // phases that make a history
)

// Forecast says what phases like this one make one expect of it, such as
// "Usually 2 passes, at most 4 in 9 phases like this one; this is pass 5.".
// Phases like it have its name, in plans of the same project with the same
// template. It is "" for a phase that is not at work or has no condition, and
// while there is too little history.
func (e *Engine) Forecast(ctx context.Context, ph models.Phase) (string, error) {
	if ph.DoneWhen == "" || ph.Status != models.PhaseRunning && ph.Status != models.PhaseJudging {
		return "", nil
	}
	history, err := e.Store.PassesUntilMet(ctx, ph, forecastPlans)
	if err != nil {
		return "", err
	}
	return ForecastText(history, ph.Iteration+1, ph.MaxIterations), nil
}

// ForecastText is Forecast as a pure function: history is how many passes
// phases took until they were met, in any order; pass is the number of the
// current one and limit how many are allowed. Fewer than three phases are no
// history: "".
func ForecastText(history []int, pass, limit int) string {
	if len(history) < forecastFrom {
		return ""
	}
	sorted := slices.Sorted(slices.Values(history))
	least, usual, most := sorted[0], sorted[(len(sorted)-1)/2], sorted[len(sorted)-1]
	known := fmt.Sprintf("Usually %s, at most %d in %d phases like this one", passes(usual), most, len(sorted))
	if least == most {
		known = fmt.Sprintf("%s in each of %d phases like this one", passes(usual), len(sorted))
	}
	if usual > limit {
		return fmt.Sprintf("%s; this is pass %d of %d allowed.", known, pass, limit)
	}
	return fmt.Sprintf("%s; this is pass %d.", known, pass)
}

func passes(n int) string {
	if n == 1 {
		return "1 pass"
	}
	return fmt.Sprintf("%d passes", n)
}
