package engine

import (
	"fmt"
	"time"

	"donewhen/models"
)

// maxQuotaWait bounds how long a pass waits for a judge's quota by itself. What
// takes longer is for a person to see.
const maxQuotaWait = 24 * time.Hour

// nextQuotaTry says when a judge without quota is asked again: at until, when its
// provider promises quota, but never so soon after the last time that a promise
// which is not kept becomes a storm. since is when the waiting began. ok is false
// when that would be later than 24 hours after since.
func (e *Engine) nextQuotaTry(since, until time.Time) (at time.Time, ok bool) {
	now := e.Now()
	at = until
	if soonest := now.Add(max(e.backoff(1), now.Sub(since)/8)); at.Before(soonest) {
		at = soonest
	}
	return at, at.Sub(since) <= maxQuotaWait
}

// quotaNews are the sentences of a phase that waits for quota, or has waited too
// long for it.
func quotaNews(v models.Verdict, at time.Time, ok bool, now time.Time) string {
	if !ok {
		return fmt.Sprintf("No quota for %s within 24 hours (the next try would be at %s): %s", v.Evaluator, clockTime(at, now), v.Reason)
	}
	return fmt.Sprintf("Waiting for quota until %s, then it goes on by itself. %s says: %s", clockTime(at, now), v.Evaluator, v.Reason)
}

// clockTime is a time for a sentence: the time of the day in UTC, with seconds
// where they say something, and with the date unless it is today's.
func clockTime(at, now time.Time) string {
	at, now = at.UTC(), now.UTC()
	layout := "15:04"
	if at.Second() != 0 {
		layout = "15:04:05"
	}
	if at.YearDay() != now.YearDay() || at.Year() != now.Year() {
		layout = "2 January, " + layout
	}
	return at.Format(layout) + " UTC"
}
