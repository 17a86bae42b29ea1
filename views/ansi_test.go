package views

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestANSILine(t *testing.T) {
	red := ansiText[2]
	for _, tc := range []struct {
		name, in string
		want     []LogSpan
	}{
		{"plain", "ok", []LogSpan{{Text: "ok", Class: ""}}},
		{"empty", "", nil},
		{"colour and reset", "a\x1b[31mb\x1b[0mc", []LogSpan{{Text: "a", Class: ""}, {Text: "b", Class: red}, {Text: "c", Class: ""}}},
		{"empty reset", "\x1b[31mb\x1b[mc", []LogSpan{{Text: "b", Class: red}, {Text: "c", Class: ""}}},
		{"bold red", "\x1b[1;31mb", []LogSpan{{Text: "b", Class: red + " font-bold"}}},
		{"256 colours", "\x1b[38;5;196mx", []LogSpan{{Text: "x", Class: ansiText[10]}}},
		{"true colour", "\x1b[38;2;200;10;10mx", []LogSpan{{Text: "x", Class: red}}},
		{"cursor and title are left out", "\x1b[2K\x1b]0;title\x07x\x1b[1A", []LogSpan{{Text: "x", Class: ""}}},
		{"a link keeps its text", "\x1b]8;;http://a\x1b\\text\x1b]8;;\x1b\\", []LogSpan{{Text: "text", Class: ""}}},
		{"progress", "10%\r50%\r100%\r", []LogSpan{{Text: "100%", Class: ""}}},
		{"backspace", "ab\bc", []LogSpan{{Text: "ac", Class: ""}}},
		{"backspace over a change of colour", "a\x1b[31mbc\x1b[0m\b\b\b\bd", []LogSpan{{Text: "d", Class: ""}}},
		{"backspace over a wide sign", "日\b本", []LogSpan{{Text: "本", Class: ""}}},
		{"control signs are seen", "a\x00b\x7f", []LogSpan{{Text: "a␀b␡", Class: ""}}},
		{"invalid UTF-8", "a\xffb", []LogSpan{{Text: "a\uFFFDb", Class: ""}}},
		{"direction signs are not obeyed", "a\u202eb", []LogSpan{{Text: "a\uFFFDb", Class: ""}}},
		{"broken off", "a\x1b[3", []LogSpan{{Text: "a", Class: ""}}},
		{"A8-04 markup is text", "<b>hi</b>", []LogSpan{{Text: "<b>hi</b>", Class: ""}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var a ANSI
			if got, plain := SpanText(tc.want), PlainLine([]byte(tc.in)); got != plain {
				t.Errorf("plain it is %q, want %q", plain, got)
			}
			if got := a.Line([]byte(tc.in)); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
	var a ANSI
	a.Line([]byte("\x1b[31mred"))
	if got := a.Line([]byte("still")); len(got) != 1 || got[0].Class != red {
		t.Errorf("the colour ended with its line: %+v", got)
	}
}

// hostileLines are lines that a run may write to make a page slow, each with
// the text that is seen in the end.
func hostileLines(size int) map[string][2]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string][2]string{
		"backspaces after a text":   {strings.Repeat("x", size/2) + strings.Repeat("\b", size/2-1), "x"},
		"backspaces over nothing":   {fill("\b") + "end", "end"},
		"a spinner":                 {fill("|\b/\b-\b") + "done", "done"},
		"coloured backspaces":       {strings.Repeat("\x1b[31ma", size/12) + strings.Repeat("\b", size/2) + "end", "end"},
		"a progress bar":            {fill("50%\r") + "100%", "100%"},
		"coloured progress":         {fill("\x1b[32m50%\x1b[m\r") + "100%", "100%"},
		"colours without a text":    {fill("\x1b[m") + "end", "end"},
		"an endless colour":         {"\x1b[" + fill("1;") + "mend", "end"},
		"an endless list of 38":     {"\x1b[" + fill("38;") + "mend", "end"},
		"a title that never ends":   {"end" + "\x1b]" + fill("0"), "end"},
		"titles that never end":     {fill("\x1b]") + "\aend", "end"},
		"sequences that break off":  {fill("\x1b[") + "mend", "end"},
		"an escape and nothing":     {"end" + fill("\x1b"), "end"},
		"signs of many bytes, gone": {fill("日\b") + "end", "end"},
	}
}

func TestANSIHostileLines(t *testing.T) {
	for name, line := range hostileLines(256 << 10) {
		var a ANSI
		if got := SpanText(a.Line([]byte(line[0]))); got != line[1] {
			t.Errorf("%s: %d bytes, ends with %q", name, len(got), got[max(0, len(got)-20):])
		}
	}
}

// BenchmarkANSIHostileLines: what a byte costs must not grow with the line. The
// second figure is how much dearer it is in 1 MiB than in 64 KiB.
func BenchmarkANSIHostileLines(b *testing.B) {
	short := hostileLines(64 << 10)
	for name, long := range hostileLines(1 << 20) {
		b.Run(name, func(b *testing.B) {
			var took [2]time.Duration
			for b.Loop() {
				for i, line := range []string{short[name][0], long[0]} {
					var a ANSI
					raw, began := []byte(line), time.Now()
					a.Line(raw)
					took[i] += time.Since(began) / time.Duration(len(line)>>10)
				}
			}
			b.ReportMetric(float64(took[1])/float64(b.N), "ns/KiB")
			b.ReportMetric(float64(took[1])/float64(max(1, took[0])), "x")
		})
	}
}

func FuzzANSI(f *testing.F) {
	f.Add([]byte("\x1b[38;5;999;;m\x1b]0;"))
	f.Fuzz(func(t *testing.T, line []byte) {
		var a ANSI
		if shown := SpanText(a.Line(line)); shown != PlainLine(line) {
			t.Errorf("%q is shown as %q, and is searched as %q", line, shown, PlainLine(line))
		}
		a = ANSI{}
		for _, s := range a.Line(line) {
			if strings.ContainsAny(s.Text, "\x1b\r\x00") || strings.ContainsAny(s.Class, "\"<>") {
				t.Errorf("%q made %+v", line, s)
			}
		}
	})
}
