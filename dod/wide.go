package dod

import (
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// FromUTF16 is a text that begins with the byte order mark of UTF-16 as UTF-8,
// and any other text as it is.
func FromUTF16(s string) string {
	order := byteOrder(s)
	if order == nil {
		return s
	}
	return string(utf16.Decode(units(s[2:], order)))
}

// byteOrder is the one that s begins with the mark of, or nil.
func byteOrder(s string) binary.ByteOrder {
	switch {
	case strings.HasPrefix(s, "\xff\xfe"):
		return binary.LittleEndian
	case strings.HasPrefix(s, "\xfe\xff"):
		return binary.BigEndian
	}
	return nil
}

func units(s string, order binary.ByteOrder) []uint16 {
	all := make([]uint16, 0, len(s)/2)
	for b := []byte(s); len(b) > 1; b = b[2:] {
		all = append(all, order.Uint16(b))
	}
	return all
}

// mayBeWide reports whether a text has bytes as UTF-16 has them and UTF-8 not.
func mayBeWide(s string) bool { return !utf8.ValidString(s) || hasOddByte(s) }

func hasOddByte(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 && (c < '\b' || c > '\r') && c != 0x1b {
			return true
		}
	}
	return false
}

// fromWide are the readings of a text that has UTF-16 somewhere, as the added
// lines of many files can. Each line stands for itself, because the bytes of a
// line's end are divided there; in each of both orders it is read from where it
// makes more sense, then from the other byte. What is no UTF-16 stays.
func fromWide(raw string, yield func(string) bool) bool {
	for _, likely := range [...]bool{true, false} {
		for _, order := range [...]binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			var b strings.Builder
			b.Grow(len(raw))
			for line, marked := range wideLines(raw) {
				if marked == nil && !mayBeWide(line) {
					b.WriteString(line)
					continue
				}
				w := wideLine{order: order, marked: marked == order}
				even, odd := w.read(line, 0), w.read(line, 1)
				if (even.units >= odd.units) == likely {
					b.WriteString(even.text)
				} else {
					b.WriteString(odd.text)
				}
			}
			if !yield(strings.ToValidUTF8(b.String(), "\ufffd")) {
				return false
			}
		}
	}
	return true
}

// wideLines are the lines of raw with their ends, and the byte order whose mark
// stood before: it holds until a line that is no UTF-16.
func wideLines(raw string) func(yield func(string, binary.ByteOrder) bool) {
	return func(yield func(string, binary.ByteOrder) bool) {
		var marked binary.ByteOrder
		for line := range strings.Lines(raw) {
			if order := byteOrder(line); order != nil {
				marked = order
			} else if !mayBeWide(line) && strings.TrimSpace(line) != "" {
				marked = nil
			}
			if !yield(line, marked) {
				return
			}
		}
	}
}

// unread reports whether s has bytes that are text in no way which is known here:
// neither UTF-8 nor UTF-16.
func unread(s string) bool {
	if utf8.ValidString(s) {
		return false
	}
	for line, marked := range wideLines(s) {
		if !utf8.ValidString(line) && !readable(line, marked) {
			return true
		}
	}
	return false
}

func readable(line string, marked binary.ByteOrder) bool {
	noText := func(r rune) bool { return r == utf8.RuneError || unicode.Is(unicode.Co, r) }
	for _, order := range [...]binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		w := wideLine{order: order, marked: marked == order}
		for from := range 2 {
			if text := w.read(line, from).text; utf8.ValidString(text) && strings.IndexFunc(text, noText) < 0 {
				return true
			}
		}
	}
	return false
}

type wideLine struct {
	order  binary.ByteOrder
	marked bool // its mark was seen, so everything is UTF-16
}

type wideRead struct {
	text  string
	units int // how many were taken for UTF-16
}

// read decodes the line's UTF-16, from the first byte or the second, and leaves
// what else it has. Without a mark UTF-16 is two letters and more of scripts whose
// bytes are not those of ASCII: two bytes of any other text are a sign of some
// other script too.
func (w wideLine) read(line string, from int) wideRead {
	body := strings.TrimSuffix(line, "\n")
	if from > len(body) {
		return wideRead{text: line}
	}
	all := units(body[from:], w.order)
	var b strings.Builder
	b.WriteString(body[:from])
	count := 0
	for at := 0; at < len(all); {
		to, letters := at, 0
		for to < len(all) && (w.marked || narrow(all[to]) || letters > 0 && goesOn(all[to])) {
			if narrow(all[to]) {
				letters++
			}
			to++
		}
		if letters > 1 || w.marked {
			b.WriteString(string(utf16.Decode(all[at:to])))
			count += letters
			at = to
			continue
		}
		to = max(to, at+1)
		b.WriteString(body[from+2*at : from+2*to])
		at = to
	}
	b.WriteString(body[from+2*len(all):])
	b.WriteString(line[len(body):])
	return wideRead{b.String(), count}
}

// narrow are the units of the alphabets up to U+1FFF.
func narrow(u uint16) bool { return u > 0 && u>>8 < 0x20 }

// goesOn are those that may stand between them: punctuation, pairs, and what
// cannot be seen.
func goesOn(u uint16) bool {
	return u>>8 == 0x20 || utf16.IsSurrogate(rune(u)) || unseen(rune(u))
}
