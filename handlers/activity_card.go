package handlers

import (
	"context"
	"strings"

	"donewhen/views"
)

// Bounds of the activity on the plan's page.
const (
	planEvents = 15  // shown
	planLatest = 120 // looked at
)

// news is the newest of what happened, without the moves of passes and runs that
// follow from it, which the timeline shows.
func (b *planBuilder) news(ctx context.Context) (views.ActivityCard, error) {
	card := views.ActivityCard{Now: b.now}
	events, err := b.s.Reader.EventsOf(ctx, b.plan().ID, 0, planLatest)
	if err != nil {
		return card, err
	}
	for _, e := range events {
		noun, _, _ := strings.Cut(e.Kind, ".")
		if noun == "pass" || noun == "run" && e.Kind != "run.stopped" || len(card.Events) == planEvents {
			card.Older = views.PlanActivityPath(b.plan().ID, 0)
			continue
		}
		card.Events = append(card.Events, eventRow(e, b.detail))
	}
	return card, nil
}

// activity is one page of all that happened.
func (b *planBuilder) activity(ctx context.Context, before int64, limit int) (views.ActivityCard, error) {
	card := views.ActivityCard{Now: b.now}
	events, err := b.s.Reader.EventsOf(ctx, b.plan().ID, before, limit+1)
	if err != nil {
		return card, err
	}
	if len(events) > limit {
		events = events[:limit]
		card.Older = views.PlanActivityPath(b.plan().ID, events[limit-1].ID)
	}
	for _, e := range events {
		card.Events = append(card.Events, eventRow(e, b.detail))
	}
	return card, nil
}
