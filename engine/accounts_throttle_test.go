package engine_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"donewhen/models"
)

func TestA9_12_ThrottledByNameAndAddress(t *testing.T) {
	a := newAccounts(t)
	admin := a.admin()
	a.join(admin, "lead1", models.RoleLead)
	const here, there = "192.0.2.1", "192.0.2.2"
	var wait time.Duration
	for i := 1; i <= 12; i++ {
		_, err := a.Login(a.ctx(), "lead1", "wrong password", here)
		switch e, ok := err.(*models.Error); {
		case !ok:
			t.Fatal(err)
		case i <= 5:
			wantCode(t, err, models.CodeInvalid)
		default:
			wantCode(t, err, models.CodeTooMany)
			if wait = e.RetryAfter; wait != 30*time.Second {
				t.Errorf("try %d: wait %v", i, wait)
			}
		}
	}
	_, err := a.Login(a.ctx(), "lead1", goodPassword, here)
	wantCode(t, err, models.CodeTooMany) // a right one is not looked at either
	if _, err := a.Login(a.ctx(), "lead1", goodPassword, there); err != nil {
		t.Error("from another address: ", err)
	}
	a.clock = a.clock.Add(wait)
	if _, err := a.Login(a.ctx(), "LEAD1", goodPassword, here); err != nil {
		t.Error("after the wait: ", err)
	}
	// A right one clears the count.
	for range 5 {
		_, err := a.Login(a.ctx(), "lead1", "wrong password", here)
		wantCode(t, err, models.CodeInvalid)
	}
}

func TestThrottleWaitsGrowAndAreForgotten(t *testing.T) {
	a := newAccounts(t)
	a.admin()
	for range 5 {
		_, _ = a.Login(a.ctx(), "ada", "wrong", "192.0.2.1")
	}
	for _, want := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 15 * time.Minute, 15 * time.Minute} {
		_, err := a.Login(a.ctx(), "ada", "wrong", "192.0.2.1")
		e, ok := err.(*models.Error)
		if !ok || e.RetryAfter != want {
			t.Fatalf("%v, want to wait %v", err, want)
		}
		a.clock = a.clock.Add(want)
		_, err = a.Login(a.ctx(), "ada", "wrong", "192.0.2.1")
		wantCode(t, err, models.CodeInvalid)
	}
	a.clock = a.clock.Add(time.Hour + time.Second)
	for range 5 {
		_, err := a.Login(a.ctx(), "ada", "wrong", "192.0.2.1")
		wantCode(t, err, models.CodeInvalid)
	}
}

func TestThrottleOfOneAddressOverManyNames(t *testing.T) {
	a := newAccounts(t)
	a.admin()
	for i := range 20 { // of one IPv6 network
		_, err := a.Login(a.ctx(), fmt.Sprint("name", i), "wrong", fmt.Sprintf("2001:db8::%x", i+1))
		wantCode(t, err, models.CodeInvalid)
	}
	_, err := a.Login(a.ctx(), "ada", goodPassword, "2001:db8::99")
	wantCode(t, err, models.CodeTooMany)
	if _, err := a.Login(a.ctx(), "ada", goodPassword, "2001:db8:0:1::1"); err != nil {
		t.Error("from another network: ", err)
	}
}

func TestThrottleOfOneNameOverManyAddresses(t *testing.T) {
	a := newAccounts(t)
	a.admin()
	const home = "198.51.100.7"
	if _, err := a.Login(a.ctx(), "ada", goodPassword, home); err != nil {
		t.Fatal(err)
	}
	for i := range 50 {
		_, err := a.Login(a.ctx(), "ada", "wrong", fmt.Sprint("192.0.2.", i))
		wantCode(t, err, models.CodeInvalid)
	}
	_, err := a.Login(a.ctx(), "ada", "wrong", "192.0.2.99")
	wantCode(t, err, models.CodeTooMany)
	if _, err := a.Login(a.ctx(), "ada", goodPassword, home); err != nil {
		t.Error("the user is kept out by strangers: ", err)
	}
}

func TestThrottleCountsTriesAtTheSameTime(t *testing.T) {
	a := newAccounts(t)
	a.admin()
	var wg sync.WaitGroup
	var mu sync.Mutex
	looked := 0
	for range 40 {
		wg.Go(func() {
			_, err := a.Login(a.ctx(), "ada", "wrong", "192.0.2.1")
			if models.CodeOf(err) == models.CodeInvalid {
				mu.Lock()
				looked++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if looked != 5 {
		t.Errorf("%d tries at once were looked at, want 5", looked)
	}
}

// Otherwise the time of an answer tells which names there are.
func TestUnknownNameCostsTheSameWork(t *testing.T) {
	a := newAccounts(t)
	a.SetPasswordCost(16<<10, 2) // slow enough to measure
	a.admin()
	fastest := func(name, password string) time.Duration {
		best := time.Hour
		for range 4 { // fewer than what is free
			begin := time.Now()
			_, err := a.Login(a.ctx(), name, password, "192.0.2.1")
			wantCode(t, err, models.CodeInvalid)
			best = min(best, time.Since(begin))
		}
		return best
	}
	known := fastest("ada", "wrong password")
	if unknown := fastest("nobody", "wrong password"); unknown < known/3 {
		t.Errorf("unknown name %v, known name %v", unknown, known)
	}
	if long := fastest("another", string(make([]byte, 2000))); long < known/3 {
		t.Errorf("too long a password %v, known name %v", long, known)
	}
}
