package handlers

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// An evaluation whose check has no end is stopped from the gate, which then says
// who did it and why, and how to go on.
func TestAnEvaluationIsStoppedOnItsPlansPage(t *testing.T) {
	w := newWorks(t, nil)
	at := filepath.Join(t.TempDir(), "at")
	id := w.create(engine.NewPlan{Title: "Slow", Dod: "- slow -> run: touch " + at + "; while :; do sleep 0.05; done", Phases: []engine.NewPhase{sh("Build", "echo built")}})
	if err := w.eng.StartPlan(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	w.untilEvaluating(id)
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(at); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the check never began")
		}
	}
	const key = "gate-stop-evaluation"
	if doc(t, w.vic.get("/plans/"+id)).Find(`[data-verb="`+key+`"]`).Length() != 0 {
		t.Error("a viewer may stop it")
	}
	a := w.lea.get("/plans/" + id)
	want(t, w.lea.press(a, key, "reason", "It burns."), http.StatusSeeOther, "/plans/"+id)
	w.settle()
	ev := w.detail(id).Evaluation
	if ev.Status != models.EvaluationErrored || ev.StoppedBy != "lea" {
		t.Fatalf("%+v", ev)
	}
	want(t, w.lea.press(a, key, "reason", "twice"), http.StatusConflict)
	d := doc(t, w.lea.get("/plans/"+id))
	if text := d.Find("#gate").Text(); !strings.Contains(text, "stopped before it had a result") || !strings.Contains(text, "Stopped by lea: It burns.") {
		t.Errorf("the gate says %q", text)
	}
	if d.Find(`[data-verb="`+key+`"]`).Length() != 0 || d.Find(`#gate [data-verb="gate-evaluate-evaluation_error"]`).Length() != 1 {
		t.Error("the gate offers the wrong thing")
	}
	if text := d.Find("#dod").Text(); !strings.Contains(text, "stopped") || strings.Contains(text, "trouble") {
		t.Errorf("the definition of done says %q", text)
	}
	if text := d.Find("#activity").Text(); !strings.Contains(text, "stopped the evaluation") {
		t.Errorf("the activity says %q", text)
	}
	if text := doc(t, w.lea.get(views.EvaluationPath(ev.ID))).Find("#evaluation").Text(); !strings.Contains(text, "It has no result") {
		t.Errorf("the evaluation's page says %q", text)
	}
}
