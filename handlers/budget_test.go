package handlers

import (
	"context"
	"math"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/internal/browsertest"
	"donewhen/models"
	"donewhen/views"
)

// dear is a judge whose answers cost: it finds everything met.
type dear struct {
	tokens int64
	usd    float64
	asked  atomic.Int64
}

func (d *dear) Ask(context.Context, dod.Question) (dod.Reply, error) {
	d.asked.Add(1)
	return dod.Reply{Raw: `{"met":true,"reason":"it reads well"}`, InputTokens: d.tokens, CostUSD: d.usd}, nil
}
func (*dear) Evaluator() string { return "openai:dear" }

func TestBudgetAsTyped(t *testing.T) {
	for _, tc := range []struct {
		runs, usd string
		want      models.Budget
		bad       string // fields with a message
	}{
		{"", "", models.Budget{}, ""},
		{"0", "0", models.Budget{}, ""},
		{" 50 ", "2.50", models.Budget{Runs: 50, USD: 2.5}, ""},
		{"100,000", "$5", models.Budget{Runs: 100_000, USD: 5}, ""},
		{"1 000", "1,000.5", models.Budget{Runs: 1000, USD: 1000.5}, ""},
		{"1_000", ".5", models.Budget{Runs: 1000, USD: 0.5}, ""},
		{"-3", "-0.5", models.Budget{Runs: -3, USD: -0.5}, ""}, // the engine says that it cannot be
		{"99999999999999999999", strings.Repeat("9", 400), models.Budget{Runs: math.MaxInt64, USD: math.Inf(1)}, ""},
		{"-99999999999999999999", "", models.Budget{Runs: math.MinInt64}, ""},
		{"1,5", "2,50", models.Budget{}, "budget_runs budget_usd"},
		{"ten", "NaN", models.Budget{}, "budget_runs budget_usd"},
		{"1e5", "Inf", models.Budget{}, "budget_runs budget_usd"},
		{"1.5", "1e3", models.Budget{}, "budget_runs budget_usd"},
		{"0x10", ".", models.Budget{}, "budget_runs budget_usd"},
		{"--1", "$$", models.Budget{}, "budget_runs budget_usd"},
	} {
		got, problems := parseBudget(map[models.Limit]string{models.LimitRuns: tc.runs, models.LimitUSD: tc.usd})
		var bad []string
		for _, l := range limits {
			if problems[limitName(l)] != "" {
				bad = append(bad, limitName(l))
			}
		}
		if got != tc.want || strings.Join(bad, " ") != tc.bad {
			t.Errorf("%q and %q: %+v, messages at %v; want %+v and %q", tc.runs, tc.usd, got, bad, tc.want, tc.bad)
		}
	}
	for _, b := range []models.Budget{{}, {Runs: 1, Minutes: 90, Tokens: 1_000_000_000_000, USD: 2.5}, {USD: 0.000001}, {USD: 1234.567}, {USD: 10_000_000}} {
		if got, problems := parseBudget(limitTexts(b)); got != b || len(problems) > 0 {
			t.Errorf("%+v is written as %v and read as %+v, %v", b, limitTexts(b), got, problems)
		}
	}
}

// The new-plan form: what is wrong is said at its field, nothing typed is lost,
// and a copy has the limits of its original.
func TestLimitsOfANewPlan(t *testing.T) {
	w := newDesk(t)
	d := doc(t, w.lea.get("/plans/new"))
	if _, open := d.Find("#limits-fold").Attr("open"); open || d.Find(`#limits-fold input`).Length() != 4 {
		t.Error("the limits are not four fields in a closed fold")
	}
	a := w.lea.do(post, "/plans", w.filled("budget_runs", "ten", "budget_minutes", "-5", "budget_tokens", "9999999999999", "budget_usd", "NaN"))
	want(t, a, http.StatusUnprocessableEntity)
	d = doc(t, a)
	for name, typed := range map[string]string{"budget_runs": "ten", "budget_minutes": "-5", "budget_tokens": "9999999999999", "budget_usd": "NaN"} {
		if value(d, name) != typed || marked(d, name) == "" {
			t.Errorf("%s is %q with %q", name, value(d, name), marked(d, name))
		}
		if d.Find(`#plan-form-errors a[href="#field-`+name+`"]`).Length() != 1 {
			t.Errorf("nothing leads to %s", name)
		}
	}
	if _, open := d.Find("#limits-fold").Attr("open"); !open {
		t.Error("the messages are folded away")
	}
	if n := len(w.plans()); n != 0 {
		t.Fatalf("%d plans", n)
	}
	form := w.filled("budget_runs", "12", "budget_minutes", "90", "budget_tokens", "1,500,000", "budget_usd", "$2.50")
	p, _ := w.createPlan(form)
	if b := (models.Budget{Runs: 12, Minutes: 90, Tokens: 1_500_000, USD: 2.5}); p.Budget != b {
		t.Errorf("%+v", p.Budget)
	}
	want(t, w.lea.do(post, "/plans", form), http.StatusSeeOther, "/plans/"+p.ID)
	form.Set("budget_runs", "13") // somebody goes back and changes a limit
	a = w.lea.do(post, "/plans", form)
	want(t, a, http.StatusConflict)
	if d := doc(t, a); value(d, "budget_runs") != "13" {
		t.Errorf("runs is %q", value(d, "budget_runs"))
	}
	d = doc(t, w.lea.get("/plans/new?from="+p.ID))
	for name, v := range map[string]string{"budget_runs": "12", "budget_minutes": "90", "budget_tokens": "1500000", "budget_usd": "2.50"} {
		if value(d, name) != v {
			t.Errorf("the copy's %s is %q, want %q", name, value(d, name), v)
		}
	}
}

// figures are the meters of a plan's page as they read.
func figures(d *goquery.Document) string {
	var out []string
	d.Find("#budget [data-limit]").Each(func(_ int, m *goquery.Selection) {
		out = append(out, strings.Join(strings.Fields(m.Text()), " "))
	})
	return strings.Join(out, "; ")
}

func TestBudgetOnThePages(t *testing.T) {
	judge := &dear{tokens: 1200, usd: 0.3}
	w := newWorks(t, judge)
	one, two := sh("Write", "echo one > one.txt"), sh("Read", "echo two > two.txt")
	one.DoneWhen, two.DoneWhen = "- it reads well", "- it reads well"
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{one, two}, Budget: models.Budget{Runs: 9, USD: 0.25}, Dod: "- fine -> judge"})
	phase := w.detail(id).Phases[1].Phase
	const why = "The budget of $0.25 is used up ($0.30 spent)."

	page := w.lea.get("/plans/" + id)
	d := doc(t, page)
	if got := figures(d); got != "Runs 1 of 9; Minutes 0; Tokens 1,200; Money $0.30 of $0.25 used up" {
		t.Errorf("figures %q", got)
	}
	if v, _ := d.Find(`#budget [data-limit="runs"] progress`).Attr("value"); v != "11.1" {
		t.Errorf("the bar of the runs is at %s", v)
	}
	for place, selector := range map[string]string{"gate": "[data-gate-sentence]", "phase": "#" + views.PhaseAnchor(phase.ID), "card": "[data-over-budget]", "activity": "#activity"} {
		if !strings.Contains(d.Find(selector).Text(), why) {
			t.Errorf("the %s does not say it: %q", place, strings.Join(strings.Fields(d.Find(selector).Text()), " "))
		}
	}
	if d.Find(`#`+views.PhaseAnchor(phase.ID)+` [data-verb$="try-again"]`).Length() != 0 {
		t.Error("trying again is offered, which nothing can come of")
	}
	inbox := w.lea.get("/")
	if !strings.Contains(doc(t, inbox).Find("#inbox-"+views.PhaseAnchor(phase.ID)).Text(), why) {
		t.Error("the inbox does not say it")
	}

	// Who only reads is told, and cannot.
	vic := doc(t, w.vic.get("/plans/"+id))
	if figures(vic) == "" || vic.Find(`form[action$="/budget"]`).Length() != 0 || doc(t, w.vic.get("/")).Find(`form[action$="/budget"]`).Length() != 0 {
		t.Error("a viewer misses the figures or has the form")
	}
	want(t, w.vic.post("/plans/"+id+"/budget", "budget_usd", "9"), http.StatusForbidden)

	// A refusal stands at its form and field, with what was typed.
	for _, key := range []string{budgetKey, phaseKey(phase.ID, "budget"), "gate-budget"} {
		for _, typed := range []string{"much", "0.30", "-1"} {
			a := w.lea.press(page, key, "budget_usd", typed, "reason", "because")
			want(t, a, http.StatusUnprocessableEntity)
			f := doc(t, a).Find(`details[data-verb="` + key + `"]`)
			in := f.Find(`[name="budget_usd"]`)
			if _, open := f.Attr("open"); !open || in.AttrOr("value", "") != typed || in.AttrOr("aria-invalid", "") != "true" || !strings.Contains(f.Find("textarea").Text(), "because") {
				t.Errorf("%s with %q: %s", key, typed, strings.Join(strings.Fields(f.Text()), " "))
			}
		}
	}
	a := w.lea.press(inbox, "inbox-budget-"+id, "budget_usd", "0.1")
	want(t, a, http.StatusUnprocessableEntity)
	if f := doc(t, a).Find(`details[data-verb="` + budgetKey + `"]`); f.Find(`[name="budget_usd"]`).AttrOr("value", "") != "0.1" {
		t.Error("a refusal from the inbox does not stand on the plan's card")
	}
	if judge.asked.Load() != 1 || w.detail(id).Plan.Budget.USD != 0.25 {
		t.Errorf("%d questions, budget %+v", judge.asked.Load(), w.detail(id).Plan.Budget)
	}

	// From the inbox it goes on by itself, until the evaluation is stopped.
	want(t, w.lea.press(inbox, "inbox-budget-"+id, "budget_usd", "0.6", "reason", "It is worth it."), http.StatusSeeOther, "/plans/"+id)
	w.settle()
	page = w.lea.get("/plans/" + id)
	d = doc(t, page)
	if got := w.detail(id).Plan.Status; got != models.PlanFinished {
		t.Fatalf("the plan is %s", got)
	}
	if got := d.Find("[data-gate-sentence]").Text(); got != "The evaluation was stopped: The budget of $0.60 is used up ($0.60 spent). Raise it." {
		t.Errorf("the gate says %q", got)
	}
	if text := d.Find("#activity").Text(); !strings.Contains(text, "changed the limits") || !strings.Contains(text, "From 9 runs, $0.25 to 9 runs, $0.60. It is worth it.") {
		t.Errorf("the activity says %q", strings.Join(strings.Fields(text), " "))
	}
	if doc(t, w.lea.get("/")).Find(`#inbox-plan-`+id+` form[action$="/budget"]`).Length() != 1 {
		t.Error("the inbox does not offer to raise it for the evaluation")
	}
	want(t, w.lea.press(page, "gate-budget", "budget_usd", ""), http.StatusSeeOther)
	w.settle()
	if g, err := w.eng.Gate(t.Context(), id); err != nil || !g.State.Open {
		t.Errorf("%+v %v", g.State, err)
	}
	if judge.asked.Load() != 3 {
		t.Errorf("%d questions", judge.asked.Load())
	}
}

// Without limits the card shows quietly what was used; while an agent is at work
// it looks again by itself and answers with what time has added.
func TestBudgetCardWhileBurning(t *testing.T) {
	w := newWorks(t, nil)
	draft := w.create(engine.NewPlan{Phases: []engine.NewPhase{sh("Work", "true")}})
	if text := doc(t, w.lea.get("/plans/"+draft)).Find("#budget").Text(); !strings.Contains(text, "Nothing is used yet, and there is no limit.") {
		t.Errorf("a draft's card: %q", text)
	}
	id := w.running(sh("Slow", "while [ ! -e "+w.dir+"/go ]; do sleep 0.05; done"))
	_, _ = w.eng.Once(t.Context())
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, _ = w.eng.Once(t.Context())
		if p := w.detail(id).Phases[0].Passes; len(p) > 0 && p[0].Runs[0].Status == models.RunRunning {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the run does not start")
		}
	}
	part := func(headers ...string) answer {
		return w.lea.get("/plans/"+id+"?part=budget", append([]string{"HX-Request", "true"}, headers...)...)
	}
	a := part()
	d := doc(t, a)
	if got := figures(d); got != "Runs 1; Minutes 0; Tokens 0; Money $0.00" || d.Find("#budget-poll").Length() != 1 || d.Find("progress").Length() != 0 {
		t.Errorf("%q, %d polls, %d bars", got, d.Find("#budget-poll").Length(), d.Find("progress").Length())
	}
	tag := a.Header.Get("ETag")
	want(t, part("If-None-Match", tag), http.StatusNotModified)
	w.pass(3 * time.Minute)
	a = part("If-None-Match", tag)
	want(t, a, http.StatusOK)
	if got := figures(doc(t, a)); got != "Runs 1; Minutes 3; Tokens 0; Money $0.00" {
		t.Errorf("after three minutes %q", got)
	}
	// Paused with a budget that is used up, it would only stop again.
	if err := w.eng.SetBudget(t.Context(), w.lead(), id, models.Budget{Minutes: 2}, ""); err != nil {
		t.Fatal(err)
	}
	if err := w.eng.PausePlan(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	if text := doc(t, w.lea.get("/plans/"+id)).Find("#gate").Text(); !strings.Contains(text, "The plan is paused. Resume it.") || !strings.Contains(text, "is used up (3 minutes worked). Raise it first") {
		t.Errorf("the gate says %q", text)
	}
	if err := w.eng.SetBudget(t.Context(), w.lead(), id, models.Budget{}, ""); err != nil {
		t.Fatal(err)
	}
	if err := w.eng.ResumePlan(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, w.dir+"/go")
	w.eng.Drain()
	w.settle()
	if d := doc(t, part()); d.Find("#budget-poll").Length() != 0 || figures(d) != "Runs 1; Minutes 3; Tokens 0; Money $0.00" {
		t.Errorf("in the end %q", figures(d))
	}
}

// The budget in a real browser: it moves while it burns, stops, and goes on.
func TestBudgetInABrowser(t *testing.T) {
	judge := &dear{tokens: 48_000, usd: 0.45}
	w := newWorks(t, judge)
	b := w.browser(t)
	one, two := sh("Move the export", "echo one > one.txt"), sh("Write the notes", "while [ ! -e "+w.dir+"/go ]; do sleep 0.05; done; echo two > two.txt")
	one.DoneWhen, two.DoneWhen = "- it reads well", "- it reads well"
	id := w.done(engine.NewPlan{Title: "Move the invoice export to the new ledger", Phases: []engine.NewPhase{one, two}, Budget: models.Budget{Runs: 10, Minutes: 30, Tokens: 40_000, USD: 5}})
	open := func(path, selector string) {
		t.Helper()
		b.Do(chromedp.Navigate(w.http.URL+path), chromedp.WaitVisible(chromedp.CSS(selector)))
	}
	open("/", "#waiting")
	look(t, b, "budget-inbox")
	open("/plans/"+id, "#budget")
	look(t, b, "budget-used-up")
	key := phaseKey(w.detail(id).Phases[1].Phase.ID, "budget")
	field := chromedp.CSS("#" + key + "-tokens")
	b.Do(chromedp.SendKeys(chromedp.CSS("#"+key+" > summary"), "\r"), chromedp.WaitVisible(field))
	look(t, b, "budget-raise")
	b.Do(chromedp.SetValue(field, "48000"), chromedp.SendKeys(chromedp.CSS("#"+key+" form button.btn"), "\r"), chromedp.WaitVisible(chromedp.CSS("#"+key+" [aria-invalid]")))
	_ = b.Complaints()
	look(t, b, "budget-raise-refused")
	b.Do(chromedp.SetValue(field, "60,000"), chromedp.SendKeys(chromedp.CSS("#"+key+" form button.btn"), "\r"), chromedp.WaitVisible(chromedp.CSS("#flash .alert")))
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		_, _ = w.eng.Once(t.Context())
		if p := w.detail(id).Phases[1].Passes; len(p) > 0 && p[0].Runs[0].Status == models.RunRunning {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it does not go on")
		}
	}
	b.Do(chromedp.WaitReady(chromedp.CSS("#budget-poll")))
	w.pass(25 * time.Minute) // no event says so: the card looks by itself
	b.Do(chromedp.WaitVisible(chromedp.CSS(`[data-limit="minutes"] progress[data-tone="warn"]`)))
	if got := browsertest.Get(b, chromedp.Text(chromedp.CSS(`[data-limit="minutes"] [data-used]`))); strings.Join(strings.Fields(got), " ") != "25 of 30" {
		t.Errorf("the minutes are %q", got)
	}
	look(t, b, "budget-burning")
	mustWrite(t, w.dir+"/go")
	w.eng.Drain()
	w.settle()
	b.Do(chromedp.WaitVisible(chromedp.CSS(`[data-limit="tokens"] progress[data-tone="bad"]`)), chromedp.WaitNotPresent(chromedp.CSS("#budget-poll")))
	look(t, b, "budget-over-and-finished")

	free := w.done(engine.NewPlan{Title: "Tidy the flaky upload tests", Phases: []engine.NewPhase{sh("Tidy", "echo ok")}})
	open("/plans/"+free, "#budget")
	look(t, b, "budget-none")
	open("/plans/new", "#limits-fold")
	b.Do(chromedp.Evaluate[chromedp.Void](`document.getElementById("limits-fold").open = true`), chromedp.WaitVisible(chromedp.CSS("#field-budget_usd")), chromedp.SendKeys(chromedp.CSS("#field-budget_usd"), "much"),
		chromedp.SendKeys(chromedp.CSS("#create-plan"), "\r"), chromedp.WaitVisible(chromedp.CSS("#field-budget_usd[aria-invalid]")))
	_ = b.Complaints() // the 422 itself
	look(t, b, "budget-form")
}

func mustWrite(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
