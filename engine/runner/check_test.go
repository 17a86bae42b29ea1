package runner

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"donewhen/dod"
	"donewhen/engine"
)

func TestRunChecks(t *testing.T) {
	for _, c := range []struct {
		name, command string
		limit         time.Duration
		status        dod.Status
		reasoning     string
	}{
		{"passes", `test -e file`, 0, dod.Passed, "exit code 0"},
		{"fails", `echo why; echo so >&2; exit 3`, 0, dod.Failed, "exit code 3: why\nso"},
		{"fails in silence", `false`, 0, dod.Failed, "exit code 1, and it printed nothing."},
		{"A6-07 fails before a pipe", `false | cat`, 0, dod.Failed, "exit code 1"},
		{"no such command", `no-such-command-here`, 0, dod.Failed, "bash: line 1: no-such-command-here: command not found"},
		{"bad syntax", `if`, 0, dod.Failed, "bash: -c: line 2: syntax error"},
		{"A6-01 time limit", `echo begun; sleep 60`, 300 * time.Millisecond, dod.Failed, "stopped at its time limit of 300ms (do this): begun"},
		{"signal", `kill -9 $$`, 0, dod.Failed, "ended by signal 9 (killed)"},
		{"A6-05 stdin", `cat`, 0, dod.Passed, "exit code 0"},
		{"argument", `test "$ARG_NAME" = 'a $(b)'`, 0, dod.Passed, ""},
		{"identity", `test "$GIT_AUTHOR_NAME" = "donewhen check" -a "$HOME" = "$ARG_HOME"`, 0, dod.Passed, ""},
		{"no run of ours", `test -z "$DONEWHEN_RUN_ID$DATABASE_URL$DONEWHEN_SESSION_KEY"`, 0, dod.Passed, ""},
		{"leaves a daemon", `setsid sleep 60 & true`, 0, dod.Passed, ""},
		{"too long", `: ` + strings.Repeat("x", maxArg), 0, dod.Skipped, "121 KB"},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := testOptions(t)
			opts.Environ = secretServer
			dir, home := t.TempDir(), filepath.Join(t.TempDir(), "made")
			if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			var out buffer
			got := NewCheckRunner(opts)(bg, engine.CheckJob{
				Dir: dir, Home: home, Command: c.command, Limit: c.limit, AtLimit: "do this", Output: &out,
				Env: []string{"ARG_NAME=a $(b)", "ARG_HOME=" + home},
			})
			if got.Status != c.status || !strings.Contains(got.Reasoning, c.reasoning) {
				t.Errorf("%s %q, want %s %q", got.Status, got.Reasoning, c.status, c.reasoning)
			}
			nobodyLeft(t, opts)
		})
	}
}

func TestCheckTailIsBounded(t *testing.T) {
	got := NewCheckRunner(testOptions(t))(bg, engine.CheckJob{Dir: t.TempDir(), Command: `seq 1 100000; exit 1`})
	if got.Status != dod.Failed || len(got.Reasoning) > checkTail+100 || !strings.HasSuffix(got.Reasoning, "\n99999\n100000") {
		t.Errorf("%s, %d bytes, …%q", got.Status, len(got.Reasoning), got.Reasoning[max(0, len(got.Reasoning)-30):])
	}
}

func TestCheckWithoutAResult(t *testing.T) {
	run := NewCheckRunner(testOptions(t))
	if got := run(bg, engine.CheckJob{Dir: filepath.Join(t.TempDir(), "gone"), Command: "true"}); got.Status != dod.Skipped {
		t.Errorf("no workspace: %+v", got)
	}
	ctx, cancel := context.WithTimeout(bg, 200*time.Millisecond)
	defer cancel()
	if got := run(ctx, engine.CheckJob{Dir: t.TempDir(), Command: "sleep 60"}); got.Status != dod.Skipped {
		t.Errorf("cancelled: %+v", got)
	}
	opts := testOptions(t)
	opts.Environ = []string{"PATH=/nowhere"}
	if got := NewCheckRunner(opts)(bg, engine.CheckJob{Dir: t.TempDir(), Command: "true"}); got.Status != dod.Skipped || !strings.Contains(got.Reasoning, "bash") {
		t.Errorf("no bash: %+v", got)
	}
}
