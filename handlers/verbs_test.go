package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
)

// twice sends the same form from two browsers at once and says how it ended.
func (w *works) twice(path string, values url.Values) (done, told int) {
	w.t.Helper()
	other := w.as(w.people[models.RoleLead])
	var wg sync.WaitGroup
	answers := make([]answer, 2)
	for i, c := range []*client{w.lea, other} {
		wg.Go(func() { answers[i] = c.do(post, path, values) })
	}
	wg.Wait()
	for _, a := range answers {
		switch a.StatusCode {
		case http.StatusSeeOther:
			done++
		case http.StatusConflict:
			told++
			if d := doc(w.t, a); d.Find("main [role=alert]").Length() == 0 {
				w.t.Errorf("%s: refused without a message: %.300s", path, d.Find("main").Text())
			}
		default:
			w.t.Errorf("%s: status %d\n%.300s", path, a.StatusCode, a.body)
		}
	}
	return done, told
}

// state makes a plan whose phase is in a state, by what really leads there.
var states = map[string]func(w *works) string{
	"draft":   func(w *works) string { return w.create(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "true")}}) },
	"running": func(w *works) string { return w.running(sh("one", "true")) },
	"paused": func(w *works) string {
		id := w.running(sh("one", "true"))
		if err := w.eng.PausePlan(w.t.Context(), w.lead(), id); err != nil {
			w.t.Fatal(err)
		}
		return id
	},
	"finished": func(w *works) string {
		return w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "echo done > b.txt")}, Dod: "- b.txt"})
	},
	"awaiting": func(w *works) string {
		ph := sh("one", "echo x > b.txt")
		ph.NeedsApproval = true
		return w.done(engine.NewPlan{Phases: []engine.NewPhase{ph}})
	},
	"exhausted": func(w *works) string {
		ph := sh("one", "echo no")
		ph.DoneWhen = "- never seen"
		return w.done(engine.NewPlan{Phases: []engine.NewPhase{ph}})
	},
	"failed": func(w *works) string { return w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "exit 4")}}) },
	"over": func(w *works) string {
		id := w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "true")}})
		if err := w.eng.CancelPlan(w.t.Context(), w.lead(), id, ""); err != nil {
			w.t.Fatal(err)
		}
		return id
	},
	"waived": func(w *works) string {
		return w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "echo done > b.txt")}, Dod: "- never seen"})
	},
	"human": func(w *works) string {
		return w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "echo done > b.txt")}, Dod: "- looks good -> human"})
	},
	"attention": func(w *works) string {
		ghost := engine.NewPhase{Name: "one", Task: "Do it.", Agents: []models.AgentSpec{{Runtime: "ghost"}}, MaxIterations: 2}
		id := w.done(engine.NewPlan{Phases: []engine.NewPhase{ghost}})
		for range 2 { // its second and third try
			w.pass(time.Minute)
			w.settle()
		}
		return id
	},
}

// running is a started plan in which nothing has happened yet.
func (w *works) running(phases ...engine.NewPhase) string {
	id := w.create(engine.NewPlan{Phases: phases})
	if err := w.eng.StartPlan(w.t.Context(), w.lead(), id); err != nil {
		w.t.Fatal(err)
	}
	return id
}

// Every verb, pressed twice at once as its form on the page is: one happens,
// the other is told. A viewer sees no verb and is refused.
func TestEveryVerbOnce(t *testing.T) {
	w := newWorks(t, nil)
	for _, tc := range []struct {
		state, key string // "phase" stands for the anchor of the first phase
		more       url.Values
		plan       models.PlanStatus
		phase      models.PhaseStatus
	}{
		{state: "draft", key: "plan-start", plan: models.PlanRunning},
		{state: "draft", key: "gate-start", plan: models.PlanRunning},
		{state: "draft", key: "plan-discard", more: url.Values{"reason": {"no use"}}, plan: models.PlanDiscarded},
		{state: "running", key: "plan-pause", plan: models.PlanPaused},
		{state: "running", key: "plan-cancel", plan: models.PlanCancelled},
		{state: "paused", key: "plan-resume", plan: models.PlanRunning},
		{state: "paused", key: "gate-resume", plan: models.PlanRunning},
		{state: "finished", key: "dod-evaluate", plan: models.PlanFinished},
		{state: "finished", key: "apply", plan: models.PlanApplied},
		{state: "over", key: "plan-clean", plan: models.PlanCancelled},
		{state: "awaiting", key: "phase-approve", more: url.Values{"note": {"fine"}}, plan: models.PlanFinished, phase: models.PhaseCompleted},
		{state: "awaiting", key: "phase-reject", more: url.Values{"reason": {"wrong"}}, plan: models.PlanFailed, phase: models.PhaseFailed},
		{state: "awaiting", key: "phase-another-pass", more: url.Values{"note": {"more"}}, plan: models.PlanRunning, phase: models.PhasePending},
		{state: "exhausted", key: "phase-more-passes", more: url.Values{"passes": {"3"}}, plan: models.PlanRunning, phase: models.PhasePending},
		{state: "exhausted", key: "phase-another-pass", plan: models.PlanRunning, phase: models.PhasePending},
		{state: "exhausted", key: "phase-judge-again", plan: models.PlanRunning, phase: models.PhaseJudging},
		{state: "exhausted", key: "phase-retry", plan: models.PlanRunning, phase: models.PhasePending},
		{state: "exhausted", key: "phase-retry", more: url.Values{"from": {"start"}}, plan: models.PlanRunning, phase: models.PhasePending},
		{state: "exhausted", key: "phase-accept", more: url.Values{"reason": {"good enough"}}, plan: models.PlanFinished, phase: models.PhaseCompleted},
		{state: "failed", key: "phase-retry", plan: models.PlanRunning, phase: models.PhasePending},
		{state: "failed", key: "phase-accept", more: url.Values{"reason": {"known"}}, plan: models.PlanFinished, phase: models.PhaseCompleted},
		{state: "attention", key: "phase-try-again", plan: models.PlanRunning, phase: models.PhaseRunning},
		{state: "attention", key: "phase-accept", more: url.Values{"reason": {"done by hand"}}, plan: models.PlanFinished, phase: models.PhaseCompleted},
		{state: "finished", key: "phase-another-pass", plan: models.PlanRunning, phase: models.PhasePending},
		{state: "waived", key: "criterion-1-waive", more: url.Values{"reason": {"not now"}}, plan: models.PlanFinished},
		{state: "human", key: "criterion-1-approve", plan: models.PlanFinished},
		{state: "human", key: "criterion-1-reject", more: url.Values{"reason": {"it does not"}}, plan: models.PlanFinished},
	} {
		t.Run(tc.state+" "+tc.key, func(t *testing.T) {
			w.t, w.lea.site.t = t, t
			id := states[tc.state](w)
			key := tc.key
			if rest, ok := strings.CutPrefix(key, "phase-"); ok {
				key = fmt.Sprintf("phase-%d-%s", w.detail(id).Phases[0].Phase.ID, rest)
			}
			page := w.lea.get("/plans/" + id)
			action, values := form(t, doc(t, page), key)
			for name, v := range tc.more {
				values[name] = v
			}
			if d := doc(t, w.vic.get("/plans/"+id)); d.Find(`main form[method="post"]`).Length() != 0 {
				t.Error("a viewer sees buttons")
			}
			want(t, w.vic.do(post, action, values), http.StatusForbidden)

			done, told := w.twice(action, values)
			if done != 1 || told != 1 {
				t.Errorf("%d happened, %d were told", done, told)
			}
			d := w.detail(id)
			if d.Plan.Status != tc.plan {
				t.Errorf("the plan is %s, want %s", d.Plan.Status, tc.plan)
			}
			if tc.phase != "" && d.Phases[0].Phase.Status != tc.phase {
				t.Errorf("the phase is %s, want %s", d.Phases[0].Phase.Status, tc.phase)
			}
			want(t, w.lea.get("/plans/"+id), http.StatusOK)
		})
	}
}

// Forms that were filled in wrongly come back with the message at its field and
// with everything that was typed.
func TestRefusedFormsKeepWhatWasTyped(t *testing.T) {
	w := newWorks(t, nil)
	for _, tc := range []struct {
		state, verb, field, message string
		typed                       url.Values
	}{
		{"awaiting", "reject", "reason", "Say why it is rejected", url.Values{"reason": {"  "}}},
		{"exhausted", "accept", "reason", "Say why it is accepted", url.Values{"reason": {""}}},
		{"exhausted", "more-passes", "passes", "Enter a number", url.Values{"passes": {"many"}, "note": {"keep <this> & that"}}},
		{"exhausted", "more-passes", "passes", "at least one", url.Values{"passes": {"0"}, "note": {"keep me"}}},
		{"exhausted", "another-pass", "note", "too long", url.Values{"note": {strings.Repeat("long ", 2000)}}},
		{"exhausted", "retry", "from", "Choose what", url.Values{"from": {"elsewhere"}, "note": {"kept"}}},
	} {
		t.Run(tc.verb, func(t *testing.T) {
			id := states[tc.state](w)
			key := phaseKey(w.detail(id).Phases[0].Phase.ID, tc.verb)
			page := w.lea.get("/plans/" + id)
			action, values := form(t, doc(t, page), key)
			for name, v := range tc.typed {
				values[name] = v
			}
			a := w.lea.do(post, action, values)
			want(t, a, http.StatusUnprocessableEntity)
			d := doc(t, a)
			fold := d.Find("#" + key)
			if _, open := fold.Attr("open"); !open {
				t.Error("the form is not shown")
			}
			if got := fold.Find("#" + key + "-" + tc.field + "-error").Text(); !strings.Contains(got, tc.message) {
				t.Errorf("message at %s: %q", tc.field, got)
			}
			_, again := form(t, d, key)
			for name, v := range tc.typed {
				if name != "from" && again.Get(name) != v[0] {
					t.Errorf("%s: %q came back as %.60q", name, v[0], again.Get(name))
				}
			}
		})
	}
	id := states["waived"](w)
	a := w.lea.press(w.lea.get("/plans/"+id), "criterion-1-waive", "reason", " ")
	want(t, a, http.StatusUnprocessableEntity)
	shows(t, a, "Say why the criterion is waived")
}

// While the gate is closed the button is disabled, and a post made by hand is
// refused with the same reasons.
func TestApplyStaysClosed(t *testing.T) {
	w := newWorks(t, nil)
	before := w.git(t, "-C", w.repo, "rev-parse", "main")
	for state, reason := range map[string]string{
		"draft":     "The plan is a draft. Start it.",
		"running":   "Phase 1 of 1 waits for its next pass to begin.",
		"exhausted": "Phase 1 of 1 has no passes left.",
		"waived":    "1 of 1 required criterion failed: never seen.",
		"human":     "0 of 1 approval given: looks good.",
		"over":      "Cancelled by lea.",
	} {
		t.Run(state, func(t *testing.T) {
			id := states[state](w)
			d := doc(t, w.lea.get("/plans/"+id))
			gate := d.Find("#gate")
			if !strings.Contains(gate.Text(), reason) {
				t.Errorf("the card does not say %q: %s", reason, gate.Find("[data-gate-sentence]").Text())
			}
			if state != "over" {
				button := gate.Find(`button[data-verb="apply"]`)
				if _, disabled := button.Attr("disabled"); button.Length() != 1 || !disabled {
					t.Error("the apply button can be pressed")
				}
			}
			detail := w.detail(id)
			evaluation := "0"
			if detail.Evaluation != nil {
				evaluation = fmt.Sprint(detail.Evaluation.ID)
			}
			a := w.lea.post("/plans/"+id+"/apply", "commit", detail.Plan.WorkCommit, "evaluation", evaluation)
			want(t, a, http.StatusConflict)
			shows(t, a, "The plan cannot be applied yet.")
			if !strings.Contains(doc(t, a).Find("main").Text(), reason) {
				t.Errorf("the refusal does not say %q", reason)
			}
		})
	}
	// An open gate, and a form that saw something else.
	id := states["finished"](w)
	page := w.lea.get("/plans/" + id)
	for name, forged := range map[string]string{"commit": before, "evaluation": "1"} {
		a := w.lea.press(page, "apply", name, forged)
		want(t, a, http.StatusConflict)
		shows(t, a, "changed since the page was shown")
	}
	if got := w.git(t, "-C", w.repo, "rev-parse", "main"); got != before {
		t.Fatal("the target has moved")
	}
	want(t, w.lea.press(page, "apply"), http.StatusSeeOther, "/plans/"+id)
	if got := w.git(t, "-C", w.repo, "show", "main:b.txt"); got != "done" {
		t.Errorf("main has %q", got)
	}
	after := w.lea.get("/plans/" + id)
	shows(t, after, "Applied by lea", "applied")
	if doc(t, after).Find(`[data-verb="apply"]`).Length() != 0 {
		t.Error("apply is offered once more")
	}
}

func TestGateCardShowsRefusalAndMovedTarget(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "echo two > a.txt")}})
	w.write(t, "c.txt", "c")
	w.git(t, "-C", w.repo, "add", "-A")
	w.git(t, "-C", w.repo, "commit", "-q", "-m", "second")
	page := w.lea.get("/plans/" + id)
	shows(t, page, "main has moved by 1 commit since")
	// A file that apply touches becomes dirty after the page was shown.
	if err := os.WriteFile(filepath.Join(w.repo, "a.txt"), []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	a := w.lea.press(page, "apply")
	want(t, a, http.StatusConflict)
	shows(t, a, "a.txt")
	if got, _ := os.ReadFile(filepath.Join(w.repo, "a.txt")); string(got) != "mine\n" {
		t.Errorf("the file was changed: %q", got)
	}
	d := doc(t, w.lea.get("/plans/"+id))
	if reason := d.Find(`[data-reason="target_dirty"]`); !strings.Contains(d.Find("#gate").Text(), "a.txt") || reason.Length() != 1 {
		t.Errorf("the card does not name the file: %s", d.Find("#gate").Text())
	}
}

func TestEditDod(t *testing.T) {
	w := newWorks(t, nil)
	id := states["waived"](w)
	page := w.lea.get("/plans/" + id + "/dod")
	want(t, page, http.StatusOK)
	shows(t, page, "- never seen")
	want(t, w.vic.get("/plans/"+id+"/dod"), http.StatusForbidden)

	bad := w.lea.post("/plans/"+id+"/dod", "dod", "- x -> run: echo {name}\n- keep <b>me</b>")
	want(t, bad, http.StatusUnprocessableEntity)
	d := doc(t, bad)
	if got := d.Find("textarea[name=dod]").Text(); !strings.Contains(got, "- keep <b>me</b>") {
		t.Errorf("what was typed is lost: %q", got)
	}
	if got := d.Find("#field-dod-error").Text(); !strings.Contains(got, "Line 1") {
		t.Errorf("message: %q", got)
	}
	want(t, w.lea.post("/plans/"+id+"/dod", "template", "99", "dod", "x"), http.StatusUnprocessableEntity)

	shows(t, w.lea.post("/plans/"+id+"/dod/preview", "dod", "- {file}\n", "dod_args.file", "b.txt"), "Takes out or changes 1 required line of a started plan", "never seen")
	silent := w.lea.post("/plans/"+id+"/dod", "dod", "- {file}\n", "dod_args.file", "b.txt", "reason", " ")
	want(t, silent, http.StatusUnprocessableEntity)
	if d := doc(t, silent); !strings.Contains(d.Find("#field-reason-error").Text(), "(never seen). Say why") || d.Find(`input[name="dod_args.file"]`).AttrOr("value", "") != "b.txt" {
		t.Errorf("without a reason: %q", d.Find("#field-reason-error").Text())
	}
	want(t, w.lea.post("/plans/"+id+"/dod", "dod", "- {file}\n", "dod_args.file", "b.txt", "reason", "A file says it better."), http.StatusSeeOther, "/plans/"+id+"#dod")
	after := w.lea.get("/plans/" + id)
	shows(t, after, "Evaluated before the last change", "b.txt", "taken out or changed after the start by lea", "A file says it better.")
	want(t, w.lea.press(after, "dod-evaluate"), http.StatusSeeOther)
	w.settle()
	shows(t, w.lea.get("/plans/"+id), "The required criterion passed. 1 required criterion was taken out or changed after the start.")
	if got := doc(t, w.lea.get("/plans/"+id+"/dod")).Find(`input[name="dod_args.file"]`).AttrOr("value", ""); got != "b.txt" {
		t.Errorf("the value of {file} is %q", got)
	}
}

// A waiver opens the gate, and the criterion's result stays what it was.
func TestWaiverOpensTheGate(t *testing.T) {
	w := newWorks(t, nil)
	id := states["waived"](w)
	want(t, w.lea.press(w.lea.get("/plans/"+id), "criterion-1-waive", "reason", "Nobody needs it."), http.StatusSeeOther, "/plans/"+id+"#gate")
	a := w.lea.get("/plans/" + id)
	shows(t, a, "Waived by lea: Nobody needs it.")
	d := doc(t, a)
	if got := d.Find("#criterion-1").AttrOr("data-status", ""); got != "failed" {
		t.Errorf("the result is %q", got)
	}
	button := d.Find(`#gate button[data-verb="apply"]`)
	if _, disabled := button.Attr("disabled"); disabled || button.Length() != 1 {
		h, _ := d.Find("#gate").Html()
		t.Errorf("apply cannot be pressed: %s", h)
	}
	if doc(t, w.vic.get("/plans/"+id)).Find(`[data-verb="criterion-1-take-back-waiver"]`).Length() != 0 {
		t.Error("a viewer may take the waiver back")
	}
	want(t, w.lea.press(a, "criterion-1-take-back-waiver", "reason", "Somebody does."), http.StatusSeeOther, "/plans/"+id+"#gate")
	d = doc(t, w.lea.get("/plans/"+id))
	if _, disabled := d.Find(`#gate button[data-verb="apply"]`).Attr("disabled"); !disabled || d.Find(`#gate [data-verb="criterion-1-waive"]`).Length() != 1 || d.Find(`[data-verb="criterion-1-take-back-waiver"]`).Length() != 0 {
		t.Error("the waiver is not taken back")
	}
	if text := d.Find("#plan-activity").Text(); !strings.Contains(text, "took back the waiver of a criterion") || !strings.Contains(text, "Somebody does.") {
		t.Errorf("the activity says %q", text)
	}
}

// An approval by a person can be taken back where it stands, with a reason.
func TestAnApprovedCriterionCanBeRejected(t *testing.T) {
	w := newWorks(t, nil)
	id := states["human"](w)
	want(t, w.lea.press(w.lea.get("/plans/"+id), "criterion-1-approve", "reason", ""), http.StatusSeeOther, "/plans/"+id+"#gate")
	a := w.lea.get("/plans/" + id)
	want(t, w.lea.press(a, "criterion-1-take-back-approval", "reason", " "), http.StatusUnprocessableEntity)
	want(t, w.lea.press(a, "criterion-1-take-back-approval", "reason", "It does not, on a phone."), http.StatusSeeOther, "/plans/"+id+"#gate")
	a = w.lea.get("/plans/" + id)
	shows(t, a, "Rejected by lea: It does not, on a phone.")
	if doc(t, a).Find(`[data-verb="criterion-1-approve"]`).Length() != 1 {
		t.Error("there is no way back")
	}
}
