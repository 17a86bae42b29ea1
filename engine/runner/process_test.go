package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"donewhen/models"
)

func TestA6_01_TimeLimitEndsTheWholeGroup(t *testing.T) {
	opts := testOptions(t)
	job, out := newJob(t, `sh -c 'sleep 60 & echo begun; sleep 60'`)
	job.Limit = 300 * time.Millisecond
	begin := time.Now()
	o := shell(t, opts).Run(bg, job)
	want(t, o, models.RunTimedOut, "time limit of 300ms", "begun")
	if took := time.Since(begin); took > job.Limit+opts.Grace+2*time.Second {
		t.Errorf("took %s", took)
	}
	if out.String() != "begun\n" {
		t.Errorf("output %q", out.String())
	}
	nobodyLeft(t, opts)
}

func TestA6_01_KillFollowsTermThatIsIgnored(t *testing.T) {
	opts := testOptions(t)
	job, out := newJob(t, `trap '' TERM; (trap '' TERM; while :; do sleep 0.05; done) & echo begun; while :; do sleep 0.05; done`)
	job.Limit = 300 * time.Millisecond
	o := shell(t, opts).Run(bg, job)
	want(t, o, models.RunTimedOut)
	if out.String() != "begun\n" || o.ExitCode == nil || *o.ExitCode != 137 {
		t.Errorf("output %q, outcome %+v", out.String(), o)
	}
	nobodyLeft(t, opts)
}

func TestA6_02_LongLineThenCancel(t *testing.T) {
	opts := testOptions(t)
	job, out := newJob(t, `echo one; head -c 5000000 /dev/zero | tr '\0' x; echo; echo two; sleep 60`)
	ctx, cancel := context.WithCancel(bg)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		want(t, shell(t, opts).Run(ctx, job), models.RunCancelled)
	}()
	all := "one\n" + strings.Repeat("x", 5_000_000) + "\ntwo\n"
	eventually(t, "all of the output", func() bool { return len(out.String()) == len(all) })
	begin := time.Now()
	cancel()
	<-done
	if took := time.Since(begin); took > 3*time.Second {
		t.Errorf("cancel took %s", took)
	}
	if out.String() != all {
		t.Error("the output is not what was printed")
	}
	nobodyLeft(t, opts)
}

func TestA6_03_BinaryOutput(t *testing.T) {
	job, out := newJob(t, `head -c 2000 /dev/urandom | tee kept; echo; echo after`)
	o := shell(t, testOptions(t)).Run(bg, job)
	want(t, o, models.RunSucceeded)
	kept, err := os.ReadFile(filepath.Join(job.Dir, "kept"))
	if err != nil || out.String() != string(kept)+"\nafter\n" {
		t.Errorf("the bytes were changed (%v)", err)
	}
	if !strings.HasSuffix(o.FinalMessage, "after") || strings.ToValidUTF8(o.FinalMessage, "") != o.FinalMessage {
		t.Errorf("final message %q", o.FinalMessage)
	}
}

func TestA6_08_LastOutputIsThere(t *testing.T) {
	opts := testOptions(t)
	rt := shell(t, opts)
	for i := range 100 {
		job, out := newJob(t, `seq 1 5000; printf 'the end'`)
		o := rt.Run(bg, job)
		want(t, o, models.RunSucceeded)
		lines := strings.Split(out.String(), "\n")
		if len(lines) != 5001 || lines[5000] != "the end" || lines[4999] != "5000" {
			t.Fatalf("round %d: %d lines, the last %q", i, len(lines), lines[len(lines)-1])
		}
	}
}

// slow is a log that stalls.
type slow struct{ buffer }

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(40 * time.Millisecond)
	return s.buffer.Write(p)
}

func TestA6_08_SlowLogLosesNothing(t *testing.T) {
	job, _ := newJob(t, `head -c 1500000 /dev/zero | tr '\0' y; printf 'the end'`)
	out := &slow{}
	job.Output = out
	want(t, shell(t, testOptions(t)).Run(bg, job), models.RunSucceeded)
	if s := out.String(); len(s) != 1_500_007 || !strings.HasSuffix(s, "ythe end") {
		t.Errorf("%d bytes", len(s))
	}
}

func TestA6_17_OutputComesWhileItRuns(t *testing.T) {
	job, out := newJob(t, `echo first; while [ ! -e go ]; do sleep 0.02; done; echo second`)
	done := make(chan struct{})
	go func() {
		defer close(done)
		want(t, shell(t, testOptions(t)).Run(bg, job), models.RunSucceeded)
	}()
	eventually(t, "first", func() bool { return out.String() == "first\n" })
	if err := os.WriteFile(filepath.Join(job.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-done
	if out.String() != "first\nsecond\n" {
		t.Errorf("output %q", out.String())
	}
}

func TestStartedNamesTheProcess(t *testing.T) {
	job, out := newJob(t, `echo $$; cut -d' ' -f22 /proc/$$/stat`)
	var pid int
	var ticks int64
	job.Started = func(p int, s int64) {
		if pid != 0 {
			t.Error("called twice")
		}
		pid, ticks = p, s
	}
	want(t, shell(t, testOptions(t)).Run(bg, job), models.RunSucceeded)
	if got := fmt.Sprintf("%d\n%d\n", pid, ticks); got != out.String() || pid == 0 || ticks == 0 {
		t.Errorf("told %q, the process itself says %q", got, out.String())
	}
}

func TestStatWithOddName(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(t.TempDir(), "a) R 1 (b")
	if err := os.WriteFile(odd, data, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(odd, "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	st, err := readStat(cmd.Process.Pid)
	if err != nil || st.ppid != os.Getpid() || !st.alive() {
		t.Errorf("%+v, %v", st, err)
	}
}

// TestHostile has agents that try to outlive their run or to confuse it.
func TestHostile(t *testing.T) {
	cases := []struct {
		name, command string
		limit         time.Duration
		status        models.RunStatus
		exit          int
		reason        string
		output        string // what the output must contain
	}{
		{"kills its own group", `echo bye; sleep 60 & kill -9 0`, 0, models.RunFailed, 137, "signal 9 (killed)", "bye\n"},
		{"ends itself with TERM", `echo bye; kill -TERM $$`, 0, models.RunFailed, 143, "signal 15", "bye\n"},
		{"closes stdout and lives on", `echo on; exec >&- 2>&-; sleep 60`, 300 * time.Millisecond, models.RunTimedOut, 143, "time limit", "on\n"},
		{"closes stdout and ends well", `echo on; exec >&- 2>&-; sleep 0.2; exit 0`, 0, models.RunSucceeded, 0, "", "on\n"},
		{"daemon in its group", `sleep 60 & echo ok`, 0, models.RunSucceeded, 0, "", "ok\n"},
		{"daemon that left its group", `setsid sleep 60 & echo ok`, 0, models.RunSucceeded, 0, "", "ok\n"},
		{"daemon that left its group and its output", `setsid sleep 60 >/dev/null 2>&1 </dev/null & echo ok`, 0, models.RunSucceeded, 0, "", "ok\n"},
		{"daemon that ignores TERM", `setsid bash -c 'trap "" TERM; while :; do sleep 0.05; done' & echo ok`, 0, models.RunSucceeded, 0, "", "ok\n"},
		{"daemon that left group and environment", `(env -i setsid sleep 60 & ); sleep 0.1; echo ok`, 0, models.RunSucceeded, 0, "", "ok\n"},
		{"stops itself", `echo ok; kill -STOP $$; echo never`, 300 * time.Millisecond, models.RunTimedOut, 143, "time limit", "ok\n"},
		{"forks on and on", `f() { sleep 0.02; f & }; f & f & echo ok`, 0, models.RunSucceeded, 0, "", "ok\n"},
		{"child writes after its leader", `(sleep 0.05; echo late) & echo early`, 0, models.RunSucceeded, 0, "", "late\n"},
		{"fails in silence", `exit 3`, 0, models.RunFailed, 3, "Exit code 3, and it printed nothing.", ""},
		{"says why it fails", `echo 'no such thing' >&2; exit 4`, 0, models.RunFailed, 4, "Exit code 4: no such thing", "no such thing\n"},
		{"reads stdin", `cat; echo done`, 0, models.RunSucceeded, 0, "", "done\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			opts := testOptions(t)
			job, out := newJob(t, c.command)
			if c.limit > 0 {
				job.Limit = c.limit
			}
			begin := time.Now()
			o := shell(t, opts).Run(bg, job)
			want(t, o, c.status, c.reason)
			if o.ExitCode == nil || *o.ExitCode != c.exit {
				t.Errorf("exit code %v, want %d", o.ExitCode, c.exit)
			}
			if !strings.Contains(out.String(), c.output) || strings.Contains(out.String(), "never") {
				t.Errorf("output %q lacks %q", out.String(), c.output)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
			nobodyLeft(t, opts)
		})
	}
}

func TestDaemonWithoutEnvironmentIsEnded(t *testing.T) {
	job, out := newJob(t, `(env -i setsid bash -c 'echo $$; exec sleep 60' & ); sleep 0.2`)
	want(t, shell(t, testOptions(t)).Run(bg, job), models.RunSucceeded)
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	if st, err := readStat(pid); err == nil && st.alive() {
		t.Errorf("it lives: %+v", st)
	}
}

// full is a log on a full disk.
type full struct{ n int }

func (f *full) Write(p []byte) (int, error) {
	f.n++
	return 0, errors.New("no space left")
}

func TestOutputThatCannotBeRecordedIsNoSuccess(t *testing.T) {
	job, _ := newJob(t, `head -c 3000000 /dev/zero; echo; echo still here > reached`)
	log := &full{}
	job.Output = log
	want(t, shell(t, testOptions(t)).Run(bg, job), models.RunErrored, "no space left")
	if _, err := os.Stat(filepath.Join(job.Dir, "reached")); err != nil {
		t.Error("the agent was stuck at a full pipe: ", err)
	}
	if log.n != 1 {
		t.Errorf("the broken log was asked %d times", log.n)
	}
}

func TestCancelBeforeTheStart(t *testing.T) {
	ctx, cancel := context.WithCancel(bg)
	cancel()
	job, _ := newJob(t, `touch ran`)
	job.Started = func(int, int64) { t.Error("it was started") }
	want(t, shell(t, testOptions(t)).Run(ctx, job), models.RunCancelled)
	fake := agent(t, testOptions(t), `touch ran`, "")
	want(t, fake.Run(ctx, job), models.RunCancelled)
}

func TestNotStarted(t *testing.T) {
	rt := shell(t, testOptions(t))
	job, _ := newJob(t, "true")
	job.Dir = filepath.Join(job.Dir, "gone")
	want(t, rt.Run(bg, job), models.RunErrored, "workspace", "gone")
	job, _ = newJob(t, " \n")
	want(t, rt.Run(bg, job), models.RunErrored, "no command")
	job, _ = newJob(t, "true "+strings.Repeat("#", maxArg))
	want(t, rt.Run(bg, job), models.RunErrored, "121 KB", "script in the repository")
	job, _ = newJob(t, "true\x00false")
	want(t, rt.Run(bg, job), models.RunErrored, "could not be started")
	opts := testOptions(t)
	opts.Environ = []string{"PATH=" + t.TempDir() + ":.:relative"}
	job, _ = newJob(t, "true")
	want(t, shell(t, opts).Run(bg, job), models.RunErrored, `"bash" was not found`)
}

func TestTaskFileIsOutsideAndRemoved(t *testing.T) {
	opts := testOptions(t)
	job, out := newJob(t, `cat "$DONEWHEN_TASK_FILE"; echo; echo "$DONEWHEN_TASK_FILE"`)
	job.Task = "do $(touch injected) `it`"
	want(t, shell(t, opts).Run(bg, job), models.RunSucceeded)
	text, path, _ := strings.Cut(strings.TrimSuffix(out.String(), "\n"), "\n")
	if text != job.Task || !strings.HasPrefix(path, opts.TempDir+"/") {
		t.Errorf("%q at %q", text, path)
	}
	if left, _ := os.ReadDir(opts.TempDir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if in, _ := os.ReadDir(job.Dir); len(in) > 0 {
		t.Errorf("in the workspace: %v", in)
	}
}

func TestStdinOfAProgramThatDoesNotReadIt(t *testing.T) {
	fake := agent(t, testOptions(t), `exec <&-; echo done`, "    task: stdin\n")
	job, _ := newJob(t, "")
	job.Task = strings.Repeat("long ", 1_000_000)
	o := fake.Run(bg, job)
	want(t, o, models.RunSucceeded)
	if o.FinalMessage != "done" {
		t.Errorf("final message %q", o.FinalMessage)
	}
	// One that lives on without reading: feeding ends with it.
	fake = agent(t, testOptions(t), `sleep 0.3; echo done`, "    task: stdin\n")
	want(t, fake.Run(bg, job), models.RunSucceeded)
}

func TestEnvIsExact(t *testing.T) {
	env := bytes.Join([][]byte{[]byte("A=1"), []byte("DONEWHEN_RUN_ID=12"), []byte("B=x\ny")}, []byte{0})
	cmd := exec.Command("sleep", "60")
	cmd.Env = strings.Split(string(env), "\x00")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	pid := cmd.Process.Pid
	for _, c := range []struct {
		pairs []string
		want  bool
	}{
		{nil, false},
		{[]string{"DONEWHEN_RUN_ID=12"}, true},
		{[]string{"DONEWHEN_RUN_ID=1"}, false},
		{[]string{"DONEWHEN_RUN_ID=123"}, false},
		{[]string{"RUN_ID=12"}, false},
		{[]string{"A=1", "B=x\ny"}, true},
		{[]string{"A=1", "C=2"}, false},
	} {
		if got := hasEnv(pid, c.pairs); got != c.want {
			t.Errorf("hasEnv(%q) = %v", c.pairs, got)
		}
	}
}
