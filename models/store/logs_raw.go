package store

import (
	"context"
	"fmt"
	"io"
)

// Tail returns the last max bytes of a log, what is still in memory included,
// beginning on a rune boundary. cut says whether there is more before them.
func (l *Logs) Tail(ctx context.Context, runID int64, max int64) (data []byte, cut bool, err error) {
	err = l.view(ctx, runID, func(v *logView) error {
		data, err = v.tail(max)
		cut = int64(len(data)) < v.state.bytes
		return err
	})
	return data, cut, err
}

// HeadTail returns a whole log when it has at most max bytes and nothing was
// dropped from it. Otherwise it returns its head and its tail, half of max each,
// cut on rune boundaries, with a line between them that says how many bytes are
// left out; cut is true then.
func (l *Logs) HeadTail(ctx context.Context, runID int64, max int64) (data []byte, cut bool, err error) {
	err = l.view(ctx, runID, func(v *logView) error {
		if v.state.bytes <= max && v.state.cutTo == 0 {
			data, err = v.tail(max)
			return err
		}
		head, err := v.head(max / 2)
		if err != nil {
			return err
		}
		tail, err := v.tail(max - max/2)
		if err != nil {
			return err
		}
		head = trimRune(head)
		left := v.state.bytes - int64(len(head)+len(tail))
		data = append(head, LogCutMark(left)...)
		data, cut = append(data, tail...), true
		return nil
	})
	return data, cut, err
}

// LogCutMark is the line that stands for so many bytes that are left out.
func LogCutMark(left int64) string {
	return fmt.Sprintf("\n[… %d bytes of output are left out here …]\n", left)
}

// Raw writes every byte of a log to w, what is in memory at the time of the
// call included. Where the middle was dropped it writes LogCutMark instead. It
// holds one chunk at a time and no transaction, so a slow w harms nobody.
func (l *Logs) Raw(ctx context.Context, runID int64, w io.Writer) error {
	v := l.memory(runID)
	v.ctx, v.q = ctx, l.read
	if !v.open {
		var err error
		if v.state, _, err = readLogState(ctx, l.read, runID); err != nil {
			return fmt.Errorf("read the log of run %d: %w", runID, err)
		}
		v.memAt = v.state.bytes
	}
	pos := int64(0)
	for pos < v.memAt {
		s, err := v.chunkAfter(pos)
		if err != nil {
			return fmt.Errorf("read the log of run %d: %w", runID, err)
		}
		if s == nil {
			break
		}
		if s.off > pos {
			if _, err := io.WriteString(w, LogCutMark(s.off-pos)); err != nil {
				return err
			}
			pos = s.off
		}
		if _, err := w.Write(s.data[pos-s.off:]); err != nil {
			return err
		}
		pos = s.end()
	}
	if pos < v.memAt { // dropped up to what is in memory
		if _, err := io.WriteString(w, LogCutMark(v.memAt-pos)); err != nil {
			return err
		}
	}
	for _, s := range v.mem {
		if _, err := w.Write(s.data); err != nil {
			return err
		}
	}
	return nil
}

// chunkAfter loads the first chunk of the database that ends after pos; chunks
// may be merged or dropped between two calls.
func (v *logView) chunkAfter(pos int64) (*logSpan, error) {
	var s logSpan
	var c packedChunk
	rows, err := v.q.QueryContext(v.ctx, `SELECT off, bytes, first_line, lines, enc, body FROM run_log_chunks WHERE run_id = ?1 AND off < ?3 AND off >=
		ifnull((SELECT max(off) FROM run_log_chunks WHERE run_id = ?1 AND off <= ?2), 0) AND off + bytes > ?2 ORDER BY off LIMIT 1`, v.runID, pos, v.memAt)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	if !rows.Next() {
		return nil, rows.Err()
	}
	if err := rows.Scan(&s.off, &s.size, &s.firstLine, &s.lines, &c.enc, &c.body); err != nil {
		return nil, err
	}
	if s.data, err = v.logs.unpack(c, s.size); err != nil {
		return nil, err
	}
	if s.end() > v.memAt {
		s = s.before(v.memAt)
	}
	return &s, nil
}

// head returns the first n bytes of what was kept of the beginning.
func (v *logView) head(n int64) ([]byte, error) {
	var out []byte
	for s, err := range v.spans(0) {
		if err != nil {
			return nil, err
		}
		if s.off > int64(len(out)) || int64(len(out)) >= n {
			break
		}
		if s, err = v.load(s); err != nil {
			return nil, err
		}
		out = append(out, s.data[:min(s.size, n-int64(len(out)))]...)
	}
	return out, nil
}

// tail returns the last n bytes, or what was kept of them after the gap.
func (v *logView) tail(n int64) ([]byte, error) {
	from := max(v.state.bytes-max(n, 0), v.state.cutTo, 0)
	out := make([]byte, 0, v.state.bytes-from)
	for s, err := range v.spans(from) {
		if err != nil {
			return nil, err
		}
		if s, err = v.load(s); err != nil {
			return nil, err
		}
		out = append(out, s.data[max(from-s.off, 0):]...)
	}
	if from > 0 {
		out = trimRuneStart(out)
	}
	return out, nil
}
