package engine_test

import (
	"path/filepath"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
)

// Nothing is lost: a person who works in the workspace while a check runs finds
// the work again, and the activity says where, also after later checks.
func TestEditsDuringACheckAreKept(t *testing.T) {
	h := newHouse(t)
	checking, done := filepath.Join(h.dir, "checking"), filepath.Join(h.dir, "go")
	id := h.createWith(engine.NewPlan{Dod: "- slow -> run: touch " + checking + "; while [ ! -e " + done + " ]; do sleep 0.02; done\n- b -> run: true",
		Phases: []engine.NewPhase{shell("work", "echo agents > work.txt")}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	rest := make(chan bool)
	go func() { h.settle(); close(rest) }()
	eventually(t, "the check runs", func() bool { return exists(checking) })
	must(t, writeFile(h.workFile(id, "work.txt"), "a person's hour of work\n"))
	must(t, writeFile(h.workFile(id, "new.txt"), "a person's new file\n"))
	must(t, writeFile(done, ""))
	<-rest
	if got := h.read(h.workFile(id, "work.txt")); got != "agents\n" || exists(h.workFile(id, "new.txt")) {
		t.Errorf("not put back: %q", got)
	}
	if r := h.gate(id).Summary.Results[0]; r.Status != dod.Failed {
		t.Errorf("a check that changed files: %+v", r)
	}
	must(t, h.engine.Evaluate(h.ctx, lead, id)) // its checks put back again
	h.settle()
	said := h.events(id, "plan.put_back")
	if len(said) != 1 {
		t.Fatalf("%+v", said)
	}
	folder, names, _ := strings.Cut(said[0].Reason, ": ")
	if names != "new.txt, work.txt" || filepath.Dir(folder) != h.spaces.KeptDir(h.repoRef(), id) {
		t.Errorf("the activity says %q", said[0].Reason)
	}
	for name, want := range map[string]string{"work.txt": "a person's hour of work\n", "new.txt": "a person's new file\n"} {
		if got := h.read(filepath.Join(folder, name)); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}
