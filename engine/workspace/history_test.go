package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func (p *plan) keepHistory() (kept []string, lost []Unrecorded) {
	p.t.Helper()
	kept, lost, err := p.m.KeepHistory(context.Background(), p.repo, p.id)
	must(p.t, err)
	return kept, lost
}

// commitIn makes a commit in dir that holds a file, and returns it.
func commitIn(t *testing.T, dir, name string) string {
	t.Helper()
	write(t, filepath.Join(dir, name), name+"\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", name)
	return git(t, dir, "rev-parse", "HEAD")
}

// isKept asserts that a kept ref reaches the object, so that no clean-up of git's takes it.
func (p *plan) isKept(what, oid string) {
	p.t.Helper()
	refs := git(p.t, p.m.mirror(p.repo), "for-each-ref", "--format=%(refname)", "refs/donewhen/"+p.id+"/kept", "refs/heads/donewhen/"+p.id)
	reached := git(p.t, p.m.mirror(p.repo), append([]string{"rev-list", "--objects"}, strings.Fields(refs)...)...)
	if !strings.Contains(reached, oid) {
		p.t.Errorf("%s: %s is reached by none of %q", what, oid, refs)
	}
}

// TestHistoryBesidesHEADIsKept: what agents committed and left behind outlives the workspace.
func TestHistoryBesidesHEADIsKept(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	own := git(t, p.w, "symbolic-ref", "--short", "HEAD")
	want := map[string]string{}

	git(t, p.w, "checkout", "-q", "-b", "side/way")
	want["a commit further back on another branch"] = commitIn(t, p.w, "one.txt")
	want["the tip of another branch"] = commitIn(t, p.w, "two.txt")
	git(t, p.w, "checkout", "-q", "-b", "packed")
	want["a packed ref"] = commitIn(t, p.w, "packed.txt")
	git(t, p.w, "pack-refs", "--all")
	git(t, p.w, "checkout", "-q", "-b", "gone", own)
	want["a branch that was deleted"] = commitIn(t, p.w, "gone-branch.txt")
	git(t, p.w, "checkout", "-q", own)
	git(t, p.w, "branch", "-q", "-D", "gone")
	for i := range 2 {
		write(t, p.path("a.txt"), fmt.Sprintf("stashed %d\n", i))
		write(t, p.path("new.txt"), fmt.Sprintf("stashed, too %d\n", i))
		git(t, p.w, "stash", "-q", "-u")
		want[fmt.Sprintf("stash %d", i)] = git(t, p.w, "rev-parse", "stash")
		want[fmt.Sprintf("new file of stash %d", i)] = git(t, p.w, "rev-parse", "stash^3:new.txt")
	}
	want["a commit before reset --hard"] = commitIn(t, p.w, "reset.txt")
	git(t, p.w, "reset", "-q", "--hard", "HEAD~1")
	git(t, p.w, "tag", "-a", "-m", "said with it", "v1")
	want["an annotated tag"] = git(t, p.w, "rev-parse", "v1")
	git(t, p.w, "worktree", "add", "-q", "--detach", filepath.Join(t.TempDir(), "tree"))
	for _, d := range strings.Split(git(t, p.w, "worktree", "list", "--porcelain"), "\n") {
		if dir, ok := strings.CutPrefix(d, "worktree "); ok && dir != p.w {
			want["a detached commit in a linked worktree"] = commitIn(t, dir, "linked.txt")
		}
	}
	write(t, p.path("ok.txt"), "ok\n")
	p.snapshot()

	kept, lost := p.keepHistory()
	if len(lost) != 0 {
		t.Fatal(lost)
	}
	again, lost := p.keepHistory()
	sameList(t, "kept again", again, kept)
	equal(t, "lost", len(lost), 0)
	must(t, p.m.Remove(context.Background(), p.repo, p.id))
	for what, oid := range want {
		p.isKept(what, oid)
	}
	for _, name := range []string{"/heads/packed", "/stash", "/tags/v1", "/logs/HEAD"} {
		if !slices.ContainsFunc(kept, func(k string) bool { return strings.HasSuffix(k, name) }) {
			t.Errorf("none of %q ends with %s", kept, name)
		}
	}
	equal(t, "branches in M", git(t, p.m.mirror(p.repo), "for-each-ref", "--format=%(refname)", "refs/heads"), "refs/heads/donewhen/01A")
	must(t, p.m.Discard(context.Background(), p.repo, p.id))
	equal(t, "refs", git(t, p.m.mirror(p.repo), "for-each-ref", "--format=%(refname)", "refs/heads", "refs/donewhen"), "")
}

// TestNoHistoryNoRefs: what the branch reaches is not kept twice.
func TestNoHistoryNoRefs(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	commitIn(t, p.w, "work.txt")
	git(t, p.w, "branch", "same")
	git(t, p.w, "tag", "light")
	p.snapshot()
	kept, lost := p.keepHistory()
	equal(t, "kept", len(kept), 0)
	equal(t, "lost", len(lost), 0)
}

// TestPlantedInHistoryDoesNotRun: hooks, configuration and helpers in the agents' git folder do nothing
// and hide nothing while history is kept.
func TestPlantedInHistoryDoesNotRun(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	own := git(t, p.w, "symbolic-ref", "--short", "HEAD")
	git(t, p.w, "checkout", "-q", "-b", "side")
	side := commitIn(t, p.w, "side.txt")
	git(t, p.w, "checkout", "-q", own)
	ran := filepath.Join(t.TempDir(), "ran")
	plant(t, p, ran)
	config := p.path(".git/config")
	write(t, config, read(t, config)+"[transfer]\n\thideRefs = refs\n[uploadpack]\n\thideRefs = refs\n")
	p.snapshot()
	equal(t, "something planted ran", lexists(ran), false)
	if kept, lost := p.keepHistory(); len(kept) != 1 || len(lost) != 0 {
		t.Errorf("kept %v, lost %v", kept, lost)
	}
	p.isKept("side", side)
	equal(t, "something planted ran", lexists(ran), false)
}

// TestHistoryThatCannotBeReadIsNamed: links, pipes and objects that are not there are not followed,
// not waited for and not passed over in silence; the rest is kept.
func TestHistoryThatCannotBeReadIsNamed(t *testing.T) {
	secret := newRepo(t)
	commitIn(t, secret.Path, "secret.txt")
	for name, c := range map[string]struct {
		plant func(t *testing.T, p *plan)
		names string
	}{
		"a ref is a link": {func(t *testing.T, p *plan) {
			must(t, os.Symlink(filepath.Join(secret.Path, ".git/refs/heads/main"), p.path(".git/refs/heads/linked")))
		}, ".git/refs/heads/linked"},
		"a log is a pipe": {func(t *testing.T, p *plan) { must(t, syscall.Mkfifo(p.path(".git/logs/refs/heads/pipe"), 0o644)) }, ".git/logs/refs/heads/pipe"},
		"logs is a link": {func(t *testing.T, p *plan) {
			must(t, os.RemoveAll(p.path(".git/logs")))
			must(t, os.Symlink(filepath.Join(secret.Path, ".git/logs"), p.path(".git/logs")))
		}, ".git/logs"},
		"a commit is not there": {func(t *testing.T, p *plan) {
			write(t, p.path(".git/refs/heads/nothing"), strings.Repeat("12", 20)+"\n")
		}, ".git/objects"},
		"a file of a commit is not there": {func(t *testing.T, p *plan) {
			git(t, p.w, "checkout", "-q", "-b", "broken")
			commitIn(t, p.w, "lost.txt")
			blob := git(t, p.w, "rev-parse", "HEAD:lost.txt")
			must(t, os.Remove(p.path(".git/objects/"+blob[:2]+"/"+blob[2:])))
			must(t, os.Remove(p.path("lost.txt")))
			git(t, p.w, "symbolic-ref", "HEAD", "refs/heads/donewhen/01A")
		}, ".git/heads/broken"},
		"an earlier commit is not there": {func(t *testing.T, p *plan) {
			git(t, p.w, "checkout", "-q", "-b", "broken")
			first := commitIn(t, p.w, "first.txt")
			commitIn(t, p.w, "second.txt")
			must(t, os.Remove(p.path(".git/objects/"+first[:2]+"/"+first[2:])))
			git(t, p.w, "symbolic-ref", "HEAD", "refs/heads/donewhen/01A")
		}, ".git/heads/broken"},
		"a commit that fsck refuses": {func(t *testing.T, p *plan) {
			tree := git(t, p.w, "rev-parse", "HEAD^{tree}")
			write(t, filepath.Join(p.w, "raw"), "tree "+tree+"\nauthor none\n\nodd\n")
			oid := git(t, p.w, "hash-object", "-t", "commit", "--literally", "-w", "raw")
			must(t, os.Remove(filepath.Join(p.w, "raw")))
			write(t, p.path(".git/refs/heads/odd"), oid+"\n")
		}, ".git/heads/odd"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, open(t), newRepo(t), "01A")
			own := git(t, p.w, "symbolic-ref", "--short", "HEAD")
			git(t, p.w, "checkout", "-q", "-b", "good")
			good := commitIn(t, p.w, "good.txt")
			git(t, p.w, "checkout", "-q", own)
			c.plant(t, p)
			p.snapshot()
			_, lost := p.keepHistory()
			if !slices.ContainsFunc(lost, func(u Unrecorded) bool { return strings.HasPrefix(u.Path, c.names) }) {
				t.Errorf("%s is not named: %v", c.names, lost)
			}
			p.isKept("good", good)
			if _, err := tryGit(p.m.mirror(p.repo), "cat-file", "-e", git(t, secret.Path, "rev-parse", "HEAD")); err == nil {
				t.Error("another repository's commit was fetched")
			}
		})
	}
}

// TestKeptHistoryIsBounded: a planted crowd of refs costs a bounded number in M, and the rest is named.
func TestKeptHistoryIsBounded(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	tree := git(t, p.w, "rev-parse", "HEAD^{tree}")
	packed := ""
	for i := range maxKept + 5 {
		packed += git(t, p.w, "commit-tree", "-m", fmt.Sprint(i), tree) + fmt.Sprintf(" refs/heads/many%d\n", i)
	}
	write(t, p.path(".git/packed-refs"), packed)
	p.snapshot()
	kept, lost := p.keepHistory()
	equal(t, "kept", len(kept), maxKept)
	if len(lost) != 1 || !strings.Contains(lost[0].Why, "many204") {
		t.Errorf("%v", lost)
	}
}

// TestOddRefNamesAreKeptUnderAPlainOne: what a name says to git never decides where something is put.
func TestOddRefNamesAreKeptUnderAPlainOne(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	tree := git(t, p.w, "rev-parse", "HEAD^{tree}")
	packed := ""
	for i, name := range []string{"refs/heads/../../heads/donewhen/01A", "refs/heads/-x", "refs/heads/a:b", "refs/heads/x.lock", "refs/heads/" + strings.Repeat("l", 300), "HEAD", "refs/heads/a\x01b"} {
		packed += git(t, p.w, "commit-tree", "-m", fmt.Sprint(i), tree) + " " + name + "\n"
	}
	write(t, p.path("work.txt"), "w\n")
	s := p.snapshot()
	write(t, p.path(".git/packed-refs"), packed)
	kept, lost := p.keepHistory()
	equal(t, "kept", len(kept), 7)
	equal(t, "lost", len(lost), 0)
	equal(t, "branch", git(t, p.m.mirror(p.repo), "rev-parse", "donewhen/01A"), s.Commit)
}

// TestNestedHistoryIsNamed: files of repositories in repositories are recorded, their history is not.
func TestNestedHistoryIsNamed(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	for _, dir := range []string{"vendor/x", "vendor/x/deep", "build/ignored"} {
		must(t, os.MkdirAll(p.path(dir), 0o755))
		git(t, p.path(dir), "init", "-q")
		commitIn(t, p.path(dir), "n.txt")
	}
	git(t, p.w, "init", "-q", "fresh")
	write(t, p.path("fresh/n.txt"), "n\n")
	write(t, p.path("elsewhere/.git"), "gitdir: ../vendor/x/.git\n")
	p.snapshot()
	_, lost := p.keepHistory()
	var names []string
	for _, u := range lost {
		names = append(names, u.Path)
	}
	sameList(t, "named", names, []string{"elsewhere/.git", "vendor/x/.git", "vendor/x/deep/.git"})
}

// TestSubmoduleHistoryIsNamed: an untouched submodule costs no word, a commit or a stash in it does.
func TestSubmoduleHistoryIsNamed(t *testing.T) {
	repo := newRepo(t)
	withSubmodule(t, repo)
	p := start(t, open(t), repo, "01A")
	p.snapshot()
	if kept, lost := p.keepHistory(); len(kept)+len(lost) != 0 {
		t.Fatalf("untouched: kept %v, lost %v", kept, lost)
	}
	oid := commitIn(t, p.path("lib"), "mine.txt")
	git(t, p.path("lib"), "reset", "-q", "--hard", "HEAD~1")
	equal(t, "unrecorded", len(p.snapshot().Unrecorded), 0)
	if _, lost := p.keepHistory(); len(lost) != 1 || lost[0].Path != "lib/.git" || !strings.Contains(lost[0].Why, oid[:12]) {
		t.Errorf("%v", lost)
	}
}
