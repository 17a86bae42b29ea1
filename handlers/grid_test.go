package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/internal/browsertest"
	"donewhen/models"
	"donewhen/views"
)

// wavering is a phase whose four passes meet its criteria each in another way.
func wavering() engine.NewPhase {
	ph := sh("Make it ready", `case "$DONEWHEN_PASS" in 1) echo alpha is ready;; 2) echo alpha is ready, beta is ready;; 3) echo alpha is ready, gamma is ready;; *) echo alpha is ready, beta is ready, gamma is ready;; esac`)
	ph.DoneWhen = "- alpha is ready\n- beta is ready\n- gamma is ready\n- delta is ready\n- (info) `<b>epsilon</b>`"
	ph.MaxIterations = 4
	return ph
}

func trendsOf(d *goquery.Document, grid string) map[string]string {
	out := map[string]string{}
	d.Find(`[data-grid="` + grid + `"] tbody tr`).Each(func(_ int, row *goquery.Selection) {
		var marks []string
		row.Find("[data-mark]").Each(func(_ int, m *goquery.Selection) { marks = append(marks, m.AttrOr("data-mark", "?")) })
		out[strings.TrimSpace(row.Find("th").Text())] = strings.Join(marks, ",") + ": " + row.AttrOr("data-trend", "?")
	})
	return out
}

func TestCriteriaByPass(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{wavering(), sh("Never begun", "true")}})
	ph := w.detail(id).Phases[0]
	grid := fmt.Sprintf("grid-phase-%d", ph.Phase.ID)
	for name, page := range map[string]answer{"page": w.vic.get("/plans/" + id), "part": w.vic.get("/plans/"+id+"?part=phases", "HX-Request", "true")} {
		want(t, page, http.StatusOK)
		d := doc(t, page)
		got := trendsOf(d, grid)
		for text, wanted := range map[string]string{
			"alpha is ready": "met,met,met,met: met",
			"beta is ready":  "not met,met,not met,met: flapping",
			"gamma is ready": "not met,not met,met,met: converging",
			"delta is ready": "not met,not met,not met,not met: stuck",
		} {
			if got[text] != wanted {
				t.Errorf("%s: %s is %q, want %q", name, text, got[text], wanted)
			}
		}
		table := d.Find(`[data-grid="` + grid + `"] table`)
		if n := table.Find("thead th[scope=col]").Length(); n != 6 {
			t.Errorf("%s: %d heads of columns", name, n)
		}
		if table.Find("tbody th[scope=row]").Length() != 5 || table.Find("b").Length() != 0 {
			t.Errorf("%s: rows without a head, or text became an element", name)
		}
		if d.Find("[data-grid]").Length() != 1 {
			t.Errorf("%s: a phase without passes has a grid", name)
		}
		mark := table.Find("tbody tr:nth-child(4) [data-mark]").First()
		tip := d.Find("#" + mark.AttrOr("popovertarget", "none"))
		if text := tip.Text(); !strings.Contains(text, "Pass 1: not met") || !strings.Contains(text, "not found in the evidence") {
			t.Errorf("%s: the mark's reason is %q", name, text)
		}
		if href := tip.Find("a").AttrOr("href", ""); href != views.VerdictPath(ph.Passes[0].Verdict.ID) {
			t.Errorf("%s: more is at %q", name, href)
		}
	}
}

func TestCriteriaByEvaluation(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "echo alpha is ready")}, Dod: "- alpha is ready\n- It is there -> file: later.txt"})
	if trends := trendsOf(doc(t, w.lea.get("/plans/"+id)), "grid-dod"); len(trends) != 0 {
		t.Errorf("one evaluation has nothing to be compared with: %v", trends)
	}
	if err := w.eng.EditDod(t.Context(), w.lead(), id, engine.NewPlan{Dod: "- alpha is ready\n- It is wished for"}, "sharper", ""); err != nil {
		t.Fatal(err)
	}
	if err := w.eng.Evaluate(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	w.settle()
	d := doc(t, w.lea.get("/plans/"+id))
	got := trendsOf(d, "grid-dod")
	for text, wanted := range map[string]string{"alpha is ready": "met,met: met", "It is wished for": ",not met: not yet"} {
		if got[text] != wanted {
			t.Errorf("%s is %q, want %q", text, got[text], wanted)
		}
	}
	removed := d.Find(`[data-grid="grid-dod"] tbody tr:nth-child(3)`)
	if text := removed.Text(); !strings.Contains(text, "It is there") || !strings.Contains(text, "no longer asked") || removed.AttrOr("data-trend", "?") != "" {
		t.Errorf("the criterion that was taken out: %q", text)
	}
}

// What became of a criterion, from rows as the engine writes them.
func TestPhaseGridMarks(t *testing.T) {
	results := func(rs ...dod.Result) string {
		criteria := dod.ParseCriteria("- one\n- two -> run: true")
		for i := range rs {
			rs[i].Criterion = criteria[i]
		}
		b, err := json.Marshal(rs)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	passed, failed := dod.Result{Status: dod.Passed}, dod.Result{Status: dod.Failed, Reasoning: "exit code 1"}
	older := int64(1)
	d := models.PhaseDetail{Phase: models.Phase{ID: 7, Position: 2, DoneWhen: "- one\n- two -> run: true", Attempt: 2}}
	add := func(attempt int, status models.PassStatus, v *models.Verdict) {
		d.Passes = append(d.Passes, models.PassDetail{Pass: models.Pass{ID: int64(len(d.Passes) + 1), Attempt: attempt, Iteration: len(d.Passes), Status: status, Reason: "of the pass"}, Verdict: v})
	}
	add(1, models.PassNotMet, nil)                                                                           // its run failed
	add(1, models.PassNotMet, &models.Verdict{ID: 1, Kind: models.VerdictRun, Reason: "Run 1 failed."})      //
	add(2, models.PassSuperseded, &models.Verdict{ID: 2, Kind: models.VerdictTrouble, Reason: "no answer."}) //
	add(2, models.PassNotMet, &models.Verdict{ID: 3, Kind: models.VerdictGiven, ResultsJSON: results(dod.Result{Status: dod.Skipped, Reasoning: "Not asked, because a check failed."}, failed)})
	add(2, models.PassNotMet, &models.Verdict{ID: 4, Kind: models.VerdictGiven, ResultsJSON: results(passed, failed), ReusedFrom: &older})
	add(2, models.PassJudging, &models.Verdict{ID: 5, Kind: models.VerdictTrouble, ResultsJSON: results(dod.Result{Status: dod.Skipped, Kind: dod.KindEvaluatorError, Reasoning: "the judge could not answer: gone"}, passed)})
	add(2, models.PassRunning, nil)

	budget := 1000
	g := phaseGrid(d, &budget)
	line := func(r views.GridRow) string {
		var words []string
		for _, c := range r.Cells {
			w := string(c.Mark)
			if c.Reused {
				w += "*"
			}
			words = append(words, w)
		}
		return strings.Join(words, "|") + ": " + string(r.Trend)
	}
	if got := line(g.Rows[0]); got != "not asked|not asked|unchecked|not asked|met*|unchecked|: not checkable" {
		t.Error(got)
	}
	if got := line(g.Rows[1]); got != "not asked|not asked|unchecked|not met|not met*|met|: converging" {
		t.Error(got)
	}
	if len(g.Groups) != 2 || g.Groups[0] != (views.GridGroup{Label: "Attempt 1", Span: 2}) || g.Groups[1].Span != 5 {
		t.Errorf("attempts: %+v", g.Groups)
	}
	if c := g.Rows[0].Cells[1]; c.Reason != "Run 1 failed." || c.Href != views.VerdictPath(1) {
		t.Errorf("a failed run's cell: %+v", c)
	}
	if budget != 1000-2*7 {
		t.Errorf("the budget is %d", budget)
	}

	// A page that has enough marks shows the newest only, and still knows the trend.
	budget = 0
	if g := phaseGrid(d, &budget); len(g.Columns) != gridLeast || g.Older != 4 || line(g.Rows[1]) != "not met*|met|: converging" {
		t.Errorf("%d columns, %d older, %s", len(g.Columns), g.Older, line(g.Rows[1]))
	}
	d.Passes = d.Passes[:1]
	if phaseGrid(d, &budget) != nil {
		t.Error("one pass has nothing to be compared with")
	}
}

func TestGridInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	b := w.browser(t)
	ph := wavering()
	ph.DoneWhen = "- alpha is ready\n- beta is ready\n- gamma is ready\n- delta is ready\n- Die vollständige Rechnungsausfuhr ist " + strings.Repeat("unverwechselbar", 5) + " 日本語でも"
	id := w.done(engine.NewPlan{Title: "Criteria by pass", Phases: []engine.NewPhase{ph}})
	b.Do(chromedp.Navigate(w.http.URL+"/plans/"+id), chromedp.WaitVisible(chromedp.CSS(".grid-table")))
	look(t, b, "grid")

	tip := func(row, column int) string {
		return fmt.Sprintf("#grid-phase-%d-%d-%d", w.detail(id).Phases[0].Phase.ID, row, column)
	}
	seen := func(id string, want bool, when string) {
		t.Helper()
		js := fmt.Sprintf(`document.querySelector(%q).checkVisibility({visibilityProperty: true}) === %v`, id, want)
		if _, err := chromedp.Run(b.Context(), chromedp.Poll[bool](js, chromedp.WithPollingTimeout(5*time.Second))); err != nil {
			t.Errorf("%s: %s is seen: %v, want %v", when, id, !want, want)
		}
	}
	at := func() string {
		return browsertest.Get(b, chromedp.Evaluate[string](`document.activeElement.getAttribute("popovertarget") || document.activeElement.tagName`))
	}
	key := func(k string) { t.Helper(); b.Do(chromedp.KeyEvent(k)) }

	// By keyboard: the grid is one stop, arrows move, the reason is seen.
	b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".grid-table").parentElement.focus()`))
	for range 5 { // the heads of the columns are links
		key(kb.Tab)
	}
	if "#"+at() != tip(1, 1) {
		t.Fatalf("the first mark does not get the focus: %s", at())
	}
	seen(tip(1, 1), true, "focus")
	key(kb.ArrowDown)
	key(kb.ArrowRight)
	if "#"+at() != tip(2, 2) {
		t.Errorf("the arrows lead to %s", at())
	}
	seen(tip(2, 2), true, "arrows")
	seen(tip(1, 1), false, "arrows")
	b.Shot("grid-focus-1440-light")
	if outside := browsertest.Get(b, chromedp.Evaluate[bool](`(r => r.left < 0 || r.right > innerWidth || r.height < 20)(document.querySelector("`+tip(2, 2)+`").getBoundingClientRect())`)); outside {
		t.Error("the reason is cut off")
	}
	key(kb.Escape)
	seen(tip(2, 2), false, "Escape")
	key(kb.ArrowLeft)
	seen(tip(2, 1), true, "after Escape")
	for _, found := range b.Axe() {
		t.Errorf("axe: %s", found)
	}
	key(kb.Tab)
	if strings.HasPrefix(at(), "grid-phase") {
		t.Errorf("Tab stays in the grid: %s", at())
	}

	// By pointing and by pressing, at phone width.
	b.View(390, 844, true)
	b.Do(chromedp.Click(chromedp.CSS(`[popovertarget="` + tip(4, 1)[1:] + `"]`)))
	seen(tip(4, 1), true, "pressed")
	if !browsertest.Get(b, chromedp.Evaluate[bool](`document.querySelector("`+tip(4, 1)+`").matches(":popover-open")`)) {
		t.Error("a pressed mark's reason does not stay open")
	}
	b.Shot("grid-pressed-390-dark")
	if wide := browsertest.Get(b, chromedp.Evaluate[int]("document.documentElement.scrollWidth - innerWidth")); wide > 0 {
		t.Errorf("the page is %d px wider than the screen", wide)
	}
	if !browsertest.Get(b, chromedp.Evaluate[bool](`(e => e.scrollWidth > e.clientWidth ? getComputedStyle(e).overflowX === "auto" : true)(document.querySelector(".grid-table").parentElement)`)) {
		t.Error("the table does not scroll in its own box")
	}
	for _, c := range b.Complaints() {
		t.Error(c)
	}
}
