package dod

import (
	"strconv"
	"strings"
)

// onScreen is what a terminal leaves to be seen of each line: sequences are
// carried out in the way of a terminal's own parser, also those that another one
// interrupts, and what moves back in the line writes over what stood there. A
// string that never ends hides the rest, as it does there: a reading beside
// others, never the only one.
func onScreen(s string) string {
	var t screen
	t.out.Grow(len(s))
	for _, r := range s {
		t.next(r)
	}
	t.endLine()
	return t.out.String()
}

type screenState int

const (
	onGround    screenState = iota
	behindEsc               // an escape has begun
	inControl               // CSI: parameters, then one letter
	insideWords             // OSC, DCS and the like: until BEL or ST
)

type screen struct {
	out    strings.Builder
	line   []rune
	at     int // column
	state  screenState
	params strings.Builder
}

func (t *screen) next(r rune) {
	switch {
	case r == 0x1b:
		t.state = behindEsc
	case r == 0x18 || r == 0x1a: // cancel
		t.state = onGround
	case t.state == insideWords:
		if r == 0x07 || r == 0x9c {
			t.state = onGround
		}
	case r < 0x20:
		t.control(r)
	case t.state == behindEsc:
		t.escaped(r)
	case t.state == inControl:
		t.parameter(r)
	case r == 0x9b:
		t.begin()
	case r == 0x90 || r == 0x98 || r >= 0x9d && r <= 0x9f:
		t.state = insideWords
	default:
		t.put(r)
	}
}

func (t *screen) begin() {
	t.state = inControl
	t.params.Reset()
}

func (t *screen) escaped(r rune) {
	switch {
	case r == '[':
		t.begin()
	case strings.ContainsRune("]PX^_", r):
		t.state = insideWords
	case r < 0x30: // such as ESC ( B
	case r < 0x7f:
		t.state = onGround
	default:
		t.state = onGround
		t.put(r)
	}
}

func (t *screen) parameter(r rune) {
	switch {
	case r < 0x40:
		t.params.WriteRune(r)
	case r < 0x7f:
		t.state = onGround
		t.move(r)
	case r > 0x9f:
		t.state = onGround
		t.put(r)
	}
}

// move carries out what stays in the line; it never makes the line longer.
func (t *screen) move(letter rune) {
	n, err := strconv.Atoi(t.params.String())
	if err != nil || n < 1 {
		n = 1
	}
	n = min(n, len(t.line)+1)
	switch letter {
	case 'D':
		t.at = max(0, t.at-n)
	case 'C':
		t.at = min(len(t.line), t.at+n)
	case 'G', '`':
		t.at = min(len(t.line), n-1)
	case 'K':
		if p := t.params.String(); p == "" || p == "0" {
			t.line = t.line[:min(t.at, len(t.line))]
		}
	}
}

func (t *screen) control(r rune) {
	switch r {
	case '\n', '\v', '\f':
		t.endLine()
		t.out.WriteByte('\n')
	case '\r':
		t.at = 0
	case '\b':
		t.at = max(0, t.at-1)
	case '\t':
		t.put(r)
	}
}

func (t *screen) put(r rune) {
	if unseen(r) {
		return
	}
	if t.at < len(t.line) {
		t.line[t.at] = r
	} else {
		t.line = append(t.line, r)
	}
	t.at++
}

func (t *screen) endLine() {
	for _, r := range t.line {
		t.out.WriteRune(r)
	}
	t.line, t.at = t.line[:0], 0
}
