package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/engine/runner"
	"donewhen/models"
	"donewhen/models/store"
)

type dodQuestion = dod.Question

func TestA3_05_NothingToLookAtIsNeverMet(t *testing.T) {
	h := newHouse(t)
	p := shell("silent", "true")
	p.DoneWhen, p.MaxIterations = "- one\n- two\n- three", 1
	id := h.start(p, shell("later", "true"))
	d := h.wantPhase(id, 1, models.PhaseExhausted, 1)
	for _, r := range engine.Results(*d.Passes[0].Verdict) {
		if r.Status != dod.Skipped {
			t.Errorf("%q: %s", r.Criterion.Text, r.Status)
		}
	}
	if v := d.Passes[0].Verdict; v.Met || !strings.Contains(v.Reason, "3 of 3 criteria open") {
		t.Errorf("%+v", v)
	}
	h.wantPhase(id, 2, models.PhasePending, 0)
}

func TestA3_05_ADefinitionOfDoneWithNothingToLookAtKeepsTheGateClosed(t *testing.T) {
	h := newHouse(t)
	_, g := h.judgedPlan("- one\n- two\n- three", shell("silent", "true"))
	if g.State.Open || g.Summary.Skipped() != 3 || !strings.Contains(codes(g), "required_skipped") {
		t.Errorf("%s: %+v", codes(g), g.Summary.Results)
	}
}

func TestA3_14_OnlyHeadingsCheckNothing(t *testing.T) {
	h := newHouse(t)
	for _, text := range []string{"# Done", "---", "```\n- not a criterion\n```", "- (info) only told"} {
		p := shell("one", "true")
		p.DoneWhen = text
		_, err := h.engine.CreatePlan(h.ctx, lead, engine.NewPlan{ProjectID: h.project.ID, Title: "x", Phases: []engine.NewPhase{p}})
		wantErrCode(t, err, models.CodeInvalid)
	}
	// A row that got past the form, by hand or from before, is not met either.
	plan := models.Plan{ID: ulid.Make().String(), ProjectID: h.project.ID, Title: "x", Status: models.PlanDraft, TargetBranch: "main"}
	must(t, h.store.InTx(h.ctx, func(tx *store.Tx) error {
		return tx.InsertPlan(h.ctx, &plan, []models.Phase{{PlanID: plan.ID, Position: 1, Name: "one", DoneWhen: "# Done", MaxIterations: 1,
			Attempt: 1, Status: models.PhasePending, Agents: shell("", "echo hi").Agents}})
	}))
	must(t, h.engine.StartPlan(h.ctx, lead, plan.ID))
	h.settle()
	d := h.wantPhase(plan.ID, 1, models.PhaseExhausted, 1)
	if !strings.Contains(d.Phase.Reason, "No criterion was checked") {
		t.Errorf("reason: %s", d.Phase.Reason)
	}
	// A definition of done of headings has no criteria: nothing is evaluated, and it says so.
	id, g := h.judgedPlan("# Done\n\n## Code\n")
	if h.detail(id).Evaluation != nil || g.State.Sentence != "No definition of done." {
		t.Errorf("%s: %s", codes(g), g.State.Sentence)
	}
}

// scriptedCLI declares a judge that is a script, and returns it.
func scriptedCLI(t *testing.T, script string) dod.Asker {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "judge.sh"), []byte("#!/bin/bash\ncat > /dev/null\n"+script+"\n"), 0o755))
	file := filepath.Join(dir, "runtimes.yaml")
	must(t, writeFile(file, "runtimes:\n  scripted:\n    judge_args: [./judge.sh]\n    judge_output: text\n    judge_limit: 1s\n"))
	set, err := runner.Open(file, runner.Options{TempDir: t.TempDir(), Grace: 100 * time.Millisecond})
	must(t, err)
	j, err := set.Judge("scripted")
	must(t, err)
	return j
}

func TestA4_14_JudgeFailuresOverAWholePlan(t *testing.T) {
	for _, c := range []struct {
		name, script string
		kind         models.VerdictKind
		phase        models.PhaseStatus
		says         string
	}{
		{"A4-14 (1) prints nothing", "exit 0", models.VerdictInvalid, models.PhaseNeedsAttention, ""},
		{"A4-14 (2) exits 1", "echo 'no credit' >&2; exit 1", models.VerdictTrouble, models.PhaseNeedsAttention, "no credit"},
		{"A4-14 (3) sleeps beyond its limit", "sleep 60", models.VerdictTrouble, models.PhaseNeedsAttention, "no reply within 1s"},
		{"A4-14 (4) a verdict", `echo '{"met":false,"reason":"the table is missing"}'`, models.VerdictGiven, models.PhaseExhausted, "the table is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, withJudge(scriptedCLI(t, c.script)))
			p := shell("work", `echo ran >> "$HOME/runs"; echo work > w.txt`)
			p.DoneWhen, p.MaxIterations = "it is good", 1
			id := h.start(p, shell("later", "true"))
			for range 2 {
				h.Forward(time.Minute)
				h.settle()
			}
			d := h.wantPhase(id, 1, c.phase, 1)
			v := d.Passes[0].Verdict
			if v.Met || v.Kind != c.kind || !strings.Contains(d.Phase.Reason, c.says) {
				t.Errorf("kind %s, reason %q", v.Kind, d.Phase.Reason)
			}
			h.wantPhase(id, 2, models.PhasePending, 0)
			h.wantPlan(id, models.PlanWaiting)
			if c.phase == models.PhaseNeedsAttention {
				if d.Phase.Iteration != 0 || d.Phase.Feedback != "" {
					t.Errorf("trouble spent a pass or told the agent: %+v", d.Phase)
				}
				must(t, h.engine.TryAgain(h.ctx, lead, d.Phase.ID, *d.Phase.PassID))
				if s := h.phase(id, 1).Phase.Status; s != models.PhaseJudging {
					t.Errorf("try again leads to %s", s)
				}
			}
			if got := h.read(filepath.Join(h.dir, "homes", id, "agents", "runs")); got != "ran\n" {
				t.Errorf("the agent ran again: %q", got)
			}
		})
	}
}

// A judge in trouble that recovers: the next try decides, nothing is spent.
func TestJudgeRecoversWithinItsTries(t *testing.T) {
	replies := []string{"hm", "hm", "", "", `{"met":true,"reason":"fine"}`} // two tries of two questions each, then a verdict
	i := 0
	h := newHouse(t, withJudge(judgeFunc(func(dod.Question) (string, error) {
		i++
		return replies[i-1], nil
	})))
	p := shell("work", "echo work")
	p.DoneWhen = "it is good"
	id := h.start(p)
	ph := h.wantPhase(id, 1, models.PhaseJudging, 1).Phase
	if ph.DueAt == nil || ph.DueAt.Sub(h.clock()) != 5*time.Second || !strings.Contains(ph.Reason, "try 1 of 3") {
		t.Fatalf("after the first try: due %v, %s", ph.DueAt, ph.Reason)
	}
	h.Forward(4 * time.Second)
	h.settle()
	if i != 2 {
		t.Fatalf("asked before its time: %d questions", i)
	}
	h.Forward(time.Second)
	h.settle()
	if ph = h.phase(id, 1).Phase; ph.DueAt == nil || ph.DueAt.Sub(h.clock()) != 30*time.Second {
		t.Fatalf("after the second try: due %v", ph.DueAt)
	}
	h.Forward(30 * time.Second)
	h.settle()
	d := h.wantPhase(id, 1, models.PhaseCompleted, 1)
	vs, err := h.store.VerdictsOf(h.ctx, d.Passes[0].Pass.ID)
	must(t, err)
	if len(vs) != 3 || !vs[2].Met || i != 5 {
		t.Errorf("%d verdicts, %d questions", len(vs), i)
	}
}

const fakeRuntimes = `runtimes:
  shell:
    shell: true
  limited:
    args: [bash, -c, 'cat >/dev/null; echo ran >> "$HOME/ran"; echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":true,\"result\":\"API Error: limit\"}"']
    output: claude-stream-json
  missing:
    args: [/nonexistent/agent]
`

// errs leads an errored run through its tries on the held clock.
func (h *house) threeTries(agent models.AgentSpec, says string) (string, models.PhaseDetail) {
	h.t.Helper()
	p := engine.NewPhase{Name: "work", Task: "Do it.", MaxIterations: 2, DoneWhen: "- limit", Agents: []models.AgentSpec{agent}}
	id := h.start(p)
	for try, wait := range []time.Duration{5 * time.Second, 30 * time.Second} {
		d := h.wantPhase(id, 1, models.PhaseRunning, 1)
		if len(d.Passes[0].Runs) != try+2 || d.Phase.DueAt == nil || d.Phase.DueAt.Sub(h.clock()) != wait {
			h.t.Fatalf("after try %d: %d runs, due %v, want in %s", try+1, len(d.Passes[0].Runs), d.Phase.DueAt, wait)
		}
		h.Forward(wait - time.Second)
		h.settle()
		if r := h.phase(id, 1).Passes[0].Runs[try+1]; r.Status != models.RunQueued {
			h.t.Fatalf("try %d did not wait: %s", try+2, r.Status)
		}
		h.Forward(time.Second)
		h.settle()
	}
	d := h.wantPhase(id, 1, models.PhaseNeedsAttention, 1)
	if len(d.Passes[0].Runs) != 3 || d.Phase.Iteration != 0 || d.Passes[0].Verdict != nil || !strings.Contains(d.Phase.Reason, says) {
		h.t.Fatalf("%d runs, iteration %d, reason %q", len(d.Passes[0].Runs), d.Phase.Iteration, d.Phase.Reason)
	}
	for _, r := range d.Passes[0].Runs {
		if r.Status != models.RunErrored {
			h.t.Errorf("try %d is %s", r.Try, r.Status)
		}
	}
	h.wantPlan(id, models.PlanWaiting)
	return id, d
}

func TestA6_04_ALimitTheAgentReportsIsErroredAndNeverJudged(t *testing.T) {
	h := newHouseWith(t, fakeRuntimes, withJudge(judgeFunc(func(dod.Question) (string, error) {
		t.Error("the judge was asked about an error text")
		return "", errors.New("never")
	})))
	id, d := h.threeTries(models.AgentSpec{Runtime: "limited"}, "API Error: limit")
	// Try again by a person: at once, in the same pass, one more try.
	must(t, h.engine.TryAgain(h.ctx, lead, d.Phase.ID, *d.Phase.PassID))
	h.settle()
	d = h.wantPhase(id, 1, models.PhaseNeedsAttention, 1)
	if got := h.read(filepath.Join(h.dir, "homes", id, "agents", "ran")); got != "ran\nran\nran\nran\n" || len(d.Passes[0].Runs) != 4 {
		t.Errorf("%d rows, ran %q", len(d.Passes[0].Runs), got)
	}
}

func TestAMissingProgramIsErrored(t *testing.T) {
	h := newHouseWith(t, fakeRuntimes)
	h.threeTries(models.AgentSpec{Runtime: "missing"}, "/nonexistent/agent")
}

// What the agent is said to be done by can vanish from runtimes.yaml.
func TestARuntimeThatIsNotDeclaredAnyMore(t *testing.T) {
	h := newHouseWith(t, fakeRuntimes)
	p := engine.NewPhase{Name: "work", Task: "Do it.", MaxIterations: 2, Agents: []models.AgentSpec{{Runtime: "limited"}}}
	id := h.create(p)
	h.engine.Close()
	must(t, writeFile(filepath.Join(h.dir, "runtimes.yaml"), "runtimes:\n  shell:\n    shell: true\n"))
	h.restart()
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	for range 3 {
		h.settle()
		h.Forward(time.Minute)
	}
	d := h.wantPhase(id, 1, models.PhaseNeedsAttention, 1)
	if !strings.Contains(d.Phase.Reason, `"limited" is not declared in runtimes.yaml`) {
		t.Errorf("reason: %s", d.Phase.Reason)
	}
	// The operator mends it, a person tries again.
	h.engine.Close()
	must(t, writeFile(filepath.Join(h.dir, "runtimes.yaml"), strings.Replace(fakeRuntimes, `\"is_error\":true,`, "", 1)))
	h.restart()
	must(t, h.engine.TryAgain(h.ctx, lead, d.Phase.ID, *d.Phase.PassID))
	h.settle()
	h.wantPhase(id, 1, models.PhaseCompleted, 1)
}

// A failing check decides without the model.
func TestAFailingCheckAsksNobody(t *testing.T) {
	h := newHouse(t, withJudge(judgeFunc(func(dod.Question) (string, error) {
		t.Error("asked")
		return `{"met":true,"reason":"yes"}`, nil
	})))
	p := shell("work", "echo work > w.txt")
	p.DoneWhen, p.MaxIterations = "- it is good\n- it builds -> run: echo broken; exit 4", 1
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseExhausted, 1)
	rs := engine.Results(*d.Passes[0].Verdict)
	if rs[0].Status != dod.Skipped || !strings.Contains(rs[0].Reasoning, "Not asked") || rs[1].Status != dod.Failed || !strings.Contains(rs[1].Reasoning, "broken") {
		t.Errorf("%+v", rs)
	}
}
