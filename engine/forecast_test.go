package engine_test

import (
	"testing"

	"donewhen/engine"
	"donewhen/models"
)

func TestForecastText(t *testing.T) {
	for _, tc := range []struct {
		history     []int
		pass, limit int
		want        string
	}{
		{nil, 1, 3, ""},
		{[]int{2, 2}, 1, 3, ""},
		{[]int{2, 4, 1, 2, 2}, 5, 6, "Usually 2 passes, at most 4 in 5 phases like this one; this is pass 5."},
		{[]int{1, 9, 1, 1}, 1, 3, "Usually 1 pass, at most 9 in 4 phases like this one; this is pass 1."},
		{[]int{2, 2, 2}, 3, 5, "2 passes in each of 3 phases like this one; this is pass 3."},
		{[]int{1, 1, 1, 1}, 1, 1, "1 pass in each of 4 phases like this one; this is pass 1."},
		{[]int{5, 4, 6}, 2, 3, "Usually 5 passes, at most 6 in 3 phases like this one; this is pass 2 of 3 allowed."},
		{[]int{1, 3}, 2, 3, ""},
		{[]int{1, 1, 3, 3}, 2, 3, "Usually 1 pass, at most 3 in 4 phases like this one; this is pass 2."}, // of two middle ones the lower
	} {
		if got := engine.ForecastText(tc.history, tc.pass, tc.limit); got != tc.want {
			t.Errorf("%v, pass %d of %d: %q, want %q", tc.history, tc.pass, tc.limit, got, tc.want)
		}
	}
}

// A phase at work is compared with those of its name that went before it.
func TestForecast(t *testing.T) {
	h := newHouse(t)
	second := shell("tidy", `n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n; echo "pass $n of it"`)
	second.DoneWhen = "pass 2 of it"
	for range 3 {
		id := h.start(second)
		h.wantPhase(id, 1, models.PhaseCompleted, 2)
	}
	id := h.start(second)
	done := h.phase(id, 1).Phase
	if got, err := h.engine.Forecast(h.ctx, done); got != "" || err != nil {
		t.Errorf("a completed phase: %q, %v", got, err)
	}
	at := func(iteration int, change func(*models.Phase)) models.Phase {
		ph := done // as it was while it was at work
		ph.Status, ph.Iteration = models.PhaseRunning, iteration
		if change != nil {
			change(&ph)
		}
		return ph
	}
	for want, ph := range map[string]models.Phase{
		"2 passes in each of 3 phases like this one; this is pass 1.":              at(0, nil),
		"2 passes in each of 3 phases like this one; this is pass 5.":              at(4, func(p *models.Phase) { p.Status = models.PhaseJudging }),
		"2 passes in each of 3 phases like this one; this is pass 1 of 1 allowed.": at(0, func(p *models.Phase) { p.MaxIterations = 1 }),
	} {
		if got, err := h.engine.Forecast(h.ctx, ph); got != want || err != nil {
			t.Errorf("%q, %v\nwant %q", got, err, want)
		}
	}
	for what, ph := range map[string]models.Phase{
		"without a condition": at(0, func(p *models.Phase) { p.DoneWhen = "" }),
		"of another name":     at(0, func(p *models.Phase) { p.Name = "sweep" }),
		"waiting":             at(0, func(p *models.Phase) { p.Status = models.PhaseStalled }),
	} {
		if got, err := h.engine.Forecast(h.ctx, ph); got != "" || err != nil {
			t.Errorf("a phase %s: %q, %v", what, got, err)
		}
	}
}
