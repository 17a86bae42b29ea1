package engine

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestHubCoalescesForASlowSubscriber(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		fast, slow := h.Subscribe(), h.Subscribe()
		var mu sync.Mutex
		seen := 0
		go func() {
			for {
				select {
				case <-fast.Done:
					return
				case <-fast.Kick:
					mu.Lock()
					seen += len(fast.Take())
					mu.Unlock()
				}
			}
		}()
		for range 1000 {
			h.Publish("plan:1", "plans") // never blocks, though slow takes nothing
			synctest.Wait()
		}
		mu.Lock()
		if seen != 2000 {
			t.Errorf("the fast one saw %d topics", seen)
		}
		mu.Unlock()
		h.Publish("plan:2")
		<-slow.Kick
		if got := slow.Take(); !slices.Equal(got, []string{"plan:1", "plan:2", "plans"}) {
			t.Errorf("the slow one takes %v", got)
		}
		select {
		case <-slow.Kick:
			t.Error("a kick without anything to take")
		default:
		}
		if got := slow.Take(); len(got) != 0 {
			t.Errorf("taken twice: %v", got)
		}
		h.Close()
		synctest.Wait()
	})
}

// What is published between a kick and its take must not be lost.
func TestHubLosesNothingBetweenKickAndTake(t *testing.T) {
	t.Parallel()
	h := NewHub()
	s := h.Subscribe()
	h.Publish("a")
	<-s.Kick
	h.Publish("b")
	if got := s.Take(); !slices.Equal(got, []string{"a", "b"}) {
		t.Fatalf("took %v", got)
	}
	h.Publish("c")
	select {
	case <-s.Kick:
	default:
		t.Fatal("no kick for c")
	}
	if got := s.Take(); !slices.Equal(got, []string{"c"}) {
		t.Fatalf("took %v", got)
	}
}

func TestHubCloseEndsEverybodyAndLatePublishIsHarmless(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		ended := make(chan int, 50)
		for i := range 50 {
			s := h.Subscribe()
			go func() { <-s.Done; s.Close(); ended <- i }()
		}
		// People publish while it closes.
		for range 20 {
			go func() {
				for range 50 {
					h.Publish("plan:1")
					time.Sleep(time.Millisecond)
				}
			}()
		}
		time.Sleep(10 * time.Millisecond)
		h.Close()
		h.Close()
		synctest.Wait()
		if len(ended) != 50 {
			t.Errorf("%d of 50 ended", len(ended))
		}
		h.Publish("late")
		late := h.Subscribe()
		select {
		case <-late.Done:
		default:
			t.Error("a subscription to a closed hub never ends")
		}
		late.Close()
		time.Sleep(time.Second) // the publishers end
	})
}

func TestHubSubscriptionEndsAlone(t *testing.T) {
	t.Parallel()
	h := NewHub()
	a, b := h.Subscribe(), h.Subscribe()
	a.Close()
	a.Close()
	h.Publish("x")
	if got := a.Take(); len(got) != 0 {
		t.Errorf("a closed one still gets %v", got)
	}
	if got := b.Take(); !slices.Equal(got, []string{"x"}) {
		t.Errorf("the other one gets %v", got)
	}
	if len(h.subs) != 1 {
		t.Errorf("%d subscriptions are kept", len(h.subs))
	}
}
