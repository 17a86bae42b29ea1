package main

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

// The crash drill: the real server, in a process of its own, is killed with
// SIGKILL between two steps; then it is started again on the same folder.

const (
	drillData  = "DRILL_DATA"  // makes this test binary a server on that folder
	drillPoint = "DRILL_POINT" // the failpoint at which it kills itself, "" = never
	drillApply = "DRILL_APPLY" // id of a plan to apply as soon as its gate opens
)

func TestMain(m *testing.M) {
	if data := os.Getenv(drillData); data != "" {
		if err := drillServer(data); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func drillConfig(data string) Config {
	return Config{Addr: "127.0.0.1:0", Data: data, JudgeModel: "text", EvaluatorModel: "text", Workers: 2, CheckLimit: time.Minute,
		CommandsBy: models.RoleLead, MaxFileMB: 50, Backoff: []time.Duration{10 * time.Millisecond}}
}

func drillServer(data string) error {
	cfg := drillConfig(data)
	point := os.Getenv(drillPoint)
	cfg.failpoint = func(name string) {
		if name == point {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // the signal is on its way
		}
	}
	ctx := context.Background()
	app, err := NewApp(ctx, cfg, slog.Default())
	if err != nil {
		return err
	}
	if id := os.Getenv(drillApply); id != "" {
		go func() {
			lead := models.Actor{ID: 1, Name: "lea", Role: models.RoleLead}
			for {
				if g, err := app.engine.Gate(ctx, id); err == nil && g.State.Open {
					fmt.Fprintln(os.Stderr, "apply:", app.engine.Apply(ctx, lead, id, g.Commit, g.EvaluationID))
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
	}
	return app.Run(ctx)
}

// drill is a data folder with one plan, and the servers that run on it.
type drill struct {
	t          *testing.T
	data, repo string
	plan       string
	db         *store.Store
}

// newDrill prepares a started plan of two phases; each agent leaves a line in a
// file outside of the repository, so that a repeated run shows. With slow the
// very first run would take long, so that it is surely cut off.
func newDrill(t *testing.T, slow bool) *drill {
	t.Helper()
	d := &drill{t: t, data: t.TempDir()}
	d.repo = filepath.Join(t.TempDir(), "repo")
	if err := makeExampleRepository(context.Background(), d.repo); err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	app, err := NewApp(ctx, drillConfig(d.data), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	lead := models.Actor{ID: 1, Name: "lea", Role: models.RoleAdmin}
	p, err := app.engine.AddProject(ctx, lead, "drill", d.repo, "", false)
	if err != nil {
		t.Fatal(err)
	}
	pause := "sleep 0.1"
	if slow {
		pause = `[ "$DONEWHEN_PHASE$DONEWHEN_TRY" != One1 ] || sleep 100`
	}
	agent := func(name string) models.AgentSpec {
		return models.AgentSpec{Runtime: "shell", Name: name, Command: `echo "` + name + ` $DONEWHEN_PASS" >> "$HOME/ran"; echo begun; ` + pause + `; echo "` + name + ` $DONEWHEN_PASS" >> "$HOME/ended"; echo "` + name + ` $DONEWHEN_PASS" >> work.txt`}
	}
	d.plan, err = app.engine.CreatePlan(ctx, lead, engine.NewPlan{
		ProjectID: p.ID, Title: "Drill", Dod: "- work is there -> file: work.txt\n- greeted -> run: grep -q 'second 2' work.txt",
		Phases: []engine.NewPhase{
			{Name: "One", Agents: []models.AgentSpec{agent("first")}, MaxIterations: 1},
			{Name: "Two", Agents: []models.AgentSpec{agent("quick"), agent("second")}, MaxIterations: 3, DoneWhen: "- twice -> run: test $(grep -c second work.txt) -ge 2"},
		}})
	if err != nil {
		t.Fatal(err)
	}
	if err := app.engine.StartPlan(ctx, lead, d.plan); err != nil {
		t.Fatal(err)
	}
	app.Close()
	if d.db, err = store.Open(ctx, filepath.Join(d.data, "donewhen.db"), store.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.db.Close() })
	return d
}

// serve starts a server; point is where it kills itself.
func (d *drill) serve(point string, apply bool) (cmd *exec.Cmd, output *bytes.Buffer) {
	d.t.Helper()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), drillData+"="+d.data, drillPoint+"="+point)
	if apply {
		cmd.Env = append(cmd.Env, drillApply+"="+d.plan)
	}
	output = &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, output
}

func (d *drill) detail() models.PlanDetail {
	d.t.Helper()
	v, err := d.db.PlanDetail(context.Background(), d.plan)
	if err != nil {
		d.t.Fatal(err)
	}
	return v
}

// agents lists the live processes of this data folder's agents.
func (d *drill) agents() []string {
	var out []string
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environs {
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte("DONEWHEN_INSTANCE="+d.data+"\x00")) {
			out = append(out, filepath.Base(filepath.Dir(path)))
		}
	}
	return out
}

// lines reads a file in the agents' home, outside of the repository.
func (d *drill) lines(name string) []string {
	b, err := os.ReadFile(filepath.Join(d.data, "homes", d.plan, "agents", name))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

func killed(t *testing.T, cmd *exec.Cmd, output *bytes.Buffer) {
	t.Helper()
	err := cmd.Wait()
	status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if err == nil || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the server was not killed: %v\n%s", err, output)
	}
}

func TestCrashDrill(t *testing.T) {
	for _, tc := range []struct {
		point   string
		killLog bool // kill from outside in the middle of a log
		lost    bool // a run was under way
	}{
		{point: "after_claim"},
		{point: "after_spawn", lost: true},
		{point: "in_log", killLog: true, lost: true},
		{point: "after_verdict"},
		{point: "after_merge"},
		{point: "after_deliver"},
	} {
		t.Run(tc.point, func(t *testing.T) {
			d := newDrill(t, tc.lost)
			cmd, output := d.serve(tc.point, true)
			if tc.killLog {
				eventually(t, "an agent is in the middle of its work", func() bool { return len(d.lines("ran")) > len(d.lines("ended")) })
				_ = cmd.Process.Kill()
			}
			killed(t, cmd, output)
			if tc.lost && d.detail().Phases[0].Passes[0].Runs[0].Status != models.RunRunning {
				t.Fatal("the crash left no run behind: the drill does not drill")
			}
			endedBefore := d.lines("ended")

			_, again := d.serve("", true)
			eventually(t, "the state is true again: "+again.String(), func() bool {
				for _, ph := range d.detail().Phases {
					for _, pass := range ph.Passes {
						for _, r := range pass.Runs {
							if r.Status == models.RunLost {
								return true
							}
						}
					}
				}
				return !tc.lost
			})
			eventually(t, "the plan ends as it would have", func() bool { return d.detail().Plan.Status == models.PlanApplied })
			v := d.detail()
			for _, ph := range v.Phases {
				for _, pass := range ph.Passes {
					for _, r := range pass.Runs {
						if !r.Status.Ended() {
							t.Errorf("run %d of %s is %s", r.ID, ph.Phase.Name, r.Status)
						}
						if r.Try > 1 && !tc.lost {
							t.Errorf("run %d of %s was repeated", r.ID, ph.Phase.Name)
						}
					}
				}
			}
			if n := len(v.Phases[1].Passes); n != 2 {
				t.Errorf("phase 2 took %d passes, want 2", n)
			}
			// What had ended before the crash and was recorded did not run again.
			ended := strings.Join(d.lines("ended"), ",")
			if want := "first 1,quick 1,second 1,quick 2,second 2"; ended != want {
				t.Errorf("ended runs: %s, want %s (before the crash: %v)", ended, want, endedBefore)
			}
			eventually(t, "no process is left over", func() bool { return len(d.agents()) == 0 })
			log, err := exec.Command("git", "-C", d.repo, "log", "--format=%(trailers:key=Donewhen-Plan,valueonly)", "main").CombinedOutput()
			if err != nil || strings.Count(string(log), d.plan) != 1 {
				t.Errorf("the target has the merge %d times: %v %s", strings.Count(string(log), d.plan), err, log)
			}
			if out, err := exec.Command("git", "-C", d.repo, "status", "--short").CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("the checkout is not clean: %v %s", err, out)
			}
		})
	}
}
