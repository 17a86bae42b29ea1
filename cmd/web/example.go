package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"donewhen/engine"
	"donewhen/models"
)

// The repository of the example: a script with a fault, and a check that
// finds it.
//
//go:embed example
var exampleFiles embed.FS

// addExample makes the example's repository in the data folder and its plan,
// once, at the first start. It needs no model, key or network.
func addExample(ctx context.Context, e *engine.Engine, data string) (planID string, err error) {
	dir := filepath.Join(data, "example", "greeter")
	if _, err := os.Stat(filepath.Join(dir, ".git")); errors.Is(err, fs.ErrNotExist) {
		if err := makeExampleRepository(ctx, dir); err != nil {
			return "", err
		}
	}
	return e.AddExample(ctx, dir, examplePlan())
}

// makeExampleRepository builds it beside its place and moves it there, so that
// a start that was interrupted leaves no half of one.
func makeExampleRepository(ctx context.Context, dir string) error {
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	half, err := os.MkdirTemp(parent, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(half)
	files, err := fs.Sub(exampleFiles, "example")
	if err != nil {
		return err
	}
	if err := os.CopyFS(half, files); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"add", "-A"},
		{"-c", "user.name=donewhen", "-c", "user.email=donewhen@localhost", "commit", "-q", "-m", "A greeter with a fault"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Dir = half
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + half, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "LC_ALL=C"}
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("make the example's repository: git %s: %w: %s", args[0], err, strings.TrimSpace(string(out)))
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(half, dir)
}

const (
	lookCommand = `# This agent only looks: its output is the evidence of the phase.
echo "What is here:"; ls
echo "What the check says:"
bash check.sh || echo "The check fails: that is what the next phase is for."
sleep 1
`
	fixCommand = `# A small agent that does what its task says, and reads what the pass before missed.
echo "Reading the task ..."; sleep 1
if grep -q "without a name" "$DONEWHEN_TASK_FILE"; then
  echo "The last pass missed the greeting without a name."
  name='${1:-stranger}'
else
  name='$1'
fi
printf '#!/bin/bash\n# Greets a person by name.\necho "Hello, %s!"\n' "$name" > greet.sh
sleep 1
echo "greet.sh is written."
`
	documentCommand = `# Writes down how the script is used.
printf '\n## Usage\n\nUsage: greet.sh [NAME]\n\nWithout a name it greets a stranger.\n' >> README.md
sleep 1
bash check.sh
`
	exampleDod = `# Definition of done

- Usage: greet.sh [NAME]
- The check reports no failure -> match: /\d+ checks passed, 0 failed/
- The check passes in the workspace -> run: bash check.sh
- (info) The script has no tabs -> run: ! grep -q "$(printf '\t')" greet.sh
`
)

// examplePlan has three phases with shell agents. The second one needs two
// passes: the first really misses a case, the check names it in the verdict's
// reason, and the agent's script reads that reason from its task text.
func examplePlan() engine.NewPlan {
	shell := func(name, command string) []models.AgentSpec {
		return []models.AgentSpec{{Runtime: "shell", Name: name, Command: command}}
	}
	return engine.NewPlan{
		FormKey: "example", Title: "Mend the greeter", TargetBranch: "main", Dod: exampleDod,
		Goal: "greet.sh misspells its greeting and its check fails. Mend it, and say in the README how it is used.",
		Phases: []engine.NewPhase{
			{Name: "Look around", Task: "Find out what the check says now.", Agents: shell("scout", lookCommand), MaxIterations: 1},
			{Name: "Mend the greeting", Task: "Mend greet.sh so that it greets people properly.", Agents: shell("mender", fixCommand), MaxIterations: 3,
				DoneWhen: "- The check passes -> run: bash check.sh\n- The script is written -> match: /greet.sh is written/"},
			{Name: "Document it", Task: "Say in the README how greet.sh is used.", Agents: shell("writer", documentCommand), MaxIterations: 2, NeedsApproval: true,
				DoneWhen: "- The README says how it is used -> match: /Usage: greet\\.sh/"},
		},
	}
}
