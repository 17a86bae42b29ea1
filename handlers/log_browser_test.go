package handlers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"donewhen/internal/browsertest"
	"donewhen/models"
)

// begun waits until the first run of a plan's first phase runs.
func (w *works) begun(id string) models.Run {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, _ = w.eng.Once(w.t.Context())
		if passes := w.detail(id).Phases[0].Passes; len(passes) > 0 && passes[0].Runs[0].Status == models.RunRunning {
			return passes[0].Runs[0]
		}
		if time.Now().After(end) {
			w.t.Fatal("the run does not start")
		}
	}
}

// A run's log is searched and folded: by keyboard, and while it grows.
func TestLogSearchAndFoldsInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	b := w.browser(t)
	log := &strings.Builder{}
	fmt.Fprintln(log, "\x1b[1mPreparing\x1b[0m\n::group::Install the packages of the new ledger export, "+strings.Repeat("unverwechselbarerlangesWort", 6)+" 日本語")
	for i := range 60 {
		fmt.Fprintf(log, "added package-%d in %d ms\n", i, i*7%90)
	}
	fmt.Fprintln(log, "::endgroup::\n::group::Run the tests")
	for i := range 700 {
		switch {
		case i%90 == 7:
			fmt.Fprintf(log, "\x1b[31mFAIL\x1b[0m \x1b[1mTestExport%d\x1b[0m (0.%02ds) %s\n", i, i%100, strings.Repeat("a long reason 理由 ", i%13))
		default:
			fmt.Fprintf(log, "\x1b[32mok\x1b[0m   TestNumber%d\n", i)
		}
	}
	fmt.Fprint(log, "::endgroup::\n"+strings.Repeat("waiting for the port\n", 12)+hostile+"\n")
	// A real program prints the files that the test puts there, one after the other.
	say := func(n int, text string) { w.write(t, fmt.Sprintf("../say%d", n), text) }
	say(1, log.String())
	id := w.running(sh("Slow", "for n in 1 2 3; do while [ ! -e "+w.dir+"/say$n ]; do sleep 0.05; done; cat "+w.dir+"/say$n; done"))
	go func() { _, _ = w.eng.Once(t.Context()) }()
	run := w.begun(id)
	path := fmt.Sprintf("%s/runs/%d", w.http.URL, run.ID)
	is := func(js string) bool {
		t.Helper()
		return browsertest.Get(b, chromedp.Evaluate[bool](js))
	}
	here := func(line string) {
		t.Helper()
		b.Do(chromedp.WaitVisible(chromedp.CSS("[data-log] p" + line)))
	}

	// While it grows: what comes joins the folds that are there.
	b.Do(chromedp.Navigate(path), chromedp.WaitVisible(chromedp.CSS(`[data-log-lines] details[data-log-fold="repeat"]`)))
	say(2, "::group::Publish\nuploading\n")
	here("#L780")
	say(3, strings.Repeat("still uploading\n", 6)+"::endgroup::\nafter it\n")
	here("#L788")
	if !is(`(g => g.open && g.querySelector("#L787") && g.querySelectorAll("p").length === 9 && g.querySelector(":scope > summary [data-log-count]").textContent === "9 lines")(document.querySelector("#G779"))`) {
		t.Error("the lines of a new group are not in its fold")
	}
	if !is(`(r => !r.open && r.querySelectorAll("p").length === 4 && r.querySelector("[data-log-count]").textContent === "4 lines")(document.querySelector("#G779 details"))`) {
		t.Error("repeats that came later are not folded")
	}
	if !is(`document.querySelector("#L788").parentElement.matches("[data-log-lines]")`) {
		t.Error("what comes after the group is in it")
	}
	look(t, b, "run-log-folds")
	w.eng.Drain()
	w.settle()

	// A link into a fold opens it.
	b.Do(chromedp.Navigate(path+"?from=1#L10"), chromedp.WaitVisible(chromedp.CSS("#L10")))
	if !is(`document.querySelector("#G2").open`) {
		t.Error("the fold is closed")
	}
	b.Do(chromedp.Navigate(path+"?from=1"), chromedp.WaitVisible(chromedp.CSS("#G2 > summary")))
	if is(`document.querySelector("#G2").open`) {
		t.Error("an ended group is open")
	}
	b.Do(chromedp.SendKeys(chromedp.CSS("#G2 > summary"), "\r"), chromedp.WaitVisible(chromedp.CSS("#L10")))

	// Searching and stepping by keyboard alone, beyond what the page holds.
	b.Do(chromedp.SendKeys(chromedp.CSS(`[data-log-search] input`), "fail\r"), chromedp.WaitVisible(chromedp.CSS("[data-log-found] li")))
	look(t, b, "run-log-search")
	b.Do(chromedp.SendKeys(chromedp.CSS(`[data-log-search] input`), "\r"))
	here("#L72[data-here]")
	b.Do(chromedp.KeyEvent("\r"))
	here("#L162[data-here]")
	b.Do(chromedp.KeyEvent("\r", chromedp.KeyModifiers(8))) // shift
	here("#L72[data-here]")
	b.Do(chromedp.Focus(chromedp.CSS("[data-log]")), chromedp.KeyEvent("nnn"))
	here("#L342[data-here]")
	b.Do(chromedp.KeyEvent("nn")) // the second one leaves the page's window
	b.Do(chromedp.WaitVisible(chromedp.CSS("#L522[data-hit]")))
	if got := browsertest.Get(b, chromedp.Evaluate[string](`location.search + location.hash`)); got != "?from=510&q=fail#L522" {
		t.Errorf("the next line behind the window is at %s", got)
	}
	b.Do(chromedp.Navigate(path+"?q=nothing+like+it"), chromedp.WaitVisible(chromedp.CSS("[data-log-found]")))
	look(t, b, "run-log-search-empty")
	b.Do(chromedp.Navigate(path+"?q=%3Cimg"), chromedp.WaitVisible(chromedp.CSS("[data-log-found] li")))
	if !is(`document.querySelectorAll("main img, main b").length === 0`) {
		t.Error("A8-04: hostile text makes elements")
	}
}
