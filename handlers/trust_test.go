package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

func (w *works) onePhase(id string) models.PhaseDetail {
	w.t.Helper()
	d, err := w.st.PlanDetail(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return d.Phases[0]
}

// A stalled phase shows its choices, and its condition can be mended in place;
// what was typed stays when it is refused.
func TestAStalledPhaseShowsItsChoices(t *testing.T) {
	w := newWorks(t, nil)
	ph := sh("one", "echo no")
	ph.DoneWhen, ph.MaxIterations = "- never seen", 4
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{ph}})
	d := w.onePhase(id)
	if d.Phase.Status != models.PhaseStalled {
		t.Fatal(d.Phase.Status)
	}
	page := doc(t, w.lea.do(get, views.PlanPath(id), nil))
	card := page.Find("[data-choice]")
	for _, verb := range []string{views.VerbCondition, views.VerbAnotherPass, views.VerbMorePasses, views.VerbAccept} {
		if card.Find(`[data-verb="`+phaseKey(d.Phase.ID, verb)+`"]`).Length() != 1 {
			t.Errorf("the card does not offer %s: %s", verb, card.Text())
		}
	}
	if doc(t, w.vic.do(get, views.PlanPath(id), nil)).Find("[data-choice]").Length() != 0 {
		t.Error("a viewer is offered choices")
	}
	path, pass := views.PhaseVerbPath(d.Phase.ID, views.VerbCondition), fmt.Sprint(*d.Phase.PassID)
	a := w.lea.do(post, path, url.Values{"pass": {pass}, "done_when": {"# typed heading"}, "max_iterations": {"99"}})
	form := doc(t, a).Find(`details[data-verb="` + phaseKey(d.Phase.ID, views.VerbCondition) + `"][open]`)
	if a.StatusCode != http.StatusUnprocessableEntity || form.Find("textarea[name=done_when]").Text() != "# typed heading" {
		t.Errorf("status %d, form %q", a.StatusCode, form.Text())
	}
	if n, _ := form.Find("input[name=max_iterations]").Attr("value"); n != "99" || !strings.Contains(form.Text(), "Enter a number from 1 to 20.") {
		t.Errorf("passes %q: %s", n, form.Text())
	}
	a = w.lea.do(post, path, url.Values{"pass": {pass}, "done_when": {"- no"}, "max_iterations": {"4"}})
	form = doc(t, a).Find(`details[data-verb="` + phaseKey(d.Phase.ID, views.VerbCondition) + `"][open]`)
	if a.StatusCode != http.StatusUnprocessableEntity || form.Find("textarea[name=done_when]").Text() != "- no" || !strings.Contains(form.Text(), "Say why: the plan has started, and the gate will name the reason.") {
		t.Errorf("without a reason: status %d, form %q", a.StatusCode, form.Text())
	}
	if a := w.lea.do(post, path, url.Values{"pass": {pass}, "done_when": {"- no"}, "max_iterations": {"4"}, "reason": {"It says no."}}); a.StatusCode != http.StatusSeeOther {
		t.Fatalf("status %d", a.StatusCode)
	}
	if got := w.onePhase(id).Phase.DoneWhen; got != "- no" {
		t.Errorf("the condition is %q", got)
	}
	if text := doc(t, w.lea.do(get, views.PlanPath(id), nil)).Find("main").Text(); !strings.Contains(text, "changed the condition of phase 1 (one)") {
		t.Error("the activity does not tell it")
	}
	if a := w.vic.do(post, path, url.Values{"pass": {pass}, "done_when": {"- x"}, "max_iterations": {"4"}}); a.StatusCode != http.StatusForbidden {
		t.Errorf("a viewer: status %d", a.StatusCode)
	}
}

// An objection stands on the phase with what the lead can do about it.
func TestAnObjectionIsShownWithItsChoices(t *testing.T) {
	w := newWorks(t, nil)
	ph := sh("one", "echo DONEWHEN OBJECTION: there is no port 80 here")
	ph.DoneWhen = "- port 80"
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{ph}})
	d := w.onePhase(id)
	page := doc(t, w.lea.do(get, views.PlanPath(id), nil))
	card := page.Find("#" + views.PhaseAnchor(d.Phase.ID))
	if !strings.Contains(card.Text(), "The agent objects: there is no port 80 here") || !strings.Contains(card.Text(), "not judged") {
		t.Errorf("%s", card.Text())
	}
	for _, verb := range []string{views.VerbCondition, views.VerbAnotherPass, views.VerbJudgeAgain, views.VerbAccept} {
		if card.Find(`[data-choice] [data-verb="`+phaseKey(d.Phase.ID, verb)+`"]`).Length() != 1 {
			t.Errorf("%s is not offered", verb)
		}
	}
	if b := card.Find(`[data-verb="` + phaseKey(d.Phase.ID, views.VerbJudgeAgain) + `"]`).Text(); !strings.Contains(b, "Judge anyway") {
		t.Errorf("the button says %q", b)
	}
}

type noQuota struct{ until time.Time }

func (q *noQuota) Ask(context.Context, dod.Question) (dod.Reply, error) {
	return dod.Reply{}, &dod.QuotaError{Until: q.until, Err: errors.New("limit reached")}
}
func (*noQuota) Evaluator() string { return "runtime:poor" }

// Waiting for quota is shown with its time and the judge's own words.
func TestWaitingForQuotaIsShown(t *testing.T) {
	q := &noQuota{}
	w := newWorks(t, q)
	until := w.now().Add(3 * time.Hour).Truncate(time.Minute)
	q.until = until
	ph := sh("one", "echo x")
	ph.DoneWhen = "- it is good"
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{ph}})
	card := doc(t, w.lea.do(get, views.PlanPath(id), nil)).Find("#" + views.PhaseAnchor(w.onePhase(id).Phase.ID))
	if text := card.Text(); !strings.Contains(text, "Waiting for quota until ") || !strings.Contains(text, until.Format("15:04")+" UTC") || !strings.Contains(text, "runtime:poor says: limit reached") {
		t.Errorf("%s", text)
	}
	if at, _ := card.Find("[data-again] time").Attr("datetime"); at != until.Format(time.RFC3339) {
		t.Errorf("the next try is at %q, want %s", at, until.Format(time.RFC3339))
	}
}
