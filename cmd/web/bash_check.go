package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"donewhen/dod"
)

const (
	checkGrace = 3 * time.Second // between TERM and KILL
	checkTail  = 4 << 10         // bytes of output kept for the reasoning
)

// bashCheck returns a runCheckFunc that runs each command with bash and pipefail
// in a process group of its own, with an empty standard input and a HOME of its
// own. Nothing of the group is left behind. A command that cannot be started, or
// whose evaluation is stopped, is skipped; one that outlives limit fails.
func bashCheck(limit time.Duration) runCheckFunc {
	return func(ctx context.Context, dir, command string, env []string) dod.CheckOutcome {
		home, err := os.MkdirTemp("", "donewhen-check-")
		if err != nil {
			return dod.CheckOutcome{Status: dod.Skipped, Reasoning: "no home folder could be made for the check: " + err.Error()}
		}
		defer os.RemoveAll(home)
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		var output tail
		cmd := exec.CommandContext(limited, "bash", "-o", "pipefail", "-c", command)
		cmd.Dir = dir
		cmd.Env = append(checkEnv(home), env...)
		cmd.Stdout, cmd.Stderr = &output, &output
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
		cmd.WaitDelay = checkGrace
		if err := cmd.Start(); err != nil {
			return dod.CheckOutcome{Status: dod.Skipped, Reasoning: "the command could not be started: " + err.Error()}
		}
		err = cmd.Wait()
		// Whatever the command left in the background ends with it.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		switch {
		case ctx.Err() != nil:
			return dod.CheckOutcome{Status: dod.Skipped, Reasoning: "the evaluation was stopped: " + ctx.Err().Error()}
		case limited.Err() != nil:
			return dod.CheckOutcome{Status: dod.Failed, Reasoning: fmt.Sprintf("did not end within %v%s", limit, output.quote())}
		case err != nil && !errors.Is(err, exec.ErrWaitDelay):
			return dod.CheckOutcome{Status: dod.Failed, Reasoning: ended(cmd.ProcessState) + output.quote()}
		}
		return dod.CheckOutcome{Status: dod.Passed, Reasoning: "exit code 0"}
	}
}

func ended(state *os.ProcessState) string {
	if code := state.ExitCode(); code >= 0 {
		return fmt.Sprintf("exit code %d", code)
	}
	return "ended by " + state.String()
}

// checkEnv is the environment of every check: what programs need to be found and
// to reach the network, a HOME and caches of its own, a git identity, and none of
// our settings.
func checkEnv(home string) []string {
	env := []string{
		"HOME=" + home, "XDG_CACHE_HOME=" + home + "/.cache", "XDG_CONFIG_HOME=" + home + "/.config",
		"GIT_AUTHOR_NAME=donewhen check", "GIT_AUTHOR_EMAIL=check@donewhen.invalid",
		"GIT_COMMITTER_NAME=donewhen check", "GIT_COMMITTER_EMAIL=check@donewhen.invalid",
		"GIT_TERMINAL_PROMPT=0",
	}
	for _, name := range []string{
		"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "USER", "LOGNAME", "TERM",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"GOPROXY", "GOFLAGS", "GOMODCACHE", "GOSUMDB", "GONOSUMDB", "GOPRIVATE", "GOTOOLCHAIN",
	} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// tail keeps the last bytes written to it.
type tail struct {
	kept []byte
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - checkTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
		t.cut = true
	}
	return len(p), nil
}

// quote is the kept output for a reasoning, or "" when there is none.
func (t *tail) quote() string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.kept), ""))
	switch {
	case text == "":
		return ""
	case t.cut:
		return "; its output ended with: …" + text
	}
	return "; output: " + text
}
