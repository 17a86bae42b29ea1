package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/mattn/go-sqlite3"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// driverName is mattn's driver with automatic checkpoints off: they make the
// slow tail of a commit, so the checkpointer does them in the background.
const driverName = "sqlite3-donewhen"

func init() {
	sql.Register(driverName, &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		_, err := c.Exec("PRAGMA wal_autocheckpoint=0", nil)
		return err
	}})
}

// Options are what Open may be told; the zero value is right for a server.
type Options struct {
	Now      func() time.Time // default time.Now().UTC
	PoolSize int              // connections for reading; default 4
}

// Store is the open database. It is safe for use by many goroutines. Its own
// methods read; writing goes through InTx and Decide.
type Store struct {
	Reader
	now    func() time.Time
	write  *gorm.DB // one connection, synchronous=NORMAL
	decide *gorm.DB // one connection, synchronous=FULL
	lock   chan struct{}
	owner  atomic.Int64 // goroutine that is inside a transaction, 0 for none

	commits atomic.Int64 // transactions since the start
	copied  atomic.Int64 // how many of them are in the main file for sure
	close   func() error
}

// Open opens or creates the database file, brings its schema up to date and
// starts the checkpointer. The caller holds Lock on the data folder.
func Open(ctx context.Context, path string, o Options) (_ *Store, err error) {
	if o.Now == nil {
		o.Now = func() time.Time { return time.Now().UTC() }
	}
	if o.PoolSize < 1 {
		o.PoolSize = 4
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	var pools []*sql.DB
	defer func() {
		if err != nil {
			_ = closeAll(pools)
		}
	}()
	pool := func(size int, pragmas string) (*sql.DB, error) {
		db, err := sql.Open(driverName, dsn(path, pragmas))
		if err != nil {
			return nil, fmt.Errorf("open the database %s: %w", path, err)
		}
		pools = append(pools, db)
		db.SetMaxOpenConns(size)
		db.SetMaxIdleConns(size)
		if err := db.PingContext(ctx); err != nil {
			return nil, fmt.Errorf("open the database %s: %w. Look at the folder's rights and free space", path, err)
		}
		return db, nil
	}
	write, err := pool(1, "_txlock=immediate&_synchronous=NORMAL")
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, write); err != nil {
		return nil, err
	}
	decide, err := pool(1, "_txlock=immediate&_synchronous=FULL")
	if err != nil {
		return nil, err
	}
	read, err := pool(o.PoolSize, "_txlock=deferred&_query_only=1")
	if err != nil {
		return nil, err
	}
	checks, err := pool(1, "_synchronous=NORMAL")
	if err != nil {
		return nil, err
	}

	s := &Store{now: o.Now, lock: make(chan struct{}, 1)}
	for _, h := range []struct {
		to   **gorm.DB
		pool *sql.DB
	}{{&s.write, write}, {&s.decide, decide}, {&s.db, read}} {
		if *h.to, err = ormOf(h.pool, s.clock); err != nil {
			return nil, err
		}
	}
	s.outer = s
	stop := s.checkpointer(checks)
	s.close = func() error { return errors.Join(stop(), closeAll(pools)) }
	return s, nil
}

// Close stops the checkpointer, brings everything into the main file and
// closes it. Transactions under way must have ended before.
func (s *Store) Close() error { return s.close() }

// Integrity asks SQLite whether the file and its references are sound. It
// reads the whole file.
func (s *Store) Integrity(ctx context.Context) error {
	var lines []string
	if err := s.q(ctx).Raw("PRAGMA quick_check").Scan(&lines).Error; err != nil {
		return fmt.Errorf("check the database: %w", err)
	}
	if len(lines) != 1 || lines[0] != "ok" {
		return fmt.Errorf("the database file is damaged: %q. Stop the server and restore a backup", lines)
	}
	var dangling []struct {
		Table  string
		Parent string
	}
	if err := s.q(ctx).Raw("PRAGMA foreign_key_check").Scan(&dangling).Error; err != nil {
		return fmt.Errorf("check the database's references: %w", err)
	}
	if len(dangling) > 0 {
		return fmt.Errorf("%d rows of the database point to rows that are not there, the first in %s to %s. Stop the server and restore a backup",
			len(dangling), dangling[0].Table, dangling[0].Parent)
	}
	return nil
}

// clock is now as it is stored.
func (s *Store) clock() time.Time { return stamp(s.now()) }

// stamp brings a time into the form in which it is stored: UTC, because times
// are compared as text, and whole microseconds, which every database keeps.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

func dsn(path, pragmas string) string {
	u := url.URL{Scheme: "file", Path: path}
	return u.String() + "?_journal_mode=WAL&_busy_timeout=10000&_foreign_keys=1&_stmt_cache_size=64&" + pragmas
}

func ormOf(db *sql.DB, now func() time.Time) (*gorm.DB, error) {
	g, err := gorm.Open(sqlite.Dialector{Conn: db}, &gorm.Config{
		SkipDefaultTransaction: true,
		NamingStrategy:         naming,
		NowFunc:                now,
		Logger:                 logger.Discard, // errors are returned, and logged by who gets them
	})
	if err != nil {
		return nil, fmt.Errorf("set up the database handle: %w", err)
	}
	return g, nil
}

func closeAll(pools []*sql.DB) error {
	var err error
	for _, p := range pools {
		err = errors.Join(err, p.Close())
	}
	return err
}
