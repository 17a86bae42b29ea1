package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// wordsAt is an element's text with its blanks folded, as it is read.
func wordsAt(t *testing.T, a answer, selector string) string {
	t.Helper()
	return strings.Join(strings.Fields(doc(t, a).Find(selector).First().Text()), " ")
}

// Where there is no condition nothing is met: the pass is done.
func TestPassWithoutConditionIsDone(t *testing.T) {
	w := newWorks(t, nil)
	judged := sh("two", "echo fine")
	judged.DoneWhen = "- fine"
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "true"), judged}})
	d := w.detail(id)
	for i, word := range []string{"done", "met"} {
		pass := d.Phases[i].Passes[0].Pass.ID
		if got := wordsAt(t, w.lea.get("/plans/"+id), fmt.Sprintf("#pass-%d > summary", pass)); !strings.Contains(got, word) {
			t.Errorf("pass 1 of phase %d is %q, want %s", i+1, got, word)
		}
		shows(t, w.lea.get("/plans/"+id+"/activity"), fmt.Sprintf("Pass 1 of phase %d (%s): %s", i+1, d.Phases[i].Phase.Name, word))
	}
}

// On the first start nobody can log in: the page says where the way in stands.
func TestLoginPageBeforeTheFirstAccount(t *testing.T) {
	s := newSite(t, nil)
	shows(t, s.client().get("/login"), "Nobody has an account yet.", "shows a one-time link")
	s.people()
	a := s.client().get("/login")
	shows(t, a, "Locked out?")
	if strings.Contains(a.body, "Nobody has an account") {
		t.Error("it says so with accounts there")
	}
}

// A limit that its last allowed run has reached is no trouble while that is at
// work; when something waits for more of it, it is.
func TestLimitIsReachedByTheLastRun(t *testing.T) {
	w := newWorks(t, nil)
	h := hold(t)
	id := w.create(engine.NewPlan{Phases: []engine.NewPhase{sh("one", h.command()), sh("two", "true")}, Budget: models.Budget{Runs: 1}})
	if err := w.eng.StartPlan(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	w.once()
	h.wait()
	look := func(wanted, tone string) {
		t.Helper()
		a := w.lea.get("/plans/" + id)
		if got := wordsAt(t, a, `[data-limit="runs"] [data-used]`); got != "1 of 1 "+wanted {
			t.Errorf("the runs are %q", got)
		}
		if got := doc(t, a).Find(`[data-limit="runs"] progress`).AttrOr("data-tone", ""); got != tone {
			t.Errorf("the bar is %q, want %q", got, tone)
		}
	}
	look("limit reached", "warn")
	h.release()
	w.settle()
	look("used up", "bad")
}

// A plan that is over offers nothing that could follow.
func TestCancelledPlanWithoutDodPromisesNothing(t *testing.T) {
	w := newWorks(t, nil)
	id := states["over"](w)
	if got := wordsAt(t, w.lea.get("/plans/"+id), "#dod"); !strings.Contains(got, "The plan has none.") || strings.Contains(got, "can be applied") {
		t.Errorf("it says %q", got)
	}
}

// Texts whose parts meet: no blank is missing, and none is too much.
func TestBlanksWherePartsMeet(t *testing.T) {
	w := newWorks(t, nil)
	ph := sh("one", "echo fine")
	ph.DoneWhen = "- fine"
	id := w.running(ph)
	w.once()
	w.eng.Drain()
	w.once()
	w.settle()
	line := doc(t, w.lea.get("/plans")).Find("#plan-" + id + " td:nth-child(2) p").First().Text()
	if got := "demo, 1 of 1 phase. A lead to look at it and apply it"; line != got {
		t.Errorf("the line is %q, want %q", line, got)
	}
	if got := wordsAt(t, w.lea.get("/plans/"+id), "[data-fixed]"); !strings.HasSuffix(got, "Copy this as a new plan to change them.") {
		t.Errorf("the phase ends with %q", got)
	}
	judged := w.done(engine.NewPlan{Title: "Judged", Phases: []engine.NewPhase{sh("one", "echo x > x.txt")}, Dod: "- x.txt"})
	if got := doc(t, w.lea.get("/plans/"+judged)).Find("[data-evaluation]").Parent().Text(); strings.Join(strings.Fields(got), " ") != "Evaluated just now by text" {
		t.Errorf("the checklist says %q", got)
	}
	a := w.lea.get(views.VerdictPath(w.detail(id).Phases[0].Passes[0].Verdict.ID))
	want(t, a, http.StatusOK)
	if strings.Contains(a.body, "</time>in ") {
		t.Error("the time and how long it took stick together")
	}
}
