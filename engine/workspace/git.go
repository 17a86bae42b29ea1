package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// always are settings of every call. Command line settings win over those of a repository, so that
// no hook and no fsmonitor of R, M or W is run, nothing is cleaned up behind our back, and objects
// are on disk before a ref names them (git does not sync loose objects by default).
var always = []string{
	"-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=/dev/null",
	"-c", "gc.auto=0",
	"-c", "maintenance.auto=false",
	"-c", "core.fsync=committed,reference",
	"-c", "submodule.recurse=false",
	"-c", "advice.detachedHead=false",
	"-c", "core.quotePath=false",
}

// ours are settings for calls on M and W: attributes and ignore rules come from the work tree alone.
var ours = []string{
	"-c", "core.attributesFile=/dev/null",
	"-c", "core.excludesFile=/dev/null",
	"-c", "core.untrackedCache=false",
	"-c", "checkout.workers=0",
}

// globalConfig stands in for the user's file. safe.directory has to be in a file: git ignores it on
// the command line, and agents or repositories may belong to other users.
const globalConfig = `# Written by the server at every start: changes are lost.
[safe]
	directory = *
[core]
	hooksPath = /dev/null
	fsmonitor = false
[init]
	defaultBranch = main
[gc]
	auto = 0
[protocol]
	allow = never
[protocol "file"]
	allow = always
`

const (
	// killAfter is how long git may take to remove its lock files after it was told to stop.
	killAfter = 5 * time.Second
	// longFactor is how many times Config.Timeout a clone, a fetch or a checkout may take.
	longFactor = 10
	identName  = "donewhen"
	identEmail = "donewhen@localhost"
)

// call is one git command. The fields are a fixed argument vector and what surrounds it; nothing goes
// through a shell.
type call struct {
	gitDir  string   // --git-dir; empty: found from dir
	work    string   // GIT_WORK_TREE
	index   string   // GIT_INDEX_FILE
	dir     string   // working directory; empty: the data folder
	env     []string // more environment
	stdin   string
	long    bool // clone, fetch, checkout
	foreign bool // acts on R: its own attributes and ignore rules count
	args    []string
}

// gitError is a git command that ended with a code other than 0.
type gitError struct {
	args   []string
	code   int
	stderr string
}

func (e *gitError) Error() string {
	name := "git"
	if len(e.args) > 0 {
		name += " " + e.args[0]
	}
	text := strings.TrimSpace(e.stderr)
	if len(text) > 2000 {
		text = text[:2000] + " …"
	}
	if text == "" {
		return fmt.Sprintf("%s: exit code %d", name, e.code)
	}
	return fmt.Sprintf("%s: exit code %d: %s", name, e.code, text)
}

// exitCode is git's exit code, -1 where it could not run to its end.
func exitCode(err error) int {
	if err == nil {
		return 0
	}
	var g *gitError
	if errors.As(err, &g) {
		return g.code
	}
	return -1
}

func stderrOf(err error) string {
	var g *gitError
	if errors.As(err, &g) {
		return strings.TrimSpace(g.stderr)
	}
	return ""
}

func (m *Manager) command(ctx context.Context, c call) (*exec.Cmd, context.Context, context.CancelFunc) {
	limit := m.cfg.Timeout
	if c.long {
		limit *= longFactor
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	args := append([]string(nil), always...)
	if !c.foreign {
		args = append(args, ours...)
	}
	cmd := exec.CommandContext(ctx, m.cfg.Git, append(args, c.args...)...)
	cmd.Dir = c.dir
	if cmd.Dir == "" {
		cmd.Dir = m.cfg.Dir
	}
	cmd.Env = m.environment()
	for name, value := range map[string]string{"GIT_DIR": c.gitDir, "GIT_WORK_TREE": c.work, "GIT_INDEX_FILE": c.index} {
		if value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, c.env...)
	// A group of its own, so that helpers of git end with it; TERM first, so that lock files go.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killAfter
	return cmd, ctx, cancel
}

// environment is the whole environment of a call: nothing of the server's own gets through but PATH.
func (m *Manager) environment() []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=/nonexistent",
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + m.configFile(),
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_LAZY_FETCH=1",
		"GIT_NO_REPLACE_OBJECTS=1",
		"GIT_ALLOW_PROTOCOL=file",
		"GIT_LITERAL_PATHSPECS=0",
		"GIT_AUTHOR_NAME=" + identName, "GIT_AUTHOR_EMAIL=" + identEmail,
		"GIT_COMMITTER_NAME=" + identName, "GIT_COMMITTER_EMAIL=" + identEmail,
	}
	if tmp := os.Getenv("TMPDIR"); tmp != "" {
		env = append(env, "TMPDIR="+tmp)
	}
	return env
}

// git runs one command and returns its standard output and standard error. A code other than 0 is a
// *gitError (the outputs are returned with it); running out of time is an error that says so.
func (m *Manager) git(ctx context.Context, c call) (stdout, stderr string, err error) {
	cmd, cctx, cancel := m.command(ctx, c)
	defer cancel()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	cmd.Stdin = strings.NewReader(c.stdin)
	err = m.ended(cctx, cmd, c, cmd.Run(), errOut.String())
	return out.String(), errOut.String(), err
}

// ended turns what Run or Wait returned into one of our errors and makes sure the group is gone.
func (m *Manager) ended(ctx context.Context, cmd *exec.Cmd, c call, err error, stderr string) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil && cmd.Process != nil {
		// The group's leader is reaped; whoever is left in the group did not obey TERM.
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("git %s took too long and was stopped: %w", c.args[0], context.DeadlineExceeded)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("git %s was stopped: %w", c.args[0], ctx.Err())
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return &gitError{args: c.args, code: exit.ExitCode(), stderr: stderr}
	}
	return fmt.Errorf("git %s: %w", c.args[0], err)
}

// stream runs one command and gives its output to read while it runs. When read returns before the
// output has ended, git is stopped and that is no error.
func (m *Manager) stream(ctx context.Context, c call, read func(io.Reader) error) error {
	cmd, cctx, cancel := m.command(ctx, c)
	defer cancel()
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("git %s: %w", c.args[0], err)
	}
	readErr := read(out)
	rest, _ := out.Read(make([]byte, 1))
	stopped := rest > 0
	if stopped {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
	}
	err = cmd.Wait()
	if readErr != nil {
		return readErr
	}
	if stopped && cctx.Err() == nil {
		return nil
	}
	return m.ended(cctx, cmd, c, err, errOut.String())
}

// line runs a command whose answer is one line.
func (m *Manager) line(ctx context.Context, c call) (string, error) {
	out, _, err := m.git(ctx, c)
	return strings.TrimSuffix(out, "\n"), err
}

// begin starts ask at once and returns what waits for its answer. Whoever begins must wait: a git
// command must not outlive the call that it belongs to.
func begin[T any](ask func() (T, error)) func() (T, error) {
	answer := sync.OnceValues(ask)
	go func() { _, _ = answer() }()
	return answer
}

// split0 takes apart output that was written with -z.
func split0(s string) []string {
	s = strings.TrimSuffix(s, "\x00")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\x00")
}

// join0 is input for commands that read names with -z.
func join0(names []string) string {
	var b strings.Builder
	for _, n := range names {
		b.WriteString(n)
		b.WriteByte(0)
	}
	return b.String()
}
