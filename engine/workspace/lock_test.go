package workspace

import (
	"context"
	"errors"
	"sync"
	"testing"
)

func TestKeyedLock(t *testing.T) {
	var k keyed
	free, err := k.lock(context.Background(), "a")
	must(t, err)
	other, err := k.lock(context.Background(), "b") // another key does not wait
	must(t, err)
	other()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := k.lock(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Fatalf("a waiter whose context ended got %v", err)
	}
	free()
	count := 0 // guarded by the lock alone
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			free, err := k.lock(context.Background(), "a")
			if err != nil {
				t.Error(err)
				return
			}
			count++
			free()
		})
	}
	wg.Wait()
	equal(t, "count", count, 50)
	equal(t, "locks kept", len(k.locks), 0)
}
