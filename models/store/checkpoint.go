package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

const (
	checkpointEvery = 500 * time.Millisecond
	// restartPages is the size of the write-ahead log (32 MB) beyond which
	// writers wait a moment so that it starts again from its beginning. A
	// passive checkpoint alone never gets there under steady writes.
	restartPages = 8_000
)

// checkpointer copies the write-ahead log into the main file in the
// background, on a connection of its own, so that no commit has to. The
// returned function stops it after a last, full checkpoint. A failed
// checkpoint loses nothing: the next one does its work.
func (s *Store) checkpointer(db *sql.DB) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(checkpointEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				if n := s.commits.Load(); n != s.copied.Load() && s.checkpoint(ctx, db) {
					s.copied.Store(n)
				}
			}
		}
	}()
	return func() error {
		cancel()
		<-done
		if _, _, _, err := walCheckpoint(context.Background(), db, "TRUNCATE"); err != nil {
			return fmt.Errorf("last checkpoint: %w", err)
		}
		return nil
	}
}

// checkpoint says whether everything that was committed is in the main file.
func (s *Store) checkpoint(ctx context.Context, db *sql.DB) bool {
	busy, pages, copied, err := walCheckpoint(ctx, db, "PASSIVE")
	if err == nil && pages > restartPages {
		if err = s.acquire(ctx); err == nil {
			busy, pages, copied, err = walCheckpoint(ctx, db, "RESTART")
			s.release()
		}
	}
	return err == nil && busy == 0 && copied == pages
}

// walCheckpoint returns SQLite's three numbers: whether somebody stood in the
// way, the pages in the log, and how many of them are in the main file.
func walCheckpoint(ctx context.Context, db *sql.DB, mode string) (busy, pages, copied int, err error) {
	err = db.QueryRowContext(ctx, "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &copied)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return busy, pages, copied, err
}
