package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgentsHistoryIsKept goes through passes in which an agent commits, amends, resets, rebases onto
// nothing and deletes its branch: every commit stays reachable, the tree is always what W holds.
func TestAgentsHistoryIsKept(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	var tips, commits []string
	commit := func(args ...string) {
		git(t, p.w, "add", "-A")
		git(t, p.w, append([]string{"commit", "-q", "--allow-empty"}, args...)...)
		commits = append(commits, git(t, p.w, "rev-parse", "HEAD"))
	}
	pass := func(name string, want string) {
		t.Helper()
		s := p.snapshot()
		if len(s.Warnings) > 0 && name != "unborn HEAD" {
			t.Fatalf("%s: %v", name, s.Warnings)
		}
		equal(t, name+": work.txt", p.files(s.Commit)["work.txt"], "100644 "+want)
		equal(t, name+": branch", git(t, p.m.mirror(p.repo), "rev-parse", "donewhen/01A"), s.Commit)
		for _, c := range append(tips, commits...) {
			equal(t, name+": reaches "+c, p.reachable(c, s.Commit), true)
		}
		tips = append(tips, s.Commit)
	}
	write(t, p.path("work.txt"), "1")
	pass("no commit", "1")

	commit("-m", "mine")
	pass("a commit on the old base", "1")

	write(t, p.path("work.txt"), "2")
	commit("-m", "more")
	write(t, p.path("work.txt"), "2+")
	pass("a commit and more beside it", "2+")

	commit("--amend", "-m", "amended")
	pass("amended", "2+")

	git(t, p.w, "reset", "-q", "--hard", p.ws.BaseCommit)
	write(t, p.path("work.txt"), "3")
	pass("reset --hard", "3")

	git(t, p.w, "checkout", "-q", "--orphan", "fresh")
	write(t, p.path("work.txt"), "4")
	pass("unborn HEAD", "4")

	commit("-m", "orphan")
	pass("orphan", "4")

	git(t, p.w, "checkout", "-q", "--detach")
	write(t, p.path("work.txt"), "5")
	commit("-m", "detached")
	pass("detached", "5")

	must(t, os.RemoveAll(p.path(".git")))
	git(t, p.w, "init", "-q")
	commit("-m", "a repository of its own")
	pass("initialised anew", "5")
}

// TestAgentsTipIsTaken: where the agent's last commit is exactly what W holds, on top of the branch, no
// further commit is made.
func TestAgentsTipIsTaken(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	write(t, p.path("work.txt"), "1")
	git(t, p.w, "add", "-A")
	git(t, p.w, "commit", "-q", "-m", "mine")
	head := git(t, p.w, "rev-parse", "HEAD")
	s := p.snapshot()
	equal(t, "commit", s.Commit, head)
	equal(t, "changed", s.Changed, true)
	s = p.snapshot()
	equal(t, "commit", s.Commit, head)
	equal(t, "changed", s.Changed, false)
}

// TestAgentCannotMoveTheBranchBack: deleting or resetting refs in W does nothing to M.
func TestAgentCannotMoveTheBranchBack(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	write(t, p.path("work.txt"), "1")
	first := p.snapshot()
	git(t, p.w, "update-ref", "-d", "refs/heads/donewhen/01A")
	second := p.snapshot()
	equal(t, "tip", second.Commit, first.Commit)
	equal(t, "changed", second.Changed, false)
}

func TestIgnoredOutputIsNotRecorded(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	write(t, p.path("build/out.txt"), "out\n")
	write(t, p.path("x.log"), "log\n")
	write(t, p.path("work.txt"), "w\n")
	write(t, p.path("nested/build/deep.txt"), "deep\n")
	git(t, p.path("nested"), "init", "-q")
	write(t, p.path("nested/y.log"), "log\n")
	write(t, p.path("nested/z.txt"), "z\n")
	s := p.snapshot()
	files := p.files(s.Commit)
	for _, n := range []string{"build/out.txt", "x.log", "nested/y.log", "nested/build/deep.txt"} {
		equal(t, n, files[n], "")
	}
	equal(t, "nested/z.txt", files["nested/z.txt"], "100644 z\n")
	equal(t, "unrecorded", len(s.Unrecorded), 0)
}

func TestSnapshotWithoutPrivateIndex(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	write(t, p.path("work.txt"), "1")
	first := p.snapshot()
	must(t, os.RemoveAll(p.m.stateDir(p.repo, p.id)))
	second := p.snapshot()
	equal(t, "tip", second.Commit, first.Commit)
	// A lock that a killed git left does not stop the next snapshot.
	write(t, p.m.indexFile(p.repo, p.id)+".lock", "")
	write(t, p.path("work.txt"), "2")
	equal(t, "changed", p.snapshot().Changed, true)
}

func TestModesAndTypes(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	must(t, os.Chmod(p.path("a.txt"), 0o755))
	must(t, os.Remove(p.path("b.txt")))
	write(t, p.path("b.txt/inside.txt"), "file became folder\n")
	must(t, os.RemoveAll(p.path("sub")))
	write(t, p.path("sub"), "folder became file\n")
	s := p.snapshot()
	files := p.files(s.Commit)
	equal(t, "a.txt", files["a.txt"], "100755 one\ntwo\nthree\n")
	equal(t, "b.txt/inside.txt", files["b.txt/inside.txt"], "100644 file became folder\n")
	equal(t, "sub", files["sub"], "100644 folder became file\n")
	equal(t, "sub/c.txt", files["sub/c.txt"], "")
	equal(t, "unrecorded", len(s.Unrecorded), 0)

	in := p.input(s.Commit)
	merged, err := p.m.Merge(context.Background(), in)
	must(t, err)
	must(t, p.m.Deliver(context.Background(), in, merged))
	equal(t, "status", git(t, p.repo.Path, "status", "--porcelain"), "")
	equal(t, "sub", read(t, filepath.Join(p.repo.Path, "sub")), "folder became file\n")
	equal(t, "b.txt", read(t, filepath.Join(p.repo.Path, "b.txt/inside.txt")), "file became folder\n")
}

func TestRestore(t *testing.T) {
	ctx := context.Background()
	p := start(t, open(t), newRepo(t), "01A")
	write(t, p.path("phase1.txt"), "1\n")
	one := p.snapshot()
	write(t, p.path("phase2.txt"), "2\n")
	must(t, os.Remove(p.path("a.txt")))
	write(t, p.path("build/cache"), "ignored\n")
	two := p.snapshot()
	write(t, p.path("late.txt"), "not recorded yet\n")

	must(t, p.m.Restore(ctx, p.repo, p.id, one.Commit))
	equal(t, "phase1.txt", read(t, p.path("phase1.txt")), "1\n")
	equal(t, "a.txt", read(t, p.path("a.txt")), "one\ntwo\nthree\n")
	equal(t, "phase2.txt is there", lexists(p.path("phase2.txt")), false)
	equal(t, "late.txt is there", lexists(p.path("late.txt")), false)
	equal(t, "build/cache", read(t, p.path("build/cache")), "ignored\n")
	s := p.snapshot()
	equal(t, "tree", s.Tree, one.Tree)
	equal(t, "changed", s.Changed, false)
	equal(t, "reaches what was there", p.reachable(two.Commit, s.Commit), true)
	late := strings.Fields(git(t, p.m.mirror(p.repo), "log", "--format=%H", "--all", "--", "late.txt"))
	if len(late) == 0 || !p.reachable(late[0], s.Commit) {
		t.Fatal("late.txt is in no commit of the branch")
	}
	must(t, p.m.Restore(ctx, p.repo, p.id, two.Commit))
	equal(t, "phase2.txt", read(t, p.path("phase2.txt")), "2\n")
	equal(t, "tree", p.snapshot().Tree, two.Tree)
	if err := p.m.Restore(ctx, p.repo, p.id, strings.Repeat("1", 40)); err == nil {
		t.Fatal("set back to a commit that does not exist")
	}
}

func TestPutBack(t *testing.T) {
	ctx := context.Background()
	p := start(t, open(t), newRepo(t), "01A")
	write(t, p.path("work.txt"), "work\n")
	write(t, p.path("build/cache"), "before\n")
	before := p.snapshot()
	back, err := p.m.PutBack(ctx, p.repo, p.id)
	must(t, err)
	sameList(t, "nothing changed", back.Changed, nil)

	write(t, p.path("work.txt"), "by a check\n")
	must(t, os.Remove(p.path("a.txt")))
	must(t, os.Chmod(p.path("b.txt"), 0o755))
	must(t, os.RemoveAll(p.path("sub")))
	write(t, p.path("sub"), "file\n")
	write(t, p.path("build/cache"), "after\n")
	write(t, p.path("coverage/out.txt"), "new\n")
	back, err = p.m.PutBack(ctx, p.repo, p.id)
	must(t, err)
	sameList(t, "changed", back.Changed, []string{"a.txt", "b.txt", "sub/c.txt", "work.txt"})
	equal(t, "work.txt", read(t, p.path("work.txt")), "work\n")
	equal(t, "sub/c.txt", read(t, p.path("sub/c.txt")), "c\n")
	equal(t, "build/cache", read(t, p.path("build/cache")), "after\n")
	equal(t, "coverage is there", lexists(p.path("coverage/out.txt")), false)
	equal(t, "set aside", read(t, filepath.Join(back.Folder, "coverage/out.txt")), "new\n")
	after := p.snapshot()
	equal(t, "commit", after.Commit, before.Commit)
}
