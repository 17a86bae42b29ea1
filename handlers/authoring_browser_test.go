package handlers

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
	"donewhen/models"
)

// until waits for a condition of the page.
func until(t *testing.T, b *browsertest.Browser, js string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(30 * time.Millisecond) {
		if browsertest.Get(b, chromedp.Evaluate[bool]("!!("+js+")")) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the page never came to: %s", js)
		}
	}
}

// fill puts a text into a field as if it had been typed.
func fill(id, text string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](`{ const f = document.getElementById("` + id + `"); f.value = "` + text + `"; f.dispatchEvent(new Event("input", {bubbles: true})) }`)
}

func css(selector string) chromedp.CSS { return chromedp.CSS(selector) }

// The new-plan form with real keys and clicks: live previews, parts that come
// and go, and nothing typed that is lost.
func TestPlanFormInABrowser(t *testing.T) {
	w := newDesk(t)
	w.publish("Release", "- {what} is announced -> file: {what}", models.TemplateArg{Name: "what", Required: true})
	b := w.browser(t)
	js := func(script string) string { t.Helper(); return browsertest.Get(b, chromedp.Evaluate[string](script)) }
	open := func() {
		t.Helper()
		b.Do(chromedp.Navigate(w.http.URL+"/plans/new"), chromedp.WaitVisible(css("#plan-form")))
	}
	open()

	t.Run("the preview follows while somebody types", func(t *testing.T) {
		b.Do(chromedp.SendKeys(css("#phase-0-done_when"), "All tests pass\ngreen -> run: make test"))
		until(t, b, `document.querySelectorAll("#phase-0-preview [data-criterion]").length === 2`)
		if at := js(`document.activeElement.id`); at != "phase-0-done_when" {
			t.Errorf("the focus is at %q", at)
		}
		if js(`String(document.querySelectorAll("#plan-form [data-busy]").length)`) != "0" {
			t.Error("a preview disabled the buttons")
		}
	})
	t.Run("phases and agents come, move and go; what was typed stays", func(t *testing.T) {
		b.Do(chromedp.SendKeys(css("#field-title"), "Typed title"), chromedp.SendKeys(css("#phase-0-name"), "First"),
			chromedp.SendKeys(css("#phase-0-agent-0-command"), "touch done"), chromedp.Click(css("#phase-add")))
		until(t, b, `document.activeElement.id === "phase-1-name"`)
		b.Do(chromedp.SendKeys(css("#phase-1-name"), "Second"), chromedp.SendKeys(css("#phase-1-agent-0-command"), "ls"), chromedp.Click(css("#phase-1-up")))
		until(t, b, `document.querySelector("fieldset[data-phase]").dataset.phase === "1"`)
		for field, text := range map[string]string{"field-title": "Typed title", "phase-0-name": "First", "phase-1-name": "Second", "phase-1-agent-0-command": "ls", "phase-0-done_when": "All tests pass\ngreen -> run: make test"} {
			if got := js(`document.getElementById("` + field + `").value`); got != text {
				t.Errorf("%s holds %q, typed was %q", field, got, text)
			}
		}
		b.Do(chromedp.Click(css("#phase-1-add-agent")))
		until(t, b, `document.activeElement.id === "phase-1-agent-1-runtime"`)
		b.Do(chromedp.Click(css("#phase-1-agent-1-remove")))
		until(t, b, `!document.getElementById("phase-1-agent-1")`)
	})
	t.Run("a press while the form is being asked for is not lost", func(t *testing.T) {
		until(t, b, `!document.querySelector("#plan-form [data-busy]")`)
		b.Do(chromedp.Evaluate[chromedp.Void](`{ document.getElementById("field-project").dispatchEvent(new Event("change", {bubbles: true})); document.getElementById("phase-add").click() }`))
		until(t, b, `document.querySelectorAll("fieldset[data-phase]").length === 3 && !document.querySelector("#plan-form [data-busy]")`)
		b.Do(chromedp.Click(css("#phase-2-remove")))
		until(t, b, `document.querySelectorAll("fieldset[data-phase]").length === 2 && !document.querySelector("#plan-form [data-busy]")`)
	})
	t.Run("another runtime has other fields, and back again nothing is lost", func(t *testing.T) {
		choose := func(alias string) {
			b.Do(chromedp.Evaluate[chromedp.Void](`{ const s = document.getElementById("phase-1-agent-0-runtime"); s.value = "` + alias + `"; setTimeout(() => s.dispatchEvent(new Event("change", {bubbles: true}))) }`))
		}
		choose("ghost")
		until(t, b, `document.getElementById("phase-1-agent-0-command") === null`)
		choose("shell")
		until(t, b, `document.getElementById("phase-1-agent-0-command")?.value === "ls"`)
	})
	t.Run("Enter in a field makes no plan", func(t *testing.T) {
		b.Do(chromedp.SendKeys(css("#field-title"), "\r"))
		time.Sleep(300 * time.Millisecond) // nothing is to happen: there is nothing to wait for
		if n := len(w.plans()); n != 0 {
			t.Errorf("%d plans", n)
		}
		until(t, b, `location.pathname === "/plans/new" && document.getElementById("field-title").value === "Typed title"`)
	})
	look(t, b, "plan-form")

	t.Run("what was not sent is offered again", func(t *testing.T) {
		open()
		b.Do(chromedp.WaitVisible(css("[data-draft-offer]")))
		for _, found := range b.Axe() {
			t.Errorf("axe: %s", found)
		}
		b.Do(chromedp.Click(css("[data-draft-offer] button")))
		until(t, b, `document.getElementById("phase-1-name")?.value === "Second"`)
		for field, text := range map[string]string{"field-title": "Typed title", "phase-0-agent-0-command": "touch done", "phase-1-agent-0-command": "ls"} {
			if got := js(`document.getElementById("` + field + `").value`); got != text {
				t.Errorf("%s came back as %q", field, got)
			}
		}
	})
	t.Run("a refused form is marked and kept", func(t *testing.T) {
		b.Do(fill("phase-1-passes", "2.5"), chromedp.SendKeys(css("#field-target_branch"), "nowhere"), chromedp.Click(css("#create-plan")), chromedp.WaitVisible(css("#plan-form-errors")))
		until(t, b, `document.getElementById("phase-1-passes").getAttribute("aria-invalid") === "true" && document.getElementById("phase-1-passes").value === "2.5"`)
		if !strings.Contains(js(`document.getElementById("plan-form-errors").innerText`), "nowhere") {
			t.Error("the branch is not among the problems")
		}
		b.Complaints() // the browser notes the 422 itself
		look(t, b, "plan-form-refused")
	})
	t.Run("A8-01 two clicks make one plan, and the draft is done with", func(t *testing.T) {
		b.Do(fill("phase-1-passes", "2"), fill("field-target_branch", ""),
			chromedp.Evaluate[chromedp.Void](`setTimeout(() => { const c = document.getElementById("create-plan"); c.click(); c.click() })`))
		until(t, b, `/^\/plans\/[0-9A-Z]{26}$/.test(location.pathname)`)
		if n := len(w.plans()); n != 1 {
			t.Errorf("%d plans", n)
		}
		open()
		if got := js(`String(document.querySelectorAll("[data-draft-offer]").length)`); got != "0" {
			t.Error("a draft that was sent is offered again")
		}
	})
	t.Run("a lost session loses nothing", func(t *testing.T) {
		b.Do(chromedp.SendKeys(css("#field-title"), "Precious"), chromedp.SendKeys(css("#phase-0-agent-0-command"), "true"))
		if err := w.accounts.EndSessionsOf(t.Context(), w.leaUser.ID); err != nil {
			t.Fatal(err)
		}
		b.Do(chromedp.Click(css("#create-plan")), chromedp.WaitVisible(css("[data-request-error]")))
		if got := js(`document.getElementById("field-title").value`); got != "Precious" {
			t.Errorf("the title is %q", got)
		}
		if !strings.Contains(js(`localStorage.getItem("draft:new-plan") ?? ""`), "Precious") {
			t.Error("the draft is gone")
		}
	})
}

func TestOverviewPagesInABrowser(t *testing.T) {
	w := newDesk(t)
	b := w.browser(t)
	open := func(path, selector string) {
		t.Helper()
		b.Do(chromedp.Navigate(w.http.URL+path), chromedp.WaitVisible(css(selector)))
	}
	open("/", "#inbox")
	look(t, b, "inbox-first")
	open("/templates", "main h1")
	look(t, b, "templates-empty")

	if err := w.eng.SeedTemplates(t.Context()); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("unverwechselbarerlangesWort", 8)
	v := w.publish("Ein sehr langer Name "+long[:70], "# {kopf}\n- "+long+" {wert} -> human\n- All tests pass\n- (must) 日本語の条件 -> run: test -f "+long+"\n- (info) x -> match: /a+/",
		models.TemplateArg{Name: "wert", Description: long, Default: long}, models.TemplateArg{Name: "unbenutzt"})
	for n, text := range []string{"- one -> human\n- two -> human", "- one -> human\n- three -> human\n- {four} -> human"} {
		if _, err := w.eng.PublishTemplate(t.Context(), w.lead(), engine.TemplateDraft{TemplateID: v.TemplateID, Base: n + 1, Text: text, Why: "Because of " + long}); err != nil {
			t.Fatal(err)
		}
	}
	at := "/templates/" + strconv.FormatInt(v.TemplateID, 10)
	for name, path := range map[string]string{"templates": "/templates", "template": "/templates/1", "template-old": at + "?version=1", "template-difference": at + "?version=3&against=2",
		"template-edit": "/templates/1/edit", "template-new": "/templates/new", "plan-form-template": "/plans/new?template=2", "projects": "/projects", "settings": "/settings"} {
		open(path, "main h1")
		look(t, b, name)
	}
	open("/templates/new", "#template-form")
	b.Do(chromedp.SendKeys(css("#field-text"), "- {page} is there -> file: {page}\n- All tests pass"))
	until(t, b, `document.querySelectorAll("#template-preview [data-criterion]").length === 2`)
	b.Do(chromedp.Click(css("#template-update")), chromedp.WaitVisible(css("#template-declare")), chromedp.Click(css("#template-declare")))
	until(t, b, `document.getElementById("arg-0-name")?.value === "page"`)
	look(t, b, "template-typing")

	approval := sh("Look at it", "echo 1 > b.txt")
	approval.NeedsApproval = true
	exhausted := sh("Make the export idempotent", "echo $RANDOM > c.txt")
	exhausted.DoneWhen, exhausted.MaxIterations = "- never -> run: echo the row 4711 was written twice; false", 1
	w.waiting("Move the invoice export to the new ledger", "- fine -> run: true", sh("Do", "echo 2 > d.txt"))
	w.waiting("Raise the parser to version 5", "- bad -> run: false", sh("Do", "echo 3 > e.txt"))
	approve := w.waiting("Rewrite the start page of the handbook", "", approval)
	w.waiting("Titel mit "+long, "", exhausted)
	w.waiting(hostile, "", sh("Fall", "echo "+long+"; exit 3"))
	id, err := w.eng.CreatePlan(t.Context(), w.lead(), engine.NewPlan{ProjectID: w.project.ID, Title: "Tidy the flaky upload tests", Phases: []engine.NewPhase{sh("Find them", "true"), sh("Mend them", "true")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.eng.StartPlan(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	w.pass(95 * time.Minute)
	open("/", "#waiting")
	look(t, b, "inbox")
	open("/audit", "main table")
	look(t, b, "audit")

	// Live: what is decided elsewhere leaves the list and the title.
	open("/", "#waiting")
	until(t, b, `document.title.startsWith("(5)")`)
	detail, err := w.st.PlanDetail(t.Context(), approve)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.eng.ApprovePhase(t.Context(), w.lead(), detail.Phases[0].Phase.ID, *detail.Phases[0].Phase.PassID, ""); err != nil {
		t.Fatal(err)
	}
	until(t, b, `document.querySelector('[data-plan="`+approve+`"]').innerText.includes("ready to apply")`)
	for _, c := range b.Complaints() {
		t.Error(c)
	}
}
