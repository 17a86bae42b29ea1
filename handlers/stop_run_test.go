package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"donewhen/models"
)

// An agent without end is stopped from the plan's page or the run's, and the plan
// then says what may follow.
func TestARunIsStoppedOnItsPage(t *testing.T) {
	for _, page := range []string{"plan", "run"} {
		t.Run(page, func(t *testing.T) {
			w := newWorks(t, nil)
			id := w.running(sh("Endless", "echo x > made.txt; while :; do sleep 0.05; done"))
			go func() { _, _ = w.eng.Once(t.Context()) }()
			run := w.begun(id)
			ph := w.detail(id).Phases[0].Phase
			path, key := "/plans/"+id, fmt.Sprintf("phase-%d-stop-run", ph.ID)
			if page == "run" {
				path = fmt.Sprintf("/runs/%d", run.ID)
			}
			if doc(t, w.vic.get(path)).Find(`[data-verb="`+key+`"]`).Length() != 0 {
				t.Error("a viewer may stop it")
			}
			a := w.lea.get(path)
			want(t, w.lea.press(a, key, "reason", "It burns."), http.StatusSeeOther, fmt.Sprintf("/plans/%s#phase-%d", id, ph.ID))
			for end := time.Now().Add(time.Minute); w.detail(id).Plan.Status != models.PlanWaiting; time.Sleep(20 * time.Millisecond) {
				w.eng.Drain()
				_, _ = w.eng.Once(t.Context())
				if time.Now().After(end) {
					t.Fatalf("the phase is %s", w.detail(id).Phases[0].Phase.Status)
				}
			}
			d := doc(t, w.lea.get("/plans/"+id))
			if mark := d.Find("#phase-1 [data-mark], #phase-1 details .badge, #phase-1 .badge").Text(); !strings.Contains(mark, "stopped") {
				t.Errorf("the pass is marked %q", mark)
			}
			for _, verb := range []string{"try-again", "retry", "accept"} {
				if d.Find(fmt.Sprintf(`[data-verb="phase-%d-%s"]`, ph.ID, verb)).Length() == 0 {
					t.Errorf("%s is not offered", verb)
				}
			}
			if text := d.Find("main").Text(); !strings.Contains(text, "Stopped by lea: It burns.") || !strings.Contains(text, "stopped a run of phase 1 (Endless)") {
				t.Error("the page does not say who stopped it and why")
			}
			want(t, w.lea.press(a, key, "reason", "twice"), http.StatusConflict)
			if d := doc(t, w.lea.get(fmt.Sprintf("/runs/%d", run.ID))); d.Find(`[data-verb="`+key+`"]`).Length() != 0 || !strings.Contains(d.Find("#run").Text(), "Stopped by lea: It burns.") {
				t.Error("the run's page does not say it")
			}
		})
	}
}
