package handlers

import (
	"bytes"
	"strings"
	"unicode"

	"donewhen/models"
	"donewhen/views"
)

// logFind looks for words in lines of a log, letter by letter: no pattern.
// Capitals count when the words have one. It is for one goroutine.
type logFind struct {
	words string // as they were typed
	want  []byte
	exact bool
	buf   []byte // the line in small letters
}

// newLogFind is nil when there is nothing to look for.
func newLogFind(words string) *logFind {
	if strings.TrimSpace(words) == "" {
		return nil
	}
	f := &logFind{words: words, want: []byte(words), exact: strings.IndexFunc(words, unicode.IsUpper) >= 0}
	if !f.exact {
		f.want = models.AppendSmall(nil, f.want)
	}
	return f
}

// in says whether a line has the words, as bytes without control sequences or
// with them.
func (f *logFind) in(raw []byte) bool {
	text := raw
	if bytes.ContainsAny(raw, "\x1b\r\b") {
		text = []byte(views.PlainLine(raw))
	}
	if !f.exact {
		f.buf = models.AppendSmall(f.buf[:0], text)
		text = f.buf
	}
	return bytes.Contains(text, f.want)
}

// all is where the words stand in a text, as pairs of offsets.
func (f *logFind) all(text string) [][2]int {
	where := []byte(text)
	if !f.exact {
		where = models.AppendSmall(nil, where)
	}
	var out [][2]int
	for at := 0; ; {
		i := bytes.Index(where[at:], f.want)
		if i < 0 {
			return out
		}
		out = append(out, [2]int{at + i, at + i + len(f.want)})
		at += i + len(f.want)
	}
}

// mark says where in the spans of a line the words are; found is false when
// they are nowhere. A place that crosses a change of colour is cut there.
func (f *logFind) mark(spans []views.LogSpan) (marked []views.LogSpan, found bool) {
	if f == nil {
		return spans, false
	}
	places := f.all(views.SpanText(spans))
	if len(places) == 0 {
		return spans, false
	}
	pos := 0
	for _, s := range spans {
		end := pos + len(s.Text)
		for pos < end {
			for len(places) > 0 && places[0][1] <= pos {
				places = places[1:]
			}
			to, hit := end, false
			if len(places) > 0 {
				if hit = places[0][0] <= pos; hit {
					to = min(end, places[0][1])
				} else {
					to = min(end, places[0][0])
				}
			}
			n := to - pos
			marked = append(marked, views.LogSpan{Text: s.Text[:n], Class: s.Class, Hit: hit})
			s.Text, pos = s.Text[n:], to
		}
	}
	return marked, true
}
