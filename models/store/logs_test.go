package store_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"donewhen/models/store"
)

func openLogs(t *testing.T, path string, o store.LogOptions) *store.Logs {
	t.Helper()
	l, err := store.OpenLogs(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func newLogs(t *testing.T) *store.Logs {
	t.Helper()
	return openLogs(t, filepath.Join(t.TempDir(), "logs.db"), store.LogOptions{})
}

func openWriter(t *testing.T, l *store.Logs, run int64) *store.LogWriter {
	t.Helper()
	w, err := l.Writer(run)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func mustWrite(t *testing.T, w io.Writer, data string) {
	t.Helper()
	if n, err := io.WriteString(w, data); err != nil || n != len(data) {
		t.Fatalf("wrote %d of %d bytes: %v", n, len(data), err)
	}
}

func lines(t *testing.T, l *store.Logs, run, from int64, n int) []store.LogLine {
	t.Helper()
	got, err := l.Lines(t.Context(), run, from, n)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func raw(t *testing.T, l *store.Logs, run int64) string {
	t.Helper()
	var b strings.Builder
	if err := l.Raw(t.Context(), run, &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func info(t *testing.T, l *store.Logs, run int64) store.LogInfo {
	t.Helper()
	i, err := l.Info(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// until polls a condition that another goroutine brings about.
func until(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("did not happen: " + what)
		}
	}
}

func TestA6_02_LongLineIsShortenedAndKeptWhole(t *testing.T) {
	l := newLogs(t)
	long := strings.Repeat("xyzzy", 1<<20) // 5 MB
	w := openWriter(t, l, 1)
	mustWrite(t, w, "one\n"+long+"\ntwo\n")
	check := func(state string) {
		t.Helper()
		got := lines(t, l, 1, 1, 100)
		if len(got) != 3 {
			t.Fatalf("%s: %d lines, want 3", state, len(got))
		}
		if string(got[0].Data) != "one" || string(got[2].Data) != "two" || got[2].N != 3 {
			t.Errorf("%s: first %q, third %d %q", state, got[0].Data, got[2].N, got[2].Data)
		}
		if got[1].Size != len(long) || len(got[1].Data) != 8<<10 || !strings.HasPrefix(long, string(got[1].Data)) || got[1].Cut {
			t.Errorf("%s: the long line has size %d, %d bytes shown, cut %v", state, got[1].Size, len(got[1].Data), got[1].Cut)
		}
		if last := lines(t, l, 1, -1, 1); len(last) != 1 || string(last[0].Data) != "two" {
			t.Errorf("%s: last line %+v", state, last)
		}
		if two := lines(t, l, 1, 3, 5); len(two) != 1 || string(two[0].Data) != "two" {
			t.Errorf("%s: from line 3: %+v", state, two)
		}
		if raw(t, l, 1) != "one\n"+long+"\ntwo\n" {
			t.Errorf("%s: raw differs", state)
		}
	}
	check("while it runs")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	check("when it has ended")
}

func TestA6_02_ShortenedOnARuneBoundary(t *testing.T) {
	l := newLogs(t)
	w := openWriter(t, l, 1)
	mustWrite(t, w, "a"+strings.Repeat("é", 8<<10)+"\n")
	got := lines(t, l, 1, 1, 1)[0]
	if want := "a" + strings.Repeat("é", 4095); string(got.Data) != want {
		t.Errorf("%d bytes shown, want %d", len(got.Data), len(want))
	}
}

func TestA6_03_BinaryOutput(t *testing.T) {
	l := newLogs(t)
	noise := make([]byte, 2000)
	_, _ = rand.Read(noise)
	w := openWriter(t, l, 1)
	mustWrite(t, w, string(noise)+"\nafter\n")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := raw(t, l, 1); got != string(noise)+"\nafter\n" {
		t.Error("bytes were changed")
	}
	if got := lines(t, l, 1, -1, 1); len(got) != 1 || string(got[0].Data) != "after" {
		t.Errorf("last line %+v", got)
	}
}

// The output of a real process, read the way the runner does it.
func TestA6_08_NoFinalLineBreak100Times(t *testing.T) {
	l := newLogs(t)
	for run := range int64(100) {
		w := openWriter(t, l, run)
		cmd := exec.Command("sh", "-c", "seq 1 5000; printf 'the end'")
		cmd.Stdout = w
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		if run == 0 {
			if got := lines(t, l, run, -1, 1); len(got) != 1 || !got[0].Partial {
				t.Errorf("while the writer is open the last line is partial: %+v", got)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if i := info(t, l, run); i.Lines != 5001 || i.Open {
			t.Fatalf("run %d: %+v", run, i)
		}
		got := lines(t, l, run, -1, 2)
		if len(got) != 2 || string(got[0].Data) != "5000" || string(got[1].Data) != "the end" || got[1].N != 5001 || got[1].Partial {
			t.Fatalf("run %d: %+v", run, got)
		}
	}
}

func TestA6_17_LineIsReadableWhenWritten(t *testing.T) {
	l := newLogs(t)
	w := openWriter(t, l, 1)
	mustWrite(t, w, "first\n")
	if got := lines(t, l, 1, 1, 10); len(got) != 1 || string(got[0].Data) != "first" || got[0].Partial {
		t.Fatalf("%+v", got)
	}
	mustWrite(t, w, "sec")
	if got := lines(t, l, 1, 2, 10); len(got) != 1 || string(got[0].Data) != "sec" || !got[0].Partial {
		t.Fatalf("%+v", got)
	}
	mustWrite(t, w, "ond\n")
	if got := lines(t, l, 1, 2, 10); len(got) != 1 || string(got[0].Data) != "second" || got[0].Partial {
		t.Fatalf("%+v", got)
	}
	if i := info(t, l, 1); i != (store.LogInfo{Bytes: 13, Lines: 2, Open: true}) {
		t.Errorf("%+v", i)
	}
}

func TestA8_03_LinesContinueAfterTheLastOneSeen(t *testing.T) {
	l := newLogs(t)
	w := openWriter(t, l, 1)
	var seen []string
	next := int64(1)
	take := func() {
		for _, line := range lines(t, l, 1, next, 100) {
			seen, next = append(seen, string(line.Data)), line.N+1
		}
	}
	for i := 1; i <= 20; i++ {
		mustWrite(t, w, fmt.Sprintf("line %d\n", i))
		if i == 7 || i == 12 {
			take()
		}
	}
	_ = w.Close()
	take()
	for i, line := range seen {
		if line != fmt.Sprintf("line %d", i+1) {
			t.Errorf("event %d is %q", i+1, line)
		}
	}
	if len(seen) != 20 {
		t.Errorf("%d events", len(seen))
	}
}

func TestA8_05_LinesOfOneWriteAreSingle(t *testing.T) {
	l := newLogs(t)
	w := openWriter(t, l, 1)
	mustWrite(t, w, "a\nb\nc\n")
	got := lines(t, l, 1, 1, 10)
	if len(got) != 3 || string(got[0].Data) != "a" || string(got[1].Data) != "b" || string(got[2].Data) != "c" {
		t.Errorf("%+v", got)
	}
}

func TestLogWaitWakesWithoutPolling(t *testing.T) {
	l := newLogs(t)
	wait := func(seen int64) chan error {
		c := make(chan error, 1)
		go func() { c <- l.Wait(t.Context(), 1, seen) }()
		return c
	}
	quiet := func(c chan error) {
		t.Helper()
		select {
		case err := <-c:
			t.Fatalf("returned too early: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	woken := func(c chan error) {
		t.Helper()
		select {
		case err := <-c:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("not woken")
		}
	}
	c := wait(0)
	quiet(c) // no log yet
	w := openWriter(t, l, 1)
	quiet(c) // nothing in it
	mustWrite(t, w, "x")
	woken(c)
	woken(wait(0))
	c = wait(1)
	quiet(c)
	_ = w.Close()
	woken(c)
	woken(wait(100)) // closed: nothing more will come

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Wait(ctx, 2, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}

func TestLogConcurrentReadersSeeEveryByteOnce(t *testing.T) {
	l := newLogs(t)
	const total = 120_000
	w := openWriter(t, l, 1)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { // follows by lines, as a live page does
			next, seen := int64(1), int64(0)
			for next <= total {
				if err := l.Wait(t.Context(), 1, seen); err != nil {
					t.Error(err)
					return
				}
				i, _ := l.Info(t.Context(), 1)
				seen = i.Bytes
				for {
					got, err := l.Lines(t.Context(), 1, next, 1000)
					if err != nil {
						t.Error(err)
						return
					}
					full := got
					if len(got) > 0 && got[len(got)-1].Partial {
						full = got[:len(got)-1]
					}
					for _, line := range full {
						if want := fmt.Sprintf("line %d %s", next, strings.Repeat("-", int(next%90))); line.N != next || string(line.Data) != want {
							t.Errorf("line %d: %d %q", next, line.N, line.Data)
							return
						}
						next++
					}
					if len(full) < 1000 {
						break
					}
				}
			}
		})
	}
	wg.Go(func() { // downloads while it grows
		for range 10 {
			pr, pw := io.Pipe()
			go func() { _ = pw.CloseWithError(l.Raw(t.Context(), 1, pw)) }()
			n := 0
			for sc := bufio.NewScanner(pr); sc.Scan(); {
				n++
				if want := fmt.Sprintf("line %d ", n); !strings.HasPrefix(sc.Text(), want) && !strings.HasPrefix(want, sc.Text()) {
					t.Errorf("line %d: %q", n, sc.Text())
					return
				}
			}
		}
	})
	out := bufio.NewWriterSize(w, 1<<10)
	for i := 1; i <= total; i++ {
		fmt.Fprintf(out, "line %d %s\n", i, strings.Repeat("-", i%90))
		if i%20_000 == 0 { // several flushes, so that readers meet both sides
			_ = out.Flush()
			time.Sleep(250 * time.Millisecond)
		}
	}
	_ = out.Flush()
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if i := info(t, l, 1); i.Lines != total {
		t.Errorf("%+v", i)
	}
}

func TestLogCapKeepsHeadAndTailAndSaysSo(t *testing.T) {
	const head, tail = 600_000, 1_000_000
	l := openLogs(t, filepath.Join(t.TempDir(), "logs.db"), store.LogOptions{Head: head, Tail: tail})
	w := openWriter(t, l, 1)
	var all bytes.Buffer
	const total = 200_000
	for i := 1; i <= total; i++ {
		fmt.Fprintf(&all, "line %d of the long output\n", i)
	}
	if _, err := w.Write(all.Bytes()); err != nil {
		t.Fatal(err)
	}
	check := func(state string) {
		t.Helper()
		i := info(t, l, 1)
		if i.Bytes != int64(all.Len()) || i.Lines != total || !i.Cut {
			t.Fatalf("%s: %+v", state, i)
		}
		if kept := i.Bytes - i.CutBytes; kept < head+tail || kept > head+tail+256<<10 {
			t.Errorf("%s: kept %d bytes", state, kept)
		}
		got := raw(t, l, 1)
		before, after, found := strings.Cut(got, store.LogCutMark(i.CutBytes))
		if !found || before != all.String()[:head] || !strings.HasSuffix(all.String(), after) || len(before)+len(after) != int(i.Bytes-i.CutBytes) {
			t.Errorf("%s: raw: mark %v, %d and %d bytes around it", state, found, len(before), len(after))
		}
		// Going through all lines: numbers stay true on both sides of the gap.
		n, cuts, dropped := 0, 0, int64(0)
		for next := int64(1); ; {
			page := lines(t, l, 1, next, 3000)
			if len(page) == 0 {
				break
			}
			for _, line := range page {
				n++
				if line.Cut {
					cuts++
					dropped += line.Dropped
				} else if want := fmt.Sprintf("line %d of the long output", line.N); string(line.Data) != want {
					t.Fatalf("%s: line %d is %q", state, line.N, line.Data)
				}
				next = line.N + 1
			}
		}
		if cuts != 2 || dropped != i.CutBytes || n >= total {
			t.Errorf("%s: %d lines touch the gap, %d bytes dropped by lines, %d lines", state, cuts, dropped, n)
		}
		if inGap := lines(t, l, 1, total/2, 1); len(inGap) != 1 || !inGap[0].Cut || inGap[0].N <= total/2 {
			t.Errorf("%s: a line in the gap gives the next one there is: %+v", state, inGap)
		}
		data, cut, err := l.Tail(t.Context(), 1, 100)
		if err != nil || !cut || string(data) != all.String()[all.Len()-100:] {
			t.Errorf("%s: tail %q %v %v", state, data, cut, err)
		}
		data, cut, err = l.Tail(t.Context(), 1, 1<<30)
		if err != nil || !cut || string(data) != after {
			t.Errorf("%s: the whole tail has %d bytes %v %v", state, len(data), cut, err)
		}
	}
	until(t, "the middle is dropped", func() bool { return info(t, l, 1).CutBytes >= int64(all.Len())-head-tail-256<<10 })
	check("while it is written")
	if _, cut := w.Stats(); !cut {
		t.Error("Stats does not say that it is cut")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	check("at the end")
}

func TestLogCapInsideOneLine(t *testing.T) {
	l := openLogs(t, filepath.Join(t.TempDir(), "logs.db"), store.LogOptions{Head: 1000, Tail: 1000})
	w := openWriter(t, l, 1)
	long := strings.Repeat("x", 3<<20)
	mustWrite(t, w, "a\n"+long+"\nb\n")
	_ = w.Close()
	i := info(t, l, 1)
	got := lines(t, l, 1, 1, 10)
	if len(got) != 3 || !got[1].Cut || got[1].Size != len(long) || got[1].Dropped != i.CutBytes || string(got[2].Data) != "b" || got[2].N != 3 || got[2].Cut {
		t.Errorf("%d lines of %+v", len(got), i)
	}
}

func TestLogHeadTail(t *testing.T) {
	l := newLogs(t)
	w := openWriter(t, l, 1)
	mustWrite(t, w, "begin "+strings.Repeat("é", 1000)+" end")
	data, cut, err := l.HeadTail(t.Context(), 1, 5000)
	if err != nil || cut || string(data) != raw(t, l, 1) {
		t.Errorf("fits: %d bytes, %v %v", len(data), cut, err)
	}
	data, cut, err = l.HeadTail(t.Context(), 1, 101)
	if err != nil || !cut {
		t.Fatal(cut, err)
	}
	want := "begin " + strings.Repeat("é", 22) + store.LogCutMark(2010-50-50) + strings.Repeat("é", 23) + " end"
	if string(data) != want {
		t.Errorf("got  %q\nwant %q", data, want)
	}
	for _, n := range []int64{0, -1} {
		if data, cut, err := l.HeadTail(t.Context(), 1, n); err != nil || !cut || string(data) != store.LogCutMark(2010) {
			t.Errorf("max %d: %q %v %v", n, data, cut, err)
		}
	}
	if data, cut, err := l.HeadTail(t.Context(), 77, 100); err != nil || cut || len(data) > 0 {
		t.Errorf("no log: %q %v %v", data, cut, err)
	}
}

func TestLogSmallChunksAreMergedAndLogContinues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs.db")
	l := openLogs(t, path, store.LogOptions{})
	var want strings.Builder
	for part := range 3 { // each time continued
		w := openWriter(t, l, 1)
		if _, err := l.Writer(1); err == nil {
			t.Fatal("two writers for one run")
		}
		for i := range 3 {
			text := fmt.Sprintf("part %d.%d ", part, i)
			mustWrite(t, w, text)
			want.WriteString(text)
			until(t, "a flush", func() bool { return store.FlushedBytes(l, 1) == int64(want.Len()) })
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal("closing again: ", err)
		}
		if _, err := w.Write([]byte("x")); err == nil {
			t.Error("a closed writer takes more")
		}
		if got := store.ChunkCount(l, 1); got != 1 {
			t.Errorf("%d chunks after the merge", got)
		}
	}
	if got := raw(t, l, 1); got != want.String() {
		t.Errorf("got  %q\nwant %q", got, want.String())
	}
}

func TestLogEmpty(t *testing.T) {
	l := newLogs(t)
	if i := info(t, l, 5); i != (store.LogInfo{}) {
		t.Errorf("no log: %+v", i)
	}
	w := openWriter(t, l, 5)
	_ = w.Close()
	if got := lines(t, l, 5, -1, 10); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	if err := l.Wait(t.Context(), 5, 0); err != nil { // closed: must not hang
		t.Error(err)
	}
}

// A killed process leaves everything up to its last flush, and the log goes on.
func TestLogAfterACrash(t *testing.T) {
	if path := os.Getenv("DONEWHEN_CRASH_LOG"); path != "" {
		writeUntilKilled(t, path)
	}
	path := filepath.Join(t.TempDir(), "logs.db")
	cmd := exec.Command(os.Args[0], "-test.run=^TestLogAfterACrash$", "-test.v")
	cmd.Env = append(os.Environ(), "DONEWHEN_CRASH_LOG="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	flushed := false
	for sc := bufio.NewScanner(out); sc.Scan(); {
		if strings.Contains(sc.Text(), "FLUSHED") {
			flushed = true
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	if !flushed {
		t.Fatal("the helper did not get as far as its flush")
	}
	l := openLogs(t, path, store.LogOptions{})
	i := info(t, l, 1)
	if i.Open || i.Bytes < 1_000_000 {
		t.Fatalf("%+v", i)
	}
	if err := l.Wait(t.Context(), 1, i.Bytes); err != nil {
		t.Error(err)
	}
	before := raw(t, l, 1)
	if int64(len(before)) != i.Bytes || strings.Trim(before, "x\n") != "" {
		t.Fatalf("%d bytes of %d", len(before), i.Bytes)
	}
	w := openWriter(t, l, 1)
	mustWrite(t, w, "\nafter the crash\n")
	_ = w.Close()
	if got := raw(t, l, 1); got != before+"\nafter the crash\n" {
		t.Error("the continued log differs")
	}
	if got := lines(t, l, 1, -1, 1); string(got[0].Data) != "after the crash" || got[0].N != info(t, l, 1).Lines {
		t.Errorf("%+v", got)
	}
}

// writeUntilKilled is the process that TestLogAfterACrash kills.
func writeUntilKilled(t *testing.T, path string) {
	l, err := store.OpenLogs(t.Context(), path, store.LogOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := l.Writer(1)
	if err != nil {
		t.Fatal(err)
	}
	line := []byte(strings.Repeat("x", 99) + "\n")
	for i := 0; ; i++ {
		if _, err := w.Write(line); err != nil {
			t.Fatal(err)
		}
		if i%10_000 == 0 && store.FlushedBytes(l, 1) > 1_000_000 {
			fmt.Println("FLUSHED")
		}
	}
}

func TestLogsCloseFlushesOpenWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs.db")
	l := openLogs(t, path, store.LogOptions{})
	w := openWriter(t, l, 1)
	mustWrite(t, w, "last words")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Writer(2); err == nil {
		t.Error("a closed store opens a writer")
	}
	l = openLogs(t, path, store.LogOptions{})
	if got := raw(t, l, 1); got != "last words" {
		t.Errorf("%q", got)
	}
}

func TestLogFileOfANewerProgramIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs.db")
	l := openLogs(t, path, store.LogOptions{})
	store.SetLogsVersion(l, 99)
	_ = l.Close()
	if _, err := store.OpenLogs(t.Context(), path, store.LogOptions{}); err == nil || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("%v", err)
	}
}

func BenchmarkLogCapture(b *testing.B) {
	l, err := store.OpenLogs(b.Context(), filepath.Join(b.TempDir(), "logs.db"), store.LogOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	w, err := l.Writer(1)
	if err != nil {
		b.Fatal(err)
	}
	var part bytes.Buffer
	for i := 0; part.Len() < 1<<20; i++ {
		fmt.Fprintf(&part, "2026-01-02 03:04:05 INFO step %d of the build took %d ms\n", i, i*7%1000)
	}
	b.SetBytes(int64(part.Len()))
	for b.Loop() {
		if _, err := w.Write(part.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
