package store

import (
	"context"
	"fmt"
	"math"

	"gorm.io/gorm"

	"donewhen/models"
)

// EventsOf reads the newest events of a plan, newest first: at most limit of
// those with an id below before; 0 starts at the newest.
func (r Reader) EventsOf(ctx context.Context, planID string, before int64, limit int) ([]models.Event, error) {
	return eventPage(r.q(ctx).Where("plan_id = ?", planID), before, limit)
}

// Events reads the audit log, paged like EventsOf. older is the cursor of what
// comes before the page, 0 at the beginning of the log. A filter looks at
// eventWindow lines at a time, so that what is rare costs no more: the page may
// be short, or empty, with older ones to come.
func (r Reader) Events(ctx context.Context, f models.EventFilter, before int64, limit int) (list []models.Event, older int64, err error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	q, from := r.q(ctx), int64(0)
	if f != (models.EventFilter{}) {
		last, err := first[models.Event](r.q(ctx).Select("id").Where("id < ?", before).Order("id DESC"), "the newest event")
		if err != nil || last == nil {
			return nil, 0, err
		}
		from = max(last.ID-eventWindow+1, 0)
		q = q.Where("id >= ?", from)
	}
	if f.Noun != "" {
		q = q.Where(`kind LIKE ? ESCAPE '\'`, escapeLike(f.Noun)+".%")
	}
	if f.People {
		q = q.Where("actor_id > 0")
	}
	if words := shortSearch(f.Words); words != "" {
		like := "%" + escapeLike(words) + "%"
		q = q.Where(`(actor LIKE ? ESCAPE '\' OR plan_id LIKE ? ESCAPE '\' OR reason LIKE ? ESCAPE '\')`, like, like, like)
	}
	size := pageSize(limit)
	list, err = eventPage(q, before, size+1)
	switch {
	case err != nil:
		return nil, 0, err
	case len(list) > size:
		return list[:size], list[size-1].ID, nil
	case from > 1:
		return list, from, nil
	}
	return list, 0, nil
}

// eventWindow is how many lines of the audit log a filter looks at for one page.
const eventWindow = 20_000

// LastEventOfRun is the newest event about a run, nil when there is none.
func (r Reader) LastEventOfRun(ctx context.Context, run models.Run) (*models.Event, error) {
	return first[models.Event](r.q(ctx).Where("plan_id = ? AND run_id = ?", run.PlanID, run.ID).Order("id DESC"), "the newest event of the run")
}

func eventPage(q *gorm.DB, before int64, limit int) ([]models.Event, error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	return rows[models.Event](q.Where("id < ?", before).Order("id DESC").Limit(pageSize(limit)), "the events")
}

// InsertEvent writes a line of the audit log at the transaction's time. The
// zero actor is the server.
func (tx *Tx) InsertEvent(ctx context.Context, e models.Event) error {
	if e.ActorID == 0 && e.Actor == "" {
		e.Actor = models.Server.Name
	}
	e.CreatedAt = tx.now
	if err := tx.q(ctx).Create(&e).Error; err != nil {
		return fmt.Errorf("write the event %s: %w", e.Kind, err)
	}
	tx.touch(e.PlanID)
	return nil
}

// pageSize is how many rows a page has when it was not said: 50.
func pageSize(limit int) int {
	if limit <= 0 {
		return 50
	}
	return limit
}
