package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"donewhen/internal/claudetest"
	"donewhen/models"
)

// withClaude puts the real claude CLI on PATH, with a HOME of its own.
func withClaude(t *testing.T) {
	t.Helper()
	found := claudetest.Path(t)
	t.Setenv("PATH", filepath.Dir(found)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("HOME", t.TempDir())
	for _, name := range []string{"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN"} {
		t.Setenv(name, "")
	}
}

var workingFolder = regexp.MustCompile(`(?i)working directory: (/\S+)`)

// writerModel is the model behind a claude that works as an agent: it writes the
// guide with the CLI's own tool, and the chapter when its task says that it is
// missing.
func writerModel(a asked) said {
	if a.results > 0 {
		return said{text: "written"}
	}
	folder := workingFolder.FindStringSubmatch(a.system + a.prompt)
	if folder == nil {
		return said{text: "I do not know where to work."}
	}
	name, text := "guide.md", "# Guide\n\nStart here.\n"
	if strings.Contains(a.prompt, missingChapter) {
		name, text = "offline.md", "# Working offline\n\nEverything works without a network.\n"
	}
	return said{tool: "Write", input: map[string]any{"file_path": filepath.Join(folder[1], name), "content": text}}
}

// The whole main job with the real claude CLI as agent, as judge and as
// evaluator.
func TestMainJobWithClaude(t *testing.T) {
	withClaude(t)
	model := serveModel(t, func(a asked) said {
		if a.tools {
			return writerModel(a)
		}
		return honestJudge(a)
	})
	runtimes := filepath.Join(t.TempDir(), "runtimes.yaml")
	if err := os.WriteFile(runtimes, []byte("runtimes:\n  shell: {preset: shell}\n  claude:\n    preset: claude\n    set: {CLAUDE_CODE_MAX_RETRIES: \"1\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	app := testApp(t, func(cfg *Config) {
		cfg.JudgeModel, cfg.EvaluatorModel, cfg.Runtimes, cfg.Example = "runtime:claude", "runtime:claude", runtimes, false
	})
	project, repo := repository(t, app)
	d := driveGuide(t, app, guidePlan(project, models.AgentSpec{Runtime: "claude", Name: "writer"}), repo)

	for _, pass := range d.Phases[0].Passes {
		if r := pass.Runs[0]; r.FinalMessage != "written" || r.OutputTokens == 0 {
			t.Errorf("the agent's run: %+v", r)
		}
		answers := answersOf(t, app, pass.Verdict)
		if pass.Verdict.Evaluator != "runtime:claude" || len(answers) != 1 || answers[0].OutputTokens == 0 {
			t.Errorf("judged by %s: %+v", pass.Verdict.Evaluator, answers)
		}
	}
	if d.Evaluation.Evaluator != "runtime:claude" {
		t.Errorf("evaluated by %s", d.Evaluation.Evaluator)
	}
	judged := 0
	for _, q := range model.questions() {
		if strings.Contains(q.prompt, "BEGIN EVIDENCE ") {
			judged++
		}
	}
	if judged != 4 {
		t.Errorf("%d questions of judges", judged)
	}
}
