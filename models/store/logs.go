package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/mattn/go-sqlite3"
)

// Caps of one run's log: what is beyond them is dropped from the middle.
const (
	DefaultLogHead = 8 << 20
	DefaultLogTail = 64 << 20
)

// logsVersion is the user_version of the schema in logs.sql.
const logsVersion = 1

//go:embed logs.sql
var logsSchema string

// LogOptions configure OpenLogs.
type LogOptions struct {
	Head int64            // bytes of a run's beginning that are always kept, 0 = DefaultLogHead
	Tail int64            // bytes of its end that are always kept, 0 = DefaultLogTail
	Now  func() time.Time // stamps of the chunks, nil = time.Now
}

// Logs keeps the output of runs in a database file of its own: bytes in, bytes
// or lines out, nothing interpreted. It is safe for use by many goroutines.
// One process owns the file.
type Logs struct {
	write *sql.DB // one connection
	read  *sql.DB
	lock  sync.Mutex // held by every write transaction and by the checkpoint that restarts the WAL
	enc   *zstd.Encoder
	dec   *zstd.Decoder
	opts  LogOptions

	mu     sync.Mutex // guards what follows
	open   map[int64]*LogWriter
	opened chan struct{} // closed and replaced when a writer is opened, closed for good by Close
	closed bool

	stop context.CancelFunc
	done chan struct{}
}

// errLogsClosed is returned by everything that is called after Close.
var errLogsClosed = errors.New("the log store is closed")

// OpenLogs opens or creates the log database at path. Logs of writers that were
// never closed (a crash) hold everything up to their last flush and can be
// continued.
func OpenLogs(ctx context.Context, path string, o LogOptions) (*Logs, error) {
	o.Head, o.Tail = cmp.Or(o.Head, DefaultLogHead), cmp.Or(o.Tail, DefaultLogTail)
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Logs{opts: o, open: map[int64]*LogWriter{}, opened: make(chan struct{}), done: make(chan struct{})}
	var err error
	if l.enc, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2)); err != nil {
		return nil, err
	}
	if l.dec, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(4*logChunk)); err != nil {
		return nil, err
	}
	l.write = openLogDB(path, "_txlock=immediate")
	l.write.SetMaxOpenConns(1)
	if err := migrateLogs(ctx, l.write); err != nil {
		return nil, errors.Join(fmt.Errorf("open the log database %s: %w", path, err), l.write.Close())
	}
	l.read = openLogDB(path, "_query_only=1")
	l.read.SetMaxOpenConns(4)
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	go l.checkpointer(background)
	return l, nil
}

// Close closes writers that are still open, which flushes them, writes the WAL
// into the file and closes it. It may be called more than once.
func (l *Logs) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	var open []*LogWriter
	for _, w := range l.open {
		open = append(open, w)
	}
	close(l.opened)
	l.mu.Unlock()

	var errs []error
	for _, w := range open {
		errs = append(errs, w.Close())
	}
	l.stop()
	<-l.done
	errs = append(errs, l.read.Close())
	_, err := l.write.Exec("PRAGMA wal_checkpoint(TRUNCATE)")
	errs = append(errs, err, l.write.Close())
	l.dec.Close()
	return errors.Join(errs...)
}

func migrateLogs(ctx context.Context, db *sql.DB) error {
	var version int
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	if version > logsVersion {
		return fmt.Errorf("its schema has version %d and this program knows %d: start the newer program", version, logsVersion)
	}
	if version == logsVersion {
		return nil
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, logsSchema); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", logsVersion)); err != nil {
		return err
	}
	return tx.Commit()
}

// openLogDB makes a handle on the log database. The connections never run a
// checkpoint themselves: Logs.checkpointer does.
func openLogDB(path, more string) *sql.DB {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() +
		"?_journal_mode=WAL&_busy_timeout=10000&_synchronous=NORMAL&" + more
	return sql.OpenDB(&logConnector{dsn: dsn, driver: &sqlite3.SQLiteDriver{
		ConnectHook: func(c *sqlite3.SQLiteConn) error {
			_, err := c.Exec("PRAGMA wal_autocheckpoint=0", nil) // the DSN has no key for it
			return err
		},
	}})
}

// logConnector opens connections without a globally registered driver name.
type logConnector struct {
	dsn    string
	driver *sqlite3.SQLiteDriver
}

func (c *logConnector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }
func (c *logConnector) Driver() driver.Driver                        { return c.driver }

// Figures of the background checkpoint: see docs/architecture.md, storage.
const (
	logCheckpointEvery = 500 * time.Millisecond
	logRestartPages    = 8_000 // 32 MB of WAL
)

// checkpointer moves the WAL into the file twice a second, so that no flush has
// to. Under steady writes a passive checkpoint alone lets the WAL grow for
// ever; beyond a bound the WAL is restarted while writers wait.
func (l *Logs) checkpointer(ctx context.Context) {
	defer close(l.done)
	tick := time.NewTicker(logCheckpointEvery)
	defer tick.Stop()
	var last int
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var busy, pages, moved int
		err := l.read.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)").Scan(&busy, &pages, &moved)
		if err != nil || pages == last && moved == pages {
			continue // an error here is harmless: the next tick or Close does the work
		}
		last = pages
		if pages > logRestartPages {
			l.lock.Lock()
			_ = l.read.QueryRowContext(ctx, "PRAGMA wal_checkpoint(RESTART)").Scan(&busy, &pages, &moved)
			l.lock.Unlock()
		}
	}
}

// inTx runs fn in a write transaction.
func (l *Logs) inTx(ctx context.Context, fn func(*sql.Tx) error) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	tx, err := l.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if err := fn(tx); err != nil {
		return err
	}
	return tx.Commit()
}
