package handlers

import (
	"strings"
	"testing"

	"donewhen/engine"
)

// The list of plans says where it found the words, and hostile words are text.
func TestPlansFoundByCriterion(t *testing.T) {
	w := newWorks(t, nil)
	ph := sh("Write", "true")
	ph.DoneWhen = "- The ledger is written"
	w.create(engine.NewPlan{Title: "Export", Phases: []engine.NewPhase{ph}, Dod: "- Nobody reads 100%_of <b>it</b> -> human"})
	for query, want := range map[string]string{
		"THE+LEDGER":      "Criterion of Write: The ledger is written",
		"100%25_of+%3Cb":  "Definition of done: Nobody reads 100%_of <b>it</b> -> human",
		"export":          "",
		"the%25is":        "none",
		"nothing+like+it": "none",
	} {
		d := doc(t, w.vic.get("/plans?q="+query))
		got := strings.Join(strings.Fields(d.Find("#plans [data-found]").Text()), " ")
		if d.Find("#plans [data-plan]").Length() == 0 {
			got = "none"
		}
		if got != want || d.Find("main b").Length() != 0 {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	// The palette finds the same.
	if a := w.vic.get("/search?q=the+ledger", "HX-Request", "true"); !strings.Contains(a.body, "Export") {
		t.Error("the palette does not find it")
	}
}
