package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
)

// How a chunk's body is stored.
const (
	logPlain = 0
	logZstd  = 1
)

type packedChunk struct {
	enc  int
	body []byte
}

// pack compresses a chunk's data, or leaves it when that would not help.
func (l *Logs) pack(data []byte) packedChunk {
	if z := l.enc.EncodeAll(data, make([]byte, 0, len(data)/4)); len(z) < len(data) {
		return packedChunk{logZstd, z}
	}
	return packedChunk{logPlain, data}
}

// unpack is pack's inverse; size is the number of bytes that must come out.
func (l *Logs) unpack(c packedChunk, size int64) ([]byte, error) {
	data := c.body
	switch c.enc {
	case logPlain:
	case logZstd:
		var err error
		if data, err = l.dec.DecodeAll(c.body, make([]byte, 0, size)); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("chunk with the unknown encoding %d", c.enc)
	}
	if int64(len(data)) != size {
		return nil, fmt.Errorf("chunk of %d bytes where its row says %d", len(data), size)
	}
	return data, nil
}

func insertLogChunk(ctx context.Context, tx *sql.Tx, runID int64, s logSpan, c packedChunk, at int64) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO run_log_chunks (run_id, off, first_line, lines, bytes, enc, at, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		runID, s.off, s.firstLine, s.lines, s.size, c.enc, at, c.body)
	return err
}

// merge joins neighbouring small chunks into full ones: slow output makes five
// a second. It never joins over the end of the kept head or over the gap. Only
// the flusher calls it. A failure leaves the small chunks, which are as good.
func (w *LogWriter) merge() {
	ctx := context.Background()
	for {
		group, more, err := w.mergeGroup(ctx)
		if err != nil || !more {
			break
		}
		if len(group) > 1 {
			if err := w.join(ctx, group); err != nil {
				break
			}
		}
	}
	w.small = 0
}

// mergeGroup returns the next chunks that fit into one, and moves mergeFrom
// behind them, unless they are the log's last and may still grow together.
func (w *LogWriter) mergeGroup(ctx context.Context) (group []logSpan, more bool, err error) {
	spans, err := queryLogSpans(ctx, w.logs.read, `WHERE run_id = ? AND off >= ? ORDER BY off LIMIT 1024`, w.runID, w.mergeFrom)
	if err != nil || len(spans) == 0 {
		return nil, false, err
	}
	head, size := w.logs.opts.Head, int64(0)
	for _, s := range spans {
		if len(group) > 0 && (size+s.size > logChunk || s.off != group[0].off+size || s.off == head) {
			w.mergeFrom = s.off
			return group, true, nil
		}
		group, size = append(group, s), size+s.size
	}
	if len(spans) == 1024 { // very small ones: join these, then go on with the joined one
		w.mergeFrom = group[0].off
		return group, true, nil
	}
	if len(group) > 1 {
		w.mergeFrom = group[0].off
		return group, false, w.join(ctx, group)
	}
	return nil, false, nil
}

// join replaces a group of neighbours by one chunk.
func (w *LogWriter) join(ctx context.Context, group []logSpan) error {
	var data bytes.Buffer
	one := logSpan{off: group[0].off, firstLine: group[0].firstLine}
	for _, s := range group {
		body, err := loadLogChunk(ctx, w.logs, w.logs.read, w.runID, s.off)
		if err != nil {
			return err
		}
		data.Write(body)
		one.lines += s.lines
		one.size += s.size
	}
	one.data = data.Bytes()
	packed := w.logs.pack(one.data)
	return w.logs.inTx(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `DELETE FROM run_log_chunks WHERE run_id = ? AND off >= ? AND off < ?`, w.runID, one.off, one.end()); err != nil {
			return err
		}
		return insertLogChunk(ctx, tx, w.runID, one, packed, w.logs.opts.Now().UnixMilli())
	})
}

// logQuerier is a handle or a read transaction.
type logQuerier interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// queryLogSpans reads chunks without their bodies.
func queryLogSpans(ctx context.Context, q logQuerier, where string, args ...any) ([]logSpan, error) {
	rows, err := q.QueryContext(ctx, `SELECT off, bytes, first_line, lines FROM run_log_chunks `+where, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []logSpan
	for rows.Next() {
		var s logSpan
		if err := rows.Scan(&s.off, &s.size, &s.firstLine, &s.lines); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// loadLogChunk reads the data of the chunk at off.
func loadLogChunk(ctx context.Context, l *Logs, q logQuerier, runID, off int64) ([]byte, error) {
	var c packedChunk
	var size int64
	err := q.QueryRowContext(ctx, `SELECT bytes, enc, body FROM run_log_chunks WHERE run_id = ? AND off = ?`, runID, off).
		Scan(&size, &c.enc, &c.body)
	if err != nil {
		return nil, err
	}
	return l.unpack(c, size)
}
