package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"donewhen/models"
)

// atWorkWith starts a plan whose agent wrote work.txt and does not end by itself.
func (h *house) atWorkWith() string {
	h.t.Helper()
	at := filepath.Join(h.dir, "at")
	id := h.create(shell("work", "echo precious > work.txt; touch "+at+"; sleep 60"))
	must(h.t, h.engine.StartPlan(h.ctx, lead, id))
	go func() { _, _ = h.engine.Once(h.ctx) }()
	eventually(h.t, "the agent's work", func() bool { return exists(at) })
	eventually(h.t, "its pid", func() bool {
		p := h.phase(id, 1).Passes
		return len(p) > 0 && p[0].Runs[0].Pid > 0
	})
	return id
}

// onBranch is a file's contents at the tip of a plan's branch.
func (h *house) onBranch(id, name string) string {
	h.t.Helper()
	return h.git("--git-dir", mirrorOf(h.t, h), "show", "refs/heads/donewhen/"+id+":"+name)
}

// events are a plan's events of one kind, newest first.
func (h *house) events(id, kind string) (out []models.Event) {
	h.t.Helper()
	all, err := h.store.EventsOf(h.ctx, id, 0, 500)
	must(h.t, err)
	for _, e := range all {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// Nothing is lost: work that no run's end recorded is on the branch when the
// workspace goes.
func TestCleanUpRecordsFirst(t *testing.T) {
	for name, after := range map[string]func(h *house, id string){
		"a stop in good order, then a cancel": func(h *house, id string) {
			h.engine.Close()
			h.crash()
			h.restart()
			must(h.t, h.engine.CancelPlan(h.ctx, lead, id, "enough"))
		},
		"a crash, then a discard": func(h *house, id string) {
			h.crash()
			h.restart()
			must(h.t, h.engine.PausePlan(h.ctx, lead, id))
			must(h.t, h.engine.DiscardPlan(h.ctx, lead, id, ""))
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, quiet)
			id := h.atWorkWith()
			after(h, id)
			must(t, h.engine.CleanUp(h.ctx, lead, id))
			if exists(h.workFile(id, "")) {
				t.Error("the workspace is still there")
			}
			if got := h.onBranch(id, "work.txt"); got != "precious" {
				t.Errorf("on the branch: %q", got)
			}
			if d := h.detail(id); d.Plan.WorkCommit != h.git("--git-dir", mirrorOf(t, h), "rev-parse", "refs/heads/donewhen/"+id) {
				t.Error("the plan's page does not show what was recorded")
			}
		})
	}
	t.Run("a person's file in a plan that is put away", func(t *testing.T) {
		h := newHouse(t)
		id := h.start(shell("work", "echo x > w.txt"))
		must(t, writeFile(h.workFile(id, "mine.txt"), "a person's hour"))
		must(t, h.engine.DiscardPlan(h.ctx, lead, id, ""))
		must(t, h.engine.CleanUp(h.ctx, lead, id))
		if got := h.onBranch(id, "mine.txt"); got != "a person's hour" {
			t.Errorf("on the branch: %q", got)
		}
		if found := h.events(id, "plan.found_changes"); len(found) != 1 || found[0].Reason != "mine.txt" {
			t.Errorf("%+v", found)
		}
	})
	t.Run("a file that came after apply", func(t *testing.T) {
		h := newHouse(t)
		id := h.start(shell("work", "echo x > w.txt"))
		g := h.gate(id)
		must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
		must(t, writeFile(h.workFile(id, "later.txt"), "later"))
		must(t, h.engine.CleanUp(h.ctx, lead, id))
		if got := h.onBranch(id, "later.txt"); got != "later" {
			t.Errorf("on the branch: %q", got)
		}
		if now := h.detail(id).Plan.WorkCommit; now != g.Commit {
			t.Errorf("the page shows %s as applied, it was %s", now, g.Commit)
		}
	})
}

// What cannot be recorded is named before it goes, and the workspace stays until
// a person has read it.
func TestCleanUpNamesWhatWouldBeLost(t *testing.T) {
	h := newHouse(t)
	id := h.start(shell("work", "echo x > w.txt"))
	must(t, h.engine.DiscardPlan(h.ctx, lead, id, ""))
	must(t, syscall.Mkfifo(h.workFile(id, "pipe"), 0o644))
	err := h.engine.CleanUp(h.ctx, lead, id)
	wantErrCode(t, err, models.CodeConflict)
	if e := err.(*models.Error); !strings.Contains(e.Message, "1 file in the workspace could not be recorded and would be lost. Move it away, or clean up again to let it go.") ||
		len(e.Details) != 1 || !strings.HasPrefix(e.Details[0], "pipe (not a plain file") {
		t.Errorf("%q %q", e.Message, e.Details)
	}
	if p := h.detail(id).Plan; !exists(h.workFile(id, "pipe")) || p.CleanedAt != nil || len(p.Unrecorded) != 1 {
		t.Errorf("cleaned at %v, unrecorded %v", p.CleanedAt, p.Unrecorded)
	}
	must(t, syscall.Mkfifo(h.workFile(id, "second"), 0o644)) // another one is news again
	wantErrCode(t, h.engine.CleanUp(h.ctx, lead, id), models.CodeConflict)
	must(t, h.engine.CleanUp(h.ctx, lead, id))
	if exists(h.workFile(id, "")) {
		t.Error("the workspace is still there")
	}
}

// A workspace that cannot be recorded is not removed.
func TestCleanUpRefusesWithoutARecord(t *testing.T) {
	h := newHouse(t)
	id := h.start(shell("work", "echo x > w.txt"))
	must(t, h.engine.DiscardPlan(h.ctx, lead, id, ""))
	must(t, writeFile(h.workFile(id, "mine.txt"), "mine"))
	mirror := mirrorOf(t, h)
	must(t, os.Rename(mirror, mirror+".away"))
	err := h.engine.CleanUp(h.ctx, lead, id)
	wantErrCode(t, err, models.CodeConflict)
	if !strings.Contains(err.Error(), "was not removed") || !exists(h.workFile(id, "mine.txt")) {
		t.Errorf("%v", err)
	}
	must(t, os.Rename(mirror+".away", mirror))
	must(t, h.engine.CleanUp(h.ctx, lead, id))
	if got := h.onBranch(id, "mine.txt"); got != "mine" {
		t.Errorf("on the branch: %q", got)
	}
}

// A workspace that is gone already does not keep the plan from being cleaned up,
// and kept copies outlive it.
func TestCleanUpLeavesKeptCopies(t *testing.T) {
	h := newHouse(t)
	id := h.start(shell("work", "echo x > w.txt"))
	must(t, h.engine.DiscardPlan(h.ctx, lead, id, ""))
	kept := filepath.Join(h.spaces.KeptDir(h.repoRef(), id), "20260301T090000", "big.bin")
	must(t, os.MkdirAll(filepath.Dir(kept), 0o755))
	must(t, writeFile(kept, "large"))
	must(t, os.RemoveAll(h.workFile(id, "")))
	must(t, h.engine.CleanUp(h.ctx, lead, id))
	if h.read(kept) != "large" {
		t.Error("the copy is gone")
	}
	if left, err := os.ReadDir(filepath.Dir(h.spaces.KeptDir(h.repoRef(), id))); err != nil || len(left) != 1 {
		t.Errorf("beside it: %v, %v", left, err)
	}
	if said := h.events(id, "plan.cleaned_up"); len(said) != 1 || !strings.Contains(said[0].Reason, h.spaces.KeptDir(h.repoRef(), id)) {
		t.Errorf("%+v", said)
	}
}

// inMirror says whether refs of the plan's reach an object.
func (h *house) inMirror(id, oid string) bool {
	h.t.Helper()
	refs := h.git("--git-dir", mirrorOf(h.t, h), "for-each-ref", "--format=%(refname)", "refs/heads/donewhen/"+id, "refs/donewhen/"+id)
	return strings.Contains(h.git(append([]string{"--git-dir", mirrorOf(h.t, h), "rev-list", "--objects"}, strings.Fields(refs)...)...), oid)
}

// Commits that HEAD does not reach outlive the workspace, and the activity says where.
func TestCleanUpKeepsHistoryBesidesHEAD(t *testing.T) {
	who := "git config user.email a@b; git config user.name a; "
	for name, command := range map[string]string{
		"a commit on another branch": "B=$(git symbolic-ref --short HEAD); git checkout -q -b side; echo precious > precious.txt; git add -A; git commit -q -m side; git rev-parse HEAD; git checkout -q $B",
		"a stash":                    "echo stashed >> stashed.txt; git add -A; git stash -q; git rev-parse stash",
		"a commit before a reset":    "echo w > work.txt; git add -A; git commit -q -m w; git rev-parse HEAD; git reset -q --hard HEAD~1",
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			id := h.start(shell("work", who+command+"; echo ok > ok.txt"))
			oid := strings.TrimSpace(h.phase(id, 1).Passes[0].Runs[0].FinalMessage)
			if len(oid) != 40 {
				t.Fatalf("the agent said %q", oid)
			}
			must(t, h.engine.DiscardPlan(h.ctx, lead, id, ""))
			must(t, h.engine.CleanUp(h.ctx, lead, id))
			if exists(h.workFile(id, "")) || !h.inMirror(id, oid) {
				t.Errorf("the workspace is there: %t, the commit is kept: %t", exists(h.workFile(id, "")), h.inMirror(id, oid))
			}
			if said := h.events(id, "plan.cleaned_up"); len(said) != 1 || !strings.Contains(said[0].Reason, "refs/donewhen/"+id+"/kept/") || !strings.Contains(said[0].Reason, oid[:12]) {
				t.Errorf("%+v", said)
			}
		})
	}
}

// History that cannot be kept is named once, and again when it is another one.
func TestCleanUpNamesHistoryThatWouldBeLost(t *testing.T) {
	h := newHouse(t)
	id := h.start(shell("work", "mkdir -p vendor/x; cd vendor/x; git init -q; echo n > n.txt; git add -A; git -c user.email=a@b -c user.name=a commit -q -m n"))
	must(t, h.engine.DiscardPlan(h.ctx, lead, id, ""))
	wantNamed := func(n int, what string) {
		t.Helper()
		err := h.engine.CleanUp(h.ctx, lead, id)
		wantErrCode(t, err, models.CodeConflict)
		if e := err.(*models.Error); len(e.Details) != n || !strings.Contains(strings.Join(e.Details, "\n"), what) || !strings.Contains(e.Message, "thing") || !exists(h.workFile(id, "vendor/x/.git")) {
			t.Errorf("%q %q", e.Message, e.Details)
		}
	}
	wantNamed(1, "vendor/x/.git (the history of a repository of its own is not kept, its files are)")
	broken := h.workFile(id, ".git/refs/heads/broken")
	must(t, writeFile(broken, strings.Repeat("12", 20)+"\n"))
	wantNamed(1, "121212121212 at heads/broken")
	must(t, writeFile(broken, strings.Repeat("34", 20)+"\n"))
	wantNamed(1, "343434343434 at heads/broken")
	must(t, h.engine.CleanUp(h.ctx, lead, id))
	if exists(h.workFile(id, "")) || h.onBranch(id, "vendor/x/n.txt") != "n" {
		t.Error("the workspace is there, or the nested repository's file is not")
	}
}
