package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"donewhen/engine"
	"donewhen/models"
)

func (h *house) head() string { return h.git("-C", h.repo, "rev-parse", "main") }

// refused applies, expects a conflict, and checks that the target and the plan
// are as before. It returns the refusal's words.
func (h *house) refused(id, commit string, evaluation int64) string {
	h.t.Helper()
	before, status := h.head(), h.git("-C", h.repo, "status", "--porcelain")
	err := h.engine.Apply(h.ctx, lead, id, commit, evaluation)
	if models.CodeOf(err) != models.CodeConflict {
		h.t.Fatalf("apply gives %v, want a refusal", err)
	}
	if h.head() != before || h.git("-C", h.repo, "status", "--porcelain") != status {
		h.t.Fatalf("the target was changed by a refused apply (%v)", err)
	}
	h.wantPlan(id, models.PlanFinished)
	words := err.Error()
	if e, ok := err.(*models.Error); ok {
		words += " " + strings.Join(e.Details, " ")
	}
	return words
}

func TestA7_02_ApplyLeavesACleanCheckoutWithTheWork(t *testing.T) {
	h := newHouse(t)
	id := h.createWith(engine.NewPlan{Title: strings.Repeat("A long title with ümlauts ", 8) + "end", Goal: "Do this.\n\nDonewhen-Plan: forged", Dod: "- built\n- (info) never there\n- nor this",
		Phases: []engine.NewPhase{shell("one", "echo new > new.md; echo built")}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	g := h.gate(id)
	must(t, h.engine.Waive(h.ctx, lead, id, 3, g.EvaluationID, "later"))
	wantErrCode(t, h.engine.Apply(h.ctx, viewer, id, g.Commit, g.EvaluationID), models.CodeForbidden)
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	h.wantPlan(id, models.PlanApplied)
	if s := h.git("-C", h.repo, "status", "--porcelain"); s != "" {
		t.Errorf("status: %q", s)
	}
	if got := h.read(filepath.Join(h.repo, "new.md")); got != "new\n" {
		t.Errorf("new.md: %q", got)
	}
	trailers := h.git("-C", h.repo, "log", "-1", "--format=%(trailers)", "main")
	want := "Donewhen-Plan: " + id + "\nDonewhen-DoD: 1 of 2 required criteria passed, 1 waived. 0 of 1 informational criterion passed.\nDonewhen-Criterion: passed: built\nDonewhen-Criterion: failed: never there\nDonewhen-Criterion: failed: nor this\nDonewhen-Waived: nor this (lea: later)\nDonewhen-Applied-By: lea"
	if trailers != want {
		t.Errorf("trailers:\n%s\nwant:\n%s", trailers, want)
	}
	if subject := h.git("-C", h.repo, "log", "-1", "--format=%s", "main"); len(subject) > 100 || !strings.HasSuffix(subject, "…") {
		t.Errorf("subject %q", subject)
	}
	h.git("-C", h.repo, "merge-base", "--is-ancestor", g.Commit, "main")
	if a := h.detail(id).Attempts[0]; a.Status != models.ApplyDone || a.EndedAt == nil || *a.EvaluationID != g.EvaluationID {
		t.Errorf("%+v", a)
	}
	wantErrCode(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID), models.CodeConflict) // once is enough
}

// The server refuses with the same reasons that the button shows.
func TestApplyIsRefusedWithTheReasonsOfTheButton(t *testing.T) {
	h := newHouse(t)
	id, g := h.judgedPlan("- built\n- never there\n- (must) nor this")
	words := h.refused(id, g.Commit, g.EvaluationID)
	if len(g.State.Reasons) == 0 {
		t.Fatal("open")
	}
	for _, r := range g.State.Reasons {
		if !strings.Contains(words, r.Sentence) {
			t.Errorf("%q is not in %q", r.Sentence, words)
		}
	}
	if n := len(h.detail(id).Attempts); n != 0 {
		t.Errorf("%d attempts were written", n)
	}
	// Too early, in every state that is not finished.
	for _, s := range planStates {
		if s == models.PlanFinished {
			continue
		}
		p := h.placePlan(s)
		err := h.engine.Apply(h.ctx, lead, p.plan, h.detail(p.plan).Plan.WorkCommit, 0)
		if models.CodeOf(err) != models.CodeConflict {
			t.Errorf("apply of a plan that is %s: %v", s, err)
		}
		h.wantPlan(p.plan, s)
	}
}

func TestAForgedOrOldPostIsRefused(t *testing.T) {
	h := newHouse(t)
	id, g := h.judgedPlan("- built")
	for name, post := range map[string]struct {
		commit string
		ev     int64
	}{
		"another commit": {h.head(), g.EvaluationID},
		"a branch name":  {"main", g.EvaluationID},
		"no evaluation":  {g.Commit, 0},
	} {
		if words := h.refused(id, post.commit, post.ev); !strings.Contains(words, "changed since the page was shown") {
			t.Errorf("%s: %s", name, words)
		}
	}
	// An evaluation that was overtaken by a newer one.
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.refused(id, g.Commit, g.EvaluationID) // evaluating
	h.settle()
	h.refused(id, g.Commit, g.EvaluationID)
	g = h.gate(id)
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
}

// What somebody changes in the workspace after the evaluation is neither left
// behind nor merged unseen.
func TestAHandMadeChangeAfterTheEvaluationMakesItStale(t *testing.T) {
	h := newHouse(t)
	id, g := h.judgedPlan("- built")
	must(t, writeFile(h.workFile(id, "by-hand.txt"), "by hand\n"))
	if words := h.refused(id, g.Commit, g.EvaluationID); !strings.Contains(words, "the workspace's files") {
		t.Errorf("refused with %s", words)
	}
	if g = h.gate(id); codes(g) != "stale" {
		t.Errorf("gate: %s", codes(g))
	}
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	g = h.gate(id)
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	if got := h.read(filepath.Join(h.repo, "by-hand.txt")); got != "by hand\n" {
		t.Errorf("%q", got)
	}
	// Without a definition of done the commit that the person saw decides.
	id = h.start(shell("one", "echo x > x.txt"))
	g = h.gate(id)
	must(t, writeFile(h.workFile(id, "x.txt"), "y\n"))
	h.refused(id, g.Commit, 0)
	g = h.gate(id)
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, 0))
}

func TestA7_03_AConflictLeavesTheTargetAsItWas(t *testing.T) {
	h := newHouse(t)
	id, _ := h.judgedPlan("- built", shell("one", "echo theirs > a.txt; echo built"))
	h.write("a.txt", "ours\n")
	h.git("-C", h.repo, "commit", "-q", "-am", "ours")
	g := h.gate(id)
	if g.State.Open || !strings.Contains(codes(g), "conflict") || len(g.Preview.Conflicts) != 1 || g.Preview.Conflicts[0] != "a.txt" {
		t.Fatalf("gate: %s", codes(g))
	}
	if words := h.refused(id, g.Commit, g.EvaluationID); !strings.Contains(words, "a.txt") {
		t.Errorf("refused with %s", words)
	}
	if h.read(filepath.Join(h.repo, "a.txt")) != "ours\n" || exists(filepath.Join(h.repo, ".git", "MERGE_HEAD")) {
		t.Error("a half-done merge is there")
	}
	// A new try is possible: the lead mends main, the same evaluation still holds.
	h.git("-C", h.repo, "revert", "--no-edit", "HEAD")
	g = h.gate(id)
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	if got := h.read(filepath.Join(h.repo, "a.txt")); got != "theirs\n" {
		t.Errorf("a.txt: %q", got)
	}
}

func TestA7_01_DirtyFilesAndA7_20_AnUnfinishedMerge(t *testing.T) {
	h := newHouse(t)
	h.write("g.txt", "g\n")
	h.git("-C", h.repo, "add", "g.txt")
	h.git("-C", h.repo, "commit", "-q", "-m", "g")
	id, _ := h.judgedPlan("- built", shell("one", "echo two >> a.txt; echo new > n.txt; echo built"))

	h.write("a.txt", "one\nmine\n") // touched and dirty
	g := h.gate(id)
	if !strings.Contains(codes(g), "target_dirty") {
		t.Errorf("gate: %s", codes(g))
	}
	if words := h.refused(id, g.Commit, g.EvaluationID); !strings.Contains(words, "a.txt") {
		t.Errorf("refused with %s", words)
	}
	if got := h.read(filepath.Join(h.repo, "a.txt")); got != "one\nmine\n" {
		t.Errorf("a person's file is %q", got)
	}
	h.git("-C", h.repo, "checkout", "-q", "a.txt")
	h.write("n.txt", "a person's own\n") // untracked, in the way
	h.refused(id, g.Commit, g.EvaluationID)
	must(t, os.Remove(filepath.Join(h.repo, "n.txt")))

	// A merge in progress, one file of it solved by hand.
	h.git("-C", h.repo, "checkout", "-q", "-b", "side", "HEAD~1")
	h.write("g.txt", "side\n")
	h.git("-C", h.repo, "add", "g.txt")
	h.git("-C", h.repo, "commit", "-q", "-m", "side")
	h.git("-C", h.repo, "checkout", "-q", "main")
	h.gitFails("-C", h.repo, "merge", "side")
	h.write("g.txt", "solved by hand\n")
	state := func() string {
		return h.read(filepath.Join(h.repo, "g.txt")) + h.read(filepath.Join(h.repo, ".git", "MERGE_HEAD")) + h.read(filepath.Join(h.repo, ".git", "index"))
	}
	before := state()
	if g = h.gate(id); !strings.Contains(codes(g), "target_busy") {
		t.Errorf("gate: %s", codes(g))
	}
	if words := h.refused(id, g.Commit, g.EvaluationID); !strings.Contains(words, "merge") {
		t.Errorf("refused with %s", words)
	}
	if state() != before {
		t.Error("the unfinished merge was touched")
	}
	h.git("-C", h.repo, "merge", "--abort")

	h.write("g.txt", "dirty, but not touched by the plan\n")
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	if got := h.read(filepath.Join(h.repo, "g.txt")) + h.git("-C", h.repo, "status", "--porcelain"); got != "dirty, but not touched by the plan\nM g.txt" {
		t.Errorf("%q", got)
	}
}

func TestA7_06_AgentsOwnCommitsAndNothingToApply(t *testing.T) {
	h := newHouse(t)
	commit := "git add -A && git commit -q -m own"
	id, g := h.judgedPlan("- built", shell("own commit", "echo x > x.txt; "+commit+"; echo built"))
	diff, err := h.engine.Diff(h.ctx, id, h.detail(id).Plan.BaseCommit, g.Commit)
	must(t, err)
	if len(diff.Files) != 1 || diff.Files[0].Path != "x.txt" {
		t.Errorf("diff: %+v", diff.Files)
	}
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	if got := h.git("-C", h.repo, "show", "main:x.txt"); got != "x" {
		t.Errorf("x.txt: %q", got)
	}
	if log := h.git("-C", h.repo, "log", "--format=%s", "main"); !strings.Contains(log, "own") {
		t.Errorf("the agent's commit is gone: %s", log)
	}
	for name, cmd := range map[string]string{
		"A7-06 (2) nothing":         "echo built",
		"A7-06 (3) a change undone": "echo y > y.txt; " + commit + "; git rm -q y.txt; git commit -q -m undo; echo built",
		"the target has it already": "mkdir empty; echo x > x.txt; echo built",
	} {
		id, g := h.judgedPlan("- built", shell("nothing", cmd))
		if g.State.Open || !strings.Contains(codes(g), "nothing_to_apply") {
			t.Errorf("%s: gate: %s", name, codes(g))
		}
		h.refused(id, g.Commit, g.EvaluationID)
	}
}

func TestA7_07_EightPlansAtOnce(t *testing.T) {
	h := newHouse(t, func(c *engine.Config) { c.Workers = 8 })
	ids := make([]string, 8)
	for i := range ids {
		ids[i] = h.create(shell("one", "echo $DONEWHEN_PLAN_ID > $DONEWHEN_PLAN_ID.txt"))
	}
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			if err := h.engine.StartPlan(h.ctx, lead, id); err != nil {
				t.Errorf("start: %v", err)
			}
		})
	}
	wg.Wait()
	h.settle()
	branches := strings.Fields(h.git("--git-dir", mirrorOf(t, h), "for-each-ref", "--format=%(refname:short)", "refs/heads"))
	if len(branches) != 8 {
		t.Errorf("branches: %v", branches)
	}
	for _, id := range ids {
		h.wantPlan(id, models.PlanFinished)
		if got := strings.TrimSpace(h.read(h.workFile(id, id+".txt"))); got != id {
			t.Errorf("%s wrote %q", id, got)
		}
	}
	// Some of them are applied at once: each goes in, or is told that main moved.
	for range 3 {
		for _, id := range ids[:3] {
			if h.detail(id).Plan.Status != models.PlanFinished {
				continue
			}
			commit := h.detail(id).Plan.WorkCommit
			wg.Go(func() {
				if err := h.engine.Apply(h.ctx, lead, id, commit, 0); err != nil && models.CodeOf(err) != models.CodeConflict {
					t.Errorf("apply: %v", err)
				}
			})
		}
		wg.Wait()
	}
	for _, id := range ids[:3] {
		h.wantPlan(id, models.PlanApplied)
		if got := h.git("-C", h.repo, "show", "main:"+id+".txt"); got != id {
			t.Errorf("main has %q", got)
		}
	}
	if s := h.git("-C", h.repo, "status", "--porcelain"); s != "" {
		t.Errorf("status: %q", s)
	}
}

func TestTwentyAppliesAtOnceMakeOneMerge(t *testing.T) {
	h := newHouse(t)
	id, g := h.judgedPlan("- built")
	click(t, "apply", 20, func() error { return h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID) })
	h.wantPlan(id, models.PlanApplied)
	if n := h.git("-C", h.repo, "rev-list", "--count", "--merges", "main"); n != "1" {
		t.Errorf("%s merges", n)
	}
	if as := h.detail(id).Attempts; len(as) != 1 {
		t.Errorf("%d attempts", len(as))
	}
}

// Two at once while the target refuses: nobody crashes, everybody is told.
func TestAppliesAtOnceThatAreRefused(t *testing.T) {
	h := newHouse(t)
	id, g := h.judgedPlan("- built")
	must(t, writeFile(filepath.Join(h.repo, ".git", "refs", "heads", "main.lock"), ""))
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID); models.CodeOf(err) != models.CodeConflict {
				t.Errorf("got %v", err)
			}
		})
	}
	wg.Wait()
	h.wantPlan(id, models.PlanFinished)
}

// Apply fails late, after the merge commit was made. root ignores permissions,
// so other things that stand in the way take the place of a read-only folder.
func TestA7_21_ALateFailureIsNeverApplied(t *testing.T) {
	for name, c := range map[string]struct{ block, free func(h *house) }{
		"A7-21 a lock on the branch": {
			func(h *house) { must(h.t, writeFile(filepath.Join(h.repo, ".git", "refs", "heads", "main.lock"), "")) },
			func(h *house) { must(h.t, os.Remove(filepath.Join(h.repo, ".git", "refs", "heads", "main.lock"))) },
		},
		"A7-21 the objects have no place": {
			func(h *house) {
				must(h.t, os.Rename(filepath.Join(h.repo, ".git", "objects"), filepath.Join(h.repo, ".git", "objects-away")))
			},
			func(h *house) {
				_ = os.RemoveAll(filepath.Join(h.repo, ".git", "objects"))
				must(h.t, os.Rename(filepath.Join(h.repo, ".git", "objects-away"), filepath.Join(h.repo, ".git", "objects")))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var h *house
			armed := false
			h = newHouse(t, func(cfg *engine.Config) {
				cfg.Failpoint = func(point string) {
					if point == "after_merge" && !armed {
						armed = true
						c.block(h)
					}
				}
			})
			id, g := h.judgedPlan("- built")
			before := h.head()
			err := h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID)
			if err == nil || !armed {
				t.Fatalf("it was applied (%v)", err)
			}
			h.wantPlan(id, models.PlanFinished)
			c.free(h)
			if h.head() != before {
				t.Error("main moved")
			}
			if a := h.detail(id).Attempts[0]; a.Status != models.ApplyRefused || a.Reason == "" {
				t.Errorf("%+v", a)
			}
			if s := h.git("-C", h.repo, "status", "--porcelain"); s != "" {
				t.Errorf("status: %q", s)
			}
			g = h.gate(id)
			must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
			h.wantPlan(id, models.PlanApplied)
			h.git("-C", h.repo, "merge-base", "--is-ancestor", g.Commit, "main")
		})
	}
}

// The target moves between the page's preview and the merge.
func TestTheTargetMovesWhileItIsApplied(t *testing.T) {
	var h *house
	moved := false
	h = newHouse(t, func(c *engine.Config) {
		c.Failpoint = func(point string) {
			if point == "after_merge" && !moved {
				moved = true
				h.write("later.txt", "later\n")
				h.git("-C", h.repo, "add", "later.txt")
				h.git("-C", h.repo, "commit", "-q", "-m", "later")
			}
		}
	})
	id, g := h.judgedPlan("- built")
	err := h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID)
	if models.CodeOf(err) != models.CodeConflict || !moved {
		t.Fatalf("got %v", err)
	}
	h.wantPlan(id, models.PlanFinished)
	if got := h.git("-C", h.repo, "log", "-1", "--format=%s", "main"); got != "later" {
		t.Errorf("main: %s", got)
	}
	g = h.gate(id)
	if g.Preview.Behind != 1 {
		t.Errorf("behind %d", g.Preview.Behind)
	}
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
}

func (h *house) gitFails(args ...string) {
	h.t.Helper()
	if out, err := gitCommand(args...).CombinedOutput(); err == nil {
		h.t.Fatalf("git %v should fail: %s", args, out)
	}
}
