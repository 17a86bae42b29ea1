package runner

import (
	"syscall"
	"time"
)

// quarry is what must be gone: the members of a process group, and the processes
// that were started with a certain environment, wherever they have gone.
type quarry struct {
	pgrp int // 0 = no group
	// held: the leader is our child and not yet waited for, so that nobody else can
	// get the group's number. Without it the group counts only as long as a known
	// member of it lives.
	held  bool
	known []procStat
	env   []string // NAME=VALUE pairs, all of them; none = nobody
	spare map[int]bool
}

// members finds who is still alive, and remembers them.
func (q *quarry) members() ([]procStat, error) {
	var all []procStat
	if err := eachProcess(func(st procStat) { all = append(all, st) }); err != nil {
		return nil, err
	}
	sameGroup := q.held
	for _, st := range all {
		for _, k := range q.known {
			sameGroup = sameGroup || (k.pid == st.pid && k.start == st.start && st.pgrp == q.pgrp)
		}
	}
	var found []procStat
	for _, st := range all {
		if q.spare[st.pid] {
			continue
		}
		if (sameGroup && q.pgrp > 0 && st.pgrp == q.pgrp) || q.isKnown(st) || hasEnv(st.pid, q.env) {
			found = append(found, st)
			if !q.isKnown(st) {
				q.known = append(q.known, st)
			}
		}
	}
	return found, nil
}

func (q *quarry) isKnown(st procStat) bool {
	for _, k := range q.known {
		if k.pid == st.pid && k.start == st.start {
			return true
		}
	}
	return false
}

// signal sends sig to all that were found: to a held group in one go, so that
// none of it sees another's end first, and to each other one after looking again
// that the pid still is the process that was found.
func (q *quarry) signal(found []procStat, sig syscall.Signal) {
	if q.held {
		_ = syscall.Kill(-q.pgrp, sig)
	}
	for _, st := range found {
		if q.held && st.pgrp == q.pgrp {
			continue
		}
		if now, err := readStat(st.pid); err == nil && now.start == st.start {
			_ = syscall.Kill(st.pid, sig)
		}
	}
}

// killPatience bounds the wait for processes that KILL was sent to: one that
// hangs in the kernel cannot be ended by anybody.
const killPatience = 5 * time.Second

// end sends TERM, waits for at most grace, sends KILL until nobody is found, and
// returns how many processes it ended and how many are there after all (0, but
// for processes that hang in the kernel). An unreadable /proc is an error; a
// held group has been killed all the same.
func (q *quarry) end(grace time.Duration) (ended, left int, err error) {
	found, err := q.members()
	if err != nil {
		q.signal(nil, syscall.SIGKILL)
		return 0, 0, err
	}
	if len(found) == 0 {
		return 0, 0, nil
	}
	before := len(q.known) - len(found) // known from the start, and gone already
	q.signal(found, syscall.SIGTERM)
	q.signal(found, syscall.SIGCONT) // a stopped process takes TERM only when it goes on
	found = q.wait(grace)
	for until := time.Now().Add(killPatience); len(found) > 0 && time.Now().Before(until); {
		q.signal(found, syscall.SIGKILL)
		found = q.wait(100 * time.Millisecond) // again: one of them may have forked meanwhile
	}
	return len(q.known) - before - len(found), len(found), nil
}

// wait looks until nobody is left or the time is over, and returns who is left.
func (q *quarry) wait(limit time.Duration) []procStat {
	deadline := time.Now().Add(limit)
	pause := 2 * time.Millisecond
	for {
		found, err := q.members()
		rest := time.Until(deadline)
		if (err == nil && len(found) == 0) || rest <= 0 {
			return found
		}
		time.Sleep(min(pause, rest))
		pause = min(2*pause, 50*time.Millisecond)
	}
}
