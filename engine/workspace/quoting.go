package workspace

import (
	"fmt"
	"strings"
)

// cQuote writes a path so that git's line based input takes any byte.
func cQuote(path string) string {
	if !strings.ContainsAny(path, "\n\"\\") {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(path); i++ {
		switch ch := path[i]; {
		case ch == '"' || ch == '\\':
			b.WriteByte('\\')
			b.WriteByte(ch)
		case ch < 0x20:
			fmt.Fprintf(&b, "\\%03o", ch)
		default:
			b.WriteByte(ch)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func alternates(path string) string {
	if strings.ContainsAny(path, ":\"") {
		return cQuoteAlways(path)
	}
	return path
}

func cQuoteAlways(path string) string {
	if q := cQuote(path); strings.HasPrefix(q, `"`) {
		return q
	}
	return `"` + path + `"`
}
