package handlers

import (
	"net/http"
	"strings"
	"testing"

	"donewhen/views"
)

func TestJudgesPage(t *testing.T) {
	w := newWorks(t, nil)
	if d := doc(t, w.vic.get(views.JudgesPath)); !strings.Contains(d.Find("#scorecard").Text(), "Nobody judged in the last 30 days") {
		t.Errorf("before anything: %s", d.Find("#scorecard").Text())
	}
	w.built("Good", "echo built", "- Built -> match: /built/")
	bad := w.built("Bad", "echo broken", "- Built -> match: /built/")
	ph := bad.Phases[0].Phase
	if err := w.eng.AcceptPhase(t.Context(), w.lead(), ph.ID, *ph.PassID, "good enough"); err != nil {
		t.Fatal(err)
	}
	a := w.vic.get(views.JudgesRangePath(7))
	want(t, a, http.StatusOK)
	row := strings.Join(strings.Fields(doc(t, a).Find(`[data-judge="text"]`).Text()), " ")
	for _, part := range []string{"text literal matching, asks nobody", "2 1 (50 %) met", "0 errors", "1 (50 %) 1 accepted though not met"} {
		if !strings.Contains(row, part) {
			t.Errorf("%q is not in %q", part, row)
		}
	}
	if d := doc(t, w.vic.get(views.JudgesPath+"?days=12")); d.Find("[data-message]").Length() != 1 {
		t.Error("an odd range is not named")
	}
	if d := doc(t, w.vic.get(views.JudgesPath)); strings.Contains(d.Text(), "Try a condition") {
		t.Error("a viewer is offered to try a condition")
	}
}
