package dod

import "strings"

// fence is a code fence's sign and its length.
type fence struct {
	sign byte
	size int
}

// fenceOpening reads a trimmed line as the opening of a code fence. Behind back
// ticks no other back tick may stand, or it is code inside a line. It may be the
// first thing in a list item.
func fenceOpening(trimmed string) (fence, bool) {
	if rest, marked := cutMarker(trimmed); marked {
		trimmed = rest
	}
	f, rest, ok := cutFence(trimmed)
	if !ok || f.sign == '`' && strings.Contains(rest, "`") {
		return fence{}, false
	}
	return f, true
}

func cutFence(trimmed string) (f fence, rest string, ok bool) {
	if trimmed == "" || trimmed[0] != '`' && trimmed[0] != '~' {
		return fence{}, "", false
	}
	rest = strings.TrimLeft(trimmed, trimmed[:1])
	f = fence{sign: trimmed[0], size: len(trimmed) - len(rest)}
	return f, rest, f.size >= 3
}

// closedFences marks the lines of code fences that are closed, the fence lines
// included. A fence is closed by a line of the same sign, at least as long and
// with nothing behind it.
func closedFences(lines []string) []bool {
	inside := make([]bool, len(lines))
	// neverCloses remembers the shortest fence of a sign for which no end was found,
	// so that a text of nothing but openings is not read again for each of them.
	neverCloses := map[byte]int{}
	for i := 0; i < len(lines); i++ {
		open, ok := fenceOpening(strings.TrimFunc(lines[i], isEdge))
		if !ok {
			continue
		}
		if known, seen := neverCloses[open.sign]; seen && open.size >= known {
			continue
		}
		end := i + 1
		for ; end < len(lines); end++ {
			f, rest, ok := cutFence(strings.TrimFunc(lines[end], isEdge))
			if ok && rest == "" && f.sign == open.sign && f.size >= open.size {
				break
			}
		}
		if end == len(lines) {
			neverCloses[open.sign] = open.size
			continue
		}
		for ; i < end; i++ {
			inside[i] = true
		}
		inside[end] = true
	}
	return inside
}
