package handlers

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

func TestTryTemplateOnFinishedPlans(t *testing.T) {
	w := newWorks(t, nil)
	empty := doc(t, w.lea.post(views.TemplatesPath, "op", "try", "text", "- Built -> match: /built/"))
	if !strings.Contains(empty.Find("#result").Text(), "No plan is finished yet") {
		t.Errorf("before anything: %s", empty.Find("#result").Text())
	}
	finish := func(title, command string) string {
		t.Helper()
		id, err := w.eng.CreatePlan(t.Context(), w.lead(), engine.NewPlan{ProjectID: w.project.ID, Title: title, Dod: "- Built -> match: /built/", Phases: []engine.NewPhase{
			{Name: "build", Task: "Build it.", MaxIterations: 1, Agents: []models.AgentSpec{{Runtime: "shell", Command: command}}}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.eng.StartPlan(t.Context(), w.lead(), id); err != nil {
			t.Fatal(err)
		}
		w.settle()
		return id
	}
	finish("Clean", "echo built; echo lint clean")
	sloppy := finish("Sloppy", "echo built")
	text := "- Built -> match: /built/\n- Lint -> match: /lint {word}/"
	a := w.lea.post(views.TemplatesPath, "op", "try", "name", "Careful", "text", text, "arg", "0", "args.0.name", "word", "args.0.default", "clean")
	want(t, a, http.StatusOK)
	d := doc(t, a)
	rows := d.Find("[data-replayed]")
	if rows.Length() != 2 || rows.First().AttrOr("data-replayed", "") != sloppy || rows.First().AttrOr("data-change", "") != "Would have been held back by line 2" ||
		rows.Last().AttrOr("data-change", "") != "The same" {
		t.Errorf("rows: %s", rows.Text())
	}
	if value(d, "text") != text || value(d, "name") != "Careful" || value(d, "args.0.default") != "clean" {
		t.Error("what was typed is gone")
	}
	if list, err := w.st.Templates(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("trying published something: %v %+v", err, list)
	}
	part := w.lea.do(http.MethodPost, views.TemplatesPath, map[string][]string{"op": {"try"}, "text": {text}}, "HX-Request", "true")
	if strings.Contains(part.body, "<html") || !strings.Contains(part.body, "data-replayed") {
		t.Errorf("the fragment: %.200s", part.body)
	}
	// Each plan says what became of all lines; files are looked up where they were recorded.
	d = doc(t, w.lea.post(views.TemplatesPath, "op", "try", "text", "- Built -> match: /built/\n- The text is there -> file: a.txt\n- It starts -> run: ./start\n- The guide is there -> file: guide.md"))
	d.Find("[data-replayed]").Each(func(_ int, row *goquery.Selection) {
		if got := row.Find("[data-tally]").Text(); got != "2 of 4 passed, 1 failed, 1 skipped: run: is not run here." {
			t.Errorf("the lines are counted as %q", got)
		}
		if got := row.AttrOr("data-change", ""); got != "Would have been held back by line 4" {
			t.Errorf("change: %q", got)
		}
	})
	d = doc(t, w.lea.post(views.TemplatesPath, "op", "try", "text", "- Built -> match: /built/\n- The text is there -> file: a.txt\n- It starts -> run: ./start\n- A lead agrees -> human"))
	if row := d.Find("[data-replayed]").First(); row.Find("[data-tally]").Text() != "2 of 4 passed, 2 skipped: run: is not run here; human: a person is not asked here." ||
		row.AttrOr("data-change", "") != "Cannot be said: lines 3 and 4 could not be replayed" {
		t.Errorf("open lines: %s", row.Text())
	}
	if got := d.Find("#result").Text(); !strings.Contains(got, "2 cannot be decided. Skipped: line 3 (run: is not run here), line 4 (human: a person is not asked here).") {
		t.Errorf("the summary is %q", got)
	}
	a = w.lea.post(views.TemplatesPath, "op", "try", "text", "# nothing")
	want(t, a, http.StatusUnprocessableEntity)
	if marked(doc(t, a), "text") == "" {
		t.Error("no message at the text")
	}
	want(t, w.vic.post(views.TemplatesPath, "op", "try", "text", text), http.StatusForbidden)
}

// What people decided about a plan then stands beside what would be decided now: it
// was not applied against its gate.
func TestTryingATemplateShowsWhatWasWaivedThen(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Dod: "- never there -> file: no.txt\n- looks good -> human", Phases: []engine.NewPhase{sh("one", "echo x > b.txt")}})
	ev := w.detail(id).Evaluation.ID
	for _, err := range []error{w.eng.Waive(t.Context(), w.lead(), id, 1, ev, "Not needed."), w.eng.SignOff(t.Context(), w.lead(), id, 2, ev, true, "Nice.")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d := doc(t, w.lea.post(views.TemplatesPath, "op", "try", "text", "- built -> file: b.txt\n- looks good -> human"))
	if text := d.Find("#result").Text(); !strings.Contains(text, "Waived by lea: Not needed.") || !strings.Contains(text, "Approved by lea: Nice.") {
		t.Errorf("the report says %q", text)
	}
}
