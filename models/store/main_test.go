package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"donewhen/models"
)

// poolVar sets the number of connections for reading in the package's tests.
const poolVar = "STORE_TEST_POOL"

var ctx = context.Background()

// open opens a new database, through the real migrations and with the pragmas
// of production.
func open(t testing.TB) *Store {
	t.Helper()
	s, _ := openAt(t, filepath.Join(t.TempDir(), "main.db"), nil)
	return s
}

func openAt(t testing.TB, path string, now func() time.Time) (*Store, func()) {
	t.Helper()
	pool, _ := strconv.Atoi(os.Getenv(poolVar))
	s, err := Open(ctx, path, Options{PoolSize: pool, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	done := func() {
		if !closed {
			closed = true
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(done)
	return s, done
}

// TestOneConnection runs the tests of this package again with a single
// connection for reading: a read that holds one while it asks for a second, or
// a use of the Store inside its own transaction, hangs there and nowhere else.
func TestOneConnection(t *testing.T) {
	if os.Getenv(poolVar) != "" {
		t.Skip("this is the run with one connection")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "-test.skip=^(TestLog|TestA6_|TestA8_)", "-test.timeout=120s", "-test.v")
	c.Env = append(os.Environ(), poolVar+"=1")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("with one connection: %v\n%s", err, out)
	}
	if !containsAll(string(out), "--- PASS: TestPlansKeyset", "--- PASS: TestMoves") {
		t.Fatalf("the run with one connection left tests out:\n%s", out)
	}
}

// tx runs f in a transaction that must succeed.
func tx(t testing.TB, s *Store, f func(tx *Tx) error) {
	t.Helper()
	if err := s.InTx(ctx, f); err != nil {
		t.Fatal(err)
	}
}

// must returns v when err is nil: must(s.Plan(ctx, id))(t).
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func wantCode(t testing.TB, err error, code models.Code) {
	t.Helper()
	if _, ours := errors.AsType[*models.Error](err); !ours || models.CodeOf(err) != code {
		t.Fatalf("got error %v, want a models.Error with code %s", err, code)
	}
}

// seed is a plan with two phases, a pass of the first and its run.
type seed struct {
	project models.Project
	plan    models.Plan
	phases  []models.Phase
	pass    models.Pass
	run     models.Run
}

var seeds int

// plant writes a seed: plan and first phase running, pass and run queued.
func plant(t testing.TB, s *Store) seed {
	t.Helper()
	var d seed
	seeds++
	tx(t, s, func(tx *Tx) error {
		d.project = models.Project{Name: fmt.Sprint("project ", seeds), Path: fmt.Sprint("/repo/", seeds), TargetBranch: "main"}
		if err := tx.InsertProject(ctx, &d.project); err != nil {
			return err
		}
		d.plan = models.Plan{ProjectID: d.project.ID, Title: "Tidy up", Goal: "A tidy house", Status: models.PlanRunning, TargetBranch: "main"}
		d.phases = []models.Phase{
			{Name: "sort", Task: "Sort it.", MaxIterations: 3, Status: models.PhaseRunning, DoneWhen: "sorted", Agents: []models.AgentSpec{{Runtime: "shell", Command: "sort"}}},
			{Name: "sweep", Task: "Sweep it.", MaxIterations: 1},
		}
		if err := tx.InsertPlan(ctx, &d.plan, d.phases); err != nil {
			return err
		}
		d.pass = models.Pass{PhaseID: d.phases[0].ID, PlanID: d.plan.ID}
		runs := []models.Run{{Agent: d.phases[0].Agents[0]}}
		if err := tx.InsertPass(ctx, &d.pass, runs); err != nil {
			return err
		}
		d.run = runs[0]
		return tx.SetPhase(ctx, d.phases[0].ID, models.PhaseRunning, PhaseSet{PassID: &d.pass.ID})
	})
	return d
}

// raw is a connection past the store, as an operator's tool would have, without
// its guards but with its constraints.
func raw(t testing.TB, s *Store) *sql.DB {
	t.Helper()
	db, err := s.write.DB()
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func count(t testing.TB, s *Store, table string) int {
	t.Helper()
	var n int
	if err := raw(t, s).QueryRow("SELECT COUNT(*) FROM " + table).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
