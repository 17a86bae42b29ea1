package engine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"donewhen/engine/workspace"
	"donewhen/models"
)

func someEvidence() Evidence {
	code := 3
	ev := Evidence{
		Pass: models.Pass{EndTree: "tree1"},
		Runs: []RunEvidence{{Label: "coder", Run: models.Run{Position: 1, Status: models.RunFailed, ExitCode: &code, Agent: models.AgentSpec{Runtime: "shell"}},
			Message: "I did it", Output: "ok pkg 0.012s\n", Duration: 1234 * time.Millisecond}},
		Files: []workspace.FileChange{{Status: "renamed", Path: "Größe x.md", OldPath: "old\xff.md", Added: 2, Deleted: 1}},
		Added: 2, Gone: 1, Diff: "new line\n", Values: map[string]string{}, Whole: map[string]string{}, Cut: map[string]bool{},
	}
	ev.put("coder/output", ev.Runs[0].Output, ev.Runs[0].Output, false)
	ev.put("diff", ev.Diff, ev.Diff, true)
	ev.put("coder/empty", "", "", false)
	return ev
}

func TestEvidenceRendering(t *testing.T) {
	t.Parallel()
	ev := someEvidence()
	text := ev.Render([]string{"run: make: failed: exit code 2"})
	for _, want := range []string{"## Run 1: coder (runtime shell), failed, exit code 3, 1.234s", "### Final message\nI did it", "### Output\nok pkg",
		"## Changed files: 1 (+2 -1 lines)", "renamed Größe x.md (was old\uFFFD.md) +2 -1", "### Added lines (too long to be kept whole: there is more that is not shown)\nnew line", "### Checks\nrun: make: failed"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if text := (Evidence{}).Render(nil); !strings.Contains(text, "### Added lines: none") {
		t.Errorf("nothing at all: %q", text)
	}
	if _, there := ev.Values["coder/empty"]; there || !ev.Cut["diff"] {
		t.Errorf("values %v, cut %v", ev.Values, ev.Cut)
	}
}

func TestEvidenceRenderingIsBoundedPartByPart(t *testing.T) {
	t.Parallel()
	ev := someEvidence()
	big := strings.Repeat("日本", 1<<20)
	ev.Diff, ev.Runs[0].Output, ev.Runs[0].Message = big, big, big
	for i := range 50_000 {
		ev.Files = append(ev.Files, workspace.FileChange{Status: "added", Path: fmt.Sprint("file", i)})
	}
	text := ev.Render([]string{big})
	if len(text) > 5*(maxPart+100)+4096 {
		t.Errorf("%d bytes", len(text))
	}
	if strings.ToValidUTF8(text, "?") != text || strings.Count(text, "bytes left out") != 5 {
		t.Errorf("a rune was cut, or a cut is not marked (%d marks)", strings.Count(text, "bytes left out"))
	}
	if ev.Values["coder/output"] != "ok pkg 0.012s\n" {
		t.Error("the full values were cut")
	}
}

func TestEvidenceHashLeavesTimesOut(t *testing.T) {
	t.Parallel()
	base := someEvidence().Hash([]string{"run: make: passed in 3 ms"})
	same := someEvidence()
	same.Values["coder/output"] = "ok pkg 7.5s\n"
	same.Runs[0].Duration = time.Hour
	if same.Hash([]string{"run: make: passed in 900 ms"}) != base {
		t.Error("times count")
	}
	for name, change := range map[string]func(*Evidence){
		"the output":    func(e *Evidence) { e.Values["coder/output"] = "FAIL pkg" },
		"a new value":   func(e *Evidence) { e.Values["x"] = "y" },
		"the tree":      func(e *Evidence) { e.Pass.EndTree = "tree2" },
		"the exit code": func(e *Evidence) { code := 4; e.Runs[0].Run.ExitCode = &code },
		"the status":    func(e *Evidence) { e.Runs[0].Run.Status = models.RunSucceeded },
		"the agent":     func(e *Evidence) { e.Runs[0].Label = "other" },
	} {
		ev := someEvidence()
		change(&ev)
		if ev.Hash([]string{"run: make: passed in 3 ms"}) == base {
			t.Errorf("%s does not count", name)
		}
	}
	if someEvidence().Hash(nil) == base {
		t.Error("checks do not count")
	}
}

// However many runs and phases there were, the rendering fits beside a question,
// and what is small stays whole.
func TestRenderingIsBoundedAsAWhole(t *testing.T) {
	t.Parallel()
	var all []section
	big := strings.Repeat("much output\n", 1<<14)
	for i := range 40 {
		ev := someEvidence()
		ev.Runs[0].Message, ev.Runs[0].Output, ev.Diff = fmt.Sprintf("the last word of phase %d.", i), big, big
		all = append(append(all, section{heading: fmt.Sprintf("# Phase %d", i)}), ev.sections(nil)...)
	}
	text := render(all)
	if len(text) > maxRendering+40*5*200 {
		t.Errorf("%d bytes", len(text))
	}
	for i := range 40 {
		if !strings.Contains(text, fmt.Sprintf("the last word of phase %d.\n", i)) {
			t.Errorf("the last word of phase %d was cut", i)
		}
	}
	if n := strings.Count(text, "bytes left out"); n != 80 {
		t.Errorf("%d cuts are marked", n)
	}
}

func TestFairShare(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sizes       []int
		total, want int
	}{
		{nil, 100, 100}, {[]int{10, 20}, 100, 90}, {[]int{50, 50}, 100, 50}, {[]int{10, 1000}, 100, 90},
		{[]int{1000, 10, 1000}, 100, 45}, {[]int{1000, 1000, 1000}, 100, 33},
	} {
		got, used := fairShare(c.sizes, c.total), 0
		for _, s := range c.sizes {
			used += min(s, got)
		}
		if got != c.want || used > c.total {
			t.Errorf("%v of %d: each %d, in all %d", c.sizes, c.total, got, used)
		}
	}
}
