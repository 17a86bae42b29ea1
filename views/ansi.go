package views

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// LogSpan is a piece of a log line in one colour. Class is "" for plain text.
type LogSpan struct {
	Text, Class string
	Hit         bool // it has the words that are looked for
}

// SpanText is the text of spans without their colours.
func SpanText(spans []LogSpan) string {
	if len(spans) == 1 {
		return spans[0].Text
	}
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// ANSI turns the bytes of log lines into spans. It keeps the colour that one
// line leaves on for the next; the zero ANSI begins plain. Colours become
// classes of the style sheet, never style attributes: the 256 and the true
// colours are brought to the nearest of the 16, whose contrast is known.
// Everything else that a terminal would obey (cursor moves, titles, links) is
// left out; other control signs are shown as what they are.
type ANSI struct {
	fg, bg int8 // 1..16, 0 = the page's own
	style  uint8
	plain  bool // colours are left out
}

// PlainLine is the text of a line as Line shows it, without its colours.
func PlainLine(raw []byte) string {
	a := ANSI{plain: true}
	return SpanText(a.Line(raw))
}

const (
	ansiBold uint8 = 1 << iota
	ansiDim
	ansiItalic
	ansiUnderline
	ansiStrike
	ansiInverse
	ansiHidden
)

// Line renders one line, given without its line break. Of a line that was
// overwritten (a progress bar) the last state is shown. It takes time in
// proportion to the line, whatever is in it: a run writes what it likes.
func (a *ANSI) Line(raw []byte) []LogSpan {
	raw = bytes.TrimRight(raw, "\r")
	var out []LogSpan
	var text []byte
	class := a.class()
	flush := func() {
		if len(text) > 0 {
			out = append(out, LogSpan{Text: string(text), Class: class})
			text = text[:0]
		}
	}
	for len(raw) > 0 {
		c := raw[0]
		switch {
		case c == 0x1b:
			n, sgr, ok := escape(raw)
			raw = raw[n:]
			if ok && !a.plain {
				flush()
				a.apply(sgr)
				class = a.class()
			}
			continue
		case c == '\r':
			text, out = text[:0], nil
		case c == '\b':
			if len(text) > 0 {
				_, n := utf8.DecodeLastRune(text)
				text = text[:len(text)-n]
			} else {
				out = withoutLast(out)
			}
		case c == '\t':
			text = append(text, c)
		case c < 0x20:
			text = utf8.AppendRune(text, rune(0x2400+int(c))) // the picture of the control sign
		case c == 0x7f:
			text = utf8.AppendRune(text, 0x2421)
		default:
			r, n := utf8.DecodeRune(raw)
			text = utf8.AppendRune(text, visible(r))
			raw = raw[n:]
			continue
		}
		raw = raw[1:]
	}
	flush()
	return out
}

// withoutLast takes the last sign off the spans.
func withoutLast(spans []LogSpan) []LogSpan {
	last := len(spans) - 1
	if last < 0 {
		return nil
	}
	s := &spans[last].Text
	_, n := utf8.DecodeLastRuneInString(*s)
	if *s = (*s)[:len(*s)-n]; *s == "" {
		spans = spans[:last]
	}
	return spans
}

// visible replaces what would make a line look different from what it is: the
// signs that turn the reading direction around.
func visible(r rune) rune {
	if r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f {
		return utf8.RuneError
	}
	return r
}

// escape measures the escape sequence at the start of p; ok says that it sets
// colours, by the numbers sgr.
func escape(p []byte) (n int, sgr string, ok bool) {
	if len(p) < 2 {
		return len(p), "", false
	}
	switch p[1] {
	case '[': // CSI: parameters, then one final sign
		for i := 2; i < len(p); i++ {
			if c := p[i]; c >= 0x40 && c <= 0x7e {
				return i + 1, string(p[2:i]), c == 'm'
			} else if c < 0x20 || c > 0x7e {
				return i, "", false // broken off
			}
		}
		return len(p), "", false
	case ']', 'P', '_', '^', 'X': // OSC and the like: up to BEL or ESC \
		for i := 2; i < len(p); i++ {
			if p[i] == 0x07 {
				return i + 1, "", false
			}
			if p[i] == 0x1b {
				if i+1 < len(p) && p[i+1] == '\\' {
					return i + 2, "", false
				}
				return i, "", false
			}
		}
		return len(p), "", false
	case '(', ')', '*', '+', '#', '%':
		return min(3, len(p)), "", false
	default:
		return 2, "", false
	}
}

func (a *ANSI) apply(sgr string) {
	codes := strings.FieldsFunc(sgr, func(r rune) bool { return r == ';' || r == ':' })
	if len(codes) == 0 {
		*a = ANSI{}
	}
	for i := 0; i < len(codes); i++ {
		n, err := strconv.Atoi(codes[i])
		if err != nil {
			continue
		}
		switch {
		case n == 0:
			*a = ANSI{}
		case n == 1:
			a.style |= ansiBold
		case n == 2:
			a.style |= ansiDim
		case n == 3:
			a.style |= ansiItalic
		case n == 4 || n == 21:
			a.style |= ansiUnderline
		case n == 7:
			a.style |= ansiInverse
		case n == 8:
			a.style |= ansiHidden
		case n == 9:
			a.style |= ansiStrike
		case n == 22:
			a.style &^= ansiBold | ansiDim
		case n == 23:
			a.style &^= ansiItalic
		case n == 24:
			a.style &^= ansiUnderline
		case n == 27:
			a.style &^= ansiInverse
		case n == 28:
			a.style &^= ansiHidden
		case n == 29:
			a.style &^= ansiStrike
		case n >= 30 && n <= 37:
			a.fg = int8(n - 29)
		case n >= 90 && n <= 97:
			a.fg = int8(n - 81)
		case n == 39:
			a.fg = 0
		case n >= 40 && n <= 47:
			a.bg = int8(n - 39)
		case n >= 100 && n <= 107:
			a.bg = int8(n - 91)
		case n == 49:
			a.bg = 0
		case n == 38 || n == 48:
			colour, used := extended(codes[i+1:])
			i += used
			if n == 38 {
				a.fg = colour
			} else {
				a.bg = colour
			}
		}
	}
}

// extended reads what follows 38 or 48: 5;N or 2;R;G;B.
func extended(codes []string) (colour int8, used int) {
	num := func(i int) int {
		if i >= len(codes) {
			return 0
		}
		n, _ := strconv.Atoi(codes[i])
		return min(max(n, 0), 255)
	}
	switch num(0) {
	case 5:
		n := num(1)
		switch {
		case n < 16:
			return int8(n + 1), 2
		case n < 232:
			step := [6]int{0, 95, 135, 175, 215, 255}
			n -= 16
			return nearest(step[n/36], step[n/6%6], step[n%6]), 2
		default:
			grey := 8 + 10*(n-232)
			return nearest(grey, grey, grey), 2
		}
	case 2:
		return nearest(num(1), num(2), num(3)), 4
	default:
		return 0, len(codes)
	}
}

// ansiPalette is the 16 colours as terminals show them.
var ansiPalette = [16][3]int{
	{0, 0, 0}, {205, 0, 0}, {0, 205, 0}, {205, 205, 0}, {0, 0, 238}, {205, 0, 205}, {0, 205, 205}, {229, 229, 229},
	{127, 127, 127}, {255, 0, 0}, {0, 255, 0}, {255, 255, 0}, {92, 92, 255}, {255, 0, 255}, {0, 255, 255}, {255, 255, 255},
}

func nearest(r, g, b int) int8 {
	best, at := 1<<30, 0
	for i, p := range ansiPalette {
		if d := (r-p[0])*(r-p[0]) + (g-p[1])*(g-p[1]) + (b-p[2])*(b-p[2]); d < best {
			best, at = d, i
		}
	}
	return int8(at + 1)
}

// Classes of the 16 colours: text that is readable on the page's ground, light
// and dark, and tints for backgrounds. Black and white are the page's own.
var (
	ansiText = [17]string{"",
		"", "text-red-700 dark:text-red-400", "text-green-700 dark:text-green-400", "text-yellow-800 dark:text-yellow-400",
		"text-blue-700 dark:text-blue-400", "text-fuchsia-700 dark:text-fuchsia-400", "text-cyan-800 dark:text-cyan-400", "",
		"text-muted-foreground", "text-red-700 dark:text-red-300", "text-green-800 dark:text-green-300", "text-amber-800 dark:text-amber-300",
		"text-indigo-700 dark:text-indigo-300", "text-purple-700 dark:text-purple-300", "text-teal-800 dark:text-teal-300", "",
	}
	ansiGround = [17]string{"",
		"bg-foreground/10", "bg-red-500/15", "bg-green-500/15", "bg-yellow-500/15", "bg-blue-500/15", "bg-fuchsia-500/15", "bg-cyan-500/15", "bg-foreground/10",
		"bg-foreground/10", "bg-red-500/15", "bg-green-500/15", "bg-amber-500/15", "bg-indigo-500/15", "bg-purple-500/15", "bg-teal-500/15", "bg-foreground/10",
	}
)

func (a *ANSI) class() string {
	if *a == (ANSI{}) {
		return ""
	}
	fg, bg := ansiText[a.fg], ansiGround[a.bg]
	if a.style&ansiInverse != 0 {
		fg, bg = "text-background", "bg-foreground"
	}
	parts := make([]string, 0, 6)
	for _, p := range []string{fg, bg} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	for _, s := range []struct {
		bit   uint8
		class string
	}{{ansiBold, "font-bold"}, {ansiDim, "text-muted-foreground"}, {ansiItalic, "italic"}, {ansiUnderline, "underline"}, {ansiStrike, "line-through"}, {ansiHidden, "text-transparent"}} {
		if a.style&s.bit != 0 {
			parts = append(parts, s.class)
		}
	}
	return strings.Join(parts, " ")
}
