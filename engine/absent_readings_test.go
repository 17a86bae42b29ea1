package engine_test

import (
	"testing"

	"donewhen/dod"
)

// absent: looks at what an agent left as it came: signs that are taken out of
// evidence can be forbidden, and hide no word.
func TestAbsentLooksAtWorkAsItCame(t *testing.T) {
	h := newHouse(t)
	for _, c := range []struct{ name, pattern, command string }{
		{"line ends of Windows in a file", `\r\n`, `printf 'a\r\nb\r\n' > w.txt; echo hi`},
		{"a byte order mark in a file", `\x{FEFF}`, `printf '\357\273\277hello\n' > w.txt; echo hi`},
		{"control characters in the output", `[\x00-\x08]`, `printf 'a\001b\n'`},
		{"a zero-width space in a file", `[^\x00-\x7F]`, `printf 'a\342\200\213b\n' > w.txt; echo hi`},
		{"a soft hyphen in the output", `TODO`, `printf 'TO\302\255DO\n'`},
		{"colour in a name", `secret\.key`, `touch "$(printf 'sec\033[0mret.key')"; echo hi`},
		{"a line break in a name", `secret\.key`, `touch "$(printf 'secret\n.key')"; echo hi`},
		{"a carriage return in a name", `secret\.key`, `touch "$(printf 'sec\rret.key')"; echo hi`},
		{"a soft hyphen in a name", `secret\.key`, `touch "$(printf 'sec\302\255ret.key')"; echo hi`},
		{"accents apart in a name", `café`, `touch "$(printf 'cafe\314\201.txt')"; echo hi`},
		{"control characters in a name", `\x1b`, `touch "$(printf 'a\033b')"; echo hi`},
		{"accents apart in a file", `café`, `printf 'cafe\314\201\n' > w.txt; echo hi`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, r := h.one(phaseOf(c.command, "- none -> absent: /"+c.pattern+"/")); r[0].Status != dod.Failed {
				t.Errorf("%s: %s", r[0].Status, r[0].Reasoning)
			}
		})
	}
	_, r := h.one(phaseOf("printf 'می\u200cشود\\n' > w.txt; echo hi", "- می\u200cشود\n- no return -> absent: /\\r/"))
	for _, r := range r {
		if r.Status != dod.Passed {
			t.Errorf("%q: %s, %s", r.Criterion.Text, r.Status, r.Reasoning)
		}
	}
}
