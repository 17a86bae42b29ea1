package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"iter"
)

// LogInfo is what is known of a run's log without reading it.
type LogInfo struct {
	Bytes    int64 // everything the run wrote, dropped parts included
	Lines    int64 // a last line without a line break counts
	Cut      bool  // the middle was dropped
	CutBytes int64 // how much of it
	Open     bool  // a writer is open
}

// Info returns the figures of a run's log, what is still in memory included.
// For a run without a log they are all zero.
func (l *Logs) Info(ctx context.Context, runID int64) (LogInfo, error) {
	s, w, err := l.state(ctx, runID)
	if err != nil {
		return LogInfo{}, fmt.Errorf("read the log of run %d: %w", runID, err)
	}
	return LogInfo{Bytes: s.bytes, Lines: s.lines(), Cut: s.cutTo > 0, CutBytes: s.cutTo - s.cutFrom, Open: w}, nil
}

// Wait returns nil when the run has more than seen bytes of output or its
// writer is closed, and ctx's error when that ended first. A run that has no
// log yet is waited for. It never polls.
func (l *Logs) Wait(ctx context.Context, runID int64, seen int64) error {
	for {
		l.mu.Lock()
		closed, w, wake := l.closed, l.open[runID], l.opened
		l.mu.Unlock()
		if w != nil {
			w.mu.Lock()
			written, changed := w.state.bytes, w.changed
			w.mu.Unlock()
			if written > seen {
				return nil
			}
			wake = changed
		} else {
			if closed {
				return errLogsClosed
			}
			if _, found, err := readLogState(ctx, l.read, runID); err != nil || found {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-wake:
		}
	}
}

// state returns the newest state of a log and whether its writer is open.
func (l *Logs) state(ctx context.Context, runID int64) (logState, bool, error) {
	l.mu.Lock()
	w := l.open[runID]
	l.mu.Unlock()
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.state, true, nil
	}
	s, _, err := readLogState(ctx, l.read, runID)
	return s, false, err
}

// logView is one consistent look at a log: the memory as it was at one moment,
// and the database for what is before it.
type logView struct {
	ctx   context.Context
	logs  *Logs
	q     logQuerier
	runID int64
	state logState
	mem   []logSpan // from memOff to the end
	memAt int64
	open  bool
}

// view runs fn with a look at the log. It holds a read transaction, so fn must
// be short: a long one keeps the WAL from starting again.
func (l *Logs) view(ctx context.Context, runID int64, fn func(*logView) error) error {
	// First the memory, then the database: what moved meanwhile is in both, and
	// spans leaves the second one out. The other way round it would be in none.
	v := l.memory(runID)
	v.ctx = ctx
	tx, err := l.read.BeginTx(ctx, nil)
	if err == nil {
		defer func() { _ = tx.Rollback() }()
		v.q = tx
		if !v.open {
			v.state, _, err = readLogState(ctx, tx, runID)
			v.memAt = v.state.bytes
		}
	}
	if err == nil {
		err = fn(v)
	}
	if err != nil {
		return fmt.Errorf("read the log of run %d: %w", runID, err)
	}
	return nil
}

// memory looks at what an open writer holds.
func (l *Logs) memory(runID int64) *logView {
	v := &logView{logs: l, runID: runID}
	l.mu.Lock()
	w := l.open[runID]
	l.mu.Unlock()
	if w == nil {
		return v
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	v.open, v.state = true, w.state
	v.mem = append(v.mem, w.pending...)
	if w.cur.size > 0 {
		v.mem = append(v.mem, w.cur) // its bytes are only ever appended to
	}
	v.memAt = v.state.bytes
	if len(v.mem) > 0 {
		v.memAt = v.mem[0].off
	}
	return v
}

// spans goes through the pieces of the log that end after off, in order. Those
// of the database have no data yet: load gets it.
func (v *logView) spans(off int64) iter.Seq2[logSpan, error] {
	return func(yield func(logSpan, error) bool) {
		for off < v.memAt {
			// The chunk that holds off, then the ones after it.
			page, err := queryLogSpans(v.ctx, v.q, `WHERE run_id = ?1 AND off < ?3 AND off >=
				ifnull((SELECT max(off) FROM run_log_chunks WHERE run_id = ?1 AND off <= ?2), 0) AND off + bytes > ?2 ORDER BY off LIMIT 64`, v.runID, off, v.memAt)
			if err != nil {
				yield(logSpan{}, err)
				return
			}
			for _, s := range page {
				if s.end() > v.memAt { // merged meanwhile with what was in memory
					if s, err = v.load(s); err == nil {
						s = s.before(v.memAt)
					}
				}
				if !yield(s, err) || err != nil {
					return
				}
				off = s.end()
			}
			if len(page) == 0 {
				break
			}
		}
		for _, s := range v.mem {
			if s.end() > off && !yield(s, nil) {
				return
			}
		}
	}
}

// load returns the span with its data.
func (v *logView) load(s logSpan) (logSpan, error) {
	if s.data != nil {
		return s, nil
	}
	data, err := loadLogChunk(v.ctx, v.logs, v.q, v.runID, s.off)
	s.data = data
	return s, err
}

// before returns the loaded span without what begins at off.
func (s logSpan) before(off int64) logSpan {
	s.data = s.data[:off-s.off]
	s.size = int64(len(s.data))
	s.lines = int64(bytes.Count(s.data, []byte{'\n'}))
	return s
}

// lineStart returns the offset of a span from which line n (1-based) can be
// found by going forward: the last one that begins before the line break in
// front of it.
func (v *logView) lineStart(n int64) (int64, error) {
	if n <= 1 {
		return 0, nil
	}
	for i := len(v.mem) - 1; i >= 0; i-- {
		if v.mem[i].firstLine <= n-2 {
			return v.mem[i].off, nil
		}
	}
	var off sql.NullInt64
	err := v.q.QueryRowContext(v.ctx, `SELECT off FROM run_log_chunks WHERE run_id = ? AND first_line <= ? AND off < ?
		ORDER BY first_line DESC, off DESC LIMIT 1`, v.runID, n-2, v.memAt).Scan(&off)
	if err == sql.ErrNoRows {
		return 0, nil
	}
	return off.Int64, err
}
