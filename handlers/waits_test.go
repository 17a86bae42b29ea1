package handlers

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
)

// held is a command that says that it has begun and goes on when it is told to.
type held struct {
	t           *testing.T
	begun, goOn string
}

func hold(t *testing.T) held {
	t.Helper()
	dir := t.TempDir()
	h := held{t, filepath.Join(dir, "begun"), filepath.Join(dir, "go-on")}
	for _, p := range []string{h.begun, h.goOn} {
		if err := syscall.Mkfifo(p, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h held) command() string { return fmt.Sprintf("echo begun > %s; cat %s", h.begun, h.goOn) }

// wait returns when the command has begun.
func (h held) wait() {
	h.t.Helper()
	if _, err := os.ReadFile(h.begun); err != nil {
		h.t.Fatal(err)
	}
}

func (h held) release() {
	h.t.Helper()
	if err := os.WriteFile(h.goOn, nil, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (w *works) once() {
	w.t.Helper()
	if _, err := w.eng.Once(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// untilEvaluating ticks until the plan's evaluation has begun.
func (w *works) untilEvaluating(id string) {
	w.t.Helper()
	for range 50 {
		w.once()
		switch ev := w.detail(id).Evaluation; {
		case ev != nil && ev.Status == models.EvaluationRunning:
			return
		case ev == nil:
			w.eng.Drain()
		}
	}
	w.t.Fatal("it is never evaluated")
}

// A pause stops no agent: everywhere it is said that one is still at work, and
// how it can be stopped.
func TestPausedPlanWhoseRunIsAtWork(t *testing.T) {
	w := newWorks(t, nil)
	h := hold(t)
	id := w.running(sh("Dig", h.command()), sh("Fill", "true"))
	w.once()
	h.wait()
	if a := w.lea.press(w.lea.get("/plans/"+id), "plan-pause"); a.StatusCode != 303 {
		t.Fatal(a.StatusCode)
	}
	shows(t, w.lea.get("/plans/"+id), "what runs now runs to its end, nothing new starts", "Run 1 (shell) of phase 1 is still at work. It runs to its end; nothing new starts. To stop it at once, stop the run or cancel the plan.")
	a := w.lea.get("/")
	row := doc(t, a).Find("#running-" + id)
	for _, text := range []string{"phase 1 of 2: Dig", "paused", "this runs to its end, nothing new starts", "its run began"} {
		if !strings.Contains(row.Text(), text) {
			t.Errorf("the inbox does not say %q: %q", text, row.Text())
		}
	}
	shows(t, w.lea.get("/plans"), "Dig is still at work and runs to its end; then to be resumed")
	if got := doc(t, w.vic.get("/plans/"+id)).Find("[data-note]").Text(); !strings.Contains(got, "still at work") || strings.Contains(got, "cancel") {
		t.Errorf("a viewer reads %q", got)
	}
	h.release()
	w.settle()
	if d := w.detail(id); d.Plan.Status != models.PlanPaused || len(d.Phases[1].Passes) != 0 {
		t.Errorf("afterwards it is %s with %d passes of phase 2", d.Plan.Status, len(d.Phases[1].Passes))
	}
	for _, path := range []string{"/", "/plans", "/plans/" + id} {
		if strings.Contains(w.lea.get(path).body, "still at work") {
			t.Errorf("%s still says that it is at work", path)
		}
	}
	if doc(t, w.lea.get("/")).Find("#running-"+id).Length() != 0 {
		t.Error("the inbox still lists it as at work")
	}
}

// While a definition of done is evaluated nobody is waited for: the menu's
// number, the inbox and the list of plans say the same.
func TestEvaluatedPlanWaitsForNobody(t *testing.T) {
	w := newWorks(t, nil)
	h := hold(t)
	id := w.running(sh("Do", "echo 1 > b.txt"))
	if err := w.eng.EditDod(t.Context(), w.lead(), id, engine.NewPlan{Dod: "- slow -> run: " + h.command()}, "slow one", ""); err != nil {
		t.Fatal(err)
	}
	look := func(number, waits string, listed int) {
		t.Helper()
		a := w.lea.get("/")
		d := doc(t, a)
		if got := strings.TrimSpace(d.Find("title").First().Text()); got != strings.TrimSpace(number+" Inbox · donewhen") {
			t.Errorf("the title is %q", got)
		}
		if got := d.Find("#waiting [data-plan]").Length(); got != listed {
			t.Errorf("%d plans are listed as waiting", got)
		}
		if n, err := w.st.InboxCount(t.Context(), 9); err != nil || n != listed {
			t.Errorf("counted %d (%v), listed %d", n, err, listed)
		}
		shows(t, w.lea.get("/plans"), waits)
	}
	w.untilEvaluating(id)
	h.wait()
	look("", "The evaluation of its definition of done", 0)
	shows(t, w.lea.get("/"), "The definition of done is being evaluated")
	h.release()
	w.settle()
	look("(1)", "A lead to look at it and apply it", 1)
}

// A long evaluation says which criterion it is at, since when, and when that is
// stopped; afterwards nothing of it is left.
func TestEvaluationSaysWhatItIsAt(t *testing.T) {
	w := newWorks(t, nil)
	w.eng.CheckLimit = 90 * time.Minute
	h := hold(t)
	id := w.running(sh("Do", "echo 1 > b.txt"))
	if err := w.eng.EditDod(t.Context(), w.lead(), id, engine.NewPlan{Dod: "- quick -> run: true\n- slow -> run: " + h.command() + "\n- last -> file: b.txt"}, "another limit", ""); err != nil {
		t.Fatal(err)
	}
	part := func(name, tag string) answer {
		return w.lea.get("/plans/"+id+"?part="+name, "HX-Request", "true", "If-None-Match", tag)
	}
	w.untilEvaluating(id)
	h.wait()
	a := part("gate", "")
	at := doc(t, a).Find("[data-checking]")
	for _, text := range []string{"Checking 2 of 3:", "run: " + h.command(), "stopped after 1h30m (DONEWHEN_CHECK_LIMIT)", "The evaluation began"} {
		if !strings.Contains(at.Text(), text) {
			t.Errorf("the gate does not say %q: %q", text, at.Text())
		}
	}
	if at.Find("time[data-relative]").Length() != 2 {
		t.Error("the times do not tick")
	}
	list := part("dod", "")
	if got := strings.TrimSpace(doc(t, list).Find(`[data-criterion="2"] > div`).First().Text()); got != "Being checked" {
		t.Errorf("the second criterion is %q", got)
	}
	if got := part("dod", list.Header.Get("ETag")).StatusCode; got != http.StatusNotModified {
		t.Errorf("nothing moved and the answer is %d", got)
	}
	h.release()
	w.settle()
	for _, name := range []string{"gate", "dod"} {
		a := part(name, list.Header.Get("ETag"))
		if a.StatusCode != http.StatusOK || strings.Contains(a.body, "Checking") || strings.Contains(a.body, "Being checked") {
			t.Errorf("%s, when it is over: %d %s", name, a.StatusCode, a.body)
		}
	}
	if p := w.eng.Progress(w.detail(id).Evaluation.ID); p.Total != 0 || len(p.Checking) != 0 {
		t.Errorf("it is not forgotten: %+v", p)
	}
}
