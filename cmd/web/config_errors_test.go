package main

import (
	"strings"
	"testing"
)

// A setting that cannot be read is named with what to write, and so is each of several.
func TestSettingsThatCannotBeRead(t *testing.T) {
	for name, tc := range map[string]struct{ value, want string }{
		"DONEWHEN_WORKERS":     {"zero", `DONEWHEN_WORKERS "zero" is no whole number: write one such as 4`},
		"DONEWHEN_CHECK_LIMIT": {"soon", `DONEWHEN_CHECK_LIMIT "soon" is no length of time: write one such as 30m`},
		"DONEWHEN_BACKOFF":     {"5s,x", `DONEWHEN_BACKOFF "5s,x" is no list of lengths of time: write one such as 5s,30s`},
		"DONEWHEN_EXAMPLE":     {"maybe", `DONEWHEN_EXAMPLE "maybe" is neither true nor false: write one such as true`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, tc.value)
			if _, err := readConfig(); err == nil || err.Error() != tc.want {
				t.Errorf("%v, want %s", err, tc.want)
			}
		})
	}
	t.Setenv("DONEWHEN_WORKERS", "zero")
	t.Setenv("DONEWHEN_MAX_FILE_MB", "big")
	if _, err := readConfig(); err == nil || !strings.Contains(err.Error(), "DONEWHEN_WORKERS") || !strings.Contains(err.Error(), "DONEWHEN_MAX_FILE_MB") {
		t.Errorf("two at once: %v", err)
	}
}
