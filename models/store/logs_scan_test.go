package store_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"donewhen/models/store"
)

// scanned is what Scan hands out, with copies of the lines.
func scanned(t *testing.T, l *store.Logs, from, end int64) []store.LogLine {
	t.Helper()
	var out []store.LogLine
	if err := l.Scan(t.Context(), 1, from, end, func(line store.LogLine) bool {
		line.Data = bytes.Clone(line.Data)
		out = append(out, line)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// Scan and Lines give the same lines under the same numbers: with the middle
// dropped, while the writer is open and when it is closed.
func TestScanGivesTheLinesThatLinesGives(t *testing.T) {
	l := openLogs(t, filepath.Join(t.TempDir(), "logs.db"), store.LogOptions{Head: 400 << 10, Tail: 600 << 10})
	w := openWriter(t, l, 1)
	var part strings.Builder
	for i := 1; i <= 60_000; i++ {
		fmt.Fprintf(&part, "line %d %s\n", i, strings.Repeat("x", i%90))
		if i%997 == 0 {
			part.WriteByte('\n')
		}
		if i%500 == 0 {
			mustWrite(t, w, part.String())
			part.Reset()
		}
	}
	mustWrite(t, w, "without an end")
	check := func(state string) {
		t.Helper()
		// The middle is dropped in the background: what is compared must not change meanwhile.
		kept := func() int64 { i := info(t, l, 1); return i.Bytes - i.CutBytes }
		until(t, "the middle is dropped", func() bool { return kept() <= 400<<10+600<<10+256<<10 })
		var all []store.LogLine
		for from := int64(1); ; {
			part := lines(t, l, 1, from, 5000)
			if len(part) == 0 {
				break
			}
			all = append(all, part...)
			from = part[len(part)-1].N + 1
		}
		same := func(got, want []store.LogLine) {
			t.Helper()
			filled := want[:0:0]
			for _, line := range want {
				if line.Size > 0 { // an empty line has nothing to be found
					filled = append(filled, line)
				}
			}
			kept := got[:0:0]
			for _, line := range got {
				if line.Size > 0 {
					kept = append(kept, line)
				}
			}
			if len(kept) != len(filled) {
				t.Fatalf("%s: %d lines, want %d", state, len(kept), len(filled))
			}
			for i := range filled {
				if kept[i].N != filled[i].N || !bytes.Equal(kept[i].Data, filled[i].Data) {
					t.Fatalf("%s: %d %q, want %d %q", state, kept[i].N, kept[i].Data, filled[i].N, filled[i].Data)
				}
			}
		}
		same(scanned(t, l, 1, 0), all)
		for _, at := range []int{1, 300, 5_000, len(all) - 3_000, len(all) - 1} {
			same(scanned(t, l, all[at].N, 0), all[at:])
			end := min(at+100, len(all)-1)
			same(scanned(t, l, all[at].N, all[end].N), all[at:end])
		}
	}
	check("while it runs")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	check("when it has ended")

	n := 0
	if err := l.Scan(t.Context(), 1, 1, 0, func(store.LogLine) bool { n++; return n < 7 }); err != nil || n != 7 {
		t.Errorf("%d lines after being told to stop, %v", n, err)
	}
	if got := scanned(t, l, 1<<40, 0); len(got) != 0 {
		t.Errorf("behind the end: %d lines", len(got))
	}
}

// A line of any length costs what is handed out of it, and says its size.
func TestScanBoundsALongLine(t *testing.T) {
	l := newLogs(t)
	w := openWriter(t, l, 1)
	mustWrite(t, w, "one\n"+strings.Repeat("y", 5<<20)+"\ntwo")
	got := scanned(t, l, 1, 0)
	if len(got) != 3 || len(got[1].Data) != 1<<20 || got[1].Size != 5<<20 || string(got[2].Data) != "two" || got[2].N != 3 {
		t.Fatalf("%d lines, %d bytes of %d", len(got), len(got[1].Data), got[1].Size)
	}
}

// Going through a log of 1 GB must not load it: MB-more is the heap beyond what
// was in use before.
func BenchmarkScan(b *testing.B) {
	l, err := store.OpenLogs(b.Context(), filepath.Join(b.TempDir(), "logs.db"), store.LogOptions{Head: 1 << 30, Tail: 1 << 30})
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
	const size = 1 << 30
	for range size >> 20 {
		if _, err := w.Write(part.Bytes()); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	b.SetBytes(size)
	most := uint64(0)
	for b.Loop() {
		n := 0
		if err := l.Scan(b.Context(), 1, 1, 0, func(store.LogLine) bool {
			if n++; n%1_000_000 == 0 {
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapInuse)
			}
			return true
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(most-min(most, before.HeapInuse))/(1<<20), "MB-more")
}
