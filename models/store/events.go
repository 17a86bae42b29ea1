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

// Events reads the audit log of everything, paged like EventsOf.
func (r Reader) Events(ctx context.Context, before int64, limit int) ([]models.Event, error) {
	return eventPage(r.q(ctx), before, limit)
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
