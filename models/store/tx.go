package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"gorm.io/gorm"

	"donewhen/models"
)

// Tx is one write transaction. It reads what it has written and is used by one
// goroutine only, inside the function that it was handed to.
type Tx struct {
	Reader
	now      time.Time // one moment for everything in the transaction
	touched  []string  // plans whose version goes up at the commit
	reworded []string  // plans whose words are stored anew at the commit
}

// Reader has all reads, for the Store (the last committed state) and for a Tx
// (with its own writes).
type Reader struct {
	db    *gorm.DB
	outer *Store // set for a Store's reader, nil inside a transaction
}

var errNested = errors.New("store: the Store was used inside one of its transactions: use the Tx that InTx handed out")

// InTx runs f in one write transaction: it is committed when f returns nil and
// rolled back otherwise. Writers go one after another. f must be quick (no git,
// no processes, no network) and must not use the Store itself, which is
// refused. The commit survives a crash of the process; a power cut may lose the
// last ones.
func (s *Store) InTx(ctx context.Context, f func(tx *Tx) error) error {
	return s.inTx(ctx, s.write, f)
}

// Decide is InTx for a person's decision: the commit has reached the disk when
// it returns.
func (s *Store) Decide(ctx context.Context, f func(tx *Tx) error) error {
	return s.inTx(ctx, s.decide, f)
}

func (s *Store) inTx(ctx context.Context, db *gorm.DB, f func(tx *Tx) error) error {
	if s.insideTx() {
		return errNested
	}
	if err := s.acquire(ctx); err != nil {
		return err
	}
	defer s.release()
	s.owner.Store(goroutine())
	defer s.owner.Store(0)

	err := db.WithContext(ctx).Transaction(func(g *gorm.DB) error {
		tx := &Tx{Reader: Reader{db: g}, now: s.clock()}
		if err := f(tx); err != nil {
			return err
		}
		if err := tx.writeWords(ctx); err != nil {
			return err
		}
		return tx.bumpVersions(ctx)
	})
	if err == nil {
		s.commits.Add(1)
	}
	return err
}

// acquire waits for the one place of a writer. SQLite has one anyway; waiting
// here is fair and needs no polling.
func (s *Store) acquire(ctx context.Context) error {
	select {
	case s.lock <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("store: waiting to write: %w", ctx.Err())
	}
}

func (s *Store) release() { <-s.lock }

// insideTx says whether the calling goroutine is inside a transaction of s.
// Waiting for itself, or reading the state from before its own writes, would
// be a fault that shows only under load.
func (s *Store) insideTx() bool {
	owner := s.owner.Load()
	return owner != 0 && owner == goroutine()
}

// goroutine is the number of the calling goroutine, which the runtime offers
// only as text: "goroutine 12 [running]:".
func goroutine() int64 {
	var buf [64]byte
	line := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	digits, _, _ := bytes.Cut(line, []byte(" "))
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return -1
	}
	return n
}

// q starts a query. Inside a transaction the Store's own reader refuses.
func (r Reader) q(ctx context.Context) *gorm.DB {
	db := r.db.WithContext(ctx)
	if r.outer != nil && r.outer.insideTx() {
		_ = db.AddError(errNested)
	}
	return db
}

// snapshot runs several reads against one state of the database.
func (r Reader) snapshot(ctx context.Context, f func(r Reader) error) error {
	if r.outer == nil {
		return f(r)
	}
	if r.outer.insideTx() {
		return errNested
	}
	return r.db.WithContext(ctx).Transaction(func(g *gorm.DB) error { return f(Reader{db: g}) })
}

// touch notes that a plan's pages show something new.
func (tx *Tx) touch(planID string) {
	if planID == "" {
		return
	}
	for _, id := range tx.touched {
		if id == planID {
			return
		}
	}
	tx.touched = append(tx.touched, planID)
}

// bumpVersions raises plans.version once for each plan that the transaction
// changed.
func (tx *Tx) bumpVersions(ctx context.Context) error {
	for _, id := range tx.touched {
		err := tx.q(ctx).Exec("UPDATE plans SET version = version + 1, updated_at = ? WHERE id = ?", tx.now, id).Error
		if err != nil {
			return fmt.Errorf("raise the version of plan %s: %w", id, err)
		}
	}
	return nil
}

// notFound turns gorm's "no such row" into a sentence.
func notFound(err error, what string, id any) error {
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.Errorf(models.CodeNotFound, "There is no %s %v. It may have been typed wrongly.", what, id)
	}
	return fmt.Errorf("read %s %v: %w", what, id, err)
}
