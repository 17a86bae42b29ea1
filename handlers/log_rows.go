package handlers

import (
	"fmt"

	"donewhen/engine"
	"donewhen/views"
)

// logRows makes the lines that a page shows, one after the other: a colour goes
// on in the next line, and a line that says the same as the one before is told.
type logRows struct {
	ansi views.ANSI
	find *logFind // nil when nothing is looked for
	said string   // what the line before says
	any  bool     // there was one
}

// line is a line as the page shows it.
func (r *logRows) line(l engine.LogLine) views.LogLine {
	data := l.Data
	if len(data) > logLineSeen {
		text, _ := cutText(string(data), logLineSeen)
		data = []byte(text)
	}
	out := views.LogLine{N: l.N, Spans: r.ansi.Line(data), Partial: l.Partial}
	if !l.Partial && l.Dropped == 0 {
		r.folds(&out)
	} else {
		r.any = false
	}
	out.Spans, out.Hit = r.find.mark(out.Spans)
	if l.Size > len(data) {
		out.Short = fmt.Sprintf(" … a line of %s, shortened. The download has all of it.", views.ByteSize(int64(l.Size)))
	}
	if l.Dropped > 0 {
		out.Dropped = fmt.Sprintf("%s were dropped here.", views.ByteSize(l.Dropped))
	}
	return out
}

// folds says what the line is to the folds of the page.
func (r *logRows) folds(l *views.LogLine) {
	said := views.SpanText(l.Spans)
	l.Group, l.GroupEnd = views.LogGroup(said)
	key := views.LogSaid(said)
	l.Same = r.any && key == r.said && l.Group == "" && !l.GroupEnd
	r.said, r.any = key, true
}
