package main

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/models"
)

// testApp is the real server on a free port and a temporary data folder.
func testApp(t *testing.T, change func(*Config)) *App {
	t.Helper()
	cfg := Config{Addr: "127.0.0.1:0", Data: t.TempDir(), JudgeModel: "text", Workers: 2, CheckLimit: time.Minute, CommandsBy: models.RoleLead, MaxFileMB: 50, Example: true,
		Backoff: []time.Duration{10 * time.Millisecond}}
	if change != nil {
		change(&cfg)
	}
	if err := cfg.check(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	app, err := NewApp(ctx, cfg, slog.New(slog.NewTextHandler(logWriter{t}, nil)))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- app.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		app.Close()
	})
	return app
}

type logWriter struct{ t *testing.T }

func (w logWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSpace(string(p)))
	return len(p), nil
}

// eventually polls until ok, for what real processes bring about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// gateOpens waits until the plan can be applied. It fails at once when an
// evaluation leaves the gate closed.
func gateOpens(t *testing.T, app *App, id string) (gate engine.GateView) {
	t.Helper()
	eventually(t, "the gate opens", func() bool {
		d, err := app.store.PlanDetail(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if gate, err = app.engine.Gate(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if ev := d.Evaluation; ev != nil && ev.Status == models.EvaluationDone && !gate.State.Open {
			t.Fatalf("closed: %+v\n%s", gate.State, ev.SummaryJSON)
		}
		return gate.State.Open
	})
	return gate
}

// The example as a lead would drive it: its second phase needs two passes, the
// third one an approval, and the merge reaches the repository's main.
func TestExampleFromStartToApplied(t *testing.T) {
	app := testApp(t, nil)
	ctx, e := context.Background(), app.engine
	lead := models.Actor{ID: 1, Name: "lea", Role: models.RoleLead}
	rows, _, err := app.store.Plans(ctx, models.PlanFilter{})
	if err != nil || len(rows) != 1 {
		t.Fatalf("plans of a first start: %v %v", rows, err)
	}
	id := rows[0].ID
	if err := e.StartPlan(ctx, lead, id); err != nil {
		t.Fatal(err)
	}
	detail := func() models.PlanDetail {
		d, err := app.store.PlanDetail(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if err := e.Apply(ctx, lead, id, "", 0); models.CodeOf(err) != models.CodeConflict {
		t.Fatalf("apply while it runs: %v", err)
	}
	eventually(t, "phase 3 waits for approval", func() bool { return detail().Phases[2].Phase.Status == models.PhaseAwaitingApproval })
	second := detail().Phases[1]
	if len(second.Passes) != 2 || second.Passes[0].Verdict.Met || !second.Passes[1].Verdict.Met {
		t.Fatalf("phase 2 took %d passes", len(second.Passes))
	}
	if text := second.Passes[1].Pass.TaskText; !strings.Contains(text, "without a name") {
		t.Errorf("pass 2 was not told what was missing:\n%s", text)
	}
	if text := second.Passes[0].Pass.TaskText; strings.Contains(text, "without a name") {
		t.Errorf("pass 1 was told the answer:\n%s", text)
	}
	third := detail().Phases[2].Phase
	if err := e.ApprovePhase(ctx, lead, third.ID, *third.PassID, ""); err != nil {
		t.Fatal(err)
	}
	gate := gateOpens(t, app, id)
	if s := gate.Summary; s.Total() != 4 || s.Passed() != 4 {
		t.Errorf("summary: %+v", s.ToValidationSummary())
	}
	if err := e.Apply(ctx, lead, id, gate.Commit, gate.EvaluationID); err != nil {
		t.Fatal(err)
	}
	repo := filepath.Join(app.cfg.Data, "example", "greeter")
	out, err := exec.Command("git", "-C", repo, "log", "-1", "--format=%B", "main").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Donewhen-Plan: "+id) {
		t.Fatalf("%v: %s", err, out)
	}
	if b, err := os.ReadFile(filepath.Join(repo, "README.md")); err != nil || !strings.Contains(string(b), "Usage: greet.sh [NAME]") {
		t.Fatalf("the checkout lacks the work: %v %s", err, b)
	}
	if out, err := exec.Command("git", "-C", repo, "status", "--short").CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("the checkout is not clean: %v %s", err, out)
	}
	if out, err := exec.Command("bash", filepath.Join(repo, "check.sh")).CombinedOutput(); err != nil {
		t.Fatalf("the example's check: %v %s", err, out)
	}
}

// A second server on the same data folder refuses to start and changes nothing.
func TestA5_01_SecondServerRefuses(t *testing.T) {
	app := testApp(t, nil)
	cfg := app.cfg
	_, err := NewApp(context.Background(), cfg, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "another donewhen server") {
		t.Fatalf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(cfg.Data, "donewhen.db")); err != nil {
		t.Fatal(err)
	}

}
