package judge

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// furthestReset: a reset further away than this is taken for a mistake.
const furthestReset = 31 * 24 * time.Hour

// resetHeaders are pairs of headers: when a limit is reset, and how much of it is
// left. Anthropic writes times (or seconds since 1970), OpenAI durations.
var resetHeaders = [][2]string{
	{"anthropic-ratelimit-requests-reset", "anthropic-ratelimit-requests-remaining"},
	{"anthropic-ratelimit-tokens-reset", "anthropic-ratelimit-tokens-remaining"},
	{"anthropic-ratelimit-input-tokens-reset", "anthropic-ratelimit-input-tokens-remaining"},
	{"anthropic-ratelimit-output-tokens-reset", "anthropic-ratelimit-output-tokens-remaining"},
	{"anthropic-ratelimit-unified-reset", ""},
	{"x-ratelimit-reset-requests", "x-ratelimit-remaining-requests"},
	{"x-ratelimit-reset-tokens", "x-ratelimit-remaining-tokens"},
}

// quotaReset says when a refused question may be asked again: what Retry-After
// says, otherwise the latest reset of the limits that are used up, or of all when
// none is marked so. The zero time when no header says it.
func quotaReset(h http.Header, now time.Time) time.Time {
	if d, ok := retryAfter(h, now); ok {
		return now.Add(d)
	}
	var used, all time.Time
	for _, pair := range resetHeaders {
		at, ok := resetTime(h.Get(pair[0]), now)
		if !ok {
			continue
		}
		if at.After(all) {
			all = at
		}
		if pair[1] != "" && strings.TrimSpace(h.Get(pair[1])) == "0" && at.After(used) {
			used = at
		}
	}
	if !used.IsZero() {
		return used
	}
	return all
}

// retryAfter reads Retry-After-Ms and Retry-After (seconds or a date).
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("Retry-After-Ms")), 64); err == nil {
		return seconds(ms / 1000)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(value, 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(value); err == nil {
		return seconds(at.Sub(now).Seconds())
	}
	return 0, false
}

func seconds(s float64) (time.Duration, bool) {
	if !(s <= furthestReset.Seconds()) { // NaN too
		return 0, false
	}
	return time.Duration(max(0, s) * float64(time.Second)), true
}

func resetTime(value string, now time.Time) (time.Time, bool) {
	value = strings.TrimSpace(value)
	at, err := time.Parse(time.RFC3339, value)
	if err != nil {
		if d, err := time.ParseDuration(value); err == nil {
			at = now.Add(d)
		} else if s, err := strconv.ParseFloat(value, 64); err == nil && s > 1e9 {
			at = time.Unix(int64(min(s, 1e12)), 0)
		} else if err == nil {
			at = now.Add(time.Duration(s * float64(time.Second)))
		} else {
			return time.Time{}, false
		}
	}
	if at.Before(now) {
		at = now
	}
	return at, at.Sub(now) <= furthestReset
}
