package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestVersionCheck(t *testing.T) {
	for line, ok := range map[string]bool{
		"git version 2.39.5": true, "git version 2.39.4": true, "git version 2.39.3": false, "git version 2.38.9": false, "git version 1.9.1": false,
		"git version 2.40.0.windows.1": true, "git version 3.0": true, "git version 2.39": false, "git version 2.45.2 (Apple Git-150)": true, "hub": false, "": false,
	} {
		if err := checkVersion(line); (err == nil) != ok {
			t.Errorf("%q: %v", line, err)
		} else if err != nil && !strings.Contains(err.Error(), "2.39.4") {
			t.Errorf("%q: %v does not say what to install", line, err)
		}
	}
}

func TestOpenRefusesAnOldOrMissingGit(t *testing.T) {
	old := filepath.Join(t.TempDir(), "git")
	must(t, os.WriteFile(old, []byte("#!/bin/sh\necho git version 2.30.2\n"), 0o755))
	if _, err := Open(Config{Dir: t.TempDir(), Git: old}); err == nil || !strings.Contains(err.Error(), "Install git 2.39.4 or newer") {
		t.Fatalf("old git: %v", err)
	}
	if _, err := Open(Config{Dir: t.TempDir(), Git: filepath.Join(t.TempDir(), "none")}); err == nil || !strings.Contains(err.Error(), "install git 2.39.4 or newer") {
		t.Fatalf("no git: %v", err)
	}
}

func TestTimeLimitEndsGitAndItsHelpers(t *testing.T) {
	slow := filepath.Join(t.TempDir(), "git")
	pid := filepath.Join(t.TempDir(), "pid")
	must(t, os.WriteFile(slow, []byte("#!/bin/sh\n[ \"$GIT_CONFIG_GLOBAL\" ] || exit 1\ncase \"$*\" in *version) echo git version 2.39.5; exit;; esac\nsleep 300 & echo $! >'"+pid+"'; wait\n"), 0o755))
	m, err := Open(Config{Dir: t.TempDir(), Git: slow, Timeout: 300 * time.Millisecond})
	must(t, err)
	_, err = m.TargetTip(context.Background(), Repo{Key: "p", Path: t.TempDir()}, "main")
	if err == nil || !strings.Contains(err.Error(), "took too long") {
		t.Fatal(err)
	}
	helper := strings.TrimSpace(read(t, pid))
	for deadline := time.Now().Add(10 * time.Second); ; {
		stat, err := os.ReadFile("/proc/" + helper + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %s is still there", helper)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestBranchNames(t *testing.T) {
	for _, b := range []string{"main", "a/b", "-x", "--exec=touch", "größe", "a.b", "x@y", "@", "a.lock/b", "a..b", "a~1", "a^", "a:b", "a b", "", "a/", "/a", "a//b",
		".a", "a/.b", "a.lock", "a@{1}", "a.", "a\\b", "a\tb", "a*", "a[b", "a?b", "main^{tree}", "a\x7fb", "a\nb"} {
		_, err := tryGit(t.TempDir(), "check-ref-format", "refs/heads/"+b)
		if ours := checkBranch(b); (ours == nil) != (err == nil) {
			t.Errorf("%q: git says %v, we say %v", b, err, ours)
		}
	}
}

func TestInspect(t *testing.T) {
	ctx := context.Background()
	m := open(t)
	repo := newRepo(t)
	git(t, repo.Path, "branch", "feature/x")

	before := fingerprint(t, repo.Path)
	info, err := m.Inspect(ctx, filepath.Join(repo.Path, "sub"))
	must(t, err)
	sameFingerprint(t, before, fingerprint(t, repo.Path))
	equal(t, "info", fmt.Sprintf("%+v", info), fmt.Sprintf("%+v", RepoInfo{Path: repo.Path, DefaultBranch: "main", Branches: []string{"feature/x", "main"}}))

	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(repo.Path, link))
	info, err = m.Inspect(ctx, link)
	must(t, err)
	equal(t, "path behind a link", info.Path, repo.Path)

	git(t, repo.Path, "checkout", "-q", "--detach")
	info, err = m.Inspect(ctx, repo.Path)
	must(t, err)
	equal(t, "default branch where HEAD is detached", info.DefaultBranch, "main")

	bare := filepath.Join(t.TempDir(), "bare.git")
	git(t, repo.Path, "clone", "-q", "--bare", repo.Path, bare)
	info, err = m.Inspect(ctx, bare)
	must(t, err)
	equal(t, "bare", info.Bare, true)
	equal(t, "path of the bare one", info.Path, bare)

	withSubmodule(t, repo)
	git(t, repo.Path, "branch", "-f", "main")
	info, err = m.Inspect(ctx, repo.Path)
	must(t, err)
	equal(t, "warnings", len(info.Warnings), 1)
}

func TestInspectRefuses(t *testing.T) {
	m := open(t)
	repo := newRepo(t)
	none := t.TempDir()
	empty := t.TempDir()
	git(t, empty, "init", "-q")
	blocked := newRepo(t).Path
	git(t, blocked, "branch", "donewhen")
	git(t, repo.Path, "commit", "-q", "--allow-empty", "-m", "2")
	shallow := filepath.Join(t.TempDir(), "shallow")
	git(t, repo.Path, "clone", "-q", "--depth=1", "file://"+repo.Path, shallow)
	partial := newRepo(t).Path
	git(t, partial, "config", "remote.origin.promisor", "true")
	start(t, m, repo, "01A")
	for _, c := range []struct{ path, code, says string }{
		{none, CodeNotARepository, "git init"},
		{filepath.Join(none, "nowhere"), CodeNotARepository, "does not exist"},
		{"", CodeNotARepository, "Enter the folder"},
		{"relative/path", CodeNotARepository, "full path"},
		{filepath.Join(repo.Path, "a.txt"), CodeNotARepository, "not a folder"},
		{filepath.Join(repo.Path, ".git"), CodeNotARepository, "checkout around it"},
		{empty, CodeNoBranch, "commit something"},
		{blocked, CodeBlockedName, "git branch -m donewhen"},
		{shallow, CodeUnsupported, "git fetch --unshallow"},
		{partial, CodeUnsupported, "full clone"},
		{m.mirror(repo), CodeNotARepository, "belongs to this server"},
	} {
		_, err := m.Inspect(context.Background(), c.path)
		if r := refused(t, err, c.code); !strings.Contains(r.Message, c.says) {
			t.Errorf("%s: %q does not say %q", c.path, r.Message, c.says)
		}
	}
}

func TestCreate(t *testing.T) {
	ctx := context.Background()
	m, repo := open(t), newRepo(t)
	for _, c := range []struct {
		repo       Repo
		plan, code string
		branch     string
	}{
		{repo, "../x", CodeBadName, "main"}, {repo, "", CodeBadName, "main"}, {repo, "a.b", CodeBadName, "main"},
		{Repo{Key: "../k", Path: repo.Path}, "01A", CodeBadName, "main"}, {Repo{Key: "k", Path: "rel"}, "01A", CodeBadName, "main"},
		{repo, "01A", CodeNoBranch, "nowhere"}, {repo, "01A", CodeBadName, "main~1"},
		{Repo{Key: "k", Path: filepath.Join(repo.Path, "none")}, "01A", CodeNotARepository, "main"},
	} {
		_, err := m.Create(ctx, c.repo, c.plan, c.branch)
		refused(t, err, c.code)
	}
	before := fingerprint(t, repo.Path)
	p := start(t, m, repo, "01A")
	sameFingerprint(t, before, fingerprint(t, repo.Path))
	write(t, p.path("work.txt"), "work\n")

	// Again, after the target moved: the same workspace and base.
	git(t, repo.Path, "commit", "-q", "--allow-empty", "-m", "on")
	again := start(t, m, repo, "01A")
	equal(t, "base", again.ws.BaseCommit, p.ws.BaseCommit)
	equal(t, "work.txt", read(t, p.path("work.txt")), "work\n")
	s := p.snapshot()

	// A crash left halves beside it, another one removed W but not the branch.
	write(t, filepath.Join(newName(p.w), "half"), "half")
	write(t, filepath.Join(oldName(p.w), "half"), "half")
	must(t, m.Remove(ctx, repo, "01A"))
	must(t, m.Remove(ctx, repo, "01A"))
	equal(t, "left over", lexists(newName(p.w)) || lexists(oldName(p.w)) || lexists(m.stateDir(repo, "01A")), false)
	anew := start(t, m, repo, "01A")
	equal(t, "base", anew.ws.BaseCommit, p.ws.BaseCommit)
	equal(t, "work.txt", read(t, p.path("work.txt")), "work\n")
	equal(t, "tip", anew.snapshot().Commit, s.Commit)

	// The fetch command works as printed, and pruning fetches keep plans' branches.
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, repo.Path, "clone", "-q", repo.Path, clone)
	git(t, clone, strings.Fields(m.FetchCommand(repo, "01A"))[1:]...)
	equal(t, "fetched", git(t, clone, "rev-parse", "donewhen/01A"), s.Commit)
	start(t, m, repo, "01B")
	equal(t, "branch", git(t, m.mirror(repo), "rev-parse", "donewhen/01A"), s.Commit)

	must(t, m.Discard(ctx, repo, "01A"))
	equal(t, "refs", git(t, m.mirror(repo), "for-each-ref", "--format=%(refname)", "refs/heads", "refs/donewhen/01A"), "refs/heads/donewhen/01B")
}

func TestDiff(t *testing.T) {
	ctx := context.Background()
	p := start(t, open(t), newRepo(t), "01A")
	must(t, os.Rename(p.path("gone.txt"), p.path("moved here.txt")))
	write(t, p.path("bin"), "a\x00b")
	write(t, p.path("odd.txt"), "++ plus\n-- minus\n@@ -1,9 +1,9 @@\nno end")
	must(t, os.Remove(p.path("b.txt")))
	must(t, os.Symlink("a.txt", p.path("b.txt")))
	write(t, p.path("a.txt"), "one\ntwo\n3\n")
	s := p.snapshot()
	d, err := p.m.Diff(ctx, p.repo, p.ws.BaseTree, s.Tree)
	must(t, err)
	equal(t, "files", fmt.Sprintf("%+v", d.Files), fmt.Sprintf("%+v", []FileChange{
		{Status: "modified", Path: "a.txt", Added: 1, Deleted: 1},
		{Status: "type_changed", Path: "b.txt", Added: 1, Deleted: 1},
		{Status: "added", Path: "bin", Binary: true},
		{Status: "renamed", Path: "moved here.txt", OldPath: "gone.txt"},
		{Status: "added", Path: "odd.txt", Added: 4},
	}))
	text, cut, err := p.m.AddedLines(ctx, p.repo, p.ws.BaseCommit, s.Commit, 0)
	must(t, err)
	equal(t, "added lines", text, "3\na.txt\na\x00b\n++ plus\n-- minus\n@@ -1,9 +1,9 @@\nno end\n")
	equal(t, "cut", cut, false)
	for max := int64(1); max <= int64(len(text)); max++ {
		got, cut, err := p.m.AddedLines(ctx, p.repo, p.ws.BaseCommit, s.Commit, max)
		must(t, err)
		if !strings.HasPrefix(text, got) || int64(len(got)) > max || cut != (got != text) || got != "" && !strings.HasSuffix(got, "\n") {
			t.Fatalf("at most %d bytes: %q, cut %v", max, got, cut)
		}
		if max > 3 {
			max += 6
		}
	}
	whole, cut, err := p.m.Patch(ctx, p.repo, p.ws.BaseCommit, s.Commit, 0)
	must(t, err)
	equal(t, "cut", cut, false)
	part, cut, err := p.m.Patch(ctx, p.repo, p.ws.BaseCommit, s.Commit, 100)
	must(t, err)
	equal(t, "cut", cut, true)
	if len(part) > 100 || !strings.HasPrefix(string(whole), string(part)) || !strings.HasSuffix(string(part), "\n") {
		t.Fatalf("%q", part)
	}
	exact, cut, err := p.m.Patch(ctx, p.repo, p.ws.BaseCommit, s.Commit, int64(len(whole)))
	must(t, err)
	equal(t, "exactly as long", string(exact) == string(whole) && !cut, true)
	for _, bad := range []string{"HEAD", "--output=x", "", "refs/heads/x"} {
		if _, err := p.m.Diff(ctx, p.repo, bad, s.Commit); err == nil {
			t.Errorf("%q was taken for a commit", bad)
		}
	}
}

// TestLargePatchIsCutWithoutReadingItAll also reads a line longer than any buffer.
func TestLargePatchIsCutWithoutReadingItAll(t *testing.T) {
	ctx := context.Background()
	p := start(t, open(t), newRepo(t), "01A")
	long := strings.Repeat("x", 900<<10)
	write(t, p.path("a-long.txt"), long+"\n")
	for i := range 20 {
		write(t, p.path(fmt.Sprintf("many/%02d.txt", i)), strings.Repeat("line\n", 40000))
	}
	s := p.snapshot()
	patch, cut, err := p.m.Patch(ctx, p.repo, p.ws.BaseCommit, s.Commit, 1000)
	must(t, err)
	equal(t, "cut", cut, true)
	if len(patch) > 1000 {
		t.Fatal(len(patch))
	}
	text, cut, err := p.m.AddedLines(ctx, p.repo, p.ws.BaseCommit, s.Commit, 1<<20)
	must(t, err)
	equal(t, "cut", cut, true)
	if !strings.HasPrefix(text, long+"\nline\n") || len(text) > 1<<20 {
		t.Fatal(len(text))
	}
	if text, cut, err := p.m.AddedLines(ctx, p.repo, p.ws.BaseCommit, s.Commit, 1000); err != nil || text != "" || !cut {
		t.Fatalf("%q %v %v", text, cut, err)
	}
}
