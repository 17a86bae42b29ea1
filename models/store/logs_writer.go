package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Figures of the capture.
const (
	logChunk    = 256 << 10              // bytes of output in a full chunk
	logFlush    = 4 << 20                // flush at once when so much waits
	logPending  = 8 << 20                // more than this may not wait in memory: Write blocks
	logEvery    = 200 * time.Millisecond // otherwise flush so often
	logMergeAt  = 256                    // merge small chunks when so many were written
	logFlushTry = 5                      // tries of a flush before the writer gives up
)

// logState is what is known of a whole log.
type logState struct {
	bytes, breaks, lastBreak int64
	cutFrom, cutTo           int64
}

func (s logState) lines() int64 {
	if s.bytes > s.lastBreak {
		return s.breaks + 1
	}
	return s.breaks
}

// logSpan is a piece of a log: a chunk of the database (data nil until it is
// loaded) or of the memory.
type logSpan struct {
	off, size        int64
	firstLine, lines int64
	data             []byte
}

func (s logSpan) end() int64 { return s.off + s.size }

// LogWriter appends to one run's log. Its methods may be called by several
// goroutines, such as those of stdout and stderr.
type LogWriter struct {
	logs  *Logs
	runID int64

	mu      sync.Mutex
	room    sync.Cond // signalled when pending shrinks
	state   logState  // everything written so far, the memory included
	pending []logSpan // not in the database yet, oldest first
	cur     logSpan   // being filled
	waiting int64     // bytes in pending and cur
	changed chan struct{}
	err     error // the flush gave up: Write and Close return it
	closed  bool

	small     int   // chunks below the full size since the last merge
	mergeFrom int64 // small chunks begin here at the earliest

	kick    chan struct{} // something was written
	full    chan struct{} // enough for a flush at once
	closing chan struct{}
	done    chan struct{}
}

// Writer opens the log of a run for appending; a run that has a log already
// is continued. A run has one writer at a time.
func (l *Logs) Writer(runID int64) (*LogWriter, error) {
	// The state is read under the lock, so that two callers cannot both continue.
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errLogsClosed
	}
	if l.open[runID] != nil {
		return nil, fmt.Errorf("the log of run %d is being written already", runID)
	}
	state, _, err := readLogState(context.Background(), l.read, runID)
	if err != nil {
		return nil, fmt.Errorf("open the log of run %d: %w", runID, err)
	}
	w := &LogWriter{
		logs: l, runID: runID, state: state,
		cur:     logSpan{off: state.bytes, firstLine: state.breaks},
		changed: make(chan struct{}),
		kick:    make(chan struct{}, 1), full: make(chan struct{}, 1),
		closing: make(chan struct{}), done: make(chan struct{}),
	}
	w.room.L = &w.mu
	l.open[runID] = w
	close(l.opened)
	l.opened = make(chan struct{})
	go w.flusher()
	return w, nil
}

// Write appends p and can be read at once. It blocks only while too much waits
// for the disk, and fails only when the writer is closed or the disk has
// refused several times.
func (w *LogWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for len(p) > 0 {
		for w.waiting >= logPending && w.err == nil && !w.closed {
			signal(w.full)
			w.room.Wait()
		}
		if w.err != nil {
			return n, w.err
		}
		if w.closed {
			return n, fmt.Errorf("the log of run %d is closed", w.runID)
		}
		part := p[:min(int64(len(p)), w.space())]
		w.append(part)
		p, n = p[len(part):], n+len(part)
	}
	if w.waiting >= logFlush {
		signal(w.full)
	}
	return n, nil
}

// space is how much fits into the current chunk. A chunk ends where the kept
// head ends, so that exactly the head is kept.
func (w *LogWriter) space() int64 {
	room := logChunk - w.cur.size
	if toHead := w.logs.opts.Head - w.cur.end(); toHead > 0 {
		room = min(room, toHead)
	}
	return room
}

// append adds at most space() bytes.
func (w *LogWriter) append(p []byte) {
	w.cur.data = append(w.cur.data, p...)
	breaks := int64(bytes.Count(p, []byte{'\n'}))
	w.cur.lines += breaks
	w.cur.size += int64(len(p))
	w.waiting += int64(len(p))
	if breaks > 0 {
		w.state.lastBreak = w.state.bytes + int64(bytes.LastIndexByte(p, '\n')) + 1
	}
	w.state.bytes += int64(len(p))
	w.state.breaks += breaks
	if w.space() == 0 || w.cur.end() == w.logs.opts.Head {
		w.seal()
	}
	close(w.changed)
	w.changed = make(chan struct{})
	signal(w.kick)
}

// seal ends the current chunk. Its buffer is never written again: readers may
// hold it.
func (w *LogWriter) seal() {
	if w.cur.size == 0 {
		return
	}
	w.pending = append(w.pending, w.cur)
	w.cur = logSpan{off: w.state.bytes, firstLine: w.state.breaks}
}

// Stats returns how many bytes the run wrote and whether some of them were
// dropped because they are beyond the cap.
func (w *LogWriter) Stats() (written int64, cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.state.bytes, w.state.cutTo > 0
}

// Close flushes what waits and merges small chunks. It may be called more than
// once; every call returns after the log is complete, with the same error.
func (w *LogWriter) Close() error {
	w.mu.Lock()
	if !w.closed {
		w.closed = true
		close(w.closing)
		w.room.Broadcast()
	}
	w.mu.Unlock()
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// flusher brings what was written to the database until the writer is closed:
// the first write at once, then in bigger pieces.
func (w *LogWriter) flusher() {
	defer close(w.done)
	pace := time.NewTimer(0)
	defer pace.Stop()
	for open := true; open; {
		select {
		case <-w.kick:
		case <-w.closing:
			open = false
		}
		w.flush()
		if !open {
			break
		}
		pace.Reset(logEvery)
		select {
		case <-pace.C:
		case <-w.full:
		case <-w.closing:
		}
	}
	w.mu.Lock()
	failed := w.err != nil
	w.mu.Unlock()
	if !failed {
		w.merge()
	}
	// From here on readers find everything in the database, unless it failed.
	w.logs.mu.Lock()
	delete(w.logs.open, w.runID)
	w.logs.mu.Unlock()
	w.mu.Lock()
	close(w.changed)
	w.changed = make(chan struct{})
	w.mu.Unlock()
}

// flush writes everything that waits, in one transaction, and drops what is
// beyond the cap. On failure it tries again and finally gives up for good.
func (w *LogWriter) flush() {
	w.mu.Lock()
	if w.err != nil {
		w.mu.Unlock()
		return
	}
	w.seal()
	batch, state := w.pending, w.state // all of it: the state is exact for the batch's end
	closed := w.closed
	w.mu.Unlock()
	if len(batch) == 0 && !closed {
		return // at the end the row is written for an empty log too
	}
	var err error
	for try := range logFlushTry {
		if try > 0 {
			time.Sleep(logEvery << try)
		}
		if state.cutFrom, state.cutTo, err = w.commit(batch, state); err == nil {
			break
		}
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.room.Broadcast()
	if err != nil {
		w.err = fmt.Errorf("write the log of run %d: %w", w.runID, err)
		return
	}
	for _, s := range batch {
		w.waiting -= s.size
		if s.size < logChunk {
			w.small++
		}
	}
	w.pending = append([]logSpan(nil), w.pending[len(batch):]...)
	w.state.cutFrom, w.state.cutTo = state.cutFrom, state.cutTo
	if w.small >= logMergeAt && !closed {
		w.mu.Unlock()
		w.merge()
		w.mu.Lock()
	}
}

// commit is flush's transaction. It returns the dropped range.
func (w *LogWriter) commit(batch []logSpan, state logState) (cutFrom, cutTo int64, err error) {
	ctx := context.Background()
	now := w.logs.opts.Now().UnixMilli()
	packed := make([]packedChunk, len(batch))
	for i, s := range batch {
		packed[i] = w.logs.pack(s.data)
	}
	cutFrom, cutTo = state.cutFrom, state.cutTo
	err = w.logs.inTx(ctx, func(tx *sql.Tx) error {
		for i, s := range batch {
			if err := insertLogChunk(ctx, tx, w.runID, s, packed[i], now); err != nil {
				return err
			}
		}
		var first, last sql.NullInt64
		head, tail := w.logs.opts.Head, state.bytes-w.logs.opts.Tail
		const beyond = ` FROM run_log_chunks WHERE run_id = ? AND off >= ? AND off < ? AND off + bytes <= ?`
		if tail > head {
			if err := tx.QueryRowContext(ctx, `SELECT min(off), max(off + bytes)`+beyond, w.runID, head, tail, tail).Scan(&first, &last); err != nil {
				return err
			}
		}
		if first.Valid {
			if _, err := tx.ExecContext(ctx, `DELETE`+beyond, w.runID, head, tail, tail); err != nil {
				return err
			}
			if cutTo == 0 {
				cutFrom = first.Int64
			}
			cutTo = last.Int64
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO run_logs (run_id, bytes, breaks, last_break, cut_from, cut_to, updated_at)
			VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (run_id) DO UPDATE SET bytes = excluded.bytes, breaks = excluded.breaks, last_break = excluded.last_break,
				cut_from = excluded.cut_from, cut_to = excluded.cut_to, updated_at = excluded.updated_at`,
			w.runID, state.bytes, state.breaks, state.lastBreak, cutFrom, cutTo, now)
		return err
	})
	if err != nil {
		return state.cutFrom, state.cutTo, err
	}
	return cutFrom, cutTo, nil
}

// signal wakes the receiver of a channel with room for one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// readLogState reads the row of a run's log; found is false when it has none.
func readLogState(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, runID int64) (s logState, found bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT bytes, breaks, last_break, cut_from, cut_to FROM run_logs WHERE run_id = ?`, runID).
		Scan(&s.bytes, &s.breaks, &s.lastBreak, &s.cutFrom, &s.cutTo)
	if errors.Is(err, sql.ErrNoRows) {
		return logState{}, false, nil
	}
	return s, err == nil, err
}
