package runner

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"donewhen/dod"
)

// Agent CLIs on a subscription say in words that its limit is used up, with the
// time at which there is more: "Claude AI usage limit reached|1750000000", or
// "You've hit your limit · resets 3:30pm (Europe/Berlin)".
var (
	limitWords = regexp.MustCompile(`(?i)\b(?:(?:usage|session|weekly|hour|hourly|daily|opus|sonnet) limit reached|limit reached|hit your (?:\w+ )?limit|out of (?:extra )?usage)\b`)
	limitEpoch = regexp.MustCompile(`\|\s*(\d{10})\b`)
	limitClock = regexp.MustCompile(`(?i)\bresets?(?: at)? (\d{1,2})(?::(\d\d))? ?(am|pm)?\b(?: \(([A-Za-z_]+(?:/[A-Za-z_+-]+)*)\))?`)
)

// furthestLimit: a reset further away than this is taken for a mistake.
const furthestLimit = 31 * 24 * time.Hour

// quotaOf turns an error that says that a limit is used up into a
// dod.QuotaError; other errors stay as they are. said is what the program itself
// reports, without anything that a model wrote.
func quotaOf(err error, said string, now time.Time) error {
	if err == nil || !limitWords.MatchString(said) {
		return err
	}
	var known *dod.QuotaError
	if errors.As(err, &known) {
		return err
	}
	until := limitReset(said, now)
	if !until.After(now) || until.Sub(now) > furthestLimit {
		until = time.Time{}
	}
	return &dod.QuotaError{Until: until, Err: err}
}

// limitReset is the time that the text names, the zero time when it names none.
// A time of the day is the next such time, in the named zone or the server's.
func limitReset(said string, now time.Time) time.Time {
	if m := limitEpoch.FindStringSubmatch(said); m != nil {
		s, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return time.Time{}
		}
		return time.Unix(s, 0)
	}
	m := limitClock.FindStringSubmatch(said)
	if m == nil {
		return time.Time{}
	}
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2])
	half := strings.ToLower(m[3])
	switch {
	case half == "" && m[2] == "" || half != "" && (hour < 1 || hour > 12) || hour > 23 || minute > 59:
		return time.Time{} // "resets 3" is no time
	case half == "pm" && hour < 12:
		hour += 12
	case half == "am" && hour == 12:
		hour = 0
	}
	zone := time.Local
	if m[4] != "" {
		named, err := time.LoadLocation(m[4])
		if err != nil {
			return time.Time{}
		}
		zone = named
	}
	there := now.In(zone)
	at := time.Date(there.Year(), there.Month(), there.Day(), hour, minute, 0, 0, zone)
	if !at.After(now) {
		at = time.Date(there.Year(), there.Month(), there.Day()+1, hour, minute, 0, 0, zone)
	}
	return at
}
