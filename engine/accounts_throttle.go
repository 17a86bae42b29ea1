package engine

import (
	"fmt"
	"net/netip"
	"sync"
	"time"
)

// The brake on guessing passwords. Wrong tries are counted in three ways:
//
//   - for a name from an address: 5 are free;
//   - for an address, whatever the names: 20 are free;
//   - for a name, whatever the addresses: 50 are free, and an address from which
//     that user has logged in before is not held up by it.
//
// Every further wrong try makes the next one wait: 30 s, doubled each time up to
// 15 minutes (for a name as a whole up to 1 minute, so that strangers cannot
// keep a user out). Tries during a wait are refused without being looked at and
// do not prolong it. A count is forgotten an hour after its last wrong try; a
// right one clears the count of its name and address. Counts are kept in
// memory: a restart forgets them.
const (
	freePair    = 5
	freeAddress = 20
	freeName    = 50

	firstWait   = 30 * time.Second
	longestWait = 15 * time.Minute
	longestName = time.Minute
	forgetAfter = time.Hour
	maxCounts   = 20_000 // more are not remembered at a time
	maxKnown    = 64     // addresses of a user that are remembered
)

type count struct {
	wrong int
	last  time.Time // the last wrong try
}

// wait is how long the next try has to wait.
func (c count) wait(now time.Time, free int, longest time.Duration) time.Duration {
	if c.wrong < free {
		return 0
	}
	d := longest
	if over := c.wrong - free; over < 10 {
		d = min(firstWait<<over, longest)
	}
	return max(c.last.Add(d).Sub(now), 0)
}

type throttle struct {
	now   func() time.Time
	mu    sync.Mutex
	count map[string]count
	known map[string][]string // name -> addresses of right logins, newest last
}

func newThrottle(now func() time.Time) *throttle {
	return &throttle{now: now, count: map[string]count{}, known: map[string][]string{}}
}

// loginTry is one try that may go on.
type loginTry struct {
	t                   *throttle
	pair, address, name string
	user, from          string
}

// begin counts a try as wrong, or says how long to wait before the next one.
func (t *throttle) begin(name, addr string) (*loginTry, time.Duration) {
	from := addressKey(addr)
	try := &loginTry{t: t, pair: "p " + from + " " + name, address: "a " + from, name: "n " + name, user: name, from: from}
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	wait := max(
		t.get(try.pair, now).wait(now, freePair, longestWait),
		t.get(try.address, now).wait(now, freeAddress, longestWait),
	)
	if !try.knows() {
		wait = max(wait, t.get(try.name, now).wait(now, freeName, longestName))
	}
	if wait > 0 {
		return nil, wait
	}
	t.add(1, now, try.pair, try.address, try.name)
	return try, 0
}

// undo takes the count of this try back.
func (try *loginTry) undo() {
	try.t.mu.Lock()
	defer try.t.mu.Unlock()
	try.t.add(-1, time.Time{}, try.pair, try.address, try.name)
}

// succeed clears the count of this name and address, and remembers that they
// belong together.
func (try *loginTry) succeed() {
	t := try.t
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.count, try.pair)
	if try.knows() {
		return
	}
	known := append(t.known[try.user], try.from)
	t.known[try.user] = known[max(len(known)-maxKnown, 0):]
}

func (try *loginTry) knows() bool {
	for _, from := range try.t.known[try.user] {
		if from == try.from {
			return true
		}
	}
	return false
}

func (t *throttle) get(key string, now time.Time) count {
	c := t.count[key]
	if now.Sub(c.last) > forgetAfter {
		return count{}
	}
	return c
}

func (t *throttle) add(n int, at time.Time, keys ...string) {
	if len(t.count) > maxCounts {
		t.prune(t.now())
	}
	for _, key := range keys {
		c := t.count[key]
		if n > 0 {
			c = t.get(key, at)
			c.last = at
		}
		if c.wrong = max(c.wrong+n, 0); c.wrong == 0 {
			delete(t.count, key)
			continue
		}
		t.count[key] = c
	}
}

// prune forgets old counts; when that is not enough, all below their limit, and
// then all: a flood of names must not fill the memory.
func (t *throttle) prune(now time.Time) {
	for _, old := range []func(count) bool{
		func(c count) bool { return now.Sub(c.last) > forgetAfter },
		func(c count) bool { return c.wrong < freePair },
		func(count) bool { return true },
	} {
		for key, c := range t.count {
			if old(c) {
				delete(t.count, key)
			}
		}
		if len(t.count) < maxCounts/2 {
			return
		}
	}
}

// addressKey is what counts as one address: an IPv4 address, and the /64
// network of an IPv6 one, which belongs to one household or machine.
func addressKey(addr string) string {
	ip, err := netip.ParseAddr(addr)
	if err != nil {
		return addr
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}

// inWords says a wait the way people do, rounded up.
func inWords(d time.Duration) string {
	s := int((d + time.Second - 1) / time.Second)
	if s <= 90 {
		return fmt.Sprintf("%d seconds", s)
	}
	return fmt.Sprintf("%d minutes", (s+59)/60)
}
