package dod_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"donewhen/dod"
)

// Who watches is told about a check or question while it is under way, once each,
// and nothing is left under way at the end. Text matching takes no time to watch.
func TestSuiteIsWatched(t *testing.T) {
	var mu sync.Mutex
	var begun []int
	at := map[int]bool{}
	under := func(index int) bool { mu.Lock(); defer mu.Unlock(); return at[index] }
	criteria := dod.ParseCriteria("in the log\nb -> run: make check\nc -> judge\nd -> judge")
	suite := dod.Suite{
		Watch: func(c dod.Criterion) func() {
			mu.Lock()
			defer mu.Unlock()
			begun, at[c.Index] = append(begun, c.Index), true
			return func() { mu.Lock(); defer mu.Unlock(); delete(at, c.Index) }
		},
		Run: func(context.Context, string) dod.CheckOutcome {
			if !under(2) || under(3) {
				t.Error("the check is not what is under way")
			}
			return dod.CheckOutcome{Status: dod.Passed}
		},
		Asker: &scriptedAsker{byText: map[string]scripted{"c": {yes, nil}, "d": {no, nil}}}, Parallel: 2,
	}
	suite.Evaluate(t.Context(), criteria, map[string]string{"k": "it is in the log"})
	slices.Sort(begun)
	if !slices.Equal(begun, []int{2, 3, 4}) || len(at) != 0 {
		t.Errorf("begun %v, still under way %v", begun, at)
	}
}
