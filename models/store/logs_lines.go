package store

import (
	"bytes"
	"context"
	"unicode/utf8"
)

// Bounds of what Lines returns.
const (
	logLineShown = 8 << 10 // bytes of a long line that are returned
	logLinesMax  = 5_000   // lines in one call
)

// LogLine is one line of a log, without its line break.
type LogLine struct {
	N       int64  // 1-based; never changes, dropped lines count
	Data    []byte // the bytes as they were written; at most 8 KiB, then cut on a rune boundary
	Size    int    // bytes of the whole line; more than len(Data) when that was shortened
	Cut     bool   // part of this line was dropped with the middle of the log
	Dropped int64  // bytes of the log that were dropped after this line's Data; only one line of a log has it
	Partial bool   // no line break yet, and the writer is open: it may grow
}

// Lines returns up to n lines beginning with line from (1-based), or the last n
// lines when from is negative; what is still in memory is included. Lines of
// the dropped middle are left out: the line before them says how much that was.
// At most 5,000 lines are returned, and only the chunks that hold them are read.
func (l *Logs) Lines(ctx context.Context, runID int64, from int64, n int) ([]LogLine, error) {
	n = min(n, logLinesMax)
	if n <= 0 {
		return nil, nil
	}
	var out []LogLine
	err := l.view(ctx, runID, func(v *logView) error {
		if from < 0 {
			from = v.state.lines() - int64(n) + 1
		}
		var err error
		out, err = v.lines(max(from, 1), n)
		return err
	})
	return out, err
}

// lineReader collects lines from the pieces of a log.
type lineReader struct {
	from int64
	n    int
	out  []LogLine
	line LogLine // being read
	size int64
}

func (v *logView) lines(from int64, n int) ([]LogLine, error) {
	start, err := v.lineStart(from)
	if err != nil {
		return nil, err
	}
	r := &lineReader{from: from, n: n}
	pos := int64(-1)
	for s, err := range v.spans(start) {
		if err != nil {
			return nil, err
		}
		switch {
		case pos < 0:
			r.begin(s.firstLine + 1)
		case s.off > pos:
			r.gap(s.off-pos, s.firstLine+1)
		}
		pos = s.end()
		if s.lines == 0 && r.enough() {
			r.size += s.size // nothing of it is shown: not loaded
			continue
		}
		if s, err = v.load(s); err != nil {
			return nil, err
		}
		if r.feed(s.data); len(r.out) >= n {
			return r.out, nil
		}
	}
	if r.size > 0 || r.line.Cut {
		r.line.Partial = v.open
		r.end()
	}
	return r.out, nil
}

// enough says whether no further data of the line being read is wanted.
func (r *lineReader) enough() bool {
	return r.line.N < r.from || len(r.line.Data) >= logLineShown || r.line.Dropped > 0
}

func (r *lineReader) begin(n int64) { r.line, r.size = LogLine{N: n}, 0 }

// gap takes note that the next piece begins so many bytes later, in line n.
func (r *lineReader) gap(dropped, n int64) {
	r.line.Cut, r.line.Dropped = true, dropped
	if n == r.line.N {
		r.size += dropped // one line around the whole gap
		return
	}
	r.end()
	r.begin(n)
	r.line.Cut = true
}

func (r *lineReader) feed(data []byte) {
	for len(data) > 0 && len(r.out) < r.n {
		part, rest, found := bytes.Cut(data, []byte{'\n'})
		r.size += int64(len(part))
		if !r.enough() {
			r.line.Data = append(r.line.Data, part[:min(len(part), logLineShown-len(r.line.Data))]...)
		}
		if !found {
			return
		}
		n := r.line.N
		r.end()
		r.begin(n + 1)
		data = rest
	}
}

// end takes the line that was read into the result, when it is wanted.
func (r *lineReader) end() {
	if r.line.N < r.from || len(r.out) >= r.n {
		return
	}
	r.line.Size = int(r.size)
	if len(r.line.Data) < r.line.Size && r.line.Dropped == 0 {
		r.line.Data = trimRune(r.line.Data)
	}
	r.out = append(r.out, r.line)
}

// trimRune takes the beginning of a cut UTF-8 sequence off the end of p.
func trimRune(p []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(p); i++ {
		if c := p[len(p)-i]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-i:]) {
				return p[:len(p)-i]
			}
			return p
		}
	}
	return p
}

// trimRuneStart takes the rest of a cut UTF-8 sequence off the beginning of p.
func trimRuneStart(p []byte) []byte {
	for i := 0; i < utf8.UTFMax && i < len(p); i++ {
		if utf8.RuneStart(p[i]) {
			return p[i:]
		}
	}
	return p
}
