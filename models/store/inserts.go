package store

import (
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"
	"github.com/oklog/ulid/v2"
)

// newID makes a plan's id: a ULID, so that ids sort by the time they were made.
func newID(now time.Time) string {
	return ulid.MustNew(ulid.Timestamp(now), rand.Reader).String()
}

// stampAll brings the times that are there into the stored form. What the
// caller's pointers point to stays as it is.
func stampAll(times ...**time.Time) {
	for _, t := range times {
		if *t != nil {
			*t = new(stamp(**t))
		}
	}
}

// uniqueOf names the columns whose uniqueness an insert would have broken, such
// as "plans.form_key"; "" for any other error.
func uniqueOf(err error) string {
	e, ok := errors.AsType[sqlite3.Error](err)
	if !ok || e.ExtendedCode != sqlite3.ErrConstraintUnique {
		return ""
	}
	_, columns, _ := strings.Cut(e.Error(), "failed: ")
	return columns
}
