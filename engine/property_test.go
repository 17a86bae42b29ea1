package engine_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

// scriptedRuntime is an agent without a process, so that thousands of passes
// fit into a second: how it ends is drawn at random.
type scriptedRuntime struct{ next func() engine.Outcome }

func (r scriptedRuntime) Run(_ context.Context, job engine.Job) engine.Outcome {
	fmt.Fprintln(job.Output, "output of", job.RunID)
	return r.next()
}

func (scriptedRuntime) Info() engine.RuntimeInfo {
	return engine.RuntimeInfo{Alias: "scripted", Available: true}
}

// Random verbs and ticks, agents and judges that end in every possible way:
// whatever happens, the rows stay true.
func TestPropertyRowsStayTrue(t *testing.T) {
	var dice atomic.Uint64 // how runs and judgings end; set from the drawn sequence
	roll := func(n uint64) uint64 {
		x := dice.Add(0x9E3779B97F4A7C15) // splitmix64
		x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
		x = (x ^ x>>27) * 0x94D049BB133111EB
		return (x ^ x>>31) % n
	}
	h := newHouse(t, quiet, func(c *engine.Config) {
		c.Runtimes = append(c.Runtimes, scriptedRuntime{func() engine.Outcome {
			code := 0
			switch roll(8) {
			case 0:
				code = 1
				return engine.Outcome{Status: models.RunFailed, ExitCode: &code, Reason: "exit code 1"}
			case 1:
				return engine.Outcome{Status: models.RunErrored, Reason: "no quota"}
			case 2:
				return engine.Outcome{Status: models.RunTimedOut, Reason: "too slow"}
			}
			return engine.Outcome{Status: models.RunSucceeded, ExitCode: &code, FinalMessage: fmt.Sprint("said ", roll(3))}
		}})
		c.Judge = judgeFunc(func(dod.Question) (string, error) {
			switch roll(6) {
			case 0, 1:
				return `{"met":true,"reason":"yes"}`, nil
			case 2:
				return "prose", nil
			case 3:
				return "", errors.New("unreachable")
			}
			return `{"met":false,"reason":"no"}`, nil
		})
	})
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue {
		must(t, f.Value.Set("6")) // real git and SQLite: a handful of long sequences, others each time
	}
	rapid.Check(t, func(rt *rapid.T) {
		dice.Store(rapid.Uint64().Draw(rt, "dice"))
		agent := models.AgentSpec{Runtime: "scripted"}
		in := engine.NewPlan{ProjectID: h.project.ID, Title: "Property", Dod: "- said 1\n- (info) said 2"}
		for i := range rapid.IntRange(1, 3).Draw(rt, "phases") {
			ph := engine.NewPhase{Name: fmt.Sprint("p", i), Task: "Do it.", Agents: []models.AgentSpec{agent, agent}[:1+i%2],
				MaxIterations: rapid.IntRange(1, 3).Draw(rt, "limit"), NeedsApproval: rapid.Bool().Draw(rt, "approval")}
			if rapid.Bool().Draw(rt, "condition") {
				ph.DoneWhen = "it is good"
			}
			in.Phases = append(in.Phases, ph)
		}
		id, err := h.engine.CreatePlan(h.ctx, lead, in)
		must(t, err)
		must(t, h.engine.StartPlan(h.ctx, lead, id))
		for step := range rapid.IntRange(10, 30).Draw(rt, "steps") {
			d := h.detail(id)
			n := rapid.IntRange(0, len(d.Phases)-1).Draw(rt, "phase")
			p := placed{plan: id, phase: d.Phases[n].Phase.ID}
			if d.Phases[n].Phase.PassID != nil {
				p.pass = *d.Phases[n].Phase.PassID
			}
			what := rapid.IntRange(0, len(phaseVerbs)+9).Draw(rt, "what")
			var err error
			switch {
			case what < len(phaseVerbs):
				err = phaseVerbs[what].do(h.engine, h, lead, p)
			case what == len(phaseVerbs):
				err = h.engine.PausePlan(h.ctx, lead, id)
			case what == len(phaseVerbs)+1:
				err = h.engine.ResumePlan(h.ctx, lead, id)
			case what == len(phaseVerbs)+2 && step > 12:
				err = h.engine.CancelPlan(h.ctx, lead, id, "")
			case what == len(phaseVerbs)+3:
				err = h.engine.Evaluate(h.ctx, lead, id)
			case what == len(phaseVerbs)+4:
				h.Forward(time.Minute)
			case what == len(phaseVerbs)+5:
				for _, pass := range d.Phases[n].Passes {
					for _, r := range pass.Runs {
						if r.Status == models.RunRunning {
							err = h.engine.StopRun(h.ctx, lead, p.phase, p.pass, r.ID, "")
						}
					}
				}
			default:
				_, err = h.engine.Once(h.ctx)
			}
			if err != nil && models.CodeOf(err) != models.CodeConflict {
				rt.Fatalf("step %d (%d): %v", step, what, err)
			}
			if rapid.Bool().Draw(rt, "drain") {
				h.engine.Drain()
			}
			h.invariants(rt, id)
		}
		h.engine.Drain()
		h.invariants(rt, id)
		if d := h.detail(id); d.Plan.Status == models.PlanCancelled {
			h.wantCancelled(id)
		} else {
			must(t, h.engine.CancelPlan(h.ctx, lead, id, "the end"))
			h.engine.Drain()
		}
	})
}

// invariants hold after every step, also while work is under way. All is read
// at one moment.
func (h *house) invariants(rt *rapid.T, id string) {
	must(h.t, h.store.InTx(h.ctx, func(tx *store.Tx) error {
		plan, err := tx.Plan(h.ctx, id)
		if err != nil {
			return err
		}
		if want, err := derived(h, tx, plan); err != nil || plan.Status != want && plan.Status != models.PlanPaused { // a person may pause a waiting plan too
			rt.Fatalf("the plan is %s, its phases say %s (%v)", plan.Status, want, err)
		}
		phases, err := tx.PhasesOf(h.ctx, id)
		if err != nil {
			return err
		}
		moves := map[string]string{"plan": string(plan.Status)} // row -> status
		open := 0
		blocked := false
		for _, ph := range phases {
			if ph.Iteration < 0 || ph.Iteration >= ph.MaxIterations || ph.MaxIterations > models.MaxIterations {
				rt.Fatalf("phase %d: iteration %d of %d", ph.Position, ph.Iteration, ph.MaxIterations)
			}
			if blocked && (ph.Status == models.PhaseRunning || ph.Status == models.PhaseJudging) {
				rt.Fatalf("phase %d is %s before its predecessor is completed", ph.Position, ph.Status)
			}
			blocked = blocked || ph.Status != models.PhaseCompleted
			moves[fmt.Sprint("phase ", ph.ID)] = string(ph.Status)
			passes, err := tx.PassesOf(h.ctx, ph.ID)
			if err != nil {
				return err
			}
			for _, pass := range passes {
				moves[fmt.Sprint("pass ", pass.ID)] = string(pass.Status)
				if !pass.Status.Ended() {
					open++
					if ph.PassID == nil || *ph.PassID != pass.ID {
						rt.Fatalf("pass %d is %s and not the current one of its phase", pass.ID, pass.Status)
					}
				}
				runs, err := tx.RunsOf(h.ctx, pass.ID)
				if err != nil {
					return err
				}
				busy := 0
				for _, r := range runs {
					moves[fmt.Sprint("run ", r.ID)] = string(r.Status)
					if r.Status == models.RunRunning {
						busy++
					}
					if !r.Status.Ended() && (pass.Status.Ended() || plan.Status == models.PlanCancelled) {
						rt.Fatalf("run %d is %s under a pass that is %s", r.ID, r.Status, pass.Status)
					}
				}
				if busy > 1 {
					rt.Fatalf("%d runs of pass %d run at once", busy, pass.ID)
				}
			}
			if ph.Status == models.PhaseCompleted && ph.DoneWhen != "" && !ph.Overridden {
				v, err := tx.LatestVerdict(h.ctx, *ph.PassID)
				if err != nil {
					return err
				}
				if v == nil || !v.Met || v.Kind != models.VerdictGiven {
					rt.Fatalf("phase %d is completed without a verdict that says so: %+v", ph.Position, v)
				}
			}
		}
		if open > 1 {
			rt.Fatalf("%d passes are open at once", open)
		}
		return h.everyMoveHasAnEvent(tx, rt, id, moves)
	}))
}

// everyMoveHasAnEvent: the newest event about each row that has ever moved names
// the state that the row is in, and the events of one row form a chain.
func (h *house) everyMoveHasAnEvent(tx *store.Tx, rt *rapid.T, id string, now map[string]string) error {
	last := map[string]string{}
	var before int64
	var all []models.Event
	for {
		page, err := tx.EventsOf(h.ctx, id, before, 200)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
		before = page[len(page)-1].ID
	}
	for i := len(all) - 1; i >= 0; i-- { // oldest first
		ev := all[i]
		if ev.From == "" {
			continue
		}
		noun, _, _ := strings.Cut(ev.Kind, ".")
		row := noun
		switch noun {
		case "run":
			row = fmt.Sprint("run ", *ev.RunID)
		case "pass":
			row = fmt.Sprint("pass ", *ev.PassID)
		case "phase":
			row = fmt.Sprint("phase ", *ev.PhaseID)
		case "plan":
		default:
			continue
		}
		if was, known := last[row]; known && was != ev.From {
			rt.Fatalf("%s went from %s, its event before says %s (event %d, %s)", row, ev.From, was, ev.ID, ev.Kind)
		}
		last[row] = ev.To
	}
	for row, status := range now {
		if was, known := last[row]; known && was != status {
			rt.Fatalf("%s is %s, its newest event says %s", row, status, was)
		} else if !known && status != "queued" && status != "pending" {
			rt.Fatalf("%s is %s without any event", row, status)
		}
	}
	return nil
}
