package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// apply does what the engine does: merge, then deliver.
func (p *plan) apply(commit string) error {
	in := p.input(commit)
	merged, err := p.m.Merge(context.Background(), in)
	if err != nil {
		return err
	}
	return p.m.Deliver(context.Background(), in, merged)
}

func TestA7_01_UncommittedChangesStay(t *testing.T) {
	repo := newRepo(t)
	p := start(t, open(t), repo, "01A")
	write(t, filepath.Join(repo.Path, "b.txt"), "b\nmine\n")
	write(t, p.path("a.txt"), "changed\n")
	must(t, p.apply(p.snapshot().Commit))
	equal(t, "b.txt", read(t, filepath.Join(repo.Path, "b.txt")), "b\nmine\n")
	equal(t, "status", git(t, repo.Path, "status", "--porcelain"), " M b.txt")
	equal(t, "a.txt in main", git(t, repo.Path, "show", "main:a.txt"), "changed")
}

func TestA7_02_NoPendingRemoval(t *testing.T) {
	repo := newRepo(t)
	p := start(t, open(t), repo, "01A")
	write(t, p.path("new.md"), "new\n")
	must(t, p.apply(p.snapshot().Commit))
	equal(t, "status", git(t, repo.Path, "status", "--short"), "")
	equal(t, "new.md", read(t, filepath.Join(repo.Path, "new.md")), "new\n")
	equal(t, "new.md in HEAD", git(t, repo.Path, "show", "HEAD:new.md"), "new")
}

func TestA7_03_ConflictLeavesTheTargetAlone(t *testing.T) {
	repo := newRepo(t)
	p := start(t, open(t), repo, "01A")
	write(t, filepath.Join(repo.Path, "a.txt"), "by a person\ntwo\nthree\n")
	git(t, repo.Path, "commit", "-q", "-a", "-m", "person")
	write(t, p.path("a.txt"), "by an agent\ntwo\nthree\n")
	s := p.snapshot()
	before := fingerprint(t, repo.Path)
	sameList(t, "files", refused(t, p.apply(s.Commit), CodeConflict).Files, []string{"a.txt"})
	preview, err := p.m.Preview(context.Background(), repo, p.id, p.ws.BaseCommit, "main")
	must(t, err)
	sameList(t, "files in the preview", preview.Conflicts, []string{"a.txt"})
	equal(t, "nothing to do", preview.NoOp, false)
	sameFingerprint(t, before, fingerprint(t, repo.Path))
	equal(t, "branch", git(t, p.m.mirror(repo), "rev-parse", "donewhen/01A"), s.Commit)

	write(t, p.path("a.txt"), "by a person\ntwo\nthree\nand an agent\n") // a new try
	must(t, p.apply(p.snapshot().Commit))
	equal(t, "a.txt", read(t, filepath.Join(repo.Path, "a.txt")), "by a person\ntwo\nthree\nand an agent\n")
}

func TestA7_04_HooksNeverCostWork(t *testing.T) {
	repo := newRepo(t)
	ran := filepath.Join(t.TempDir(), "ran")
	plantHooks(t, filepath.Join(repo.Path, ".git"), ran)
	p := start(t, open(t), repo, "01A")
	plantHooks(t, p.path(".git"), ran)
	write(t, p.path("a.txt"), "changed\n")
	s := p.snapshot()
	equal(t, "a.txt", p.files(s.Commit)["a.txt"], "100644 changed\n")
	equal(t, "a.txt in W", read(t, p.path("a.txt")), "changed\n")
	must(t, p.apply(s.Commit))
	equal(t, "a hook ran", lexists(ran), false)
}

// withSubmodule adds a submodule lib with s.txt to R.
func withSubmodule(t *testing.T, repo Repo) (lib string) {
	t.Helper()
	lib = filepath.Join(t.TempDir(), "lib")
	must(t, os.MkdirAll(lib, 0o755))
	git(t, lib, "init", "-q", "-b", "main")
	write(t, filepath.Join(lib, "s.txt"), "s\n")
	git(t, lib, "add", "-A")
	git(t, lib, "commit", "-q", "-m", "lib")
	git(t, repo.Path, "-c", "protocol.file.allow=always", "submodule", "-q", "add", lib, "lib")
	git(t, repo.Path, "commit", "-q", "-m", "lib")
	return lib
}

func TestA7_05_Submodules(t *testing.T) {
	t.Run("checked out in the registered repository", func(t *testing.T) {
		repo := newRepo(t)
		lib := withSubmodule(t, repo)
		must(t, os.RemoveAll(lib)) // where it came from is not asked
		p := start(t, open(t), repo, "01A")
		equal(t, "lib/s.txt", read(t, p.path("lib/s.txt")), "s\n")
		equal(t, "status in W", git(t, p.w, "status", "--porcelain"), "")
		write(t, p.path("a.txt"), "changed\n")
		s := p.snapshot()
		if len(s.Unrecorded) != 0 {
			t.Fatal(s.Unrecorded)
		}
		equal(t, "lib", strings.HasPrefix(p.files(s.Commit)["lib"], "160000 "), true)

		ran := filepath.Join(t.TempDir(), "ran")
		plantHooks(t, p.path("lib/.git"), ran)
		write(t, p.path("lib/s.txt"), "changed\n")
		write(t, p.path("lib/new.txt"), "new\n")
		s = p.snapshot()
		equal(t, "a hook ran", lexists(ran), false)
		for _, f := range []string{"lib/s.txt", "lib/new.txt"} {
			if !strings.Contains(s.why(f), "inside a submodule") {
				t.Errorf("%s: %+v", f, s.Unrecorded)
			}
		}
		must(t, p.apply(s.Commit))
		equal(t, "status", git(t, repo.Path, "status", "--porcelain"), "")
	})
	t.Run("not checked out: told before the first command", func(t *testing.T) {
		repo := newRepo(t)
		withSubmodule(t, repo)
		git(t, repo.Path, "submodule", "-q", "deinit", "-f", "lib")
		m := open(t)
		p := start(t, m, repo, "01A")
		all := strings.Join(p.ws.Warnings, "\n")
		if !strings.Contains(all, "The submodule lib is empty here") {
			t.Fatal(all)
		}
		equal(t, "told again", strings.Join(start(t, m, repo, "01A").ws.Warnings, "\n"), all)
	})
}

func TestA7_06_AgentsOwnCommits(t *testing.T) {
	t.Run("edits and commits", func(t *testing.T) {
		p := start(t, open(t), newRepo(t), "01A")
		write(t, p.path("x.txt"), "x\n")
		git(t, p.w, "add", "-A")
		git(t, p.w, "commit", "-q", "-m", "mine")
		s := p.snapshot()
		d, err := p.m.Diff(context.Background(), p.repo, p.ws.BaseCommit, s.Commit)
		must(t, err)
		equal(t, "files", fmt.Sprint(d.Files), fmt.Sprint([]FileChange{{Status: "added", Path: "x.txt", Added: 1}}))
		must(t, p.apply(s.Commit))
		equal(t, "x.txt", read(t, filepath.Join(p.repo.Path, "x.txt")), "x\n")
	})
	t.Run("does nothing", func(t *testing.T) {
		p := start(t, open(t), newRepo(t), "01A")
		s := p.snapshot()
		equal(t, "changed", s.Changed, false)
		equal(t, "commit", s.Commit, p.ws.BaseCommit)
		p.nothingToApply(s)
	})
	t.Run("commits a change and its undo", func(t *testing.T) {
		p := start(t, open(t), newRepo(t), "01A")
		write(t, p.path("x.txt"), "x\n")
		git(t, p.w, "add", "-A")
		git(t, p.w, "commit", "-q", "-m", "mine")
		git(t, p.w, "revert", "--no-edit", "HEAD")
		p.nothingToApply(p.snapshot())
	})
}

func (p *plan) nothingToApply(s Snapshot) {
	t := p.t
	t.Helper()
	d, err := p.m.Diff(context.Background(), p.repo, p.ws.BaseCommit, s.Commit)
	must(t, err)
	equal(t, "files", len(d.Files), 0)
	preview, err := p.m.Preview(context.Background(), p.repo, p.id, p.ws.BaseCommit, "main")
	must(t, err)
	equal(t, "preview says nothing to do", preview.NoOp, true)
	before := fingerprint(t, p.repo.Path)
	merged, err := p.m.Merge(context.Background(), p.input(s.Commit))
	must(t, err)
	equal(t, "merge says nothing to do", merged.NoOp, true)
	must(t, p.m.Deliver(context.Background(), p.input(s.Commit), merged))
	sameFingerprint(t, before, fingerprint(t, p.repo.Path))
}

func TestA7_07_EightAtOnceTenTimes(t *testing.T) {
	m, repo := open(t), newRepo(t)
	for round := range 10 {
		var wg sync.WaitGroup
		for i := range 8 {
			id := fmt.Sprintf("R%dP%d", round, i)
			wg.Go(func() {
				ws, err := m.Create(context.Background(), repo, id, "main")
				if err != nil {
					t.Errorf("%s: %v", id, err)
					return
				}
				if err := os.WriteFile(filepath.Join(ws.Dir, id), []byte(id), 0o644); err != nil {
					t.Error(err)
				}
				if round > 1 {
					return // enough of them beside clones and each other
				}
				if _, err := m.Snapshot(context.Background(), repo, id, ws.BaseCommit, "Pass\n"); err != nil {
					t.Errorf("%s: %v", id, err)
				}
			})
		}
		wg.Wait()
	}
	branches := strings.Fields(git(t, m.mirror(repo), "for-each-ref", "--format=%(refname:short)", "refs/heads/"))
	equal(t, "branches", len(branches), 80)
	dirs, err := os.ReadDir(filepath.Dir(m.workDir(repo, "x")))
	must(t, err)
	equal(t, "workspaces", len(dirs), 80)
	equal(t, "branches of R", git(t, repo.Path, "for-each-ref", "--format=%(refname)"), "refs/heads/main")
}

func TestA7_08_NamesWithBlanksAndLetters(t *testing.T) {
	ctx := context.Background()
	repo := newRepo(t)
	write(t, filepath.Join(repo.Path, "my file.txt"), "old\n")
	git(t, repo.Path, "add", "-A")
	git(t, repo.Path, "commit", "-q", "-m", "more")
	p := start(t, open(t), repo, "01A")
	write(t, p.path("Größe x/é — neu.md"), "erste\nzweite\n")
	write(t, p.path("my file.txt"), "newer\n")
	s := p.snapshot()
	d, err := p.m.Diff(ctx, repo, p.ws.BaseCommit, s.Commit)
	must(t, err)
	equal(t, "files", fmt.Sprint(d.Files), fmt.Sprint([]FileChange{
		{Status: "added", Path: "Größe x/é — neu.md", Added: 2},
		{Status: "modified", Path: "my file.txt", Added: 1, Deleted: 1},
	}))
	equal(t, "sums", [2]int{d.Added, d.Deleted}, [2]int{3, 1})
	patch, cut, err := p.m.Patch(ctx, repo, p.ws.BaseCommit, s.Commit, 0)
	must(t, err)
	equal(t, "cut", cut, false)
	for _, want := range []string{"Größe x/é — neu.md", "+erste\n+zweite\n", "my file.txt", "-old\n+newer\n"} {
		if !strings.Contains(string(patch), want) {
			t.Errorf("the patch lacks %q:\n%s", want, patch)
		}
	}
}

func TestA7_18_BaseIsTheChosenBranchNow(t *testing.T) {
	repo := newRepo(t)
	origin := filepath.Join(t.TempDir(), "origin.git")
	git(t, repo.Path, "clone", "-q", "--bare", repo.Path, origin)
	git(t, repo.Path, "remote", "add", "origin", origin)
	git(t, repo.Path, "fetch", "-q", "origin")
	m := open(t)
	start(t, m, repo, "00OLD") // the mirror knows an older main
	write(t, filepath.Join(repo.Path, "local.txt"), "only here\n")
	git(t, repo.Path, "add", "-A")
	git(t, repo.Path, "commit", "-q", "-m", "local")
	git(t, repo.Path, "switch", "-q", "-c", "other")
	git(t, repo.Path, "commit", "-q", "--allow-empty", "-m", "other")
	p := start(t, m, repo, "01A")
	tip := git(t, repo.Path, "rev-parse", "main")
	equal(t, "base", p.ws.BaseCommit, tip)
	equal(t, "HEAD in W", git(t, p.w, "log", "-1", "--format=%H"), tip)
	equal(t, "branch in W", git(t, p.w, "branch", "--show-current"), "donewhen/01A")
	equal(t, "base tree", p.ws.BaseTree, git(t, repo.Path, "rev-parse", "main^{tree}"))
}

func TestA7_20_UnfinishedMergeIsLeftAlone(t *testing.T) {
	repo := newRepo(t)
	write(t, filepath.Join(repo.Path, "second.txt"), "second\n")
	git(t, repo.Path, "add", "-A")
	git(t, repo.Path, "commit", "-q", "-m", "second")
	a := toApply(t, repo, work)
	conflictedMerge(t, repo.Path)
	write(t, filepath.Join(repo.Path, "second.txt"), "solved by hand\n")
	git(t, repo.Path, "add", "second.txt")
	r := a.refuses(CodeBusy) // compares every byte, MERGE_HEAD and index too
	if !strings.HasPrefix(r.Message, "A merge is in progress in "+repo.Path) {
		t.Fatal(r.Message)
	}
	equal(t, "second.txt", read(t, filepath.Join(repo.Path, "second.txt")), "solved by hand\n")
}

func TestA7_21_ReadOnlyTargetIsNotApplied(t *testing.T) {
	if !unprivileged(t) {
		return
	}
	for name, dirs := range map[string][]string{"checkout": {"."}, "git folder": {".git"}, "refs": {".git/refs/heads"}, "objects": {".git/objects"}} {
		t.Run(name, func(t *testing.T) {
			a := toApply(t, newRepo(t), work)
			for _, d := range dirs {
				must(t, os.Chmod(filepath.Join(a.repo.Path, d), 0o555))
			}
			t.Cleanup(func() { _ = os.Chmod(filepath.Join(a.repo.Path, dirs[0]), 0o755) })
			a.refuses(CodeReadOnly)
			for _, d := range dirs {
				must(t, os.Chmod(filepath.Join(a.repo.Path, d), 0o755))
			}
			must(t, a.deliver())
			a.arrived(a.repo.Path)
		})
	}
}
