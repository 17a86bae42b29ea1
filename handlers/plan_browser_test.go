package handlers

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
	"donewhen/models"
	"donewhen/static"
)

// browser is a tab in which the lead is logged in.
func (w *works) browser(t *testing.T) *browsertest.Browser {
	t.Helper()
	if err := static.Check(); err != nil {
		browsertest.Missing(t, err.Error())
	}
	b := browsertest.New(t)
	cookie := w.lea.cookies[cookieName]
	if _, err := chromedp.Call(b.Context(), network.SetCookie, network.SetCookieParams{Name: cookie.Name, Value: cookie.Value, URL: w.http.URL}); err != nil {
		t.Fatal(err)
	}
	return b
}

// cutTexts finds the texts that stand out of a box which hides what stands out of
// it, with no way to scroll there. What ends in an ellipsis or is for screen
// readers alone is meant to.
const cutTexts = `[...document.querySelectorAll("main *, dialog[open] *")].filter(e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim())).filter(e => {
	const r = e.getBoundingClientRect()
	if (r.width < 2 || r.height < 2 || !e.checkVisibility()) return false
	for (let box = e; box && box !== document.documentElement; box = box.parentElement) {
		const how = getComputedStyle(box), at = box.getBoundingClientRect()
		if (how.textOverflow === "ellipsis" || how.webkitLineClamp !== "none" || how.position === "absolute" && at.width < 2 || /auto|scroll/.test(how.overflowX)) return false
		if (how.overflowX !== "visible" && (r.right > at.right + 1 || r.left < at.left - 1)) return true
	}
	return false
}).map(e => e.outerHTML.slice(0, 160))`

// fits checks that nothing is wider than the screen, and no text cut off.
func fits(t *testing.T, b *browsertest.Browser, shot string) {
	t.Helper()
	if wide := browsertest.Get(b, chromedp.Evaluate[int]("document.documentElement.scrollWidth - innerWidth")); wide > 0 {
		t.Errorf("%s: the page is %d px wider than the screen", shot, wide)
	}
	for _, cut := range browsertest.Get(b, chromedp.Evaluate[[]string](cutTexts)) {
		t.Errorf("%s: cut off: %s", shot, cut)
	}
}

// look checks the page as it is: nothing wider than the screen, nothing that
// axe finds, nothing that the browser complains about.
func look(t *testing.T, b *browsertest.Browser, name string) {
	t.Helper()
	lookAt(t, b, name, 1440, 390)
}

// lookAt is look in these widths.
func lookAt(t *testing.T, b *browsertest.Browser, name string, widths ...int) {
	t.Helper()
	for _, width := range widths {
		for _, dark := range []bool{false, true} {
			if os.Getenv("DONEWHEN_SHOTS") == "" && (width == 390) != dark {
				continue // the other two differ only to the eye
			}
			shot := fmt.Sprintf("%s-%d-%s", name, width, map[bool]string{false: "light", true: "dark"}[dark])
			b.View(width, 900, dark)
			fits(t, b, shot)
			_ = browsertest.Get(b, chromedp.Evaluate[int](`Promise.all(document.getAnimations().map(a => a.finished.catch(() => 0))).then(a => a.length)`, chromedp.EvalAwaitPromise))
			b.Shot(shot)
			for _, found := range b.Axe() {
				t.Errorf("%s: axe: %s", shot, found)
			}
		}
	}
	b.View(1440, 900, false)
	for _, c := range b.Complaints() {
		t.Errorf("%s: %s", name, c)
	}
}

const hostile = `<img src=x onerror=alert(1)><b>hi</b>`

// The pages in their states, looked at in a real browser under the strict policy.
func TestPlanPagesInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	b := w.browser(t)
	open := func(path, selector string) {
		t.Helper()
		b.Do(chromedp.Navigate(w.http.URL+path), chromedp.WaitVisible(chromedp.CSS(selector)))
	}
	open("/plans", "#plans")
	look(t, b, "plans-empty")

	long := "Die Rechnungsausfuhr in das neue Hauptbuch überführen und dabei " + strings.Repeat("unverwechselbarerlangesWort", 6) + " 日本語の題名もここに入る"
	draft := w.create(engine.NewPlan{Title: long, Goal: "Move the export.\n\nKeep the old format readable for a year.", Phases: []engine.NewPhase{sh("Write it", "true")}, Dod: "- All tests pass -> run: true\n- (info) Nice words\n- (must) Looks right -> human"})
	two := sh("Make it idempotent", `echo "pass $DONEWHEN_PASS"; printf '\033[31mFAIL\033[0m \033[1mTestExportTwice\033[0m\n'; if [ "$DONEWHEN_PASS" = 2 ]; then echo 'is idempotent' >> export.txt; else echo 'half done' >> export.txt; fi`)
	two.DoneWhen, two.MaxIterations = "- is idempotent\n- file is there -> file: export.txt", 3
	approved := sh("Write the notes", `mkdir -p docs; for i in $(seq 1 40); do echo "line $i" >> docs/notes.md; done; echo "`+hostile+`" > docs/html.txt`)
	approved.NeedsApproval = true
	waiting := w.done(engine.NewPlan{Title: "Move the invoice export to the new ledger", Goal: "The export writes to the new ledger, once.", Phases: []engine.NewPhase{sh("Prepare", "echo prepared"), two, approved},
		Dod: "- is idempotent\n- All tests pass -> run: true\n- Never printed\n- (info) prepared"})
	exhausted := sh("Impossible", "echo trying; exit 0")
	exhausted.DoneWhen, exhausted.MaxIterations = "- the moon is reached", 1
	stuck := w.done(engine.NewPlan{Title: hostile, Phases: []engine.NewPhase{exhausted}, Dod: "- " + hostile})
	failed := w.done(engine.NewPlan{Title: "Tidy the flaky upload tests", Phases: []engine.NewPhase{sh("Run them", "echo 'boom' >&2; exit 3")}})

	open("/plans", "#plans")
	look(t, b, "plans")
	open("/plans?q=IS+idempotent", "#plans [data-found]")
	look(t, b, "plans-found")
	open("/plans?q=nothing+like+it", "#plans")
	look(t, b, "plans-filtered-empty")
	open("/plans/"+draft, "#gate")
	look(t, b, "plan-draft")
	open("/plans/"+waiting, "#gate")
	look(t, b, "plan-waiting")
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details:not([data-verb])").forEach(d => d.open = true)`))
	look(t, b, "plan-waiting-opened")
	open("/plans/"+stuck, "#gate")
	look(t, b, "plan-exhausted")
	if n := browsertest.Get(b, chromedp.Evaluate[int](`document.querySelectorAll("main img, main b").length`)); n != 0 {
		t.Errorf("A8-04: hostile text made %d elements", n)
	}
	open("/plans/"+failed, "#gate")
	look(t, b, "plan-failed")

	d := w.detail(waiting)
	pass := d.Phases[1].Passes[1]
	open(fmt.Sprintf("/passes/%d", pass.Pass.ID), "#task")
	look(t, b, "pass")
	open(fmt.Sprintf("/verdicts/%d", pass.Verdict.ID), "#verdict")
	look(t, b, "verdict")
	open(fmt.Sprintf("/runs/%d", pass.Runs[0].ID), "#run")
	look(t, b, "run-ended")
	open("/plans/"+waiting+"/diff", "[data-file]")
	look(t, b, "diff")
	open("/plans/"+waiting+"/activity", "ol")
	look(t, b, "activity")
	open("/plans/"+waiting+"/dod", "main form")
	look(t, b, "dod-form")

	// Approving with a real click; the gate then waits for the last criterion.
	open("/plans/"+waiting, "#gate")
	key := phaseKey(d.Phases[2].Phase.ID, "approve")
	b.Do(chromedp.WaitVisible(chromedp.CSS("#"+key+" > summary")), chromedp.SendKeys(chromedp.CSS("#"+key+" > summary"), "\r"),
		chromedp.WaitVisible(chromedp.CSS("#"+key+"-note")), chromedp.SendKeys(chromedp.CSS("#"+key+"-note"), "Read and fine."),
		chromedp.SendKeys(chromedp.CSS("#"+key+" form button.btn"), "\r"), chromedp.WaitVisible(chromedp.CSS("#flash .alert")))
	w.settle()
	b.Do(chromedp.WaitVisible(chromedp.CSS(`[data-reason="required_failed"]`)))
	look(t, b, "plan-closed")
	// By keyboard: the list may still move under the mouse while its live part comes.
	b.Do(chromedp.WaitVisible(chromedp.CSS("#criterion-3-waive > summary")), chromedp.SendKeys(chromedp.CSS("#criterion-3-waive > summary"), "\r"),
		chromedp.WaitVisible(chromedp.CSS("#criterion-3-waive-reason")), chromedp.SendKeys(chromedp.CSS("#criterion-3-waive-reason"), "Nobody needs it."))
	look(t, b, "plan-waive")
	b.Do(chromedp.SendKeys(chromedp.CSS("#criterion-3-waive form button.btn"), "\r"), chromedp.WaitVisible(chromedp.CSS(`#gate button[data-verb="apply"]:not([disabled])`)))
	b.Do(chromedp.SendKeys(chromedp.CSS("#criterion-3-take-back-waiver > summary"), "\r"), chromedp.WaitVisible(chromedp.CSS("#criterion-3-take-back-waiver-reason")))
	look(t, b, "plan-open")
	b.Do(chromedp.Click(chromedp.CSS(`#gate button[data-verb="apply"]`)), chromedp.WaitVisible(chromedp.CSS("#apply[open]")))
	look(t, b, "plan-apply-dialog")
	b.Do(chromedp.SendKeys(chromedp.CSS(`#apply footer button[data-variant="primary"]`), "\r"), chromedp.WaitVisible(chromedp.CSS(`#gate [data-tone="ok"]`)))
	for end := time.Now().Add(time.Minute); w.detail(waiting).Plan.Status != models.PlanApplied; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the plan is %s", w.detail(waiting).Plan.Status)
		}
	}
	open("/plans/"+waiting, "#gate")
	look(t, b, "plan-applied")
}

// A run's page while it prints: lines come by themselves, the end is followed,
// and the page says when it is over.
func TestRunPageInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	b := w.browser(t)
	gate := w.dir + "/go"
	id := w.running(sh("Slow", `echo first; printf 'half'; while [ ! -e `+gate+` ]; do sleep 0.05; done; echo ' whole'; echo '`+hostile+`'; for i in $(seq 1 300); do echo "line $i"; done`))
	go func() { _, _ = w.eng.Once(t.Context()) }()
	run := w.begun(id)
	b.Do(chromedp.Navigate(fmt.Sprintf("%s/runs/%d", w.http.URL, run.ID)), chromedp.WaitVisible(chromedp.CSS("#run")))
	// Asked in one step: the element of a partial line is replaced as it grows.
	until(t, b, `document.querySelector("#L2[data-partial] > span")?.textContent.trim() === "half"`) // A6-17
	look(t, b, "run-running")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.Do(chromedp.WaitVisible(chromedp.CSS("#L303")))
	if got := browsertest.Get(b, chromedp.Text(chromedp.CSS("#L2 > span"))); strings.TrimSpace(got) != "half whole" {
		t.Errorf("line 2 is %q", got)
	}
	if got := browsertest.Get(b, chromedp.Text(chromedp.CSS("#L3 > span"))); strings.TrimSpace(got) != hostile {
		t.Errorf("A8-04: line 3 is %q", got)
	}
	if n := browsertest.Get(b, chromedp.Evaluate[int](`document.querySelectorAll("[data-log] img, [data-log] b").length + (document.querySelectorAll("[data-log-lines] > p").length === 303 ? 0 : 1000)`)); n != 0 {
		t.Errorf("elements or lines: %d", n)
	}
	end := func() bool {
		return browsertest.Get(b, chromedp.Evaluate[bool](`(l => l.scrollHeight - l.scrollTop - l.clientHeight < 30)(document.querySelector("[data-log]"))`))
	}
	if !end() {
		t.Error("the end of the log is not in view")
	}
	w.eng.Drain()
	w.settle()
	b.Do(chromedp.WaitVisible(chromedp.CSS(`[data-log-state]`)), chromedp.WaitVisible(chromedp.CSS(`#run [data-tone="ok"]`)))
	look(t, b, "run-over")
}
