package storetest

import (
	"context"
	"path/filepath"
	"testing"

	"donewhen/models"
	"donewhen/models/store"
)

// What Fill makes is a sound database whose pages show finished plans.
func TestFill(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "main.db")
	if err := Fill(ctx, path, 43, 10); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Integrity(ctx); err != nil {
		t.Error(err)
	}
	plans, _, err := s.Plans(ctx, models.PlanFilter{})
	if err != nil || len(plans) != 10 {
		t.Fatalf("%d plans, %v, want 10", len(plans), err)
	}
	phases := 0
	for _, row := range plans {
		if !row.Status.Over() || row.PhasesDone != row.PhaseCount || row.PhaseCount < 4 {
			t.Errorf("plan %+v", row)
		}
		d, err := s.PlanDetail(ctx, row.ID)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range d.Phases {
			phases++
			if p.Phase.Position != i+1 || len(p.Passes) != 1 || len(p.Passes[0].Runs) != 1 || *p.Phase.PassID != p.Passes[0].Pass.ID || p.Phase.Agents[0].Command != "make" {
				t.Errorf("phase %+v", p)
			}
		}
	}
	if phases != 43 {
		t.Errorf("%d phases, want 43", phases)
	}
	if err := Fill(ctx, filepath.Join(t.TempDir(), "main.db"), 3, 10); err == nil {
		t.Error("three phases were spread over ten plans")
	}
}
