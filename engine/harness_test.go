package engine_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/engine/runner"
	"donewhen/engine/workspace"
	"donewhen/models"
	"donewhen/models/store"
)

var (
	lead  = models.Actor{ID: 1, Name: "lea", Role: models.RoleLead}
	admin = models.Actor{ID: 2, Name: "ada", Role: models.RoleAdmin}
)

// house is a whole engine over a real SQLite file, real git repositories and
// real processes. Its clock stands still until Forward moves it.
type house struct {
	t       *testing.T
	ctx     context.Context
	dir     string
	repo    string
	store   *store.Store
	logs    *store.Logs
	spaces  *workspace.Manager
	engine  *engine.Engine
	project models.Project
	mu      sync.Mutex
	now     time.Time
	dead    *atomic.Bool // set: the engine was left as a crash leaves it, and is not closed
}

type option func(*engine.Config)

func withJudge(a dod.Asker) option { return func(c *engine.Config) { c.Judge = a; c.Evaluator = a } }

func newHouse(t *testing.T, opts ...option) *house {
	t.Helper()
	return newHouseWith(t, "", opts...)
}

// newHouseWith is newHouse with a runtimes.yaml; "" is the built-in one. Houses
// share nothing, so that their tests run beside each other.
func newHouseWith(t *testing.T, runtimes string, opts ...option) *house {
	t.Helper()
	t.Parallel()
	h := &house{t: t, ctx: context.Background(), dir: t.TempDir(), now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	h.repo = filepath.Join(h.dir, "repo")
	if runtimes != "" {
		must(t, os.WriteFile(filepath.Join(h.dir, "runtimes.yaml"), []byte(runtimes), 0o600))
	}
	h.git("init", "-q", "-b", "main", h.repo)
	h.write("a.txt", "one\n")
	h.git("-C", h.repo, "add", "-A")
	h.git("-C", h.repo, "commit", "-q", "-m", "first")
	h.open(opts...)
	p, err := h.engine.AddProject(h.ctx, admin, "demo", h.repo, "", false)
	must(t, err)
	h.project = p
	return h
}

// open starts an engine on the house's folder; called again it is a restart.
func (h *house) open(opts ...option) {
	h.t.Helper()
	var err error
	h.store, err = store.Open(h.ctx, filepath.Join(h.dir, "donewhen.db"), store.Options{Now: h.clock})
	must(h.t, err)
	h.logs, err = store.OpenLogs(h.ctx, filepath.Join(h.dir, "logs.db"), store.LogOptions{})
	must(h.t, err)
	h.spaces, err = workspace.Open(workspace.Config{Dir: filepath.Join(h.dir, "git")})
	must(h.t, err)
	temp := filepath.Join(h.dir, "tmp")
	must(h.t, os.MkdirAll(temp, 0o700))
	declared := filepath.Join(h.dir, "runtimes.yaml")
	if _, err := os.Stat(declared); err != nil {
		declared = ""
	}
	set, err := runner.Open(declared, runner.Options{TempDir: temp, Instance: h.dir, Grace: 200 * time.Millisecond})
	must(h.t, err)
	cfg := engine.Config{Store: h.store, Logs: h.logs, Spaces: h.spaces, Runtimes: set.Runtimes(), Check: set.CheckRunner(), Reap: set.Reap,
		HomeDir: filepath.Join(h.dir, "homes"), Now: h.clock, Log: slog.New(slog.NewTextHandler(testWriter{h.t}, nil))}
	for _, o := range opts {
		o(&cfg)
	}
	dead := new(atomic.Bool)
	for i, r := range cfg.Runtimes {
		cfg.Runtimes[i] = mortal{r, dead}
	}
	check := cfg.Check
	cfg.Check = func(ctx context.Context, job engine.CheckJob) dod.CheckOutcome {
		defer dieIf(dead)
		return check(ctx, job)
	}
	e := engine.New(cfg)
	st, logs := h.store, h.logs
	h.engine = e
	h.dead = dead
	h.t.Cleanup(func() {
		if !dead.Load() {
			e.Close()
			_ = logs.Close()
			_ = st.Close()
		}
	})
}

// crash leaves the engine as SIGKILL would: it writes nothing any more, nobody
// ends its processes. Whoever uses it passes quiet to the first engine.
func (h *house) crash() {
	h.t.Helper()
	h.dead.Store(true)
	_ = h.logs.Close()
	must(h.t, h.store.Close())
}

// mortal is a real runtime whose server may die while it runs: then nobody hears
// how the process ended.
type mortal struct {
	engine.Runtime
	dead *atomic.Bool
}

func (m mortal) Run(ctx context.Context, job engine.Job) engine.Outcome {
	defer dieIf(m.dead)
	return m.Runtime.Run(ctx, job)
}

func dieIf(dead *atomic.Bool) {
	if dead.Load() {
		select {}
	}
}

// quiet keeps an engine that outlives its test from writing into its log.
func quiet(c *engine.Config) { c.Log = slog.New(slog.DiscardHandler) }

// restart opens a second engine on the same folder and recovers.
func (h *house) restart(opts ...option) engine.Recovered {
	h.t.Helper()
	h.open(opts...)
	found, err := h.engine.Recover(h.ctx)
	must(h.t, err)
	return found
}

// workFile is a path in a plan's workspace.
func (h *house) workFile(id, name string) string {
	return filepath.Join(h.spaces.Dir(h.repoRef(), id), name)
}

func (h *house) read(path string) string {
	h.t.Helper()
	b, err := os.ReadFile(path)
	must(h.t, err)
	return string(b)
}

// eventually waits for a real process to do something.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("it never came: %s", what)
}

func exists(path string) bool { _, err := os.Lstat(path); return err == nil }

func (h *house) clock() time.Time { h.mu.Lock(); defer h.mu.Unlock(); return h.now }

// Forward moves the clock.
func (h *house) Forward(d time.Duration) { h.mu.Lock(); defer h.mu.Unlock(); h.now = h.now.Add(d) }

// settle ticks until nothing is due any more.
func (h *house) settle() {
	h.t.Helper()
	for range 200 {
		s, err := h.engine.Once(h.ctx)
		if err != nil {
			h.t.Logf("sweep: %v", err)
		}
		h.engine.Drain()
		due, err := h.store.DuePhases(h.ctx, h.clock(), 10)
		must(h.t, err)
		if s.Due == 0 && s.Evaluations == 0 && len(due) == 0 {
			return
		}
	}
	h.t.Fatal("the sweep never comes to rest")
}

func (h *house) create(phases ...engine.NewPhase) string {
	h.t.Helper()
	return h.createWith(engine.NewPlan{Phases: phases})
}

func (h *house) createWith(in engine.NewPlan) string {
	h.t.Helper()
	in.ProjectID = h.project.ID
	if in.Title == "" {
		in.Title = h.t.Name()
	}
	id, err := h.engine.CreatePlan(h.ctx, lead, in)
	must(h.t, err)
	return id
}

// start creates, starts and settles.
func (h *house) start(phases ...engine.NewPhase) string {
	h.t.Helper()
	id := h.create(phases...)
	must(h.t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	return id
}

func (h *house) detail(id string) models.PlanDetail {
	h.t.Helper()
	d, err := h.store.PlanDetail(h.ctx, id)
	must(h.t, err)
	return d
}

// phase returns the n-th phase, from 1.
func (h *house) phase(id string, n int) models.PhaseDetail {
	h.t.Helper()
	return h.detail(id).Phases[n-1]
}

func (h *house) wantPlan(id string, want models.PlanStatus) {
	h.t.Helper()
	if d := h.detail(id); d.Plan.Status != want {
		h.t.Fatalf("plan is %s, want %s; phases: %s", d.Plan.Status, want, describe(d))
	}
}

func (h *house) wantPhase(id string, n int, want models.PhaseStatus, passes int) models.PhaseDetail {
	h.t.Helper()
	p := h.phase(id, n)
	if p.Phase.Status != want || len(p.Passes) != passes {
		h.t.Fatalf("phase %d is %s after %d passes, want %s after %d; reason: %s", n, p.Phase.Status, len(p.Passes), want, passes, p.Phase.Reason)
	}
	return p
}

func describe(d models.PlanDetail) string {
	var b strings.Builder
	for _, p := range d.Phases {
		b.WriteString(p.Phase.Name + "=" + string(p.Phase.Status) + " (" + p.Phase.Reason + ") ")
	}
	return b.String()
}

// shell is a phase with one shell agent.
func shell(name, command string) engine.NewPhase {
	return engine.NewPhase{Name: name, Task: "Do " + name + ".", MaxIterations: 3, Agents: []models.AgentSpec{{Runtime: "shell", Command: command}}}
}

func gitCommand(args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@localhost", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@localhost")
	return cmd
}

func (h *house) git(args ...string) string {
	h.t.Helper()
	out, err := gitCommand(args...).CombinedOutput()
	if err != nil {
		h.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (h *house) write(path, content string) {
	h.t.Helper()
	must(h.t, os.WriteFile(filepath.Join(h.repo, path), []byte(content), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantErrCode(t *testing.T, err error, want models.Code) {
	t.Helper()
	if got := models.CodeOf(err); got != want {
		t.Fatalf("got error %v with code %q, want %q", err, got, want)
	}
}

type testWriter struct{ t *testing.T }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// judgeFunc is a judge with a script: tests of the closed paths need replies
// that no well-behaved model gives.
type judgeFunc func(q dod.Question) (string, error)

func (f judgeFunc) Ask(_ context.Context, q dod.Question) (dod.Reply, error) {
	raw, err := f(q)
	return dod.Reply{Raw: raw}, err
}
func (judgeFunc) Evaluator() string { return "runtime:scripted" }

func (h *house) repoRef() workspace.Repo {
	return workspace.Repo{Key: "p1", Path: h.project.Path}
}

func writeFile(path, content string) error { return os.WriteFile(path, []byte(content), 0o644) }

func removeFile(path string) error { return os.Remove(path) }
