package engine

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
)

// Dispatcher brings a pass to a worker. It only delivers: the rows are the
// truth, the worker claims the pass by compare-and-swap, and a doubled or lost
// delivery is harmless because the sweep delivers again.
type Dispatcher interface {
	Deliver(passID int64)
	// Close stops taking passes and waits for the workers.
	Close()
}

// local is the dispatcher of a single server: a channel and n workers.
type local struct {
	passes chan int64
	stop   chan struct{}
	once   sync.Once
	wg     sync.WaitGroup
	busy   sync.WaitGroup
}

func newLocal(n int, work func(context.Context, int64) error, failed func(error)) *local {
	l := &local{passes: make(chan int64, 1024), stop: make(chan struct{})}
	for range n {
		l.wg.Go(func() {
			for {
				select {
				case <-l.stop:
					return
				case id := <-l.passes:
					if err := guarded(func() error { return work(context.Background(), id) }); err != nil {
						failed(fmt.Errorf("pass %d: %w", id, err))
					}
					l.busy.Done()
				}
			}
		})
	}
	return l
}

func (l *local) Deliver(passID int64) {
	l.busy.Add(1)
	select {
	case l.passes <- passID:
	default: // full: the sweep delivers again
		l.busy.Done()
	}
}

func (l *local) Close() {
	l.once.Do(func() { close(l.stop) })
	l.wg.Wait()
}

// guarded turns a panic into an error: one broken pass must not end the server.
func guarded(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}
