package handlers

import (
	"strings"
	"testing"

	"donewhen/engine"
	"donewhen/models"
)

// A phase at work says what phases like it took; one that is over says nothing.
func TestForecastOnAPhase(t *testing.T) {
	w := newWorks(t, nil)
	ph := sh("Tidy", `n=$(cat n 2>/dev/null || echo 0); n=$((n+1)); echo $n > n; echo "pass $n of it"`)
	ph.DoneWhen, ph.MaxIterations = "pass 2 of it", 4
	var done string
	for range 3 {
		done = w.done(engine.NewPlan{Phases: []engine.NewPhase{ph}})
	}
	if n := doc(t, w.vic.get("/plans/"+done)).Find("[data-forecast]").Length(); n != 0 {
		t.Error("a completed phase has a forecast")
	}
	id := w.create(engine.NewPlan{Phases: []engine.NewPhase{ph}})
	if err := w.eng.StartPlan(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	if _, err := w.eng.Once(t.Context()); err != nil { // starts the first pass
		t.Fatal(err)
	}
	if s := w.detail(id).Phases[0].Phase.Status; s != models.PhaseRunning && s != models.PhaseJudging {
		t.Fatalf("the phase is %s, and nobody ticked", s)
	}
	for name, a := range map[string]answer{"page": w.vic.get("/plans/" + id), "part": w.vic.get("/plans/"+id+"?part=phases", "HX-Request", "true")} {
		if text := doc(t, a).Find("[data-forecast]").Text(); !strings.Contains(text, "2 passes in each of 3 phases like this one; this is pass 1.") {
			t.Errorf("%s: %q", name, text)
		}
	}
	w.settle()
}
