package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"donewhen/engine"
	"donewhen/views"
)

// An evaluation has a page: what it came to, who asked and when, how long it
// took, what it looked at, and every question with its answer. It keeps what was
// said of its own state when the plan has moved on.
func TestEvaluationPage(t *testing.T) {
	w := newWorks(t, always("openai:careful", `{"met": true, "reason": "It reads well."}`))
	id := w.done(engine.NewPlan{Title: "Mend <it>", Phases: []engine.NewPhase{sh("one", "echo done > b.txt")}, Dod: "- never seen\n- it reads well -> judge\n- looks good -> human\n- (info) b.txt"})
	first := w.detail(id).Evaluation.ID
	page := views.EvaluationPath(first)
	if got := doc(t, w.vic.get("/plans/"+id)).Find("[data-evaluation]").AttrOr("href", ""); got != page {
		t.Errorf("the plan leads to %q", got)
	}
	a := w.vic.get(page)
	want(t, a, http.StatusOK)
	shows(t, a, "Mend &lt;it&gt;", "Asked for by", "the server, when the last phase was completed", "Pass 1 of phase 1 (one)", "1 of 3 required criteria passed. 1 of 1 informational criterion passed.",
		"Waiting for a person", "It reads well.", "Question 1: it reads well", "openai:careful")
	for _, verb := range []string{"criterion-1-waive", "criterion-3-approve"} {
		want(t, w.lea.press(w.lea.get("/plans/"+id), verb, "reason", "because "+verb), http.StatusSeeOther)
	}
	w.pass(time.Minute)
	if err := w.eng.Evaluate(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	second := w.detail(id).Evaluation.ID
	shows(t, w.vic.get(views.EvaluationPath(second)), "being evaluated", "The evaluation begins in a moment", ">lea")
	w.settle()
	shows(t, w.vic.get(page), "The plan was evaluated again since.")
	if err := w.eng.EditDod(t.Context(), w.lead(), id, engine.NewPlan{Dod: "- b.txt"}, "enough", ""); err != nil {
		t.Fatal(err)
	}
	w.settle()
	a = w.vic.get(views.EvaluationPath(second), "HX-Request", "true")
	shows(t, a, "2 of 3 required criteria passed, 1 waived.", "Waived by lea: because criterion-1-waive", "Approved by lea: because criterion-3-approve", "an earlier state of the plan")
	if strings.Contains(a.body, "<html") {
		t.Error("the live part is a whole page")
	}
	d := doc(t, w.vic.get("/plans/"+id))
	for n, ev := range []int64{first, second} {
		if d.Find(fmt.Sprintf(`[data-grid="grid-dod"] thead a[href="%s"]`, views.EvaluationPath(ev))).Length() != 1 {
			t.Errorf("the grid does not lead to evaluation %d", n+1)
		}
	}
}
