package dod

import (
	"hash/maphash"
	"iter"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// readings are the ways to read a text as it came, for checks of what must be
// absent: whoever hides a word from one of them is found by another. Each is valid
// UTF-8, and none comes twice, so plain text has one. They are made one after the
// other, because a text may be many megabytes long.
//
//   - as a file has it and as it was printed (Written, Printed), which is what
//     people are shown
//   - both without any sign that cannot be seen
//   - as a terminal leaves it, with what was written over
//   - with nothing taken out, for a check of those signs themselves
//   - with every sign that may end a line as a line's end
//   - what UTF-16 stands for, in the whole text or some of its lines
//   - and each of them composed (NFC), as é and not as e with an accent
func readings(raw string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if isPlain(raw) {
			yield(raw)
			return
		}
		type sum struct {
			hash uint64
			size int
		}
		seed, seen := maphash.MakeSeed(), map[sum]bool{}
		isNew := func(s string) bool {
			id := sum{maphash.String(seed, s), len(s)}
			known := seen[id]
			seen[id] = true
			return !known
		}
		once := func(s string) bool {
			if !isNew(s) {
				return true
			}
			if !yield(s) {
				return false
			}
			composed := norm.NFC.String(s)
			return !isNew(composed) || yield(composed)
		}
		if !readAs(strings.ToValidUTF8(raw, "\ufffd"), once) {
			return
		}
		if wide := FromUTF16(raw); wide != raw && !readAs(wide, once) {
			return
		}
		if mayBeWide(raw) {
			fromWide(raw, func(wide string) bool { return once(withoutUnseen(wide)) && once(wide) })
		}
	}
}

// isPlain reports whether there is but one way to read s.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

func readAs(valid string, yield func(string) bool) bool {
	written, printed := withoutSigns(valid), withoutSigns(withoutEscapes(valid))
	if !yield(written) || !yield(printed) || !yield(withoutUnseen(written)) || !yield(withoutUnseen(printed)) {
		return false
	}
	returns := strings.Count(valid, "\r") > strings.Count(valid, "\r\n")
	if returns && !yield(withoutUnseen(valid)) {
		return false
	}
	if (returns || moves(valid)) && !yield(onScreen(valid)) {
		return false
	}
	if strings.ContainsAny(valid, lineEnds) && !yield(withoutUnseen(endLines.Replace(valid))) {
		return false
	}
	return yield(valid)
}

// lineEnds are the signs beside \n and \r that may end a line.
const lineEnds = "\v\f\u0085\u2028\u2029"

var endLines = strings.NewReplacer("\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// moves reports whether a terminal would do more than to print s.
func moves(s string) bool {
	for _, sign := range [...]string{"\x1b", "\b", "\u0090", "\u0098", "\u009b", "\u009d", "\u009e", "\u009f"} {
		if strings.Contains(s, sign) {
			return true
		}
	}
	return false
}
