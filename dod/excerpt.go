package dod

import (
	"errors"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"
)

// errMatchesEmpty: such a pattern would pass on any evidence.
var errMatchesEmpty = errors.New("the pattern matches the empty text, so a match shows nothing")

const (
	excerptAround = 80  // bytes kept before and after a hit
	excerptHit    = 200 // bytes kept of the hit itself
)

// where is the place in words, as in "build/output, line 12".
func (m *Match) where() string {
	if m.Line == 0 {
		return "the name " + clip(m.Key, 200)
	}
	return clip(m.Key, 200) + ", line " + strconv.Itoa(m.Line)
}

// place makes the Match of value[start:end] under key.
func (s *search) place(key string, start, end int) *Match {
	value := s.evidence[key]
	index, ok := s.lines[key]
	if !ok {
		index = newLineIndex(value)
		s.lines[key] = index
	}
	from, to := max(0, start-excerptAround), min(len(value), end+excerptAround)
	for from < start && !utf8.RuneStart(value[from]) {
		from++
	}
	for to > end && to < len(value) && !utf8.RuneStart(value[to]) {
		to--
	}
	return &Match{
		Key:    key,
		Before: strings.ToValidUTF8(value[from:start], "\ufffd"),
		Text:   strings.ToValidUTF8(clip(value[start:end], excerptHit), "\ufffd"),
		After:  strings.ToValidUTF8(value[end:to], "\ufffd"),
		Line:   index.line(start),
	}
}

// lineIndex holds the offsets of a value's line breaks, made once per value with
// a hit, because a thousand hits must not count a long value's lines each.
type lineIndex struct{ breaks []int }

func newLineIndex(value string) *lineIndex {
	x := &lineIndex{}
	for at := 0; ; {
		next := strings.IndexByte(value[at:], '\n')
		if next < 0 {
			return x
		}
		at += next + 1
		x.breaks = append(x.breaks, at-1)
	}
}

// line is the 1-based line of offset.
func (x *lineIndex) line(offset int) int {
	return sort.SearchInts(x.breaks, offset) + 1
}
