package runner

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"donewhen/models"

	"pgregory.net/rapid"
)

func TestLineSplitterGivesEveryLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.StringMatching(`[a-z]{0,12}`)).Draw(t, "lines")
		text := strings.Join(lines, "\n")
		var want []string
		for i, line := range lines {
			// Longer than the bound: passed over. The last one has no line break.
			if len(line) <= 8 && (i < len(lines)-1 || line != "") {
				want = append(want, line)
			}
		}
		var got []string
		l := &lineSplitter{max: 8, f: func(b []byte) { got = append(got, string(b)) }}
		for rest := []byte(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			if m, err := l.Write(rest[:n]); m != n || err != nil {
				t.Fatal(m, err)
			}
			rest = rest[n:]
		}
		l.flush()
		if strings.Join(got, "|") != strings.Join(want, "|") || len(got) != len(want) {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

func TestLineSplitterMemoryIsBounded(t *testing.T) {
	n := 0
	l := &lineSplitter{f: func(b []byte) { n++ }}
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	for range 40 {
		_, _ = l.Write(chunk)
		if cap(l.buf) > 3*maxLine {
			t.Fatalf("%d bytes are kept", cap(l.buf))
		}
	}
	_, _ = l.Write([]byte("\nshort\n"))
	if n != 1 || cap(l.buf) > 1<<20 {
		t.Errorf("%d lines, %d bytes kept", n, cap(l.buf))
	}
}

func TestLongLineInAStream(t *testing.T) {
	const result = `{"type":"result","subtype":"success","is_error":false,"result":"fine"}`
	fake := agent(t, testOptions(t), `printf '{"type":"user","x":"'; head -c 5000000 /dev/zero | tr '\0' x; echo '"}'
printf '{"type":"assistant","message":{"content":[{"type":"text","text":"'; head -c 5000000 /dev/zero | tr '\0' y; echo '"}]}}'
head -c 17000000 /dev/zero | tr '\0' z; echo; echo '`+result+`'`, "    output: claude-stream-json\n")
	job, out := newJob(t, "")
	longest := 0
	job.Activity = func(s string) { longest = max(longest, len(s)) }
	o := fake.Run(bg, job)
	want(t, o, models.RunSucceeded)
	if o.FinalMessage != "fine" || len(out.String()) < 27_000_000 || longest == 0 || longest > 210 {
		t.Errorf("message %q, %d bytes of output, longest activity %d", o.FinalMessage, len(out.String()), longest)
	}
}

func TestTail(t *testing.T) {
	for _, c := range []struct {
		name, text string
		limit      int
		want       string
	}{
		{"empty", "", 10, ""},
		{"blank", " \n\t\n\n", 10, ""},
		{"one line", "done", 10, "done"},
		{"blank lines at the end", "a\nb\n\n \n", 10, "a\nb"},
		{"whole lines", "first line\nsecond\n", 10, "second"},
		{"line of exactly the limit", "a\n0123456789\n", 10, "0123456789"},
		{"one long line", "0123456789abc", 10, "3456789abc"},
		{"cut inside a rune", "xxüüüüü", 9, "üüüü"},
		{"bad bytes", "a\xffb", 10, "a\uFFFDb"},
	} {
		tl := newTail(tailSize)
		for i := range len(c.text) {
			_, _ = tl.Write([]byte(c.text[i : i+1]))
		}
		if got := tl.text(c.limit); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	tl := newTail(100)
	for range 1000 {
		_, _ = tl.Write([]byte("some text and a line\n"))
	}
	if cap(tl.buf) > 1000 || !strings.HasSuffix(tl.text(50), "some text and a line") {
		t.Errorf("%d bytes kept, %q", cap(tl.buf), tl.text(50))
	}
}

func TestTextsAreValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOf(rapid.Byte()).Draw(t, "data")
		limit := rapid.IntRange(1, 40).Draw(t, "limit")
		tl := newTail(64)
		_, _ = tl.Write(data)
		if s := tl.text(limit); !utf8.ValidString(s) || len(s) > limit {
			t.Fatalf("%q", s)
		}
		if s := activityLine(string(data)); !utf8.ValidString(s) || strings.Contains(s, "\n") || len(s) > 203 {
			t.Fatalf("%q", s)
		}
	})
}

func TestTeeGivesAllToAll(t *testing.T) {
	var a, b bytes.Buffer
	broken := &full{}
	_, err := tee{&a, nil, broken, &b}.Write([]byte("x"))
	if a.String() != "x" || b.String() != "x" || err == nil || errors.Unwrap(err) != nil {
		t.Errorf("%q %q %v", a.String(), b.String(), err)
	}
}
