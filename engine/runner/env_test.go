package runner

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"donewhen/engine"
	"donewhen/models"
)

// secretServer is the environment of a server that has secrets.
var secretServer = []string{
	"PATH=" + os.Getenv("PATH"), "HOME=/home/operator", "USER=operator",
	"DATABASE_URL=postgres://secret", "DONEWHEN_DATABASE_URL=postgres://secret",
	"DONEWHEN_SESSION_KEY=secret", "DONEWHEN_RUN_ID=999", "SESSION_KEY=secret",
	"AWS_SECRET_ACCESS_KEY=secret", "ANTHROPIC_API_KEY=secret-but-allowed", "GOFLAGS=-mod=vendor",
	"BASH_ENV=/tmp/secret", "GIT_DIR=/tmp/secret", "LD_PRELOAD=secret", "XDG_DATA_HOME=/home/operator/data",
}

// printed runs `env` in a runtime and returns what it printed, sorted.
func printed(t *testing.T, rt engine.Runtime, job engine.Job, out *buffer) map[string]string {
	t.Helper()
	want(t, rt.Run(bg, job), models.RunSucceeded)
	return parseEnv(strings.Split(strings.TrimSpace(out.String()), "\n"))
}

func TestEnvironmentIsBuiltFromNothing(t *testing.T) {
	opts := testOptions(t)
	opts.Environ = secretServer
	job, out := newJob(t, "env")
	job.Env = []string{"ARG_NAME=a value", "DONEWHEN_PHASE=build", "DONEWHEN_PASS=2", "PATH=/evil", "HOME=/evil", "LD_PRELOAD=evil"}
	env := printed(t, shell(t, opts), job, out)
	for name, value := range map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": job.Home, "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "dumb",
		"XDG_CONFIG_HOME": job.Home + "/.config", "XDG_DATA_HOME": job.Home + "/.local/share",
		"GOCACHE": job.Home + "/.cache/go-build", "GOMODCACHE": job.Home + "/.cache/go-mod", "npm_config_cache": job.Home + "/.cache/npm",
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": job.Home + "/.gitconfig", "GIT_AUTHOR_NAME": "donewhen agent",
		"GIT_COMMITTER_EMAIL": "agent@donewhen.invalid",
		"DONEWHEN_RUN_ID":     "7", "DONEWHEN_PLAN_ID": "01PLAN", "DONEWHEN_INSTANCE": opts.Instance,
		"ARG_NAME": "a value", "DONEWHEN_PHASE": "build", "DONEWHEN_PASS": "2",
	} {
		if env[name] != value {
			t.Errorf("%s=%q, want %q", name, env[name], value)
		}
	}
	if strings.Contains(out.String(), "secret") || strings.Contains(out.String(), "evil") || strings.Contains(out.String(), "operator") {
		t.Errorf("something of the server's came through:\n%s", out)
	}
	known := []string{"PATH", "HOME", "LANG", "LC_ALL", "TERM", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME",
		"GOCACHE", "GOMODCACHE", "GOFLAGS", "npm_config_cache", "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
		"GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_TERMINAL_PROMPT", "DONEWHEN_RUN_ID", "DONEWHEN_PLAN_ID", "DONEWHEN_TASK_FILE",
		"DONEWHEN_INSTANCE", "DONEWHEN_PROCESS", "DONEWHEN_PHASE", "DONEWHEN_PASS", "ARG_NAME", "PWD", "SHLVL", "OLDPWD", "_"}
	for name := range env {
		if !slices.Contains(known, name) {
			t.Errorf("%s=%q was not asked for", name, env[name])
		}
	}
}

func TestAllowListAndSet(t *testing.T) {
	opts := testOptions(t)
	opts.Environ = secretServer
	rt := open(t, opts, `
env: [GOFLAGS, NOT_SET]
runtimes:
  fake: {args: [env], env: [ANTHROPIC_API_KEY, HOME], set: {FIXED: "1", GOCACHE: /shared/cache}}
`).Runtimes()[0]
	job, out := newJob(t, "")
	env := printed(t, rt, job, out)
	for name, value := range map[string]string{
		"ANTHROPIC_API_KEY": "secret-but-allowed", "GOFLAGS": "-mod=vendor", "FIXED": "1", "GOCACHE": "/shared/cache",
		"HOME": "/home/operator", "XDG_DATA_HOME": "/home/operator/data", "XDG_CONFIG_HOME": "",
		"GIT_CONFIG_GLOBAL": job.Home + "/.gitconfig", // the operator's hooks and aliases stay out
		"DONEWHEN_RUN_ID":   "7",
	} {
		if env[name] != value {
			t.Errorf("%s=%q, want %q", name, env[name], value)
		}
	}
	if _, found := env["NOT_SET"]; found {
		t.Error("a name that the server has not set is set")
	}
	if strings.Contains(out.String(), "postgres") || strings.Contains(out.String(), "SESSION") {
		t.Errorf("a secret came through:\n%s", out)
	}
}

func TestLookPathPassesRelativeEntriesOver(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if p, err := lookPath("tool", []string{"PATH=.::"}); err == nil {
		t.Errorf("found %s through a relative entry", p)
	}
	if p, err := lookPath("tool", []string{"PATH=.:" + dir}); err != nil || p != filepath.Join(dir, "tool") {
		t.Errorf("%q, %v", p, err)
	}
	if err := os.Chmod(filepath.Join(dir, "tool"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := lookPath(filepath.Join(dir, "tool"), nil); err == nil || !strings.Contains(err.Error(), "chmod") {
		t.Errorf("error %v", err)
	}
}
