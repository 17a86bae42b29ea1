package handlers

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"donewhen/engine"
	"donewhen/internal/browsertest"
	"donewhen/models"
)

func TestSearch(t *testing.T) {
	s, project, _, c := library(t)
	for _, title := range []string{"Move the invoice export", "Tidy up", hostile} {
		s.ended(project, past{plan: title, phase: "Fix", runtime: "shell", passes: 1, met: true})
		s.pass(time.Second)
	}
	options := func(q string) []string {
		t.Helper()
		a := c.get("/search?q="+q, "HX-Request", "true")
		want(t, a, http.StatusOK)
		if a.Header.Get("Cache-Control") != "no-store" {
			t.Error("a fragment is kept")
		}
		var out []string
		for _, o := range doc(t, a).Find(`a[role="option"]`).EachIter() {
			out = append(out, o.Find("span").First().Text())
		}
		return out
	}
	for q, want := range map[string]string{
		"":                                  hostile + "|Tidy up|Move the invoice export",
		"INVOICE":                           "Move the invoice export|All plans with “INVOICE”",
		"+tidy+":                            "Tidy up|All plans with “tidy”",
		"nothing":                           "",
		"%25":                               "",
		"%3Cimg":                            hostile + "|All plans with “<img”",
		"%ff%fe":                            hostile + "|Tidy up|Move the invoice export",
		strings.Repeat("x", 3000) + "+tidy": "",
	} {
		if got := strings.Join(options(q), "|"); got != want {
			t.Errorf("%.40q finds %q, want %q", q, got, want)
		}
	}
	a := c.get("/search?q=tidy", "HX-Request", "true")
	link, _ := doc(t, a).Find(`a[role="option"]`).First().Attr("href")
	if rows, _, err := s.st.Plans(t.Context(), models.PlanFilter{Search: "tidy"}); err != nil || link != "/plans/"+rows[0].ID {
		t.Errorf("leads to %q, %v", link, err)
	}
	// Without scripts: the list.
	want(t, c.get("/search?q=a%26b"), http.StatusFound, "/plans?q=a%26b")
	want(t, c.get("/search"), http.StatusFound, "/plans")
}

func TestPaletteOffersWhatTheRoleMay(t *testing.T) {
	s := newSite(t, nil)
	people := s.people()
	for role, wanted := range map[models.Role]string{
		models.RoleViewer: "i p t", models.RoleLead: "i p n t", models.RoleAdmin: "i p n t",
	} {
		d := doc(t, s.as(people[role]).get("/account"))
		var keys []string
		for _, o := range d.Find("#palette [data-go]").EachIter() {
			keys = append(keys, o.AttrOr("data-go", ""))
		}
		if got := strings.Join(keys, " "); got != wanted {
			t.Errorf("%s: %s, want %s", role, got, wanted)
		}
		if d.Find(`#palette a[href="/users"]`).Length() == 1 != (role == models.RoleAdmin) {
			t.Errorf("%s: users in the palette", role)
		}
		if d.Find("a[data-open-palette]").AttrOr("href", "") != "/plans" {
			t.Error("without scripts the search leads nowhere")
		}
	}
	if d := doc(t, s.client().get("/login")); d.Find("#palette").Length() != 0 {
		t.Error("the palette is offered before the login")
	}
}

// The palette and the keys with real key presses.
func TestPaletteInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	w.ended(w.project.ID, past{plan: "Move the invoice export", phase: "Fix", runtime: "shell", passes: 1, met: true},
		past{plan: "Tidy the upload tests, all of them, and say in the notes what was found and mended on the way", phase: "Fix", runtime: "shell", passes: 1, met: true})
	b := w.browser(t)
	open := func(path string) {
		t.Helper()
		b.Do(chromedp.Navigate(w.http.URL+path), chromedp.WaitVisible(chromedp.CSS("main")))
		until(t, b, `document.documentElement.classList.contains("js")`)
	}
	press := func(keys string, mods ...chromedp.KeyOption) { t.Helper(); b.Do(chromedp.KeyEvent(keys, mods...)) }
	js := func(script string) string {
		t.Helper()
		return browsertest.Get(b, chromedp.Evaluate[string]("String("+script+")"))
	}
	isOpen := func() bool { t.Helper(); return js(`document.querySelector("#palette").matches(":modal")`) == "true" }
	at := func(path string) {
		t.Helper()
		until(t, b, `location.pathname + location.search === "`+path+`" && document.documentElement?.classList.contains("js")`)
	}
	ctrl := chromedp.KeyModifiers(chromedp.ModifierCtrl)
	activeText := `document.getElementById(document.getElementById("palette-input").getAttribute("aria-activedescendant"))?.innerText`

	open("/account")
	b.Do(chromedp.Focus(chromedp.CSS(`main button.btn`)))
	was := js(`document.activeElement.outerHTML`)
	press("k", ctrl)
	until(t, b, `document.activeElement.id === "palette-input" && document.querySelectorAll("#palette-plans [role=option]").length === 2`)
	for _, found := range b.Axe() {
		t.Errorf("axe: %s", found)
	}
	look(t, b, "palette")
	if got := js(activeText); !strings.Contains(got, "Inbox") {
		t.Errorf("it begins at %q", got)
	}
	press(kb.ArrowUp) // around to the last one
	if got := js(activeText); got != js(`[...document.querySelectorAll("#palette [role=option]")].filter(o => o.checkVisibility()).at(-1).innerText`) {
		t.Errorf("up from the first is %q", got)
	}
	press(kb.ArrowDown)
	press(kb.ArrowDown)
	if got := js(activeText); !strings.Contains(got, "Plans") || js(`document.querySelectorAll('#palette [aria-selected="true"]').length`) != "1" {
		t.Errorf("down twice is %q", got)
	}
	press(kb.Escape)
	until(t, b, `!document.querySelector("#palette").open`)
	if now := js(`document.activeElement.outerHTML`); now != was {
		t.Errorf("the focus is at %s, it was at %s", now, was)
	}

	// Pages by typing, then plans, and Enter before the plans have come.
	press("k", ctrl)
	b.Do(chromedp.SendKeys(chromedp.CSS("#palette-input"), "temp"))
	if got := js(activeText); !strings.Contains(got, "Templates") {
		t.Errorf("temp: %q", got)
	}
	press(kb.Enter)
	at("/templates")
	press("k", ctrl)
	until(t, b, `document.activeElement.id === "palette-input"`)
	b.Do(chromedp.SendKeys(chromedp.CSS("#palette-input"), "upload"+kb.Enter))
	until(t, b, `location.pathname.startsWith("/plans/")`)
	rows, _, err := w.st.Plans(t.Context(), models.PlanFilter{Search: "upload"})
	if err != nil {
		t.Fatal(err)
	}
	at("/plans/" + rows[0].ID)

	press("k", ctrl)
	until(t, b, `document.activeElement.id === "palette-input"`)
	b.Do(chromedp.SendKeys(chromedp.CSS("#palette-input"), "nowhere to be found"))
	until(t, b, `document.querySelector("#palette-note").textContent.includes("Nothing has these words")`)
	press("k", ctrl)
	if isOpen() {
		t.Error("the same keys do not close it")
	}

	// Moves and help; not in a field, not over a question.
	press("gt")
	at("/templates")
	press("gn")
	at("/plans/new")
	b.Do(chromedp.WaitVisible(chromedp.CSS("#field-title")), chromedp.SendKeys(chromedp.CSS("#field-title"), "gi?"))
	press("k", ctrl)
	if at := js(`location.pathname`); at != "/plans/new" || isOpen() || js(`document.querySelector("#keys").open`) != "false" || js(`document.querySelector("#field-title").value`) != "gi?" {
		t.Errorf("typing in a field did something: at %s, typed %s", at, js(`document.querySelector("#field-title").value`))
	}
	open("/account")
	press("?")
	until(t, b, `document.querySelector("#keys").matches(":modal")`)
	look(t, b, "keys")
	press("gp")
	press("k", ctrl)
	if isOpen() || js(`location.pathname`) != "/account" {
		t.Error("keys work behind an open dialog")
	}
	press(kb.Escape)
	until(t, b, `!document.querySelector("#keys").open`)

	// By hand.
	b.Do(chromedp.Click(chromedp.CSS("div[data-frame] a[data-open-palette]")))
	until(t, b, `document.querySelector("#palette").matches(":modal")`)
	b.Do(chromedp.Click(chromedp.CSS("#palette-page-keys")))
	until(t, b, `document.querySelector("#keys").matches(":modal") && !document.querySelector("#palette").open`)
	b.Do(chromedp.Click(chromedp.CSS("#keys footer button")))
	until(t, b, `!document.querySelector("#keys").open`)
	for _, c := range b.Complaints() {
		t.Error(c)
	}

	// A server that does not answer is said, and the pages still work.
	press("k", ctrl)
	w.http.CloseClientConnections()
	w.http.Listener.Close()
	b.Do(chromedp.SendKeys(chromedp.CSS("#palette-input"), "tid"))
	until(t, b, `document.querySelector("#palette-note").textContent.includes("could not be searched")`)
}

// A plan on paper: all of it, black on white, nothing to press.
func TestPrintAPlanInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	two := sh("Make it idempotent", `for i in $(seq 1 60); do echo "line $i"; done; echo "pass $DONEWHEN_PASS"`)
	two.DoneWhen, two.MaxIterations = "- pass 2", 3
	id := w.done(engine.NewPlan{Title: "Move the invoice export", Goal: "The export writes once.", Phases: []engine.NewPhase{sh("Prepare", "echo prepared > p.txt"), two},
		Dod: "- All tests pass -> run: true\n- Never printed"})
	b := w.browser(t)
	b.View(1440, 900, true)
	b.Do(chromedp.Navigate(w.http.URL+"/plans/"+id), chromedp.WaitVisible(chromedp.CSS("#gate")))
	if n := browsertest.Get(b, chromedp.Evaluate[int](`document.querySelectorAll("main details:not([open])").length`)); n == 0 {
		t.Fatal("nothing is folded away: the test shows nothing")
	}
	if _, err := chromedp.Call(b.Context(), emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print", Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}}); err != nil {
		t.Fatal(err)
	}
	b.Do(chromedp.EmulateViewport(718, 1000)) // A4 between its margins
	_ = browsertest.Get(b, chromedp.Evaluate[int](`Promise.all(document.getAnimations().map(a => a.finished.catch(() => 0))).then(a => a.length)`, chromedp.EvalAwaitPromise))
	b.Shot("print-plan")
	for what, script := range map[string]string{
		"seen: nav, buttons, forms, dialogs": `[...document.querySelectorAll("nav, button:not(.grid-mark), .grid-tip, .btn, form, dialog, [data-frame]")].filter(e => e.checkVisibility()).map(e => e.outerHTML.slice(0, 80))`,
		"folded away":                        `[...document.querySelectorAll("main details")].filter(d => !d.dataset.verb && [...d.children].some(c => c.tagName !== "SUMMARY" && !c.checkVisibility({contentVisibilityAuto: true}) && !c.matches("form"))).map(e => e.outerHTML.slice(0, 120))`,
		"scrolled out of sight":              `[...document.querySelectorAll("main *")].filter(e => e.checkVisibility() && e.scrollHeight > e.clientHeight + 2 && getComputedStyle(e).overflowY !== "visible" && !e.classList.contains("sr-only")).map(e => e.outerHTML.slice(0, 120))`,
		"text that is not black":             `[...document.querySelectorAll("main h1, main h2, main h3, main p, main li, main td, main span, main pre, main a")].filter(e => e.checkVisibility() && !e.classList.contains("sr-only") && !["rgb(0, 0, 0)", "oklch(0 0 0)", "color(srgb 0 0 0)"].includes(getComputedStyle(e).color)).map(e => getComputedStyle(e).color + " " + e.outerHTML.slice(0, 120))`,
		"ground that is not white":           `[document.documentElement, document.body, ...document.querySelectorAll(".card")].filter(e => !["rgb(255, 255, 255)", "rgba(0, 0, 0, 0)"].includes(getComputedStyle(e).backgroundColor)).map(e => getComputedStyle(e).backgroundColor + " " + e.outerHTML.slice(0, 60))`,
		"relative times":                     `[...document.querySelectorAll("main time[data-relative]")].filter(e => e.checkVisibility() && (getComputedStyle(e).fontSize !== "0px" || !/\d:\d\d/.test(getComputedStyle(e, "::after").content))).map(e => e.outerHTML + getComputedStyle(e, "::after").content)`,
		"wider than the paper":               `document.documentElement.scrollWidth > innerWidth ? [document.documentElement.scrollWidth] : []`,
	} {
		if got := browsertest.Get(b, chromedp.Evaluate[[]any](script)); len(got) > 0 {
			t.Errorf("%s: %d\n%v", what, len(got), got[:min(len(got), 6)])
		}
	}
	for _, text := range []string{"Move the invoice export", "The export writes once.", "Make it idempotent", "Never printed", "pass 2"} {
		if !browsertest.Get(b, chromedp.Evaluate[bool](`document.querySelector("main").innerText.includes("`+text+`")`)) {
			t.Errorf("%q is not on the paper", text)
		}
	}
	marks := `(list => [list.length, list.filter(e => e.checkVisibility() && e.getBoundingClientRect().width > 0 && e.querySelector("svg")).length])([...document.querySelectorAll("main .grid-mark")])`
	if got := browsertest.Get(b, chromedp.Evaluate[[2]int](marks)); got[0] == 0 || got[0] != got[1] {
		t.Errorf("of %d marks of criteria by pass %d are on the paper", got[0], got[1])
	}
	pdf, err := chromedp.Call(b.Context(), page.PrintToPDF, page.PrintToPDFParams{})
	if err != nil || len(pdf.Data) < 1000 || !strings.HasPrefix(string(pdf.Data), "%PDF") {
		t.Errorf("no PDF: %v", err)
	}
	for _, c := range b.Complaints() {
		t.Error(c)
	}
}
