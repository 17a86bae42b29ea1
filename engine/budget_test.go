package engine_test

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

// meter is what each run and each question of a house uses, and how many
// questions were put.
type meter struct {
	h *house

	wall      time.Duration // of a run
	runTokens int64
	runUSD    float64

	mu        sync.Mutex
	asked     int
	questions int64 // tokens of one
	usd       float64
	reply     func(n int) string // to the n-th question, from 1
}

const yes, no = `{"met":true,"reason":"it is there"}`, `{"met":false,"reason":"it is missing"}`

func (m *meter) Evaluator() string { return "runtime:scripted" }

func (m *meter) Ask(context.Context, dod.Question) (dod.Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked++
	raw := yes
	if m.reply != nil {
		raw = m.reply(m.asked)
	}
	return dod.Reply{Raw: raw, InputTokens: m.questions, CostUSD: m.usd}, nil
}

func (m *meter) wantAsked(n int) {
	m.h.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked != n {
		m.h.t.Errorf("%d questions were put, want %d", m.asked, n)
	}
}

// metered is a real runtime whose runs take time and report tokens and cost, as
// agent CLIs do.
type metered struct {
	engine.Runtime
	m *meter
}

func (r metered) Run(ctx context.Context, job engine.Job) engine.Outcome {
	out := r.Runtime.Run(ctx, job)
	r.m.h.Forward(r.m.wall)
	out.InputTokens, out.CostUSD = r.m.runTokens, r.m.runUSD
	return out
}

func (m *meter) option(c *engine.Config) {
	c.Judge, c.Evaluator = m, m
	for i, r := range c.Runtimes {
		c.Runtimes[i] = metered{r, m}
	}
}

func newMeter(t *testing.T, m *meter) *house {
	t.Helper()
	m.h = newHouse(t, quiet, m.option)
	return m.h
}

// counted is a phase whose agents leave a line outside of the repository each.
func (h *house) counted(name, doneWhen string, agents int) engine.NewPhase {
	p := engine.NewPhase{Name: name, Task: "Do " + name + ".", MaxIterations: 3, DoneWhen: doneWhen}
	for i := range agents {
		agent := name + string(rune('a'+i))
		p.Agents = append(p.Agents, models.AgentSpec{Runtime: "shell", Name: agent, Command: "echo " + agent + " >> " + h.dir + "/ran; echo " + agent + " >> work.txt"})
	}
	return p
}

// ran are the agents that ran, in order.
func (h *house) ran() string {
	if !exists(filepath.Join(h.dir, "ran")) {
		return ""
	}
	return strings.Join(strings.Fields(h.read(filepath.Join(h.dir, "ran"))), " ")
}

func (h *house) startWithin(b models.Budget, dodText string, phases ...engine.NewPhase) string {
	h.t.Helper()
	id := h.createWith(engine.NewPlan{Phases: phases, Budget: b, Dod: dodText})
	must(h.t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	return id
}

// wantParked checks that a phase waits for a larger budget, with that sentence,
// and that nothing was spent on it but what had begun.
func (h *house) wantParked(id string, n int, reason string) models.PhaseDetail {
	h.t.Helper()
	h.wantPlan(id, models.PlanWaiting)
	p := h.phase(id, n)
	if p.Phase.Status != models.PhaseNeedsAttention || !p.Phase.OverBudget || p.Phase.Reason != reason || p.Phase.DueAt != nil || p.Phase.Feedback != "" {
		h.t.Fatalf("phase %d is %s, over budget %v, due %v, feedback %q; reason %q, want %q", n, p.Phase.Status, p.Phase.OverBudget, p.Phase.DueAt, p.Phase.Feedback, p.Phase.Reason, reason)
	}
	for _, pass := range p.Passes {
		if pass.Pass.ClaimedBy != "" || pass.Pass.JudgeTries != 0 {
			h.t.Errorf("pass %d is claimed by %q after %d tries of its judge", pass.Pass.Number(), pass.Pass.ClaimedBy, pass.Pass.JudgeTries)
		}
	}
	return p
}

func (h *house) raise(id string, b models.Budget) {
	h.t.Helper()
	must(h.t, h.engine.SetBudget(h.ctx, lead, id, b, "it is worth it"))
	h.settle()
}

// The second agent of a pass is not begun; it stays queued and goes on after the
// raise, the first one is not repeated.
func TestBudgetOfRunsStopsTheSecondAgent(t *testing.T) {
	m := &meter{}
	h := newMeter(t, m)
	id := h.startWithin(models.Budget{Runs: 1}, "", h.counted("x", "- good", 2))
	p := h.wantParked(id, 1, "The budget of 1 run is used up (1 started).")
	if pass := p.Passes[0]; pass.Pass.Status != models.PassQueued || pass.Runs[0].Status != models.RunSucceeded || pass.Runs[1].Status != models.RunQueued || pass.Runs[1].StartedAt != nil {
		t.Errorf("pass %s, runs %s and %s", pass.Pass.Status, pass.Runs[0].Status, pass.Runs[1].Status)
	}
	m.wantAsked(0)
	h.crash()
	h.restart(quiet, m.option) // nothing revives it
	h.settle()
	h.wantParked(id, 1, "The budget of 1 run is used up (1 started).")
	h.raise(id, models.Budget{Runs: 2})
	h.wantPhase(id, 1, models.PhaseCompleted, 1) // the last run that is allowed is judged
	if h.ran() != "xa xb" {
		t.Errorf("ran %q", h.ran())
	}
	m.wantAsked(1)
}

// A pass is not begun: no pass is spent, what the last one missed is kept.
func TestBudgetOfRunsStopsTheNextPass(t *testing.T) {
	m := &meter{reply: func(n int) string { return []string{no, yes}[min(n, 2)-1] }}
	h := newMeter(t, m)
	id := h.startWithin(models.Budget{Runs: 1}, "", h.counted("x", "- good", 1))
	h.wantPlan(id, models.PlanWaiting)
	p := h.phase(id, 1)
	if p.Phase.Status != models.PhaseNeedsAttention || !p.Phase.OverBudget || len(p.Passes) != 1 || p.Phase.Iteration != 1 || p.Phase.MaxIterations != 3 {
		t.Fatalf("%+v", p.Phase)
	}
	h.raise(id, models.Budget{Runs: 2})
	p = h.wantPhase(id, 1, models.PhaseCompleted, 2)
	if h.ran() != "xa xa" || !strings.Contains(p.Passes[1].Pass.TaskText, "it is missing") {
		t.Errorf("ran %q with %q", h.ran(), p.Passes[1].Pass.TaskText)
	}
}

func TestBudgetStopsTheNextPhase(t *testing.T) {
	for _, tc := range []struct {
		name   string
		m      *meter
		b      models.Budget
		raised models.Budget
		reason string
	}{
		{"minutes", &meter{wall: 6 * time.Minute}, models.Budget{Minutes: 5}, models.Budget{Minutes: 7}, "The budget of 5 minutes is used up (6 minutes worked)."},
		{"tokens", &meter{runTokens: 1500}, models.Budget{Tokens: 1500}, models.Budget{Tokens: 1501}, "The budget of 1,500 tokens is used up (1,500 used)."},
		{"money", &meter{runUSD: 0.75}, models.Budget{USD: 0.5}, models.Budget{}, "The budget of $0.50 is used up ($0.75 spent)."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newMeter(t, tc.m)
			id := h.startWithin(tc.b, "", h.counted("x", "", 1), h.counted("y", "", 1))
			h.wantPhase(id, 1, models.PhaseCompleted, 1)
			if p := h.wantParked(id, 2, tc.reason); len(p.Passes) != 0 || h.ran() != "xa" {
				t.Errorf("%d passes, ran %q", len(p.Passes), h.ran())
			}
			h.raise(id, tc.raised)
			h.wantPhase(id, 2, models.PhaseCompleted, 1)
			h.wantPlan(id, models.PlanFinished)
			if h.ran() != "xa ya" {
				t.Errorf("ran %q", h.ran())
			}
		})
	}
}

// A question is not put, nor the second one after an invalid reply: the pass
// stays to be judged, no verdict is written, and after the raise it is judged
// without running its agents again.
func TestBudgetStopsQuestions(t *testing.T) {
	for _, tc := range []struct {
		name     string
		m        *meter
		b        models.Budget
		raised   models.Budget
		reason   string
		put, all int // questions before the raise and in the end
	}{
		{"the run has used the tokens", &meter{runTokens: 900}, models.Budget{Tokens: 800}, models.Budget{Tokens: 1000}, "The budget of 800 tokens is used up (900 used).", 0, 1},
		{"the run has used the money", &meter{runUSD: 2}, models.Budget{USD: 2}, models.Budget{USD: 3}, "The budget of $2.00 is used up ($2.00 spent).", 0, 1},
		{"the first question has", &meter{questions: 70, reply: func(n int) string { return []string{"well", yes}[min(n, 2)-1] }},
			models.Budget{Tokens: 60}, models.Budget{Tokens: 100}, "The budget of 60 tokens is used up (70 used).", 1, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newMeter(t, tc.m)
			id := h.startWithin(tc.b, "", h.counted("x", "- good", 1))
			p := h.wantParked(id, 1, tc.reason)
			if p.Passes[0].Pass.Status != models.PassJudging || p.Passes[0].Verdict != nil || p.Phase.Iteration != 0 {
				t.Errorf("pass %s, verdict %v", p.Passes[0].Pass.Status, p.Passes[0].Verdict)
			}
			tc.m.wantAsked(tc.put)
			h.crash()
			h.restart(quiet, tc.m.option)
			h.settle()
			wantErrCode(t, h.engine.TryAgain(h.ctx, lead, p.Phase.ID, *p.Phase.PassID), models.CodeConflict)
			must(t, h.engine.JudgeAgain(h.ctx, lead, p.Phase.ID, *p.Phase.PassID))
			h.settle()
			h.wantParked(id, 1, tc.reason)
			tc.m.wantAsked(tc.put)
			h.raise(id, tc.raised)
			h.wantPhase(id, 1, models.PhaseCompleted, 1)
			tc.m.wantAsked(tc.all)
			if h.ran() != "xa" {
				t.Errorf("ran %q", h.ran())
			}
		})
	}
}

// What needs no question is judged within a used-up budget too.
func TestBudgetLetsChecksJudge(t *testing.T) {
	m := &meter{runTokens: 100}
	h := newMeter(t, m)
	id := h.startWithin(models.Budget{Tokens: 50}, "- there -> file: work.txt", h.counted("x", "- there -> file: work.txt", 1))
	h.wantPhase(id, 1, models.PhaseCompleted, 1)
	if g := h.gate(id); !g.State.Open {
		t.Errorf("%+v", g.State)
	}
	m.wantAsked(0)
}

// A lead raises the budget just while a judging, or an evaluation, is being stopped
// by it: the raise found nothing stopped that it could have let go on, and yet it
// must not be waited for in vain.
func TestBudgetRaisedWhileItStopsAJudging(t *testing.T) {
	for name, dodText := range map[string]string{"a pass": "", "the evaluation": "- reads well -> judge"} {
		t.Run(name, func(t *testing.T) {
			var h *house
			var id string
			asked := 0
			h = newHouse(t, withJudge(judgeFunc(func(dod.Question) (string, error) {
				if asked++; asked > 1 {
					return saysMet, nil
				}
				must(t, h.engine.SetBudget(h.ctx, lead, id, models.Budget{Runs: 50}, ""))
				return "", &dod.WithheldError{Reason: "The budget of 9 runs is used up."}
			})))
			p := shell("work", "echo x > made.txt")
			if dodText == "" {
				p.DoneWhen = "- it is done well -> judge"
			}
			id = h.createWith(engine.NewPlan{Phases: []engine.NewPhase{p}, Budget: models.Budget{Runs: 9}, Dod: dodText})
			must(t, h.engine.StartPlan(h.ctx, lead, id))
			h.settle()
			h.settle()
			h.wantPlan(id, models.PlanFinished)
			if g := h.gate(id); !g.State.Open || asked != 2 {
				t.Errorf("asked %d times, open %v: %s", asked, g.State.Open, g.State.Sentence)
			}
			if d := h.phase(id, 1); len(d.Passes) != 1 {
				t.Errorf("%d passes", len(d.Passes))
			}
		})
	}
}

// The definition of done: the evaluation ends with the sentence, the gate says
// it with what mends it, and a raise evaluates again by itself.
func TestBudgetStopsTheEvaluation(t *testing.T) {
	m := &meter{runTokens: 100}
	h := newMeter(t, m)
	id := h.startWithin(models.Budget{Tokens: 100}, "- reads well -> judge", h.counted("x", "", 1))
	h.wantPlan(id, models.PlanFinished)
	const why = "The budget of 100 tokens is used up (100 used)."
	for range 2 { // evaluating again changes nothing
		ev := h.detail(id).Evaluation
		if ev.Status != models.EvaluationErrored || !ev.OverBudget || ev.Error != why {
			t.Fatalf("%+v", ev)
		}
		g := h.gate(id)
		if r := g.State.Reasons[0]; g.State.Open || r.Action != dod.ActionRaiseBudget || !strings.Contains(r.Sentence, why) {
			t.Errorf("%+v", g.State)
		}
		must(t, h.engine.Evaluate(h.ctx, lead, id))
		h.settle()
	}
	m.wantAsked(0)
	wantErrCode(t, h.engine.SetBudget(h.ctx, lead, id, models.Budget{Tokens: 90, Runs: 7}, ""), models.CodeInvalid)
	h.raise(id, models.Budget{Tokens: 101, Runs: 1}) // runs have nothing to do with it
	if g := h.gate(id); !g.State.Open {
		t.Errorf("%+v", g.State)
	}
	m.wantAsked(1)
}

// A run that was lost in a crash has used its minutes; its next try is a run
// like any other.
func TestBudgetStopsTheRetryOfALostRun(t *testing.T) {
	m := &meter{}
	h := newMeter(t, m)
	hold := filepath.Join(h.dir, "hold")
	must(t, writeFile(hold, ""))
	p := h.counted("x", "", 1)
	p.Agents[0].Command += "; touch " + h.dir + "/at; while [ -e " + hold + " ]; do sleep 0.01; done"
	id := h.createWith(engine.NewPlan{Phases: []engine.NewPhase{p}, Budget: models.Budget{Runs: 1}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	_, err := h.engine.Once(h.ctx)
	must(t, err)
	eventually(t, "it runs", func() bool { return exists(filepath.Join(h.dir, "at")) })
	eventually(t, "its pid is stored", func() bool { return h.phase(id, 1).Passes[0].Runs[0].Pid > 0 })
	h.crash()
	h.restart(quiet, m.option)
	must(t, removeFile(hold))
	h.settle()
	d := h.wantParked(id, 1, "The budget of 1 run is used up (1 started).")
	if runs := d.Passes[0].Runs; len(runs) != 2 || runs[0].Status != models.RunLost || runs[1].Status != models.RunQueued {
		t.Fatalf("%+v", runs)
	}
	wantErrCode(t, h.engine.TryAgain(h.ctx, lead, d.Phase.ID, *d.Phase.PassID), models.CodeConflict)
	h.raise(id, models.Budget{Runs: 2})
	h.wantPhase(id, 1, models.PhaseCompleted, 1)
	if runs := h.phase(id, 1).Passes[0].Runs; len(runs) != 2 || h.ran() != "xa xa" {
		t.Errorf("%d runs, ran %q", len(runs), h.ran())
	}
}

// The time in which a server was stopped is nobody's work.
func TestBudgetLeavesOutTheTimeOfAStop(t *testing.T) {
	m := &meter{runTokens: 40}
	h := newMeter(t, m)
	hold := filepath.Join(h.dir, "hold")
	must(t, writeFile(hold, ""))
	p := h.counted("x", "", 1)
	p.Agents[0].Command += "; touch " + h.dir + "/at; while [ -e " + hold + " ]; do sleep 0.01; done"
	id := h.createWith(engine.NewPlan{Phases: []engine.NewPhase{p}, Budget: models.Budget{Minutes: 60}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	_, err := h.engine.Once(h.ctx)
	must(t, err)
	eventually(t, "it runs", func() bool { return exists(filepath.Join(h.dir, "at")) })
	h.Forward(10 * time.Minute)
	u, err := h.store.UsageOf(h.ctx, id, h.clock())
	must(t, err)
	if u.Wall != 10*time.Minute || !u.Working {
		t.Errorf("while it runs: %+v", u)
	}
	h.engine.Close()
	h.Forward(48 * time.Hour)
	must(t, removeFile(hold))
	h.crash() // closes its files; the engine is closed already
	h.restart(quiet, m.option)
	h.settle()
	h.wantPhase(id, 1, models.PhaseCompleted, 1)
	u, err = h.store.UsageOf(h.ctx, id, h.clock())
	must(t, err)
	if u.Wall != 10*time.Minute || u.Runs != 2 || u.Tokens != 80 {
		t.Errorf("%+v", u)
	}
}

// Whatever is pressed, a used-up budget starts no run and puts no question.
func TestADeadBudgetSpendsNothing(t *testing.T) {
	m := &meter{runTokens: 100, questions: 10, reply: func(int) string { return no }}
	h := newMeter(t, m)
	id := h.startWithin(models.Budget{Tokens: 105}, "- fine -> judge", h.counted("x", "- good", 2), h.counted("y", "- good", 1))
	h.wantParked(id, 1, "The budget of 105 tokens is used up (200 used).")
	press := []struct {
		name string
		do   func(ph models.Phase, pass int64) error
	}{
		{"try again", func(ph models.Phase, pass int64) error { return h.engine.TryAgain(h.ctx, lead, ph.ID, pass) }},
		{"judge again", func(ph models.Phase, pass int64) error { return h.engine.JudgeAgain(h.ctx, lead, ph.ID, pass) }},
		{"another condition", func(ph models.Phase, pass int64) error {
			return h.engine.EditCondition(h.ctx, lead, ph.ID, pass, engine.Condition{DoneWhen: "- better", MaxIterations: 5, Reason: "asked otherwise"})
		}},
		{"another pass", func(ph models.Phase, pass int64) error { return h.engine.AnotherPass(h.ctx, lead, ph.ID, pass, "now") }},
		{"more passes", func(ph models.Phase, pass int64) error { return h.engine.MorePasses(h.ctx, lead, ph.ID, pass, 3, "") }},
		{"pause and resume", func(models.Phase, int64) error {
			must(t, h.engine.PausePlan(h.ctx, lead, id))
			h.settle()
			return h.engine.ResumePlan(h.ctx, lead, id)
		}},
		{"retry", func(ph models.Phase, pass int64) error {
			return h.engine.RetryPhase(h.ctx, lead, ph.ID, pass, true, "")
		}},
		{"restart", func(models.Phase, int64) error { h.crash(); h.restart(quiet, m.option); return nil }},
		{"a smaller budget", func(models.Phase, int64) error {
			return h.engine.SetBudget(h.ctx, lead, id, models.Budget{Tokens: 1}, "")
		}},
		{"another limit", func(models.Phase, int64) error {
			return h.engine.SetBudget(h.ctx, lead, id, models.Budget{Tokens: 105, Runs: 50}, "")
		}},
		{"accept", func(ph models.Phase, pass int64) error {
			return h.engine.AcceptPhase(h.ctx, lead, ph.ID, pass, "good enough")
		}},
	}
	for _, p := range press {
		ph := h.phase(id, 1).Phase
		var pass int64
		if ph.PassID != nil {
			pass = *ph.PassID
		}
		if err := p.do(ph, pass); err != nil && models.CodeOf(err) != models.CodeConflict && models.CodeOf(err) != models.CodeInvalid {
			t.Fatalf("%s: %v", p.name, err)
		}
		h.settle()
		h.Forward(time.Hour)
		h.settle()
		if h.ran() != "xa xb" {
			t.Errorf("after %q ran %q", p.name, h.ran())
		}
		m.wantAsked(0)
	}
	h.wantPhase(id, 1, models.PhaseCompleted, 1) // no other pass ever began
	h.wantParked(id, 2, "The budget of 105 tokens is used up (200 used).")
}

// A restore that a retry asked for waits with it, and is not forgotten.
func TestBudgetKeepsARestore(t *testing.T) {
	m := &meter{}
	h := newMeter(t, m)
	id := h.startWithin(models.Budget{Runs: 1}, "", h.counted("x", "", 1))
	ph := h.wantPhase(id, 1, models.PhaseCompleted, 1).Phase
	must(t, h.engine.RetryPhase(h.ctx, lead, ph.ID, *ph.PassID, true, ""))
	h.settle()
	h.wantParked(id, 1, "The budget of 1 run is used up (1 started).")
	if got := h.read(h.workFile(id, "work.txt")); got != "xa\n" {
		t.Errorf("the work was touched: %q", got)
	}
	h.raise(id, models.Budget{})
	h.wantPhase(id, 1, models.PhaseCompleted, 2)
	if got := h.read(h.workFile(id, "work.txt")); got != "xa\n" {
		t.Errorf("it went on on the tree as it was: %q", got)
	}
}

// A raise under a paused plan waits for resume.
func TestBudgetRaisedWhilePaused(t *testing.T) {
	m := &meter{}
	h := newMeter(t, m)
	id := h.startWithin(models.Budget{Runs: 1}, "", h.counted("x", "", 2))
	must(t, h.engine.PausePlan(h.ctx, lead, id))
	h.raise(id, models.Budget{Runs: 5})
	h.wantPlan(id, models.PlanPaused)
	if h.ran() != "xa" {
		t.Errorf("ran %q", h.ran())
	}
	must(t, h.engine.ResumePlan(h.ctx, lead, id))
	h.settle()
	h.wantPhase(id, 1, models.PhaseCompleted, 1)
}

func TestSetBudget(t *testing.T) {
	m := &meter{}
	h := newMeter(t, m)
	viewer := models.Actor{ID: 9, Name: "vic", Role: models.RoleViewer}
	id := h.create(h.counted("x", "", 1), h.counted("y", "", 1))
	wantErrCode(t, h.engine.SetBudget(h.ctx, viewer, id, models.Budget{Runs: 1}, ""), models.CodeForbidden)
	wantErrCode(t, h.engine.SetBudget(h.ctx, lead, "01ARZ3NDEKTSV4RRFFQ69G5FAV", models.Budget{Runs: 1}, ""), models.CodeNotFound)
	for field, b := range map[string]models.Budget{
		"budget_runs": {Runs: -1}, "budget_minutes": {Minutes: models.MaxBudgetMinutes + 1}, "budget_tokens": {Tokens: math.MinInt64}, "budget_usd": {USD: math.NaN()},
	} {
		wantField(t, h.engine.SetBudget(h.ctx, lead, id, b, ""), field)
		_, err := h.engine.CreatePlan(h.ctx, lead, engine.NewPlan{ProjectID: h.project.ID, Title: "x", Phases: []engine.NewPhase{h.counted("x", "", 1)}, Budget: b})
		wantField(t, err, field)
	}
	wantField(t, h.engine.SetBudget(h.ctx, lead, id, models.Budget{}, ""), "budget_runs")
	wantField(t, h.engine.SetBudget(h.ctx, lead, id, models.Budget{Runs: 1}, strings.Repeat("x", 9<<10)), "reason")

	must(t, h.engine.SetBudget(h.ctx, lead, id, models.Budget{Runs: 1}, " first ")) // a draft takes it
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	h.wantParked(id, 2, "The budget of 1 run is used up (1 started).")
	wantField(t, h.engine.SetBudget(h.ctx, lead, id, models.Budget{Runs: 1, USD: 5}, ""), "budget_runs")
	h.wantParked(id, 2, "The budget of 1 run is used up (1 started).")
	h.raise(id, models.Budget{Runs: 2, USD: 2.5})
	h.wantPlan(id, models.PlanFinished)
	must(t, h.engine.SetBudget(h.ctx, lead, id, models.Budget{Runs: 1}, "no more")) // nothing is stopped: below what is used

	events, err := h.store.EventsOf(h.ctx, id, 0, 200)
	must(t, err)
	var told []string
	for _, e := range events {
		if e.Kind == "plan.budget_changed" || e.Kind == "phase.over_budget" {
			told = append(told, strings.Join([]string{e.Kind, e.From, e.To, e.Actor, e.Reason}, "|"))
		}
	}
	want := []string{
		"plan.budget_changed|2 runs, $2.50|1 run|lea|no more",
		"plan.budget_changed|1 run|2 runs, $2.50|lea|it is worth it",
		"phase.over_budget|pending|needs_attention|donewhen|The budget of 1 run is used up (1 started).",
		"plan.budget_changed|no limits|1 run|lea|first",
	}
	if strings.Join(told, "\n") != strings.Join(want, "\n") {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	must(t, h.engine.DiscardPlan(h.ctx, lead, id, ""))
	wantErrCode(t, h.engine.SetBudget(h.ctx, lead, id, models.Budget{Runs: 9}, ""), models.CodeConflict)
}

func wantField(t *testing.T, err error, field string) {
	t.Helper()
	wantErrCode(t, err, models.CodeInvalid)
	if e := err.(*models.Error); e.Fields[field] == "" || len(e.Fields) != 1 {
		t.Errorf("messages at %v, want one at %s", e.Fields, field)
	}
}

// A second opinion is a question like any other: one met is not enough, and
// nothing is completed by the one that could be paid.
func TestBudgetStopsASecondOpinion(t *testing.T) {
	m := &meter{questions: 70}
	h := newMeter(t, m)
	p := h.counted("x", "- good", 1)
	p.Opinions = 2
	id := h.startWithin(models.Budget{Tokens: 60}, "", p)
	h.wantParked(id, 1, "The budget of 60 tokens is used up (70 used).")
	m.wantAsked(1)
	h.raise(id, models.Budget{Tokens: 300})
	h.wantPhase(id, 1, models.PhaseCompleted, 1)
	m.wantAsked(3)
}
