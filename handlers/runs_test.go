package handlers

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// event is one event of a stream.
type event struct{ name, id, data string }

// listen opens a stream and gives its events until it ends or the test does.
func (c *client) listen(path string, headers ...string) (<-chan event, func()) {
	c.t.Helper()
	ctx, stop := context.WithCancel(c.t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.http.URL+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	for _, cookie := range c.cookies {
		r.AddCookie(cookie)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		c.t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		c.t.Fatalf("%s: %d %s", path, res.StatusCode, res.Header.Get("Content-Type"))
	}
	out := make(chan event, 10_000)
	go func() {
		defer close(out)
		defer func() { _ = res.Body.Close() }()
		lines := bufio.NewScanner(res.Body)
		lines.Buffer(nil, 8<<20)
		var e event
		var data []string
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ":")
			value = strings.TrimPrefix(value, " ")
			switch name {
			case "event":
				e.name = value
			case "id":
				e.id = value
			case "data":
				data = append(data, value)
			case "":
				if lines.Text() == "" && (e.name != "" || data != nil) {
					e.data = strings.Join(data, "\n")
					out <- e
					e, data = event{}, nil
				}
			}
		}
	}()
	return out, stop
}

// next is the next event of one of the names.
func next(t *testing.T, events <-chan event, names ...string) event {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatalf("the stream ended before %v", names)
			}
			for _, name := range names {
				if e.name == name {
					return e
				}
			}
		case <-limit:
			t.Fatalf("no event %v", names)
		}
	}
}

func lineText(t *testing.T, html string) string {
	t.Helper()
	d, err := goquery.NewDocumentFromReader(strings.NewReader(html))
	if err != nil {
		t.Fatal(err)
	}
	if n := d.Find("img, b, script").Length(); n != 0 {
		t.Errorf("%q makes elements", html)
	}
	return d.Find("p > span").Text()
}

// aRun is a run whose log the test writes itself; ended says that it is over.
func (w *works) aRun(ended bool) (models.Run, io.WriteCloser) {
	w.t.Helper()
	var id string
	if ended {
		id = w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "true")}})
	} else { // its pass exists and nobody has taken it
		id = w.running(sh("one", "sleep 60"))
		_, _ = w.eng.Once(w.t.Context())
		if err := w.eng.CancelPlan(w.t.Context(), w.lead(), id, ""); err != nil {
			w.t.Fatal(err)
		}
		w.eng.Drain()
	}
	run := w.detail(id).Phases[0].Passes[0].Runs[0]
	log, err := w.logdb.Writer(run.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return run, log
}

func TestA8_03_LogStreamResumes(t *testing.T) {
	w := newWorks(t, nil)
	run, log := w.aRun(true)
	path := fmt.Sprintf("/runs/%d/log/events", run.ID)
	events, stop := w.vic.listen(path)
	print := func(from, to int) {
		for i := from; i <= to; i++ {
			fmt.Fprintf(log, "line %d\n", i)
		}
	}
	print(1, 7)
	for i := 1; i <= 7; i++ {
		if e := next(t, events, "line"); e.id != fmt.Sprint(i) || lineText(t, e.data) != fmt.Sprintf("line %d", i) {
			t.Fatalf("event %d: %+v", i, e)
		}
	}
	stop()
	print(8, 12)
	events, stop = w.vic.listen(path+"?after=3", "Last-Event-ID", "7") // the header is the newer of the two
	defer stop()
	print(13, 20)
	_ = log.Close()
	for i := 8; i <= 20; i++ {
		if e := next(t, events, "line"); e.id != fmt.Sprint(i) || lineText(t, e.data) != fmt.Sprintf("line %d", i) {
			t.Fatalf("event %d: %+v", i, e)
		}
	}
	next(t, events, "end")
	for e := range events {
		t.Errorf("after the end: %+v", e)
	}
	// A new page goes on after the last line it has.
	events, stop = w.vic.listen(path + "?after=18")
	defer stop()
	if e := next(t, events, "line"); e.id != "19" {
		t.Errorf("after 18 comes %s", e.id)
	}
}

func TestA8_05_EveryLineItsOwnEvent(t *testing.T) {
	w := newWorks(t, nil)
	run, log := w.aRun(true)
	events, stop := w.vic.listen(fmt.Sprintf("/runs/%d/log/events", run.ID))
	defer stop()
	fmt.Fprint(log, "a\nb\nc\n")
	for i, line := range []string{"a", "b", "c"} {
		if e := next(t, events, "line"); e.id != fmt.Sprint(i+1) || lineText(t, e.data) != line {
			t.Errorf("event %d: %+v", i+1, e)
		}
	}
	fmt.Fprint(log, "progress 1%\rprogress 2%\r\n")
	_ = log.Close()
	if e := next(t, events, "line"); lineText(t, e.data) != "progress 2%" {
		t.Errorf("%+v", e)
	}
	var st stream
	st.event("x", "7", "one\ntwo\r\nthree\rfour\n")
	if got, want := st.buf.String(), "id: 7\nevent: x\ndata: one\ndata: two\ndata: three\ndata: four\ndata: \n\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestA6_17_PartialLineIsSeen(t *testing.T) {
	w := newWorks(t, nil)
	run, log := w.aRun(true)
	events, stop := w.vic.listen(fmt.Sprintf("/runs/%d/log/events", run.ID))
	defer stop()
	fmt.Fprint(log, "first\nPassword for")
	if e := next(t, events, "line"); lineText(t, e.data) != "first" {
		t.Errorf("%+v", e)
	}
	if e := next(t, events, "partial"); e.id != "" || lineText(t, e.data) != "Password for" || !strings.Contains(e.data, "data-partial") {
		t.Errorf("%+v", e)
	}
	fmt.Fprint(log, " admin:\n")
	if e := next(t, events, "line"); e.id != "2" || lineText(t, e.data) != "Password for admin:" {
		t.Errorf("%+v", e)
	}
	_ = log.Close()
	next(t, events, "end")
}

func TestA6_02_LongLine(t *testing.T) {
	w := newWorks(t, nil)
	run, log := w.aRun(true)
	long := bytes.Repeat([]byte("0123456789"), 500_000)
	fmt.Fprintf(log, "one\n%s\ntwo\n", long)
	a := w.vic.get(fmt.Sprintf("/runs/%d", run.ID)) // while the writer is open
	want(t, a, http.StatusOK)
	if len(a.body) > 100_000 {
		t.Errorf("the page has %d bytes", len(a.body))
	}
	d := doc(t, a)
	if d.Find("#L1 > span").Text() != "one" || d.Find("#L3 > span").Text() != "two" {
		t.Errorf("lines 1 and 3: %q, %q", d.Find("#L1 > span").Text(), d.Find("#L3 > span").Text())
	}
	if got := d.Find("#L2 > span").Text(); !strings.HasPrefix(got, "0123456789") || !strings.Contains(got, "5.0 MB") {
		t.Errorf("the long line does not say its size: …%q", got[max(0, len(got)-80):])
	}
	_ = log.Close()
	raw := w.vic.get(fmt.Sprintf("/runs/%d/log.txt", run.ID))
	if want := "one\n" + string(long) + "\ntwo\n"; raw.body != want {
		t.Errorf("the download has %d bytes, want %d", len(raw.body), len(want))
	}
	if h := raw.Header; h.Get("Content-Type") != "text/plain; charset=utf-8" || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") || h.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers %v", h)
	}
}

func TestLogWindows(t *testing.T) {
	w := newWorks(t, nil)
	run, log := w.aRun(true)
	for i := 1; i <= 2000; i++ {
		fmt.Fprintf(log, "\x1b[32mline\x1b[0m %d\n", i)
	}
	_ = log.Close()
	at := func(query string, headers ...string) *goquery.Document {
		return doc(t, w.vic.get(fmt.Sprintf("/runs/%d%s", run.ID, query), headers...))
	}
	span := func(d *goquery.Document) string {
		rows := d.Find("p[id^=L]")
		return fmt.Sprintf("%s-%s %d", rows.First().AttrOr("id", ""), rows.Last().AttrOr("id", ""), rows.Length())
	}
	for query, want := range map[string]string{
		"": "L1601-L2000 400", "?from=1": "L1-L400 400", "?from=700": "L700-L1099 400", "?before=1601": "L1201-L1600 400", "?before=10": "L1-L9 9",
		"?from=99999": "L1601-L2000 400", "?from=-4": "L1601-L2000 400", "?from=abc": "L1601-L2000 400", "?before=0": "L1601-L2000 400",
	} {
		if got := span(at(query)); got != want {
			t.Errorf("%q shows %s, want %s", query, got, want)
		}
	}
	// Going back line range by line range reaches the beginning, without a gap.
	d, seen := at(""), 400
	for n := 0; n < 20; n++ {
		more := d.Find("[data-log-earlier] a")
		if more.Length() == 0 {
			break
		}
		if more.AttrOr("hx-get", "") != more.AttrOr("href", "-") {
			t.Error("the button asks for something else with scripts than without")
		}
		d = doc(t, w.vic.get(more.AttrOr("href", ""), "HX-Request", "true"))
		seen += d.Find("p[id^=L]").Length()
	}
	if seen != 2000 || d.Find("#L1").Length() != 1 {
		t.Errorf("%d lines were reached", seen)
	}
	if green := at("").Find("#L2000 > span > span").AttrOr("class", ""); !strings.Contains(green, "text-green") {
		t.Errorf("colour: %q", green)
	}
	if at("").Find("[data-log] [style]").Length() != 0 {
		t.Error("a style attribute")
	}
}

func TestA8_04_HostileTextIsText(t *testing.T) {
	w := newWorks(t, nil)
	ph := sh(hostile, "echo '"+hostile+"'; echo '"+hostile+"' > '<img src=x onerror=alert(2)>.txt'")
	ph.DoneWhen, ph.Task = "- "+hostile+"\n- never <script>alert(1)</script> seen", hostile
	id := w.done(engine.NewPlan{Title: hostile, Goal: hostile, Phases: []engine.NewPhase{ph}, Dod: "- " + hostile})
	d := w.detail(id)
	pass := d.Phases[0].Passes[0]
	if err := w.eng.AcceptPhase(t.Context(), w.lead(), d.Phases[0].Phase.ID, pass.Pass.ID, hostile); err != nil {
		t.Fatal(err)
	}
	w.settle()
	for _, path := range []string{
		"/plans", "/plans/" + id, "/plans/" + id + "/diff", "/plans/" + id + "/activity", "/plans/" + id + "/dod", fmt.Sprintf("/passes/%d", pass.Pass.ID),
		fmt.Sprintf("/runs/%d", pass.Runs[0].ID), fmt.Sprintf("/verdicts/%d", pass.Verdict.ID), "/plans?q=%3Cimg%20src%3Dx%3E", views.EvaluationPath(w.detail(id).Evaluation.ID), "/audit",
	} {
		a := w.lea.get(path)
		want(t, a, http.StatusOK)
		page := doc(t, a)
		if n := page.Find("main img, main b, main script, [onerror], [style]").Length(); n != 0 {
			t.Errorf("%s: %d elements were made", path, n)
		}
		if !strings.Contains(page.Find("main").Text()+page.Find("input[type=search]").AttrOr("value", ""), "<img src=x") {
			t.Errorf("%s does not show the text", path)
		}
	}
	events, stop := w.vic.listen(fmt.Sprintf("/runs/%d/log/events", pass.Runs[0].ID))
	defer stop()
	if e := next(t, events, "line"); lineText(t, e.data) != hostile {
		t.Errorf("stream: %q", e.data)
	}
}

func TestEventStream(t *testing.T) {
	w := newWorks(t, nil)
	id := w.create(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "true")}})
	events, stop := w.vic.listen("/events")
	defer stop()
	if e := next(t, events, "alive"); e.data != "20000" {
		t.Errorf("how often it is heard: %+v", e)
	}
	if e := next(t, events, "changed"); e.data != "*" {
		t.Errorf("on connect: %+v", e)
	}
	hub := w.eng.Hub()
	for range 200 {
		hub.Publish("plan:"+id, "plans")
	}
	if e := next(t, events, "changed"); e.data != "plan:"+id+" plans" {
		t.Errorf("%+v", e)
	}
	began := time.Now()
	for time.Since(began) < time.Second {
		hub.Publish("run:1")
		time.Sleep(5 * time.Millisecond)
	}
	got := 0
	for len(events) > 0 {
		<-events
		got++
	}
	if got == 0 || got > 3 {
		t.Errorf("%d events in a second", got)
	}
	hub.Close()
	for range events { // it ends
	}
}

func TestVerdictPage(t *testing.T) {
	w := newWorks(t, nil)
	ph := sh("one", "echo seen")
	ph.DoneWhen = "- seen\n- not there"
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{ph}})
	v := w.detail(id).Phases[0].Passes[0].Verdict
	a := w.vic.get(fmt.Sprintf("/verdicts/%d", v.ID))
	want(t, a, http.StatusOK)
	shows(t, a, v.EvidenceHash, "No model was asked", "### Output", "seen", "not met")
	if got := doc(t, a).Find(`[data-criterion="1"]`).AttrOr("data-status", ""); got != "passed" {
		t.Errorf("criterion 1 is %q", got)
	}
}
