package ui

import (
	"fmt"
	"time"
)

// Relative says when t was, seen from now: "just now", "40 s ago", "3 min ago",
// "5 h ago", "1 day ago", "12 days ago", "in 2 h", "in 7 days" (what is to come is
// counted up), and the date, "2 Jan 2026" in UTC, from 30 days on. The browser
// keeps it true with the same words (static/src/relative.js).
func Relative(t, now time.Time) string {
	d := now.Sub(t)
	say := "%s ago"
	if d < 0 {
		d, say = -d, "in %s"
	}
	whole := func(unit time.Duration) time.Duration {
		n := d / unit
		if say != "%s ago" && d%unit >= time.Second {
			n++ // what is good for 7 days is not "in 6 days" a moment later
		}
		return n
	}
	var n string
	const day = 24 * time.Hour
	switch {
	case d < 10*time.Second:
		return "just now"
	case d < time.Minute:
		n = fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		n = fmt.Sprintf("%d min", whole(time.Minute))
	case d < day:
		n = fmt.Sprintf("%d h", whole(time.Hour))
	case d < 2*day:
		n = "1 day"
	case d < 30*day:
		n = fmt.Sprintf("%d days", whole(day))
	default:
		return t.UTC().Format("2 Jan 2006")
	}
	return fmt.Sprintf(say, n)
}

// Duration says how long something took with two units at most: "0.4 s",
// "12 s", "3 min 05 s", "2 h 10 min", "3 d 4 h". Negative ones are "0 s".
func Duration(d time.Duration) string {
	if d >= 9950*time.Millisecond {
		d = d.Round(time.Second)
	}
	switch {
	case d <= 0:
		return "0 s"
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %02d min", d/time.Hour, d%time.Hour/time.Minute)
	default:
		return fmt.Sprintf("%d d %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	}
}
