package handlers

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/views"
)

// writes is a summariser that always writes the same.
type writes string

func (writes) Evaluator() string { return "anthropic:claude-stub" }
func (w writes) Ask(context.Context, dod.Question) (dod.Reply, error) {
	return dod.Reply{Raw: string(w), Model: "claude-stub", InputTokens: 900, OutputTokens: 20}, nil
}

func summarised(t *testing.T) (*works, string) {
	w := newWorks(t, contentJudge{})
	w.eng.Summariser = writes("The export keeps track of what it sent. " + hostile)
	p := sh("Make it idempotent", "echo 'idempotent' > export.txt; echo 'all 12 tests passed'")
	p.DoneWhen = "The export is idempotent"
	return w, w.done(engine.NewPlan{Title: "Move the invoice export", Phases: []engine.NewPhase{p, sh("Announce it", "echo said")}, Dod: "- idempotent"})
}

func TestASummaryCardHasFactsFirst(t *testing.T) {
	w, id := summarised(t)
	pass := w.detail(id).Phases[0].Passes[0]
	for path, want := range map[string][]string{
		views.PlanPath(id):           {"What it produced", "1 file, +1 −0", "the same that was judged", "Written by anthropic:claude-stub, not checked", "keeps track", "nobody: it has no condition", "cost unknown"},
		views.PassPath(pass.Pass.ID): {"What it produced", "exact input and reply", "You tell a team lead"},
	} {
		a := w.lea.get(path)
		shows(t, a, want...)
		if strings.Contains(a.body, "<img src=x") {
			t.Errorf("%s: the text is not escaped", path)
		}
		if text := doc(t, a).Find("[data-summary] li, #summary li").First().Text(); strings.Join(strings.Fields(text), " ") != "added export.txt +1 −0" {
			t.Errorf("%s: the changed file reads %q", path, text)
		}
		if facts, prose := strings.Index(a.body, "1 file, +1"), strings.Index(a.body, "data-prose"); facts < 0 || prose < facts {
			t.Errorf("%s: the text stands before the facts", path)
		}
	}
}

func TestSummaryCardsInABrowser(t *testing.T) {
	w, id := summarised(t)
	b := w.browser(t)
	for _, page := range []struct{ name, path, selector string }{
		{"summary-plan", views.PlanPath(id), "[data-summary]"},
		{"summary-pass", views.PassPath(w.detail(id).Phases[0].Passes[0].Pass.ID), "#summary"},
	} {
		b.Do(chromedp.Navigate(w.http.URL+page.path), chromedp.WaitVisible(chromedp.CSS(page.selector)))
		look(t, b, page.name)
	}
}
