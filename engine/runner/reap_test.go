package runner

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"donewhen/engine"
)

// orphan starts a process as a server that is gone would have left it: with an
// environment of ours and, by setsid, in a group of its own. It is ended with
// the test.
func orphan(t *testing.T, env []string, command string) (pid int, ticks int64, pids func() []int) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir, cmd.Env = dir, append(env, "PATH="+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waited := make(chan struct{})
	go func() { defer close(waited); _ = cmd.Wait() }() // as init would
	pids = func() (out []int) {
		data, _ := os.ReadFile(filepath.Join(dir, "pids"))
		for _, f := range strings.Fields(string(data)) {
			if pid, err := strconv.Atoi(f); err == nil {
				out = append(out, pid)
			}
		}
		return out
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		for _, pid := range pids() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		<-waited
	})
	st, err := readStat(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid, st.start, pids
}

func isAlive(pid int) bool {
	st, err := readStat(pid)
	return err == nil && st.alive()
}

const family = `echo $$ >> pids; sleep 60 & echo $! >> pids; setsid bash -c 'trap "" TERM; echo $$ >> pids; while :; do sleep 0.05; done' & wait`

func TestReapEndsTheRunAndItsGrandchild(t *testing.T) {
	opts := testOptions(t)
	set := open(t, opts, "runtimes: {shell: {preset: shell}}")
	pid, ticks, pids := orphan(t, runTags(12, opts.Instance), family)
	eventually(t, "three processes", func() bool { return len(pids()) == 3 })
	// A run that was cancelled just before the crash: it is in no list of ours.
	cancelled, _, _ := orphan(t, runTags(7, opts.Instance), "exec sleep 60")
	// Neighbours: another server's runs, somebody else.
	var others []int
	for _, env := range [][]string{runTags(1, "/other"), runTags(123, opts.Instance+"/more"), runTags(12, "/other"), {"DONEWHEN_RUN_ID=12"}, {"A=1"}} {
		p, _, _ := orphan(t, env, "exec sleep 60")
		others = append(others, p)
	}
	for _, folder := range []string{"run-12-abc", "judge-abc", "other"} {
		if err := os.MkdirAll(filepath.Join(opts.TempDir, folder, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	n, err := set.Reap(bg, []engine.Leftover{{RunID: 12, Pid: pid, PidStart: ticks}})
	if err != nil || n < 3 {
		t.Errorf("ended %d, %v", n, err)
	}
	for _, p := range pids() {
		if isAlive(p) {
			t.Errorf("%d is alive", p)
		}
	}
	if isAlive(cancelled) {
		t.Error("the cancelled run's process is alive")
	}
	for i, p := range others {
		if !isAlive(p) {
			t.Errorf("neighbour %d was ended", i)
		}
	}
	if left, _ := os.ReadDir(opts.TempDir); len(left) != 1 || left[0].Name() != "other" {
		t.Errorf("temporary folders: %v", left)
	}
}

func TestReapByEnvironmentAlone(t *testing.T) {
	opts := testOptions(t)
	set := open(t, opts, "runtimes: {shell: {preset: shell}}")
	_, _, pids := orphan(t, runTags(12, opts.Instance), family)
	eventually(t, "three processes", func() bool { return len(pids()) == 3 })
	// The server died before it could write the pid down.
	if n, err := set.Reap(bg, []engine.Leftover{{RunID: 12}}); err != nil || n < 3 {
		t.Errorf("ended %d, %v", n, err)
	}
	for _, p := range pids() {
		if isAlive(p) {
			t.Errorf("%d is alive", p)
		}
	}
}

func TestReapByPidNeedsTheStartTime(t *testing.T) {
	opts := testOptions(t)
	set := open(t, opts, "runtimes: {shell: {preset: shell}}")
	// Its environment is not ours: only pid and start time name it.
	pid, ticks, pids := orphan(t, nil, `echo $$ >> pids; sleep 60 & echo $! >> pids; wait`)
	eventually(t, "two processes", func() bool { return len(pids()) == 2 })
	if n, err := set.Reap(bg, []engine.Leftover{{RunID: 12, Pid: pid, PidStart: ticks + 1}, {RunID: 13, Pid: 1}, {RunID: 14, Pid: os.Getpid()}}); err != nil || n != 0 || !isAlive(pid) {
		t.Fatalf("a later process with the same pid was ended: %d, %v", n, err)
	}
	begin := time.Now()
	if n, err := set.Reap(bg, []engine.Leftover{{RunID: 12, Pid: pid, PidStart: ticks}}); err != nil || n != 2 {
		t.Errorf("ended %d, %v", n, err)
	}
	for _, p := range pids() {
		if isAlive(p) {
			t.Errorf("%d is alive", p)
		}
	}
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestReapEndsChecksAndJudgesOfTheInstance(t *testing.T) {
	opts := testOptions(t)
	set := open(t, opts, "runtimes: {shell: {preset: shell}}")
	check, _, _ := orphan(t, []string{envInstance + "=" + opts.Instance}, "exec sleep 60")
	other, _, _ := orphan(t, []string{envInstance + "=" + opts.Instance + "/more"}, "exec sleep 60")
	if n, err := set.Reap(bg, nil); err != nil || n != 1 {
		t.Errorf("ended %d, %v", n, err)
	}
	if isAlive(check) || !isAlive(other) {
		t.Errorf("check alive %v, other instance's alive %v", isAlive(check), isAlive(other))
	}
}

func TestReapWithoutAnInstance(t *testing.T) {
	pid, _, _ := orphan(t, []string{"DONEWHEN_RUN_ID=987654321", "DONEWHEN_INSTANCE="}, "exec sleep 60")
	var reaper engine.Reaper = Reap
	if n, err := reaper(bg, []engine.Leftover{{RunID: 987654321}}); err != nil || n != 1 || isAlive(pid) {
		t.Errorf("ended %d, %v", n, err)
	}
}

func TestLineageIsSpared(t *testing.T) {
	spare := lineage()
	if !spare[os.Getpid()] || !spare[os.Getppid()] {
		t.Errorf("%v", spare)
	}
}
