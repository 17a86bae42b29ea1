package store

import (
	"fmt"
	"slices"
	"testing"

	"donewhen/models"
)

func newestEvent(t *testing.T, s *Store) models.Event {
	t.Helper()
	list, _, err := s.Events(ctx, models.EventFilter{}, 0, 1)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	return list[0]
}

// A filter neither skips nor repeats a line, however far apart those lines are
// that fit, and ends at the beginning of the log.
func TestEventsThatFit(t *testing.T) {
	s := open(t)
	const all = 2*eventWindow + 500
	rare := map[int]bool{1: true, 3: true, eventWindow: true, eventWindow + 1: true, all - 1: true}
	tx(t, s, func(tx *Tx) error {
		for i := 1; i <= all; i++ {
			e := models.Event{Kind: "run.running", Actor: "server", Reason: fmt.Sprint("number ", i)}
			if rare[i] {
				e.Kind, e.ActorID, e.Actor = "criterion.waived", 7, "Ada_1"
			}
			if err := tx.InsertEvent(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	for name, f := range map[string]models.EventFilter{
		"about": {Noun: "criterion"}, "people": {People: true}, "words": {Words: "ada_1"}, "all three": {Noun: "criterion", People: true, Words: "number"},
	} {
		var got []string
		pages, before := 0, int64(0)
		for {
			list, older, err := s.Events(ctx, f, before, 2)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range list {
				got = append(got, e.Reason)
			}
			if pages++; older == 0 || pages > 20 {
				break
			}
			before = older
		}
		want := []string{fmt.Sprint("number ", all-1), fmt.Sprint("number ", eventWindow+1), fmt.Sprint("number ", eventWindow), "number 3", "number 1"}
		if !slices.Equal(got, want) || pages > 8 {
			t.Errorf("%s: %q on %d pages", name, got, pages)
		}
	}
	for name, f := range map[string]models.EventFilter{"no such noun": {Noun: "%"}, "a word that is a pattern": {Words: "ada%1"}} {
		if list, _, err := s.Events(ctx, f, 0, 10); err != nil || len(list) != 0 {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
}
