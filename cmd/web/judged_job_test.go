package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

var (
	leaLead  = models.Actor{ID: 1, Name: "lea", Role: models.RoleLead}
	adaAdmin = models.Actor{ID: 2, Name: "ada", Role: models.RoleAdmin}
)

// repository is a git repository with one commit, registered as a project.
func repository(t *testing.T, app *App) (models.Project, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "README.md"), []byte("# A project\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	p, err := app.engine.AddProject(t.Context(), adaAdmin, "guide", dir, "", false)
	if err != nil {
		t.Fatal(err)
	}
	return p, dir
}

// The guide's first version lacks a chapter. The judge names it, and the writer
// reads that from its task text.
const (
	missingChapter = "the chapter on offline use is missing"
	writerCommand  = `if grep -q "` + missingChapter + `" "$DONEWHEN_TASK_FILE"; then
  printf '# Working offline\n\nEverything works without a network.\n' > offline.md
else
  printf '# Guide\n\nStart here.\n' > guide.md
fi
echo "written"`
)

// honestJudge reads the evidence and nothing else: the guide is complete with
// its chapter, the change is named when a file says so.
func honestJudge(a asked) said {
	evidence, verdict := a.part("EVIDENCE"), dod.Verdict{Reason: missingChapter}
	switch criterion := a.part("CRITERION"); {
	case strings.Contains(criterion, "change is named"):
		verdict = dod.Verdict{Met: strings.Contains(evidence, "CHANGES.md"), Reason: "CHANGES.md says what is new"}
	case strings.Contains(evidence, "Working offline"):
		verdict = dod.Verdict{Met: true, Reason: "offline.md has the chapter"}
	}
	return said{text: jsonOf(map[string]any{"met": verdict.Met, "reason": verdict.Reason})}
}

func guidePlan(project models.Project, writer models.AgentSpec) engine.NewPlan {
	shell := models.AgentSpec{Runtime: "shell", Name: "clerk", Command: "echo '- a guide' > CHANGES.md; echo noted"}
	return engine.NewPlan{ProjectID: project.ID, Title: "Write the guide", Goal: "A guide for new colleagues.",
		Dod: "- The guide is complete -> judge: does it also help without a network?\n- The chapter is there -> file: offline.md\n- written",
		Phases: []engine.NewPhase{
			{Name: "Write", Task: "Write a guide for new colleagues.", Agents: []models.AgentSpec{writer}, MaxIterations: 3,
				DoneWhen: "- The guide is fit for a new colleague\n- The guide is there -> file: guide.md"},
			{Name: "Announce", Task: "Say what is new.", Agents: []models.AgentSpec{shell}, MaxIterations: 2, NeedsApproval: true,
				DoneWhen: "- The change is named -> judge"},
		}}
}

// driveGuide carries the plan from its start to the merge and checks what the
// judge had to do with it on the way.
func driveGuide(t *testing.T, app *App, in engine.NewPlan, repo string) models.PlanDetail {
	t.Helper()
	ctx, e := t.Context(), app.engine
	id, err := e.CreatePlan(ctx, leaLead, in)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.StartPlan(ctx, leaLead, id); err != nil {
		t.Fatal(err)
	}
	detail := func() models.PlanDetail {
		d, err := app.store.PlanDetail(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	eventually(t, "phase 2 waits for approval", func() bool {
		d := detail()
		if d.Plan.Status == models.PlanFailed || d.Phases[0].Phase.Status == models.PhaseNeedsAttention || d.Phases[0].Phase.Status == models.PhaseExhausted {
			t.Fatalf("phase 1 is %s: %s", d.Phases[0].Phase.Status, d.Phases[0].Phase.Reason)
		}
		return d.Phases[1].Phase.Status == models.PhaseAwaitingApproval
	})
	first := detail().Phases[0]
	if len(first.Passes) != 2 || first.Passes[0].Verdict.Met || first.Passes[0].Verdict.Kind != models.VerdictGiven || !first.Passes[1].Verdict.Met {
		t.Fatalf("phase 1 took %d passes: %s", len(first.Passes), first.Phase.Reason)
	}
	if text := first.Passes[1].Pass.TaskText; !strings.Contains(text, missingChapter) {
		t.Errorf("pass 2 was not told why pass 1 is not enough:\n%s", text)
	}
	if text := first.Passes[0].Pass.TaskText; strings.Contains(text, missingChapter) {
		t.Errorf("pass 1 was told the answer:\n%s", text)
	}
	second := detail().Phases[1].Phase
	if err := e.ApprovePhase(ctx, leaLead, second.ID, *second.PassID, ""); err != nil {
		t.Fatal(err)
	}
	gate := gateOpens(t, app, id)
	if err := e.Apply(ctx, leaLead, id, gate.Commit, gate.EvaluationID); err != nil {
		t.Fatal(err)
	}
	d := detail()
	if d.Plan.Status != models.PlanApplied {
		t.Fatalf("the plan is %s", d.Plan.Status)
	}
	for _, file := range []string{"guide.md", "offline.md", "CHANGES.md"} {
		if _, err := os.Stat(filepath.Join(repo, file)); err != nil {
			t.Errorf("not in the target's checkout: %v", err)
		}
	}
	return d
}

// answersOf are the questions of a pass's verdict, all with exact input and reply.
func answersOf(t *testing.T, app *App, verdict *models.Verdict) []dod.Answer {
	t.Helper()
	v, err := app.store.Verdict(t.Context(), verdict.ID)
	if err != nil {
		t.Fatal(err)
	}
	answers := engine.Answers(v)
	for _, a := range answers {
		if a.Prompt == "" || a.Raw == "" || a.Evaluator != v.Evaluator || a.PromptVersion != dod.PromptVersion {
			t.Errorf("the verdict does not keep what was asked and answered: %+v", a)
		}
	}
	return answers
}

// The whole main job with models over HTTP as judge and as evaluator.
func TestMainJobJudgedOverHTTP(t *testing.T) {
	for _, c := range []struct{ judge, evaluator, path, key string }{
		{"anthropic:claude-stub", "anthropic:claude-stub", "/v1/messages", "Bearer sk-ant-api03-stub"},
		{"openai:gpt-stub", "openai:gpt-stub", "/v1/chat/completions", "Bearer sk-proj-stub"},
		{"anthropic:claude-stub", "openai:gpt-stub", "", ""},
	} {
		t.Run(c.judge+" and "+c.evaluator, func(t *testing.T) {
			model := serveModel(t, honestJudge)
			app := testApp(t, func(cfg *Config) {
				cfg.JudgeModel, cfg.EvaluatorModel, cfg.Example = c.judge, c.evaluator, false
			})
			project, repo := repository(t, app)
			d := driveGuide(t, app, guidePlan(project, models.AgentSpec{Runtime: "shell", Name: "writer", Command: writerCommand}), repo)

			for _, pass := range []models.PassDetail{d.Phases[0].Passes[0], d.Phases[0].Passes[1], d.Phases[1].Passes[0]} {
				answers := answersOf(t, app, pass.Verdict)
				if pass.Verdict.Evaluator != c.judge || len(answers) != 1 || answers[0].InputTokens != 120 || answers[0].OutputTokens != 30 || answers[0].Model == "" {
					t.Errorf("judged by %s: %+v", pass.Verdict.Evaluator, answers)
				}
			}
			if d.Evaluation.Evaluator != c.evaluator || !strings.Contains(d.Evaluation.AnswersJSON, "offline.md has the chapter") {
				t.Errorf("evaluated by %s: %s", d.Evaluation.Evaluator, d.Evaluation.AnswersJSON)
			}
			questions := model.questions()
			if len(questions) != 4 { // two on the guide, one on the change, one for the definition of done
				t.Errorf("%d questions", len(questions))
			}
			for _, q := range questions {
				if c.path != "" && (q.path != c.path || q.key != c.key) {
					t.Errorf("asked at %s with %s", q.path, q.key)
				}
				if !strings.Contains(q.system, "You judge") {
					t.Errorf("without our instruction: %s", q.system)
				}
			}
		})
	}
}
