package handlers

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"donewhen/views"
)

// found is what a page says was found: "line: text" of each.
func found(d *goquery.Document) []string {
	return d.Find("[data-log-hit]").Map(func(_ int, s *goquery.Selection) string {
		return s.AttrOr("data-log-hit", "") + ": " + strings.TrimSpace(s.Find("span").Last().Text())
	})
}

func TestLogSearch(t *testing.T) {
	w := newWorks(t, nil)
	run, log := w.aRun(true)
	for i := 1; i <= 3000; i++ {
		switch {
		case i == 700:
			fmt.Fprintln(log, "\x1b[31mFA\x1b[1mIL\x1b[0m: TestExport took 100%_of it")
		case i == 2500:
			fmt.Fprintln(log, "Straße und Ärger, "+hostile)
		case i%20 == 0:
			fmt.Fprintf(log, "Step %d failed\n", i)
		default:
			fmt.Fprintf(log, "line %d\n", i)
		}
	}
	fmt.Fprint(log, "the Last words have no line break")
	path := fmt.Sprintf("/runs/%d", run.ID)
	at := func(query string) *goquery.Document {
		t.Helper()
		a := w.vic.get(path + query)
		want(t, a, http.StatusOK)
		return doc(t, a)
	}
	check := func(state string) {
		t.Helper()
		for query, want := range map[string]string{
			"fail: testexport": "700: FAIL: TestExport took 100%_of it", // colours are left out, capitals do not count
			"FAIL":             "700: FAIL: TestExport took 100%_of it", // unless one is typed
			"Fail":             "",
			"%_":               "700: FAIL: TestExport took 100%_of it",
			".*":               "",
			"ärger":            "2500: Straße und Ärger, " + hostile,
			"last words":       "3001: the Last words have no line break",
			"step 2980 ":       "2980: Step 2980 failed",
		} {
			d := at("?q=" + strings.NewReplacer("%", "%25", " ", "+", "ä", "%C3%A4").Replace(query))
			if got := strings.Join(found(d), "|"); got != want {
				t.Errorf("%s: %q finds %q, want %q", state, query, got, want)
			}
			if d.Find("[data-log-found]").Length() != 1 || !strings.Contains(d.Find("[data-log-found] p").Text(), "The whole log was searched.") {
				t.Errorf("%s: %q does not say that all was searched: %q", state, query, d.Find("[data-log-found]").Text())
			}
			if want != "" && d.Find("[data-log] p[data-hit] mark").Length() == 0 {
				t.Errorf("%s: %q is not marked in the log", state, query)
			}
			if d.Find("main img, main b").Length() != 0 {
				t.Errorf("A8-04: %q made elements", query)
			}
		}
	}
	check("while it runs")
	_ = log.Close()
	check("when it has ended")

	// Pages: on to the end and back, each line once.
	var lines []string
	d, pages := at("?q=failed"), 0
	for ; ; pages++ {
		lines = append(lines, found(d)...)
		next := d.Find(`[data-log-found] a[rel="next"]`)
		if next.Length() == 0 {
			break
		}
		d = at(strings.TrimPrefix(next.AttrOr("href", ""), path))
	}
	if pages != 2 || len(lines) != 148 || lines[0] != "20: Step 20 failed" || lines[147] != "3000: Step 3000 failed" {
		t.Errorf("%d further pages with %d lines, %v", pages, len(lines), lines[:min(3, len(lines))])
	}
	prev := d.Find(`[data-log-found] a[rel="prev"]`).AttrOr("href", "")
	if got := found(at(strings.TrimPrefix(prev, path))); len(got) != 50 || got[49] != lines[99] || got[0] != lines[50] {
		t.Errorf("the page before: %v", got)
	}

	// A result is a stable link: the line is on the page it leads to, marked.
	d = at("?q=failed&on=1700")
	link := d.Find("[data-log-hit]").Eq(3).AttrOr("href", "")
	address, fragment, _ := strings.Cut(link, "#")
	if page := at(strings.TrimPrefix(address, path)); page.Find("#"+fragment+"[data-hit]").Length() != 1 || found(page)[0] != found(d)[0] {
		t.Errorf("%s does not lead to its line, or loses the results", link)
	}

	// Steps without scripts: the next line, the one before, none.
	for query, want := range map[string]string{
		"?q=failed&step=next&at=1700":      "from=1708&q=failed#L1720",
		"?q=failed&step=prev&at=1720":      "from=1688&q=failed#L1700",
		"?q=failed&step=next&at=3000":      "from=2988&none=next&q=failed#L3000",
		"?q=failed&step=prev&at=20":        "from=8&none=prev&q=failed#L20",
		"?q=failed&step=prev&at=1":         "from=1&none=prev&q=failed#L1",
		"?q=ärger&step=prev&at=3000":       "from=2488&q=%C3%A4rger#L2500",
		"?q=failed&step=next&at=999999999": "from=999999987&none=next&q=failed#L999999999",
	} {
		if got := w.vic.get(path + strings.Replace(query, "ä", "%C3%A4", 1)); got.location() != path+"?"+want {
			t.Errorf("%s leads to %s, want %s", query, got.location(), want)
		}
	}
	if said := at("?q=failed&from=2988&none=next").Find("[data-log-found] p").Text(); !strings.Contains(said, "no later line") {
		t.Errorf("%q", said)
	}
	// Nothing to look for is no search.
	for _, query := range []string{"?q=", "?q=++"} {
		if at(query).Find("[data-log-found]").Length() != 0 {
			t.Errorf("%s searches", query)
		}
	}
	// The words stay with the way through the log.
	if href := at("?q=failed&from=1700").Find("[data-log-earlier] a").AttrOr("hx-get", ""); !strings.Contains(href, "q=failed") {
		t.Errorf("earlier lines: %q", href)
	}
	events, stop := w.vic.listen(path + "/log/events?after=2998&q=failed")
	defer stop()
	next(t, events, "line")
	if e := next(t, events, "line"); e.id != "3000" || !strings.Contains(e.data, "data-hit") || !strings.Contains(e.data, "<mark") {
		t.Errorf("a streamed line is not marked: %+v", e)
	}
}

// A search that takes too long says how far it came and goes on from there.
func TestLogSearchStopsInTime(t *testing.T) {
	w := newWorks(t, nil)
	run, log := w.aRun(true)
	for range 90 {
		_, _ = io.WriteString(log, strings.Repeat(strings.Repeat("x", 99)+"\n", 1000))
	}
	fmt.Fprintln(log, "needle")
	_ = log.Close()
	w.srv.LogLook = time.Nanosecond
	path, steps := fmt.Sprintf("/runs/%d?q=needle", run.ID), 0
	for ; steps < 20; steps++ {
		d := doc(t, w.vic.get(path))
		if got := found(d); len(got) == 1 && got[0] == "90001: needle" {
			break
		}
		next := d.Find(`[data-log-found] a[rel="next"]`)
		if text := d.Find("[data-log-found]").Text(); !strings.Contains(text, "Looked at lines") || !strings.Contains(next.Text(), "Search on from line") {
			t.Fatalf("it does not say how far it came: %q", text)
		}
		path = next.AttrOr("href", "")
	}
	if steps < 5 || steps == 20 {
		t.Errorf("%d steps for 9 MB", steps)
	}
	// Backwards the same, down to the beginning, without a step that gets nowhere.
	find := newLogFind("nowhere")
	for before, n := int64(90_001), 0; before > 0; n++ {
		got, err := w.srv.lookBack(t.Context(), run.ID, find, before, 1)
		if err != nil || got.on >= before || n > 10 {
			t.Fatalf("from %d back to %d: %v", before, got.on, err)
		}
		before = got.on
	}
}

// Lines as long as they come, full of signs that a terminal obeys: a look
// backwards reads a few of them at a time, gets on with each request and skips
// nothing.
func TestLogSearchBackOverLongLines(t *testing.T) {
	w := newWorks(t, nil)
	run, log := w.aRun(true)
	var want []int64
	for i := int64(1); i <= 60; i++ {
		switch {
		case i%7 == 0:
			fmt.Fprintln(log, strings.Repeat("x", 600<<10)+strings.Repeat("\b", 600<<10)+"needle")
			want = append(want, i)
		case i%3 == 0:
			fmt.Fprintln(log, strings.Repeat("\b", 300<<10)+"needle")
			want = append(want, i)
		default:
			fmt.Fprintln(log, strings.Repeat("50%\r", int(i)<<10)+"\x1b[31mneedles"+strings.Repeat("\b", 6)+"othing")
		}
	}
	_ = log.Close()
	for i, n := range want { // of a line this long the beginning alone is looked at
		if n%7 == 0 {
			want[i] = 0
		}
	}
	want = slices.DeleteFunc(want, func(n int64) bool { return n == 0 })
	find := newLogFind("needle")
	for _, look := range []time.Duration{time.Hour, time.Nanosecond} {
		w.srv.LogLook = look
		var found []int64
		long := 0
		for before, n := int64(61), 0; before > 0; n++ {
			got, err := w.srv.lookBack(t.Context(), run.ID, find, before, 5)
			if err != nil || got.on >= before || n > 60 {
				t.Fatalf("from %d back to %d: %v", before, got.on, err)
			}
			for i := len(got.hits) - 1; i >= 0; i-- {
				found = append(found, got.hits[i].N)
			}
			before, long = got.on, long+got.long
		}
		slices.Reverse(found)
		if !slices.Equal(found, want) {
			t.Errorf("within %s: lines %v, want %v", look, found, want)
		}
		if long < 8 {
			t.Errorf("within %s: %d lines were looked at in part, want at least 8", look, long)
		}
	}
}

func TestLogFolds(t *testing.T) {
	w := newWorks(t, nil)
	run, log := w.aRun(true)
	fmt.Fprintln(log, "begin\n::group::Install\n\x1b[32madded\x1b[0m 3 packages\n::endgroup::\nbetween")
	for i := range 10 {
		fmt.Fprintf(log, "%d%% of 3.1 MB\n", i*10)
	}
	fmt.Fprintln(log, strings.Repeat("again\n", 4)+"--- a/x.go\n+++ b/x.go\n##[group]Test <b>it</b>\nrunning\n"+strings.Repeat("waiting\n", 9)+"needle")
	_ = log.Close()
	path := fmt.Sprintf("/runs/%d", run.ID)
	d := doc(t, w.vic.get(path))
	shape := func(d *goquery.Document) string {
		return strings.Join(d.Find("[data-log-lines] details").Map(func(_ int, s *goquery.Selection) string {
			_, open := s.Attr("open")
			return fmt.Sprintf("%s %s %v %s %d", s.AttrOr("data-log-fold", ""), s.AttrOr("id", ""), open, strings.TrimSpace(s.Find("summary span").First().Text()), s.Find("p").Length())
		}), "\n")
	}
	// Ended groups are closed, the last one is where the work stopped; diffs are no groups.
	if got, want := shape(d), "group G2 false Install 3\nrepeat R7 false The same again 8\ngroup G22 true Test <b>it</b> 12\nrepeat R25 false The same again 7"; got != want {
		t.Errorf("folds:\n%s\nwant:\n%s", got, want)
	}
	if n := d.Find("[data-log-lines] p").Length(); n != 33 {
		t.Errorf("%d lines, want 33: a fold hides, it never drops", n)
	}
	if d.Find("main b").Length() != 0 {
		t.Error("a group's name makes elements")
	}
	if got := shape(doc(t, w.vic.get(path+"?q=packages"))); !strings.HasPrefix(got, "group G2 true") {
		t.Errorf("a fold with what is looked for is closed:\n%s", got)
	}
	// The stream says what each line is to the folds.
	events, stop := w.vic.listen(path + "/log/events")
	defer stop()
	marks := map[string]string{"2": `data-log-fold="group"`, "4": "data-group-end", "7": "data-same", "22": `data-log-fold="group"`}
	for i := 1; i <= 33; i++ {
		e := next(t, events, "line")
		if mark := marks[e.id]; mark != "" && !strings.Contains(e.data, mark) {
			t.Errorf("line %s: %q", e.id, e.data)
		}
	}
}

func TestLogFindKeepsOffsets(t *testing.T) {
	for _, tc := range []struct {
		words, text string
		want        int
	}{
		{"straße", "İİ STRAßE straße", 2},
		{"x", "XxX", 3},
		{"İ", "aİb", 1}, // a sign whose small letter is longer
		{"aa", "aaaa", 2},
		{"X", "xX", 1},
	} {
		spans, hit := newLogFind(tc.words).mark([]views.LogSpan{{Text: tc.text[:2]}, {Text: tc.text[2:], Class: "c"}})
		if views.SpanText(spans) != tc.text || hit != (tc.want > 0) || len(newLogFind(tc.words).all(tc.text)) != tc.want {
			t.Errorf("%q in %q: %+v", tc.words, tc.text, spans)
		}
	}
	if newLogFind(" \t") != nil {
		t.Error("blanks are looked for")
	}
}
