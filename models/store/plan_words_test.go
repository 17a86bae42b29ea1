package store

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"donewhen/models"
)

// A plan is found by what it has to fulfil and by why it waits, and the row
// says where; by what it does not say it is not.
func TestPlansByCriterionAndReason(t *testing.T) {
	s, add := library(t)
	p := add("Export", models.PlanRunning, models.Phase{Name: "Write", MaxIterations: 3, DoneWhen: "- The LEDGER is written\n- 100%_covered", Status: models.PhaseRunning})
	other := add("Other", models.PlanDraft, models.Phase{Name: "one", MaxIterations: 1})
	tx(t, s, func(tx *Tx) error {
		return tx.SetPlan(ctx, p.ID, "", PlanSet{DodText: new("# Done\n- Straße und Ärger sind weg\n- (must) Looks right -> human")})
	})
	find := func(words string) (string, *models.Excerpt) {
		t.Helper()
		list, _, err := s.Plans(ctx, models.PlanFilter{Search: words})
		if err != nil {
			t.Fatal(err)
		}
		names := titles(list)
		if len(names) == 0 {
			return "", nil
		}
		return strings.Join(names, ","), list[0].Found
	}
	check := func(words, title, where, text string) {
		t.Helper()
		got, e := find(words)
		if got != title {
			t.Errorf("%q finds %q, want %q", words, got, title)
		}
		switch {
		case where == "" && e != nil:
			t.Errorf("%q: found in %+v", words, e)
		case where != "" && (e == nil || e.Where != where || e.Text != text):
			t.Errorf("%q: found in %+v, want %s: %s", words, e, where, text)
		}
	}
	check("ledger is", "Export", "Criterion of Write", "LEDGER is")
	check("100%_", "Export", "Criterion of Write", "100%_")
	check("100_%", "", "", "")
	check("ÄRGER SIND", "Export", "Definition of done", "Ärger sind")
	check("export", "Export", "", "")
	check("no such words", "", "", "")

	// A verdict's reason, then the phase's own.
	phases, err := s.PhasesOf(ctx, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	ph := phases[0]
	var pass models.Pass
	tx(t, s, func(tx *Tx) error {
		pass = models.Pass{PlanID: p.ID, PhaseID: ph.ID, Attempt: 1, Status: models.PassRunning}
		if err := tx.InsertPass(ctx, &pass, nil); err != nil {
			return err
		}
		return tx.SetPhase(ctx, ph.ID, "", PhaseSet{PassID: &pass.ID})
	})
	tx(t, s, func(tx *Tx) error {
		return tx.InsertVerdict(ctx, &models.Verdict{PassID: pass.ID, PhaseID: ph.ID, PlanID: p.ID, Kind: models.VerdictGiven, Reason: "Two invoices are booked twice."})
	})
	check("booked twice", "Export", "Verdict on Write", "booked twice")
	tx(t, s, func(tx *Tx) error {
		return tx.SetPhase(ctx, ph.ID, "", PhaseSet{Reason: new("The disk is full")})
	})
	check("DISK is", "Export", "Reason of Write", "disk is")
	// What is rolled back is not found.
	_ = s.InTx(ctx, func(tx *Tx) error {
		if err := tx.SetPlan(ctx, other.ID, "", PlanSet{DodText: new("- unheard of")}); err != nil {
			t.Error(err)
		}
		return context.Canceled
	})
	check("unheard", "", "", "")
	// With the other filters, and page by page.
	if list, _, err := s.Plans(ctx, models.PlanFilter{Search: "ledger", Status: []models.PlanStatus{models.PlanDraft, models.PlanApplied}}); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", titles(list), err)
	}
	// What is kept of a plan is bounded.
	tx(t, s, func(tx *Tx) error {
		return tx.SetPlan(ctx, p.ID, "", PlanSet{DodText: new(strings.Repeat("- ä long line\n", 100_000))})
	})
	var n int
	if err := raw(t, s).QueryRow("SELECT LENGTH(words) FROM plan_words WHERE plan_id = ?", p.ID).Scan(&n); err != nil || n > wordsAll || n < 1000 {
		t.Errorf("%d bytes are searched, %v", n, err)
	}
}

// Plans from before the table are found after the migration.
func TestPlanWordsOfStoredPlans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "main.db")
	s, err := Open(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	tx(t, s, func(tx *Tx) error {
		if err := tx.InsertProject(ctx, &models.Project{Name: "home", Path: "/home", TargetBranch: "main"}); err != nil {
			return err
		}
		return tx.InsertPlan(ctx, &models.Plan{ProjectID: 1, Title: "Old", TargetBranch: "main", DodText: "- Moved to the LEDGER"},
			[]models.Phase{{Name: "one", MaxIterations: 1, DoneWhen: "- Ärger ist weg", Reason: "It waits for Paul"}})
	})
	db := raw(t, s)
	for _, q := range []string{"DROP TABLE plan_words", "DROP TABLE dod_changes", "ALTER TABLE runs DROP COLUMN stopped", "ALTER TABLE runs DROP COLUMN stopped_by", "DROP INDEX runs_cut", "ALTER TABLE evaluations DROP COLUMN flags_json", "ALTER TABLE evaluations DROP COLUMN stopped_by", "ALTER TABLE decisions DROP COLUMN withdrawn", "DELETE FROM goose_db_version WHERE version_id >= 160"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(ctx, path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, words := range []string{"the ledger", "Ärger", "FOR PAUL"} {
		list, _, err := s.Plans(ctx, models.PlanFilter{Search: words})
		if err != nil || !slices.Equal(titles(list), []string{"Old"}) {
			t.Errorf("%q finds %v, %v", words, titles(list), err)
		}
	}
}
