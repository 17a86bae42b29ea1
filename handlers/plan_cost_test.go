package handlers

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"donewhen/engine"
)

// What the page of a finished plan costs is the git processes that it starts:
// what follows from object names alone is asked once.
func TestFinishedPlanAsksGitLittle(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	list := filepath.Join(dir, "asked")
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >> '%s'\nexec '%s' \"$@\"\n", list, git)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Title: "A real one", Phases: []engine.NewPhase{sh("Write", "echo two >> a.txt; seq 1 2000 > b.txt; echo built")}, Dod: "- built"})
	const most = 6
	for _, look := range []string{"first", "second", "third"} {
		_ = os.Remove(list)
		page := w.vic.get("/plans/" + id)
		want(t, page, http.StatusOK)
		asked, err := os.ReadFile(list)
		if err != nil {
			t.Fatalf("the %s look asks nothing, so that it cannot know how the target stands: %v", look, err)
		}
		if n := strings.Count(string(asked), "\n"); look != "first" && n > most {
			t.Errorf("the %s look starts git %d times, at most %d are expected:\n%s", look, n, most, asked)
		}
	}
	// What does not follow from names is looked at each time.
	w.write(t, "a.txt", "a person's\n")
	shows(t, w.vic.get("/plans/"+id), "is not committed in the checkout of main: a.txt")
}
