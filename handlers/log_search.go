package handlers

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"donewhen/engine"
	"donewhen/views"
)

// Bounds of one search in a log.
const (
	logHits     = 50              // lines found on one page
	logWords    = 200             // signs that are looked for
	logLook     = 2 * time.Second // how long a request looks, unless Deps say otherwise
	logLookBack = 20_000          // lines of the first look backwards; each further one takes twice as many
	logLookSize = 4 << 20         // bytes of one look backwards: it cannot stop half way, so it must not be long
	logAbove    = 12              // lines shown above one that was found
)

// logLooked is what a search came to.
type logLooked struct {
	hits  []views.LogHit // in the order of the log
	on    int64          // the line to look on from, 0 = the end was reached
	timed bool           // it stopped because of the time
	long  int            // lines of which only the beginning was looked at
}

// lookFrom looks for lines from one on, until it has found most or its time is
// over. It never holds more than a chunk of the log.
func (s *Server) lookFrom(ctx context.Context, id int64, find *logFind, from int64, most int) (logLooked, error) {
	var out logLooked
	stop := time.Now().Add(cmp.Or(s.LogLook, logLook)) // of work, not of the day: no clock of a test makes it
	looked := 0                                        // bytes since the time was looked at; of one line at most 1 MiB is
	err := s.Logs.Scan(ctx, id, max(from, 1), 0, func(l engine.LogLine) bool {
		if len(out.hits) == most {
			out.on = l.N
			return false
		}
		if looked > 1<<20 {
			if looked = 0; time.Now().After(stop) {
				out.on, out.timed = l.N, true
				return false
			}
		}
		looked += len(l.Data)
		out.take(find, l)
		return ctx.Err() == nil
	})
	return out, cmp.Or(err, ctx.Err())
}

// lookBack looks for the last lines before one. on is the line before which
// nothing was looked at, 0 when the beginning was reached.
func (s *Server) lookBack(ctx context.Context, id int64, find *logFind, before int64, most int) (logLooked, error) {
	var out logLooked
	stop := time.Now().Add(cmp.Or(s.LogLook, logLook))
	for end, step := before, int64(logLookBack); end > 1; {
		begin := max(1, end-step)
		var part logLooked
		size, first := 0, int64(0)
		err := s.Logs.Scan(ctx, id, begin, end, func(l engine.LogLine) bool {
			if first == 0 {
				first = l.N
			}
			if size += len(l.Data); size > logLookSize && end-begin > 1 {
				lines := max(1, l.N-first) // as many of them as fit, or at most half of what did not
				step = max(1, min(step/2, lines*logLookSize/int64(size)/2))
				return false
			}
			part.take(find, l)
			if n := len(part.hits) - most; n > 0 {
				part.hits = append(part.hits[:0], part.hits[n:]...)
			}
			return ctx.Err() == nil
		})
		if err := cmp.Or(err, ctx.Err()); err != nil {
			return out, err
		}
		late := time.Now().After(stop)
		if size > logLookSize && end-begin > 1 { // given up: nothing in it counts, as later lines may have the words too
			if late && end < before {
				out.on, out.timed = end, true
				return out, nil
			}
			continue
		}
		out.hits, out.long = append(part.hits, out.hits...), out.long+part.long
		if n := len(out.hits) - most; n >= 0 {
			out.hits = out.hits[n:]
			if out.on = out.hits[0].N; out.on == 1 {
				out.on = 0
			}
			return out, nil
		}
		end, step = begin, step*2
		if end > 1 && late {
			out.on, out.timed = end, true
			return out, nil
		}
	}
	return out, nil
}

// take adds a line when it has the words.
func (l *logLooked) take(find *logFind, line engine.LogLine) {
	if line.Size > len(line.Data) {
		l.long++
	}
	if !find.in(line.Data) || len(l.hits) > 0 && l.hits[len(l.hits)-1].N == line.N { // a line around the dropped middle comes in two parts
		return
	}
	text := views.PlainLine(line.Data)
	places := find.all(text)
	if len(places) == 0 { // the words crossed a sign that is shown as another
		return
	}
	l.hits = append(l.hits, logHit(line.N, text, places))
}

// logHit is a line that was found, with the words around the first place.
func logHit(n int64, text string, places [][2]int) views.LogHit {
	const before, after = 60, 200
	at, end := places[0][0], places[0][1]
	h := views.LogHit{N: n, Text: text[at:end], Places: len(places), Far: end > logLineSeen}
	head, tail := text[:at], text[end:]
	if len(head) > before {
		i := len(head) - before
		for i < len(head) && !utf8.RuneStart(head[i]) {
			i++
		}
		head = "…" + head[i:]
	}
	if len(tail) > after {
		tail, _ = cutText(tail, after)
		tail += "…"
	}
	h.Before, h.After = strings.TrimLeft(head, " \t"), tail
	return h
}

// logWordsOf is what the address looks for, nil when it is nothing.
func logWordsOf(c echo.Context) *logFind {
	words := strings.ToValidUTF8(c.QueryParam("q"), "")
	if r := []rune(words); len(r) > logWords {
		words = string(r[:logWords])
	}
	return newLogFind(words)
}

// logResults is a page of what was found: from line on, or the last before back.
func (s *Server) logResults(ctx context.Context, id int64, find *logFind, on, back int64) (*views.LogSearch, error) {
	v := &views.LogSearch{RunID: id, Words: find.words, Exact: find.exact}
	if back > 1 {
		got, err := s.lookBack(ctx, id, find, back, logHits)
		if err != nil {
			return nil, err
		}
		v.Hits, v.On, v.Back = got.hits, back, got.on
		switch {
		case got.timed:
			v.Note = fmt.Sprintf("Looked at lines %s to %s in %s: %s.", thousands(got.on), thousands(back-1), cmp.Or(s.LogLook, logLook), foundLines(len(got.hits)))
			v.OnLabel, v.BackLabel = "Later results", fmt.Sprintf("Search on before line %s", thousands(got.on))
		case got.on > 0:
			v.Note = fmt.Sprintf("The last %s before line %s.", foundLines(len(got.hits)), thousands(back))
		default:
			v.Note = fmt.Sprintf("The first %s.", foundLines(len(got.hits)))
		}
		v.Long = got.long
		return v, nil
	}
	got, err := s.lookFrom(ctx, id, find, on, logHits)
	if err != nil {
		return nil, err
	}
	v.Hits, v.On, v.Long = got.hits, got.on, got.long
	if on > 1 {
		v.Back = on
	}
	switch since := max(on, 1); {
	case got.timed:
		v.Note = fmt.Sprintf("Looked at lines %s to %s in %s: %s.", thousands(since), thousands(got.on-1), cmp.Or(s.LogLook, logLook), foundLines(len(got.hits)))
		v.OnLabel = fmt.Sprintf("Search on from line %s", thousands(got.on))
	case got.on > 0:
		v.Note = fmt.Sprintf("The first %s from line %s on; there may be more.", foundLines(len(got.hits)), thousands(since))
	case on > 1 && len(got.hits) == 0:
		v.Note = fmt.Sprintf("Nothing more from line %s to the end.", thousands(on))
	case on > 1:
		v.Note = fmt.Sprintf("%s from line %s to the end.", foundLines(len(got.hits)), thousands(on))
	case len(got.hits) == 0:
		v.Note = "No line has these words. The whole log was searched."
	default:
		v.Note = fmt.Sprintf("%s. The whole log was searched.", foundLines(len(got.hits)))
	}
	return v, nil
}

func foundLines(n int) string {
	if n == 1 {
		return "1 line found"
	}
	return thousands(int64(n)) + " lines found"
}

// stepInLog leads to the next or the previous line with the words, seen from
// line at; where there is none it says so on the page it came from.
func (s *Server) stepInLog(c echo.Context, id int64, find *logFind, step string, at int64) error {
	ctx := c.Request().Context()
	var got logLooked
	var err error
	if step == "prev" {
		got, err = s.lookBack(ctx, id, find, at, 1)
	} else {
		got, err = s.lookFrom(ctx, id, find, at+1, 1)
	}
	switch {
	case err != nil:
		return err
	case len(got.hits) > 0:
		return c.Redirect(http.StatusSeeOther, views.RunFoundPath(id, find.words, got.hits[0].N, logAbove, 0, 0))
	case got.timed && step == "prev":
		return c.Redirect(http.StatusSeeOther, views.RunSearchPath(id, find.words, 0, got.on))
	case got.timed:
		return c.Redirect(http.StatusSeeOther, views.RunSearchPath(id, find.words, got.on, 0))
	}
	return c.Redirect(http.StatusSeeOther, views.RunNoMorePath(id, find.words, at, logAbove, step))
}

// searchInLog fills what the page shows of a search, and says from which line
// on the log is shown; 0 leaves that to the page.
func (s *Server) searchInLog(c echo.Context, id int64, find *logFind, from, before int64) (search *views.LogSearch, show int64, err error) {
	on, back := numberParam(c, "on"), numberParam(c, "back")
	search, err = s.logResults(c.Request().Context(), id, find, on, back)
	if err != nil {
		return nil, 0, err
	}
	search.OnNow, search.BackNow, search.Above = on, back, logAbove
	switch none := c.QueryParam("none"); none {
	case "next":
		search.Step = "There is no later line with these words."
	case "prev":
		search.Step = "There is no earlier line with these words."
	}
	if from == 0 && before == 0 && len(search.Hits) > 0 {
		show = max(1, search.Hits[0].N-logAbove)
	}
	return search, show, nil
}
