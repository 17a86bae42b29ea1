package handlers

import "testing"

func TestPlainOutput(t *testing.T) {
	for said, want := range map[string]string{
		"":               "",
		"plain\n\nlines": "plain\n\nlines",
		"\x1b[32mPASS\x1b[0m  a <b>\nü\x1b[1m日\n": "PASS  a <b>\nü日\n",
	} {
		if got := plainOutput(said); got != want {
			t.Errorf("%q became %q, want %q", said, got, want)
		}
	}
}
