package store

import (
	"bytes"
	"context"
	"fmt"
)

// logLineScanned is how many bytes of one line Scan hands out.
const logLineScanned = 1 << 20

// Scan goes through the lines of a log from line from (1-based) to the one
// before end (0 = all that there are), and calls fn with each until it returns
// false. Data is only valid during the call and holds at most 1 MiB of a line;
// Size says how long it is. Lines of the dropped middle are left out. Like Raw
// it holds one chunk at a time and no transaction, so a log of any size is gone
// through in the same memory.
func (l *Logs) Scan(ctx context.Context, runID, from, end int64, fn func(LogLine) bool) error {
	v := l.memory(runID)
	v.ctx, v.q = ctx, l.read
	if err := v.scan(max(from, 1), end, fn); err != nil {
		return fmt.Errorf("read the log of run %d: %w", runID, err)
	}
	return nil
}

func (v *logView) scan(from, end int64, fn func(LogLine) bool) error {
	if !v.open {
		var err error
		if v.state, _, err = readLogState(v.ctx, v.q, v.runID); err != nil {
			return err
		}
		v.memAt = v.state.bytes
	}
	pos, err := v.lineStart(from)
	if err != nil {
		return err
	}
	sc := &logScan{from: from, end: end, fn: fn}
	begun := false
	take := func(s logSpan) bool {
		switch {
		case !begun: // chunks may be merged meanwhile: the first one is taken from its beginning
			sc.n, begun = s.firstLine+1, true
		case s.off > pos:
			if !sc.flush() {
				return false
			}
			sc.n = s.firstLine + 1
		case s.off < pos:
			s.data = s.data[pos-s.off:]
		}
		pos = s.off + s.size
		return sc.feed(s.data)
	}
	for pos < v.memAt {
		s, err := v.chunkAfter(pos)
		if err != nil {
			return err
		}
		if s == nil {
			break
		}
		if !take(*s) {
			return nil
		}
	}
	for _, s := range v.mem {
		if s.end() > pos && !take(s) {
			return nil
		}
	}
	sc.flush()
	return nil
}

// logScan cuts a log into lines, without keeping them.
type logScan struct {
	from, end int64
	fn        func(LogLine) bool
	n         int64  // number of the line that is being read
	begin     []byte // what came of it with earlier chunks, at most logLineScanned
	size      int    // all of that
}

// feed goes on with more bytes; false when nothing more is wanted.
func (s *logScan) feed(data []byte) bool {
	for {
		at := bytes.IndexByte(data, '\n')
		if at < 0 {
			s.keep(data)
			return true
		}
		line := data[:at]
		if s.size > 0 {
			s.keep(line)
		} else if s.n >= s.from {
			if s.end > 0 && s.n >= s.end || !s.fn(LogLine{N: s.n, Data: line[:min(len(line), logLineScanned)], Size: len(line)}) {
				return false
			}
		}
		if s.size > 0 && !s.flush() {
			return false
		}
		s.n++
		data = data[at+1:]
	}
}

// keep remembers the beginning of a line.
func (s *logScan) keep(part []byte) {
	s.size += len(part)
	if s.n >= s.from {
		s.begin = append(s.begin, part[:min(len(part), logLineScanned-len(s.begin))]...)
	}
}

// flush hands out what is remembered of a line.
func (s *logScan) flush() bool {
	size, begin := s.size, s.begin
	s.size, s.begin = 0, s.begin[:0]
	if size == 0 || s.n < s.from {
		return true
	}
	if s.end > 0 && s.n >= s.end {
		return false
	}
	return s.fn(LogLine{N: s.n, Data: begin, Size: size})
}
