package handlers

import (
	"context"

	"donewhen/models"
)

// reader is what the pages read from the store, noun by noun.
type reader interface {
	// What waits on people; every page's menu shows how much.
	Inbox(ctx context.Context, limit int) ([]models.InboxItem, error)
	InboxCount(ctx context.Context, limit int) (int, error)
	planReader      // plans, passes, runs and verdicts
	authoringReader // the forms for plans, templates and projects
	overviewReader  // inbox and audit
	insightReader   // what ended lately, in numbers
	replayReader    // passes to try a condition on
	judgeReader     // how judges did
}
