package ui

import "strings"

// Short is the telling part of an id: the last 6 signs of a ULID (26 signs), the
// first 8 of a git object name (40 or 64 hex digits), anything else unchanged.
func Short(id string) string {
	hex := strings.Trim(id, "0123456789abcdef") == ""
	switch {
	case len(id) == 26:
		return id[20:]
	case hex && (len(id) == 40 || len(id) == 64):
		return id[:8]
	default:
		return id
	}
}
