package views

import (
	"reflect"
	"strings"
	"testing"
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
		{"control signs are seen", "a\x00b\x7f", []LogSpan{{Text: "a␀b␡", Class: ""}}},
		{"invalid UTF-8", "a\xffb", []LogSpan{{Text: "a\uFFFDb", Class: ""}}},
		{"direction signs are not obeyed", "a\u202eb", []LogSpan{{Text: "a\uFFFDb", Class: ""}}},
		{"broken off", "a\x1b[3", []LogSpan{{Text: "a", Class: ""}}},
		{"A8-04 markup is text", "<b>hi</b>", []LogSpan{{Text: "<b>hi</b>", Class: ""}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var a ANSI
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

func FuzzANSI(f *testing.F) {
	f.Add([]byte("\x1b[38;5;999;;m\x1b]0;"))
	f.Fuzz(func(t *testing.T, line []byte) {
		var a ANSI
		for _, s := range a.Line(line) {
			if strings.ContainsAny(s.Text, "\x1b\r\x00") || strings.ContainsAny(s.Class, "\"<>") {
				t.Errorf("%q made %+v", line, s)
			}
		}
	})
}
