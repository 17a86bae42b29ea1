package engine

import (
	"slices"
	"sync"
)

// Hub tells subscribers which topics changed ("plan:<id>", "plans", "run:<id>"),
// never what changed. Topics pile up in a set per subscriber, so a slow one
// costs one entry per topic and loses nothing.
type Hub struct {
	mu     sync.Mutex
	subs   map[*Subscription]struct{}
	closed bool
}

// Subscription is one listener. Kick has a value when Take has something.
type Subscription struct {
	Kick chan struct{} // capacity 1
	Done chan struct{} // closed when the hub closes or the subscription ends
	hub  *Hub
	mu   sync.Mutex
	set  map[string]struct{}
	once sync.Once
}

// NewHub makes an empty hub.
func NewHub() *Hub { return &Hub{subs: map[*Subscription]struct{}{}} }

// Subscribe adds a listener. On a closed hub its Done is closed at once.
func (h *Hub) Subscribe() *Subscription {
	s := &Subscription{Kick: make(chan struct{}, 1), Done: make(chan struct{}), hub: h, set: map[string]struct{}{}}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		s.once.Do(func() { close(s.Done) })
		return s
	}
	h.subs[s] = struct{}{}
	return s
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.hub.mu.Lock()
	delete(s.hub.subs, s)
	s.hub.mu.Unlock()
	s.once.Do(func() { close(s.Done) })
}

// Take returns the topics that changed since the last Take, sorted.
func (s *Subscription) Take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]string, 0, len(s.set))
	for t := range s.set {
		out = append(out, t)
	}
	clear(s.set)
	slices.Sort(out)
	return out
}

// Publish marks topics as changed for everybody. It never blocks.
func (h *Hub) Publish(topics ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		s.mu.Lock()
		for _, t := range topics {
			s.set[t] = struct{}{}
		}
		s.mu.Unlock()
		select {
		case s.Kick <- struct{}{}:
		default:
		}
	}
}

// Close ends all subscriptions, so that open event streams return before the
// HTTP server shuts down.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for s := range h.subs {
		delete(h.subs, s)
		s.once.Do(func() { close(s.Done) })
	}
}
