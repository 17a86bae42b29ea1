package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script writes an executable file, such as an agent CLI of a test's own.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent")
	if !strings.HasPrefix(body, "#!") {
		body = "#!/bin/bash\n" + body
	}
	if err := os.WriteFile(path, []byte(body), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// testOptions has a short grace and an instance that no other test has.
func testOptions(t *testing.T) Options {
	return Options{Grace: 500 * time.Millisecond, Instance: t.TempDir(), TempDir: filepath.Join(t.TempDir(), "tmp")}
}

// open reads runtimes.yaml from a text.
func open(t *testing.T, opts Options, text string) *Set {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runtimes.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// agent is a runtime that runs the given script, declared with further settings.
func agent(t *testing.T, opts Options, body, settings string) engine.Runtime {
	t.Helper()
	return open(t, opts, fmt.Sprintf("runtimes:\n  fake:\n    args: [%q]\n%s", script(t, body), settings)).Runtimes()[0]
}

func shell(t *testing.T, opts Options) engine.Runtime {
	t.Helper()
	return open(t, opts, "runtimes:\n  shell: {preset: shell}\n").Runtimes()[0]
}

// buffer is an io.Writer that can be read while it is written.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// newJob is a job with real folders; its output goes to the returned buffer.
func newJob(t *testing.T, command string) (engine.Job, *buffer) {
	t.Helper()
	out := &buffer{}
	return engine.Job{
		RunID: 7, PlanID: "01PLAN", PhaseName: "build",
		Agent: models.AgentSpec{Runtime: "shell", Command: command},
		Dir:   t.TempDir(), Home: t.TempDir(), Output: out, Limit: 20 * time.Second,
	}, out
}

// eventually polls until ok, for what a real process does in its own time.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within 15 s: %s", what)
		}
	}
}

// nobodyLeft fails when a process of this test's instance is still alive.
func nobodyLeft(t *testing.T, opts Options) {
	t.Helper()
	left, err := (&quarry{env: []string{envInstance + "=" + opts.Instance}}).members()
	if err != nil || len(left) > 0 {
		t.Errorf("still alive: %+v, %v", left, err)
	}
}

func want(t *testing.T, out engine.Outcome, status models.RunStatus, parts ...string) {
	t.Helper()
	if out.Status != status {
		t.Fatalf("status %s (%s), want %s", out.Status, out.Reason, status)
	}
	for _, part := range parts {
		if !strings.Contains(out.Reason, part) {
			t.Errorf("reason %q lacks %q", out.Reason, part)
		}
	}
}

var bg = context.Background()
