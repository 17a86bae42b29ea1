package runner

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// pathCause takes operation and path off a file error, where the sentence
// around it names the path.
func pathCause(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err
	}
	return err
}

// lockedWriter lets stdout and stderr share one writer.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// tee writes to all of its writers that are not nil; all get all bytes, and the
// first error is returned.
type tee []io.Writer

func (t tee) Write(p []byte) (int, error) {
	var first error
	for _, w := range t {
		if w == nil {
			continue
		}
		if _, err := w.Write(p); err != nil && first == nil {
			first = err
		}
	}
	if first != nil {
		return 0, first
	}
	return len(p), nil
}

// tail keeps the last bytes that were written, with little copying.
type tail struct {
	size int
	mu   sync.Mutex
	buf  []byte
	cut  bool
}

func newTail(size int) *tail { return &tail{size: size} }

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*t.size {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-t.size:]...)
		t.cut = true
	}
	return len(p), nil
}

// text returns the last lines that are not blank, at most limit bytes: whole
// lines, unless the last one alone is longer; valid UTF-8.
func (t *tail) text(limit int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := strings.ToValidUTF8(string(t.buf), "\uFFFD")
	return lastLines(s, limit)
}

// lastLines is the end of s without blank lines at its end, at most limit bytes
// and cut at a line's begin where there is one, otherwise at a rune's.
func lastLines(s string, limit int) string {
	s = strings.TrimRight(s, " \t\r\n\x00")
	if len(s) <= limit {
		return strings.TrimLeft(s, "\r\n")
	}
	cut := s[len(s)-limit:]
	if i := strings.IndexByte(cut, '\n'); i >= 0 && s[len(s)-limit-1] != '\n' {
		cut = cut[i+1:]
	}
	for len(cut) > 0 && !utf8.RuneStart(cut[0]) {
		cut = cut[1:]
	}
	return strings.TrimLeft(cut, "\r\n")
}

// clip shortens s to at most limit bytes on a rune boundary, marked with "…".
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// maxLine is the longest line that a stream parser is given. A longer one is
// passed over, in bounded memory; the raw output has it all the same.
const maxLine = 16 << 20

// lineSplitter calls f with each line of what is written, without its line
// break. The line is valid during the call only.
type lineSplitter struct {
	f    func(line []byte)
	max  int // 0 = maxLine
	buf  []byte
	skip bool // inside a line that is too long
}

func (l *lineSplitter) Write(p []byte) (int, error) {
	limit := l.max
	if limit == 0 {
		limit = maxLine
	}
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		part := p
		if i >= 0 {
			part = p[:i]
		}
		switch {
		case l.skip:
		case len(l.buf)+len(part) > limit:
			l.buf, l.skip = nil, true
		case i >= 0 && len(l.buf) == 0:
			l.f(part)
		default:
			l.buf = append(l.buf, part...)
			if i >= 0 {
				l.f(l.buf)
			}
		}
		if i < 0 {
			break
		}
		if cap(l.buf) > 1<<20 {
			l.buf = nil
		}
		l.buf, l.skip = l.buf[:0], false
		p = p[i+1:]
	}
	return n, nil
}

// flush gives out a last line that has no line break.
func (l *lineSplitter) flush() {
	if len(l.buf) > 0 && !l.skip {
		l.f(l.buf)
	}
	l.buf, l.skip = nil, false
}

// activityEvery is how often a text output's last line is reported.
const activityEvery = 250 * time.Millisecond

// activityWriter reports the last whole line of plain output now and then, as
// what the agent is doing.
type activityWriter struct {
	report func(string)
	last   time.Time
}

func (a *activityWriter) Write(p []byte) (int, error) {
	if a.report == nil || time.Since(a.last) < activityEvery {
		return len(p), nil
	}
	if i := bytes.LastIndexByte(p, '\n'); i > 0 {
		if line := activityLine(string(p[max(0, i-4096):i])); line != "" {
			a.last = time.Now()
			a.report(line)
		}
	}
	return len(p), nil
}

// activityLine makes one short line of what an agent does.
func activityLine(s string) string {
	s = lastLines(strings.ToValidUTF8(s, "\uFFFD"), 4096)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		s = s[i+1:]
	}
	return clip(strings.TrimSpace(s), 200)
}
