package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// What finishes a piece of work outlives the server's stop, and does not hold it
// up for ever.
func TestFinishingOutlivesTheStopForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, end := context.WithCancel(t.Context())
		ctx, done := finishing(life)
		defer done()
		time.Sleep(time.Hour)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Fatal("it ended without a stop")
		}
		end()
		time.Sleep(toRecord - time.Second)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Fatal("the stop ended it at once")
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if ctx.Err() == nil {
			t.Fatal("it holds the stop up for ever")
		}
	})
}

// Stopping is closed as soon as Close was called.
func (e *Engine) Stopping() <-chan struct{} { return e.life.Done() }
