package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"donewhen/engine"
)

// What a page shows of the target may be a second old. What is old never opens
// the gate: apply looks for itself, and what it meets is refused.
func TestWhatIsShownIsOldAndApplyLooksAfresh(t *testing.T) {
	h := newHouse(t, func(c *engine.Config) { c.TargetAge = time.Second })
	id, g := h.judgedPlan("- built", shell("one", "echo two >> a.txt; echo built"))
	if !g.State.Open {
		t.Fatalf("gate: %s", codes(g))
	}
	h.write("a.txt", "one\nmine\n")
	if g = h.gate(id); !g.State.Open {
		t.Fatalf("the page looked again: %s; this test proves nothing", codes(g))
	}
	if words := h.refused(id, g.Commit, g.EvaluationID); !strings.Contains(words, "a.txt") {
		t.Errorf("refused with %s", words)
	}
	if got := h.read(filepath.Join(h.repo, "a.txt")); got != "one\nmine\n" {
		t.Errorf("a person's file is %q", got)
	}
	h.Forward(time.Second)
	if g = h.gate(id); !strings.Contains(codes(g), "target_dirty") {
		t.Errorf("a second later the page shows %s", codes(g))
	}
	// A conflict, an unfinished merge and a missing branch the same.
	for name, spoil := range map[string]func() (mend func()){
		"conflict": func() func() {
			h.write("a.txt", "ours\n")
			h.git("-C", h.repo, "commit", "-q", "-am", "ours")
			return func() { h.git("-C", h.repo, "reset", "-q", "--hard", "HEAD^") }
		},
		"merge in progress": func() func() {
			file := filepath.Join(h.repo, ".git", "MERGE_HEAD")
			must(t, writeFile(file, h.head()+"\n"))
			return func() { must(t, os.Remove(file)) }
		},
	} {
		h.git("-C", h.repo, "checkout", "-q", "a.txt")
		h.Forward(time.Second)
		if g = h.gate(id); !g.State.Open {
			t.Fatalf("%s: the gate is not open before: %s", name, codes(g))
		}
		mend := spoil()
		if g = h.gate(id); !g.State.Open {
			t.Fatalf("%s: the page looked again", name)
		}
		h.refused(id, g.Commit, g.EvaluationID)
		mend()
	}
	// Nor does what is old keep it closed.
	h.write("a.txt", "one\nmine\n")
	h.Forward(time.Second)
	if g = h.gate(id); g.State.Open {
		t.Fatal("open over a dirty file")
	}
	h.git("-C", h.repo, "checkout", "-q", "a.txt")
	if g = h.gate(id); g.State.Open {
		t.Fatal("the page looked again; this test proves nothing")
	}
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	if g = h.gate(id); g.Preview != nil {
		t.Error("an applied plan shows a look at its target")
	}
}

// Whatever is recorded of a plan makes its page look again.
func TestANewEventIsNeverShownAnOldTarget(t *testing.T) {
	h := newHouse(t, func(c *engine.Config) { c.TargetAge = time.Hour })
	id, _ := h.judgedPlan("- built", shell("one", "echo two >> a.txt; echo built"))
	h.write("a.txt", "one\nmine\n")
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	if g := h.gate(id); !strings.Contains(codes(g), "target_dirty") {
		t.Errorf("after an evaluation the page shows %s", codes(g))
	}
}

// Many pages that ask at once are one look; one that is closed spoils nobody's.
func TestManyPagesShareOneLook(t *testing.T) {
	h := newHouse(t)
	id, _ := h.judgedPlan("- built", shell("one", "echo two >> a.txt; echo built"))
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			ctx, end := context.WithCancel(h.ctx)
			defer end()
			if i%4 == 0 {
				end()
			}
			g, err := h.engine.Gate(ctx, id)
			if i%4 != 0 && (err != nil || !g.State.Open) {
				t.Errorf("%v, gate: %s", err, codes(g))
			}
			if i%4 == 0 && err == nil && g.State.Open && g.Preview == nil {
				t.Error("open without a look")
			}
		})
	}
	all.Wait()
	h.write("a.txt", "one\nmine\n") // without an age nothing is kept
	if g := h.gate(id); g.State.Open {
		t.Error("an old look is shown")
	}
}
