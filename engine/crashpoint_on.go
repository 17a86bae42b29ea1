//go:build crashdrill

package engine

import (
	"os"
	"syscall"
)

// crashPoint kills the process with SIGKILL at the point that
// DONEWHEN_CRASH_AT names, once for each file that DONEWHEN_CRASH_ONCE names:
// the restarted server must not die again.
func crashPoint(name string) {
	if os.Getenv("DONEWHEN_CRASH_AT") != name {
		return
	}
	if _, err := os.Stat(os.Getenv("DONEWHEN_CRASH_ONCE")); err == nil {
		return
	}
	if err := os.WriteFile(os.Getenv("DONEWHEN_CRASH_ONCE"), []byte(name), 0o600); err != nil {
		panic(err)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way
}
