package handlers

import (
	"fmt"
	"testing"

	"donewhen/engine"
)

// Lists that have nothing to show, and one that has a lot.
func TestListsInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	a := w.album(t)
	a.page("audit-filtered-empty", "/audit?q=nothing+like+it", "main form")
	long := engine.NewPlan{Title: "Move the services", Dod: "- All are moved -> run: true"}
	again := sh("Prove it", `echo "try $DONEWHEN_PASS"`)
	again.DoneWhen, again.MaxIterations = "- try 12", 20
	long.Phases = append(long.Phases, again)
	for i := range 24 {
		long.Phases = append(long.Phases, sh(fmt.Sprintf("Move service %d", i+1), "true"))
	}
	id := w.done(long)
	a.page("plan-many-phases", "/plans/"+id, "#gate")
	a.page("diff-empty", "/plans/"+id+"/diff", "main")
	a.page("activity-many", "/plans/"+id+"/activity", "ol")
	if err := w.eng.DiscardPlan(t.Context(), w.lead(), id, ""); err != nil {
		t.Fatal(err)
	}
	a.page("inbox-quiet", "/", "#inbox")
}
