// Package claudetest finds the real claude CLI for tests that drive it.
package claudetest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Path is the CLI named in DONEWHEN_TEST_CLAUDE, otherwise the one on PATH.
// Without one the test is skipped, or fails when DONEWHEN_REQUIRE_ALL=1.
func Path(t testing.TB) string {
	t.Helper()
	name := os.Getenv("DONEWHEN_TEST_CLAUDE")
	if name == "" {
		name = "claude"
	}
	found, err := exec.LookPath(name)
	if err == nil {
		if found, err = filepath.Abs(found); err == nil {
			return found
		}
	}
	const reason = "no claude CLI found: npm install @anthropic-ai/claude-code@2.1.197 in a folder of its own and name its node_modules/.bin/claude in DONEWHEN_TEST_CLAUDE"
	if os.Getenv("DONEWHEN_REQUIRE_ALL") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
	return ""
}
