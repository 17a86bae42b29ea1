package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestDefaultRuntimes(t *testing.T) {
	set, err := Open("", Options{Environ: []string{"PATH=/usr/bin:/bin"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, rt := range set.Runtimes() {
		info := rt.Info()
		got = append(got, info.Alias)
		if info.Title == "" || info.Shown == "" || info.Limit <= 0 || info.MaxLimit < info.Limit {
			t.Errorf("info %+v", info)
		}
		if info.Alias != "shell" && info.Available == (info.Unavailable != "") {
			t.Errorf("%s: available %v, %q", info.Alias, info.Available, info.Unavailable)
		}
	}
	if s := strings.Join(got, " "); s != "shell claude codex opencode gemini" {
		t.Errorf("runtimes %s", s)
	}
	if len(Default()) != 5 {
		t.Error("Default and Open differ")
	}
	if info := set.Runtimes()[1].Info(); info.Shown != "claude -p --output-format stream-json --verbose --permission-mode acceptEdits" {
		t.Errorf("claude is called with %q", info.Shown)
	}
	if NewCheckRunner(Options{}) == nil {
		t.Error("no check runner")
	}
}

func TestPresetIsOverridden(t *testing.T) {
	set := open(t, Options{}, `
env: [SHARED]
checks: {limit: 3m, env: [CI_TOKEN]}
runtimes:
  quick:
    preset: claude
    title: Claude, quick
    limit: 5m
    env: [ANTHROPIC_API_KEY]
    set: {EXTRA: "1"}
    model: small
  mine:
    args: [bin/agent, --run]
    judge_args: [./bin/judge]
    judge_limit: 30s
  only-judge:
    judge_args: [/bin/judge]
`)
	spec := set.runtimes[0]
	if spec.Title != "Claude, quick" || time.Duration(spec.Limit) != 5*time.Minute || spec.Output != outputClaude || spec.JudgeModel != "small" {
		t.Errorf("%+v", spec)
	}
	if strings.Join(spec.Env, " ") != "SHARED ANTHROPIC_API_KEY" || spec.Set["EXTRA"] != "1" || spec.Set["DISABLE_AUTOUPDATER"] != "1" {
		t.Errorf("env %q, set %q", spec.Env, spec.Set)
	}
	if strings.Join(set.checks.Env, " ") != "SHARED CI_TOKEN" || time.Duration(set.checks.Limit) != 3*time.Minute {
		t.Errorf("checks %+v", set.checks)
	}
	if mine := set.runtimes[1]; !filepath.IsAbs(mine.Args[0]) || !strings.HasSuffix(mine.Args[0], "/bin/agent") ||
		!filepath.IsAbs(mine.JudgeArgs[0]) || time.Duration(mine.Limit) != defaultLimit || mine.Task != "stdin" || mine.Title != "mine" {
		t.Errorf("%+v", mine)
	}
	if n := len(set.Runtimes()); n != 2 {
		t.Errorf("%d runtimes; a judge is not one of them", n)
	}
	if info := set.Runtimes()[0].Info(); !strings.HasSuffix(info.Shown, "--model small") {
		t.Errorf("shown %q", info.Shown)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "declares no runtime"},
		{"no runtimes", "env: [A]\n", "declares no runtime"},
		{"not YAML", "runtimes: [", "line 1"},
		{"unknown top", "runtime:\n  a: {args: [x]}\n", `line 1: unknown setting "runtime"; there are env, checks and runtimes`},
		{"unknown setting", "runtimes:\n  a:\n    args: [x]\n    timeout: 5m\n", `line 4: unknown setting "timeout"; there are preset, title`},
		{"unknown in checks", "checks: {timeout: 5m}\nruntimes: {a: {args: [x]}}\n", `line 1: unknown setting "timeout"`},
		{"setting twice", "runtimes:\n  a:\n    limit: 1m\n    limit: 2m\n    args: [x]\n", `line 4`},
		{"alias twice", "runtimes:\n  a: {args: [x]}\n  a: {args: [y]}\n", `line 3: the alias "a" is there twice`},
		{"bad alias", "runtimes:\n  My Agent: {args: [x]}\n", `line 2: runtime "My Agent": an alias has small letters`},
		{"a list", "runtimes:\n  - shell\n", `line 2: runtimes must be a mapping`},
		{"a word", "runtimes:\n  a: shell\n", `line 2: a runtime is a mapping`},
		{"unknown preset", "runtimes:\n  a: {preset: clod}\n", `line 2: runtime "a": there is no preset "clod"; there are claude, codex, gemini, opencode, shell`},
		{"no program", "runtimes:\n  a: {title: A}\n", `neither preset nor args`},
		{"empty program", "runtimes:\n  a: {args: [\"\", b]}\n", `must not be empty`},
		{"args of wrong kind", "runtimes:\n  a: {args: {b: c}}\n", `line 2: cannot unmarshal`},
		{"shell with args", "runtimes:\n  a: {preset: shell, args: [zsh]}\n", `a shell runtime has no args`},
		{"bad limit", "runtimes:\n  a: {args: [x], limit: 90}\n", `"90" is no time limit; write it like 90s`},
		{"negative limit", "runtimes:\n  a: {args: [x], limit: -1m}\n", `"-1m" is no time limit`},
		{"limit above max", "runtimes:\n  a: {args: [x], limit: 2h, max_limit: 1h}\n", `limit 2h0m0s is above max_limit 1h0m0s`},
		{"bad task", "runtimes:\n  a: {args: [x], task: argv}\n", `task: "argv" is not known; write stdin, file or arg`},
		{"arg without place", "runtimes:\n  a: {args: [x], task: arg}\n", `task: arg needs {task}`},
		{"place without arg", "runtimes:\n  a: {args: [x, '{task}']}\n", `write task: arg`},
		{"task for a judge", "runtimes:\n  a: {judge_args: [x, '{task}']}\n", `there is no {task}`},
		{"bad output", "runtimes:\n  a: {args: [x], output: json}\n", `output: "json" is not known; write one of claude-stream-json`},
		{"bad judge output", "runtimes:\n  a: {judge_args: [x], judge_output: json}\n", `judge_output: "json"`},
		{"our secret", "runtimes:\n  a: {args: [x], env: [DONEWHEN_SESSION_KEY]}\n", `DONEWHEN_SESSION_KEY is the server's own`},
		{"our secret for all", "env: [DATABASE_URL]\nruntimes:\n  a: {args: [x]}\n", `DATABASE_URL is the server's own`},
		{"our name set", "checks: {set: {DONEWHEN_RUN_ID: \"1\"}}\nruntimes:\n  a: {args: [x]}\n", `checks: DONEWHEN_RUN_ID is the server's own`},
		{"value in the allow-list", "runtimes:\n  a: {args: [x], env: [A=b]}\n", `"A=b" is no name of an environment variable`},
		{"two documents", "runtimes: {a: {args: [x]}}\n---\nruntimes: {}\n", `more than one YAML document`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "runtimes.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Load(path)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v\nlacks %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "runner.") {
				t.Errorf("Go types in the message: %v", err)
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("error %v", err)
	}
}
