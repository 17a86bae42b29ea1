package handlers

import (
	"net/http"
	"strings"
	"testing"

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
	a = w.lea.post(views.TemplatesPath, "op", "try", "text", "# nothing")
	want(t, a, http.StatusUnprocessableEntity)
	if marked(doc(t, a), "text") == "" {
		t.Error("no message at the text")
	}
	want(t, w.vic.post(views.TemplatesPath, "op", "try", "text", text), http.StatusForbidden)
}
