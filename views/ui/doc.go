// Package ui has the small components that pages are made of. They are pure:
// what they show comes in as values, time included; they know no routes, no
// database and no request. Structure and colours are Basecoat's and Tailwind's
// classes; every class name stands literally in this folder's sources, where
// the style sheet's build finds it.
//
// The content security policy forbids inline styles and scripts: no component
// renders a style attribute, an on… attribute or a <script>.
package ui

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"
)

// shown reports whether an optional component was given.
func shown(c templ.Component) bool { return c != nil }

// join puts class lists together and leaves empty ones out.
func join(classes ...string) string {
	kept := classes[:0:0]
	for _, c := range classes {
		if c != "" {
			kept = append(kept, c)
		}
	}
	return strings.Join(kept, " ")
}

// Text is a component that is nothing but escaped text, for slots that take a component.
func Text(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, templ.EscapeString(s))
		return err
	})
}
