package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// errStopped is what a test's step returns to stop Deliver as a crash would.
var errStopped = errors.New("stopped")

// lockPatience is long enough for a person's `git add` or `git status`, and for what a server that was
// killed left running.
const lockPatience = 2 * time.Second

func (m *Manager) at(step string) error {
	if m.step == nil {
		return nil
	}
	return m.step(step)
}

// Deliver moves the target branch in R from merged.Target to merged.Commit, and with it the files of
// the checkout that holds the branch, if one does. It changes nothing that the merge does not bring,
// and nothing at all when it refuses. A call that was interrupted is finished by calling again with
// the same values; a call whose work is already in the branch returns nil. After it the engine asks
// Contains before it writes "applied". NoOp needs no delivery and returns nil.
func (m *Manager) Deliver(ctx context.Context, in ApplyInput, merged Merged) error {
	if merged.NoOp {
		return nil
	}
	if err := checkIDs(in.Repo, in.PlanID); err != nil {
		return err
	}
	if err := checkOIDs(merged.Commit, merged.Target); err != nil {
		return err
	}
	unlock, err := m.repos.lock(ctx, in.Repo.Key)
	if err != nil {
		return err
	}
	defer unlock()
	first, err := m.line(ctx, m.inM(in.Repo, "rev-parse", "--verify", "--quiet", merged.Commit+"^1"))
	if err != nil || first != merged.Target {
		return fmt.Errorf("workspace: %s is no merge on %s made for this project", merged.Commit, merged.Target)
	}
	done, err := m.Contains(ctx, in.Repo, in.Branch, merged.Commit)
	if err != nil || done {
		return err
	}
	tip, err := m.TargetTip(ctx, in.Repo, in.Branch)
	if err != nil {
		return err
	}
	if tip != merged.Target {
		return movedRefusal(in.Branch, merged.Target, tip)
	}
	t := &target{m: m, repo: in.Repo, branch: in.Branch, ref: targetRef(in.Branch), old: merged.Target, new: merged.Commit, patience: lockPatience}
	if _, err := t.ready(ctx); err != nil {
		return err
	}
	if err := m.bring(ctx, in, merged); err != nil {
		return err
	}
	// From here on giving up in the middle would leave half of it: only the time limit ends it.
	return t.deliver(context.WithoutCancel(ctx), in.PlanID)
}

// bring copies the merge commit's objects into R. No ref is made there: they become reachable with the
// branch, or are swept up by R's own gc some day.
func (m *Manager) bring(ctx context.Context, in ApplyInput, merged Merged) error {
	if _, _, err := m.git(ctx, m.inM(in.Repo, "update-ref", "--no-deref", applyRef(in.PlanID), merged.Commit)); err != nil {
		return fmt.Errorf("keep the merge commit: %w", err)
	}
	c := inR(in.Repo.Path, "fetch", "-q", "--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head",
		"--no-auto-maintenance", "--end-of-options", m.mirror(in.Repo), applyRef(in.PlanID))
	c.long = true
	if _, _, err := m.git(ctx, c); err != nil {
		if s := stderrOf(err); strings.Contains(s, "ermission denied") || strings.Contains(s, "Read-only") || strings.Contains(s, "No space left") {
			return refuse(CodeReadOnly, nil, "The work could not be copied into %s (%s): mend that, then apply again.", in.Repo.Path, firstLine(s))
		}
		return fmt.Errorf("copy the work into %s: %w", in.Repo.Path, err)
	}
	return m.at("objects")
}

// deliver holds the lock of the ref (and of HEAD, so that a person's commit or checkout waits outside)
// while it looks once more and moves the files, then moves the ref.
func (t *target) deliver(ctx context.Context, planID string) error {
	held, err := t.holder(ctx, func() ([]checkout, error) { return t.checkouts(ctx) })
	if err != nil {
		return err
	}
	dir := t.repo.Path
	if held != nil {
		dir = held.dir
	}
	lock, err := t.lockRef(ctx, dir, "donewhen: apply plan "+planID)
	if err != nil {
		return err
	}
	defer lock.drop()
	if err := t.m.at("locked"); err != nil {
		return err
	}
	mv, err := t.ready(ctx)
	if err != nil {
		return err
	}
	if (mv == nil) != (held == nil) || mv != nil && mv.dir != dir {
		return refuse(CodeWrongBranch, nil, "%s was checked out elsewhere just now: apply again.", t.branch)
	}
	if mv != nil {
		if err := mv.carryOut(ctx); err != nil {
			return err
		}
	}
	if err := t.m.at("ref"); err != nil {
		return err
	}
	if err := lock.commit(); err != nil {
		return fmt.Errorf("move %s in %s: %w; apply again to finish", t.branch, t.repo.Path, err)
	}
	return nil
}

// refLock is a running `git update-ref --stdin` whose transaction is prepared. If this process dies, git
// sees the end of its input and frees the locks.
type refLock struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errOut *bytes.Buffer
	cancel context.CancelFunc
	ended  bool
}

func (t *target) lockRef(ctx context.Context, dir, why string) (*refLock, error) {
	c := inR(dir, "update-ref", "-m", why, "--stdin")
	c.long = true
	cmd, _, cancel := t.m.command(ctx, c)
	l := &refLock{cmd: cmd, errOut: &bytes.Buffer{}, cancel: cancel}
	cmd.Stderr = l.errOut
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	l.in, l.out = in, bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, err
	}
	err = l.say("start\n", "start: ok")
	if err == nil {
		err = l.say("update "+t.ref+" "+t.new+" "+t.old+"\nprepare\n", "prepare: ok")
	}
	if err != nil {
		l.drop()
		return nil, t.lockRefusal(l.errOut.String(), err)
	}
	return l, nil
}

func (t *target) lockRefusal(text string, err error) error {
	switch {
	case strings.Contains(text, "but expected") || strings.Contains(text, "unable to resolve reference"):
		return refuse(CodeMoved, nil, "%s moved just now: look at the plan again and apply once more.", t.branch)
	case strings.Contains(text, "File exists"):
		return refuse(CodeLocked, nil, "Another git command is changing %s in %s, or one that crashed left a lock (%s): wait for it, or delete the lock file if none is running, then apply again.", t.branch, t.repo.Path, quoted(text))
	case strings.Contains(text, "Permission denied") || strings.Contains(text, "Read-only"):
		return refuse(CodeReadOnly, nil, "The server may not change %s in %s (%s): give its user write access, then apply again.", t.branch, t.repo.Path, firstLine(text))
	}
	return fmt.Errorf("lock %s in %s: %w: %s", t.branch, t.repo.Path, err, firstLine(text))
}

// say sends a command and waits for its answer.
func (l *refLock) say(command, want string) error {
	if _, err := io.WriteString(l.in, command); err != nil {
		return err
	}
	for {
		got, err := l.out.ReadString('\n')
		if err != nil {
			return fmt.Errorf("git update-ref ended early: %w", err)
		}
		if strings.TrimSpace(got) == want {
			return nil
		}
	}
}

func (l *refLock) commit() error {
	if err := l.say("commit\n", "commit: ok"); err != nil {
		l.drop()
		if s := firstLine(l.errOut.String()); s != "" {
			return errors.New(s)
		}
		return err
	}
	return l.wait()
}

// drop gives the lock up without moving the ref. After commit it does nothing.
func (l *refLock) drop() {
	if !l.ended {
		_ = l.wait() // the end of its input makes git abort
	}
}

func (l *refLock) wait() error {
	l.ended = true
	_ = l.in.Close()
	_, _ = io.Copy(io.Discard, l.out)
	err := l.cmd.Wait()
	l.cancel()
	return err
}
