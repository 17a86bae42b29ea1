package views

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// Texts in which every blank counts are written here: templates put blanks
// between their expressions.

// LogLineRow is one line of a log; the live stream sends it as it is.
func LogLineRow(l LogLine) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		n := l.number()
		b.WriteString(`<p id="L` + n + `"`)
		if l.Partial {
			b.WriteString(` data-partial`)
		}
		b.WriteString(`><a href="#L` + n + `">` + n + `</a><span>`)
		for _, s := range l.Spans {
			if s.Class == "" {
				b.WriteString(templ.EscapeString(s.Text))
				continue
			}
			b.WriteString(`<span class="` + templ.EscapeString(s.Class) + `">` + templ.EscapeString(s.Text) + `</span>`)
		}
		if l.Short != "" {
			b.WriteString(`<em class="font-sans text-muted-foreground">` + templ.EscapeString(l.Short) + `</em>`)
		}
		b.WriteString(`</span></p>`)
		if l.Dropped != "" {
			b.WriteString(`<div class="px-3 py-1 font-sans text-warn">` + templ.EscapeString(l.Dropped) + `</div>`)
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// matchText is where a criterion was found, with the words around it.
func matchText(r ResultRow) templ.Component {
	m := r.Match
	place := m.Key
	if m.Line > 0 {
		place += ", line " + strconv.Itoa(m.Line)
	}
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, templ.EscapeString(place+": "+m.Before)+
			`<mark class="rounded bg-ok/20 px-0.5 text-foreground">`+templ.EscapeString(m.Text)+`</mark>`+templ.EscapeString(m.After))
		return err
	})
}
