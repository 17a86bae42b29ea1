package views

import (
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"donewhen/models"
)

// Texts in which every blank counts are written here: templates put blanks
// between their expressions.

// LogLineRow is one line of a log.
func LogLineRow(l LogLine) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		n := l.number()
		b.WriteString(`<p id="L` + n + `"`)
		for _, mark := range []struct {
			name string
			set  bool
		}{{"data-partial", l.Partial}, {"data-hit", l.Hit}, {"data-same", l.Same}, {"data-group-end", l.GroupEnd}} {
			if mark.set {
				b.WriteString(` ` + mark.name)
			}
		}
		b.WriteString(`><a href="#L` + n + `">` + n + `</a><span>`)
		for _, s := range l.Spans {
			b.WriteString(spanHTML(s))
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

// markClass is the look of words that were looked for.
const markClass = "rounded-sm bg-warn/30 text-foreground"

func spanHTML(s LogSpan) string {
	text := templ.EscapeString(s.Text)
	if s.Hit {
		text = `<mark class="` + markClass + `">` + text + `</mark>`
	}
	if s.Class == "" {
		return text
	}
	return `<span class="` + templ.EscapeString(s.Class) + `">` + text + `</span>`
}

// hitText is a line that was found, with the words marked.
func hitText(h LogHit) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, templ.EscapeString(h.Before)+`<mark class="`+markClass+`">`+templ.EscapeString(h.Text)+`</mark>`+templ.EscapeString(h.After))
		return err
	})
}

// excerptText is where words were found, with the words marked.
func excerptText(e models.Excerpt) templ.Component {
	return hitText(LogHit{Before: e.Before, Text: e.Text, After: e.After})
}

// matchText is where a criterion was found, with the words around it. What cannot
// be seen has marks: it may be what was looked for.
func matchText(r ResultRow) templ.Component {
	m := r.Match
	place := m.Key
	if m.Line > 0 {
		place += ", line " + strconv.Itoa(m.Line)
	}
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		for _, part := range []templ.Component{
			templ.Raw(templ.EscapeString(place + ": ")), shownText(m.Before),
			templ.Raw(`<mark class="rounded bg-ok/20 px-0.5 text-foreground">`), shownText(m.Text), templ.Raw(`</mark>`), shownText(m.After),
		} {
			if err := part.Render(ctx, w); err != nil {
				return err
			}
		}
		return nil
	})
}

// codeLine is a line of a file in its colours, with marks for what cannot be seen.
func codeLine(l DiffLine) templ.Component {
	if l.Parts == nil {
		return codeParts([]CodePart{{Text: l.Text}})
	}
	return codeParts(l.Parts)
}

// shownText is a text or, as name, a file's name with marks for what cannot be seen.
func shownText(text string) templ.Component { return shown(text, false) }
func shownName(name string) templ.Component { return shown(name, true) }

func shown(text string, name bool) templ.Component {
	left := signsInName
	if parts := withMarks(text, "", name, &left); parts != nil {
		return codeParts(parts)
	}
	return codeParts([]CodePart{{Text: text}})
}

func codeParts(parts []CodePart) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for _, p := range parts {
			switch {
			case p.Sign == signPlain:
				b.WriteString(signPlain)
			case p.Sign != "":
				b.WriteString(`<b class="sign" title="` + signTitle(p.Text) + `">` + templ.EscapeString(p.Sign) + `</b>`)
			case p.Class == "":
				b.WriteString(templ.EscapeString(p.Text))
			default:
				b.WriteString(`<span class="` + p.Class + `">` + templ.EscapeString(p.Text) + `</span>`)
			}
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}
