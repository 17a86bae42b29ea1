package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"donewhen/models"
	"donewhen/models/store"
	"donewhen/models/store/storetest"
)

// The sizes that are compared. Whatever is finished, a tick and a page must
// cost what they show and not what is stored.
const (
	fewPhases  = 1_000
	manyPhases = 1_000_000
	perPlan    = 4
	livePlans  = 30 // plans at work in both databases, each with one due phase
)

// BenchmarkFinishedPhases measures what a tick of the sweep and the plans list
// ask, at a thousand and at a million finished phases, turn by turn in one run,
// and reports "ratio": the median at a million divided by that at a thousand.
func BenchmarkFinishedPhases(b *testing.B) {
	ctx := context.Background()
	few := filled(b, fewPhases)
	many := filled(b, manyPhases)
	now := time.Now()
	for _, q := range []struct {
		name string
		ask  func(s *store.Store) (rows int, err error)
	}{
		{"DuePhases", func(s *store.Store) (int, error) {
			list, err := s.DuePhases(ctx, now, 100)
			return len(list), err
		}},
		{"Tick", func(s *store.Store) (int, error) {
			due, err := s.DuePhases(ctx, now, 100)
			if err != nil {
				return 0, err
			}
			if _, err := s.NextDue(ctx, now); err != nil {
				return 0, err
			}
			queued, err := s.QueuedEvaluations(ctx, 100)
			return len(due) + len(queued), err
		}},
		{"Plans", func(s *store.Store) (int, error) {
			list, _, err := s.Plans(ctx, models.PlanFilter{})
			return len(list), err
		}},
		{"PlansOfStatus", func(s *store.Store) (int, error) {
			list, _, err := s.Plans(ctx, models.PlanFilter{Status: []models.PlanStatus{models.PlanApplied, models.PlanRunning}})
			return len(list), err
		}},
		{"Inbox", func(s *store.Store) (int, error) {
			list, err := s.Inbox(ctx, 50)
			return len(list) + 1, err // nothing waits here; that it costs nothing is the point
		}},
	} {
		b.Run(q.name, func(b *testing.B) {
			var times [2][]time.Duration
			for round := 0; b.Loop(); round++ {
				// Both in each round, and in turns, so that a busy machine slows both alike.
				for k := range 2 {
					i := (round + k) % 2
					start := time.Now()
					n, err := q.ask([]*store.Store{few, many}[i])
					times[i] = append(times[i], time.Since(start))
					if err != nil {
						b.Fatal(err)
					}
					if n == 0 {
						b.Fatal("the question found nothing: this measures nothing")
					}
				}
			}
			small, big := median(times[0]), median(times[1])
			b.ReportMetric(float64(small.Nanoseconds()), "few-ns")
			b.ReportMetric(float64(big.Nanoseconds()), "many-ns")
			b.ReportMetric(float64(big)/float64(small), "ratio")
		})
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// filled makes a database with finished phases and the live plans.
func filled(b *testing.B, phases int) *store.Store {
	b.Helper()
	ctx := context.Background()
	path := filepath.Join(b.TempDir(), "main.db")
	if err := storetest.Fill(ctx, path, phases, phases/perPlan); err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	err = s.InTx(ctx, func(tx *store.Tx) error {
		for i := range livePlans {
			p := models.Plan{ProjectID: 1, Title: fmt.Sprint("Live ", i), Status: models.PlanRunning, TargetBranch: "main"}
			phases := []models.Phase{
				{Name: "one", MaxIterations: 3, DueAt: new(time.Now().Add(-time.Hour))},
				{Name: "two", MaxIterations: 3},
			}
			if err := tx.InsertPlan(ctx, &p, phases); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkPlansSearch is a search through the words of ten thousand plans, of
// a page that is found and of nothing at all.
func BenchmarkPlansSearch(b *testing.B) {
	ctx := context.Background()
	path := filepath.Join(b.TempDir(), "main.db")
	if err := storetest.Fill(ctx, path, 100_000, 10_000); err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for name, want := range map[string]int{"the build is GREEN": 50, "nothing like it": 0} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				list, _, err := s.Plans(ctx, models.PlanFilter{Search: name})
				if err != nil || len(list) != want {
					b.Fatalf("%d plans, %v", len(list), err)
				}
			}
		})
	}
}
