package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// plant puts everything into W that could make a careless server run an agent's program: each leaves
// the file ran. It returns the configuration text for planting it elsewhere.
func plant(t *testing.T, p *plan, ran string) (config string) {
	t.Helper()
	prog := filepath.Join(t.TempDir(), "planted.sh")
	write(t, prog, "#!/bin/sh\necho \"$0 $*\" >>'"+ran+"'\ncat\n")
	must(t, os.Chmod(prog, 0o755))
	config = fmt.Sprintf(`
[core]
	fsmonitor = %[1]s
	pager = %[1]s
	editor = %[1]s
	sshCommand = %[1]s
	alternateRefsCommand = %[1]s
	hooksPath = hooks
[filter "evil"]
	clean = %[1]s clean
	smudge = %[1]s smudge
	required = true
[filter "longevil"]
	process = %[1]s process
	required = true
[diff "evil"]
	command = %[1]s diff
	textconv = %[1]s textconv
[diff]
	external = %[1]s external
[merge "evil"]
	driver = %[1]s merge
[alias]
	add = !%[1]s alias
	write-tree = !%[1]s alias
[gpg]
	program = %[1]s
[commit]
	gpgSign = true
[uploadpack]
	packObjectsHook = %[1]s
[credential]
	helper = !%[1]s
[remote "origin"]
	url = ext::%[1]s
	promisor = true
	partialclonefilter = blob:none
`, prog)
	gitDir := p.path(".git")
	old := read(t, filepath.Join(gitDir, "config"))
	plantHooks(t, gitDir, ran)
	write(t, filepath.Join(gitDir, "config"), old+config)
	write(t, p.path(".gitattributes"), "*.txt filter=evil diff=evil merge=evil\n*.md filter=longevil\n")
	write(t, filepath.Join(gitDir, "info/attributes"), "* filter=evil\n")
	write(t, p.path("a.txt"), "changed\n")
	write(t, p.path("doc.md"), "doc\n")
	return config
}

// TestNothingPlantedRuns: an agent plants hooks, fsmonitor, filters, drivers, aliases and a nested
// repository with the same; the whole life of a plan runs none of them.
func TestNothingPlantedRuns(t *testing.T) {
	ctx := context.Background()
	m, repo := open(t), newRepo(t)
	p := start(t, m, repo, "01A")
	ran := filepath.Join(t.TempDir(), "ran")
	config := plant(t, p, ran)

	nested := p.path("nested")
	must(t, os.MkdirAll(nested, 0o755))
	git(t, nested, "init", "-q")
	write(t, filepath.Join(nested, "in.txt"), "in\n")
	write(t, filepath.Join(nested, ".gitattributes"), "* filter=evil\n")
	plantHooks(t, filepath.Join(nested, ".git"), ran)
	write(t, filepath.Join(nested, ".git/config"), read(t, filepath.Join(nested, ".git/config"))+config)
	empty := p.path("nested/empty")
	must(t, os.MkdirAll(empty, 0o755))
	git(t, empty, "init", "-q")

	s := p.snapshot()
	equal(t, "something planted ran", lexists(ran), false)
	files := p.files(s.Commit)
	equal(t, "a.txt", files["a.txt"], "100644 changed\n")
	equal(t, "nested/in.txt", files["nested/in.txt"], "100644 in\n")
	equal(t, "doc.md", files["doc.md"], "100644 doc\n")
	if len(s.Unrecorded) != 0 {
		t.Fatal(s.Unrecorded)
	}

	write(t, p.path("nested/in.txt"), "in, changed\n")
	write(t, p.path("nested/more.txt"), "more\n")
	s = p.snapshot()
	files = p.files(s.Commit)
	equal(t, "nested/in.txt", files["nested/in.txt"], "100644 in, changed\n")
	equal(t, "nested/more.txt", files["nested/more.txt"], "100644 more\n")

	_, err := m.Diff(ctx, repo, p.ws.BaseCommit, s.Commit)
	must(t, err)
	_, _, err = m.Patch(ctx, repo, p.ws.BaseCommit, s.Commit, 0)
	must(t, err)
	_, _, err = m.AddedLines(ctx, repo, p.ws.BaseCommit, s.Commit, 0)
	must(t, err)
	write(t, p.path("a.txt"), "by a check\n")
	back, err := m.PutBack(ctx, repo, p.id)
	must(t, err)
	sameList(t, "put back", back.Changed, []string{"a.txt"})
	must(t, m.Restore(ctx, repo, p.id, p.ws.BaseCommit))
	must(t, m.Restore(ctx, repo, p.id, s.Commit))
	_, err = m.Preview(ctx, repo, p.id, p.ws.BaseCommit, "main")
	must(t, err)
	in := p.input(s.Commit)
	merged, err := m.Merge(ctx, in)
	must(t, err)
	must(t, m.Deliver(ctx, in, merged))
	equal(t, "something planted ran", lexists(ran), false)
	equal(t, "a.txt", read(t, filepath.Join(repo.Path, "a.txt")), "changed\n")
	must(t, m.Remove(ctx, repo, p.id))
	equal(t, "something planted ran", lexists(ran), false)
}

// TestPlantedTrapIsLive proves that the traps of the test above work: git used the plain way falls
// into them.
func TestPlantedTrapIsLive(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	ran := filepath.Join(t.TempDir(), "ran")
	plant(t, p, ran)
	_, _ = tryGit(p.w, "add", "-A")
	equal(t, "something planted ran", lexists(ran), true)
}

func TestLinksOutOfTheWorkspaceAreNotFollowed(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.txt"), "secret\n")
	write(t, filepath.Join(outside, "c.txt"), "secret\n")
	must(t, os.Symlink(outside, p.path("out")))
	must(t, os.Symlink(filepath.Join(outside, "secret.txt"), p.path("file")))
	must(t, os.RemoveAll(p.path("sub")))
	must(t, os.Symlink(outside, p.path("sub")))
	must(t, os.Symlink("/etc/passwd", p.path(".gitattributes")))
	s := p.snapshot()
	files := p.files(s.Commit)
	equal(t, "out", files["out"], "120000 "+outside)
	equal(t, "file", files["file"], "120000 "+filepath.Join(outside, "secret.txt"))
	equal(t, "sub", files["sub"], "120000 "+outside)
	for path := range files {
		if strings.HasPrefix(path, "sub/") || strings.HasPrefix(path, "out/") {
			t.Fatalf("recorded %s through a link", path)
		}
	}
	// Setting back and putting back replace the link and write nothing behind it.
	must(t, os.Remove(p.path(".gitattributes")))
	before := fingerprint(t, outside)
	must(t, p.m.Restore(context.Background(), p.repo, p.id, p.ws.BaseCommit))
	sameFingerprint(t, before, fingerprint(t, outside))
	equal(t, "sub/c.txt", read(t, p.path("sub/c.txt")), "c\n")
	must(t, os.RemoveAll(p.path("sub")))
	must(t, os.Symlink(outside, p.path("sub")))
	back, err := p.m.PutBack(context.Background(), p.repo, p.id)
	must(t, err)
	sameList(t, "put back", back.Changed, []string{"sub/c.txt"})
	sameFingerprint(t, before, fingerprint(t, outside))
	equal(t, "sub/c.txt", read(t, p.path("sub/c.txt")), "c\n")
}

func TestWorkspaceReplacedByALink(t *testing.T) {
	ctx := context.Background()
	p := start(t, open(t), newRepo(t), "01A")
	outside := t.TempDir()
	write(t, filepath.Join(outside, "precious.txt"), "precious\n")
	before := fingerprint(t, outside)
	must(t, os.RemoveAll(p.w))
	must(t, os.Symlink(outside, p.w))
	_, err := p.m.Snapshot(ctx, p.repo, p.id, p.ws.BaseCommit, "x")
	refused(t, err, CodeNoWorkspace)
	_, err = p.m.PutBack(ctx, p.repo, p.id)
	refused(t, err, CodeNoWorkspace)
	refused(t, p.m.Restore(ctx, p.repo, p.id, p.ws.BaseCommit), CodeNoWorkspace)
	_, err = p.m.Create(ctx, p.repo, p.id, "main")
	refused(t, err, CodeNoWorkspace)
	must(t, p.m.Remove(ctx, p.repo, p.id))
	sameFingerprint(t, before, fingerprint(t, outside))
	_, err = p.m.Create(ctx, p.repo, p.id, "main")
	must(t, err)
	equal(t, "b.txt", read(t, p.path("b.txt")), "b\n")
}

// TestGitFolderThatPointsElsewhere: whatever W's .git is made to be, files are recorded, and objects of
// other repositories are not fetched.
func TestGitFolderThatPointsElsewhere(t *testing.T) {
	secret := newRepo(t)
	write(t, filepath.Join(secret.Path, "secret.txt"), "secret\n")
	git(t, secret.Path, "add", "-A")
	git(t, secret.Path, "commit", "-q", "-m", "secret")
	tip := git(t, secret.Path, "rev-parse", "HEAD")
	secretGit := filepath.Join(secret.Path, ".git")
	for name, replace := range map[string]func(t *testing.T, gitDir string){
		"a .git file": func(t *testing.T, g string) {
			must(t, os.RemoveAll(g))
			write(t, g, "gitdir: "+secretGit+"\n")
		},
		"a link": func(t *testing.T, g string) {
			must(t, os.RemoveAll(g))
			must(t, os.Symlink(secretGit, g))
		},
		"commondir": func(t *testing.T, g string) {
			write(t, filepath.Join(g, "commondir"), secretGit+"\n")
			write(t, filepath.Join(g, "HEAD"), tip+"\n")
		},
		"alternates": func(t *testing.T, g string) {
			write(t, filepath.Join(g, "objects/info/alternates"), filepath.Join(secretGit, "objects")+"\n")
			write(t, filepath.Join(g, "HEAD"), tip+"\n")
		},
		"objects are a link": func(t *testing.T, g string) {
			must(t, os.RemoveAll(filepath.Join(g, "objects")))
			must(t, os.Symlink(filepath.Join(secretGit, "objects"), filepath.Join(g, "objects")))
			write(t, filepath.Join(g, "HEAD"), tip+"\n")
		},
		"an object folder is a link": func(t *testing.T, g string) {
			for _, d := range []string{tip[:2]} {
				must(t, os.RemoveAll(filepath.Join(g, "objects", d)))
				must(t, os.Symlink(filepath.Join(secretGit, "objects", d), filepath.Join(g, "objects", d)))
			}
			write(t, filepath.Join(g, "HEAD"), tip+"\n")
		},
		"HEAD is a pipe": func(t *testing.T, g string) {
			must(t, os.Remove(filepath.Join(g, "HEAD")))
			must(t, syscall.Mkfifo(filepath.Join(g, "HEAD"), 0o644))
		},
		"no .git": func(t *testing.T, g string) { must(t, os.RemoveAll(g)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, open(t), newRepo(t), "01A")
			replace(t, p.path(".git"))
			write(t, p.path("work.txt"), "work\n")
			s := p.snapshot()
			equal(t, "work.txt", p.files(s.Commit)["work.txt"], "100644 work\n")
			equal(t, "warnings", len(s.Warnings), 1)
			if !strings.Contains(s.Warnings[0], "agents' own commits could not be read") {
				t.Fatal(s.Warnings)
			}
			if _, err := tryGit(p.m.mirror(p.repo), "cat-file", "-e", tip); err == nil {
				t.Fatal("the other repository's commit was fetched")
			}
			if secretTree, err := tryGit(secret.Path, "rev-parse", "HEAD:secret.txt"); err != nil {
				t.Fatal(secretTree)
			} else if _, err := tryGit(p.m.mirror(p.repo), "cat-file", "-e", secretTree); err == nil {
				t.Fatal("the other repository's file was fetched")
			}
		})
	}
}

func TestPipesThatHangGit(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	must(t, os.Remove(p.path(".gitignore")))
	must(t, syscall.Mkfifo(p.path(".gitignore"), 0o644))
	must(t, syscall.Mkfifo(p.path("sub/.gitattributes"), 0o644))
	must(t, syscall.Mkfifo(p.path("pipe"), 0o644))
	must(t, os.Remove(p.path("b.txt")))
	must(t, syscall.Mkfifo(p.path("b.txt"), 0o644))
	write(t, p.path("work.txt"), "work\n")
	write(t, p.path(".env"), "SECRET=1\n")
	s := p.snapshot()
	files := p.files(s.Commit)
	equal(t, "work.txt", files["work.txt"], "100644 work\n")
	equal(t, "b.txt is kept as it was", files["b.txt"], "100644 b\n")
	equal(t, ".gitignore is kept as it was", files[".gitignore"], "100644 .env\nbuild/\n*.log\n")
	equal(t, "the ignored file", files[".env"], "")
	for _, path := range []string{".gitignore", ".gitignore.not-a-file", "sub/.gitattributes", "pipe", "b.txt"} {
		if !strings.Contains(s.why(path), "not a plain file") {
			t.Errorf("%s: %q in %v", path, s.why(path), s.Unrecorded)
		}
	}
	// What was unrecorded is the agent's: putting back after a check leaves it, setting back moves it.
	back, err := p.m.PutBack(context.Background(), p.repo, p.id)
	must(t, err)
	sameList(t, "put back", back.Changed, nil)
	equal(t, "pipe is there", lexists(p.path("pipe")), true)
	must(t, p.m.Restore(context.Background(), p.repo, p.id, p.ws.BaseCommit))
	equal(t, "b.txt", read(t, p.path("b.txt")), "b\n")
}

func TestUnreadableAndLargeFiles(t *testing.T) {
	if !unprivileged(t) {
		return
	}
	ctx := context.Background()
	p := start(t, open(t), newRepo(t), "01A")
	write(t, p.path("closed/in.txt"), "in\n")
	write(t, p.path("build/closed/in.txt"), "in\n") // ignored: nobody misses it
	write(t, p.path("secret.txt"), "x\n")
	write(t, p.path("work.txt"), "work\n")
	large := strings.Repeat("x", 1<<20+1)
	write(t, p.path("large.bin"), large)
	write(t, p.path("a.txt"), large)
	write(t, p.path("sub/d.txt"), "d\n")
	for _, name := range []string{"closed", "build/closed", "secret.txt", "sub"} {
		must(t, os.Chmod(p.path(name), 0))
	}
	t.Cleanup(func() {
		for _, name := range []string{"closed", "build/closed", "sub"} {
			_ = os.Chmod(p.path(name), 0o755)
		}
	})
	s := p.snapshot()
	files := p.files(s.Commit)
	equal(t, "work.txt", files["work.txt"], "100644 work\n")
	equal(t, "a.txt is kept as it was", files["a.txt"], "100644 one\ntwo\nthree\n")
	equal(t, "sub/c.txt is kept as it was", files["sub/c.txt"], "100644 c\n")
	for path, why := range map[string]string{"closed": whyUnreadableDir, "sub": whyUnreadableDir, "secret.txt": "the server may not read it",
		"large.bin": "too large (1.0 MiB, the limit is 1.0 MiB)", "a.txt": "too large (1.0 MiB, the limit is 1.0 MiB)"} {
		equal(t, path, s.why(path), why)
	}
	if len(s.Unrecorded) != 5 {
		t.Fatalf("unrecorded: %+v", s.Unrecorded)
	}

	back, err := p.m.PutBack(ctx, p.repo, p.id)
	must(t, err)
	sameList(t, "put back", back.Changed, nil)
	equal(t, "a.txt", read(t, p.path("a.txt")), large)

	must(t, os.Chmod(p.path("sub"), 0o755))
	must(t, p.m.Restore(ctx, p.repo, p.id, p.ws.BaseCommit))
	equal(t, "a.txt", read(t, p.path("a.txt")), "one\ntwo\nthree\n")
	equal(t, "large.bin", read(t, p.path("large.bin")), large)
	kept, _ := filepath.Glob(filepath.Join(p.m.stateDir(p.repo, p.id), "kept", "*", "a.txt"))
	equal(t, "kept", len(kept), 1)
	equal(t, "kept a.txt", read(t, kept[0]), large)
	must(t, p.m.Remove(ctx, p.repo, p.id)) // closed folders and all
	equal(t, "W is there", lexists(p.w), false)
}

func TestOddNames(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	names := []string{"-rf", ":(exclude)x", "line\nbreak", "in\xffvalid", "[a]", "quo\"te", "back\\slash", "tab\there", "*", "~home", "Größe/é — neu.md", " lead", "#hash", "!bang"}
	for _, n := range names {
		write(t, p.path(n), n)
	}
	must(t, os.Rename(p.path("b.txt"), p.path("B.txt")))
	write(t, p.path(".GIT/config"), "x") // git refuses the name
	s := p.snapshot()
	files := p.files(s.Commit)
	for _, n := range names {
		equal(t, n, files[n], "100644 "+n)
	}
	equal(t, "B.txt", files["B.txt"], "100644 b\n")
	equal(t, "b.txt", files["b.txt"], "")
	if len(s.Unrecorded) != 1 || !strings.HasPrefix(s.Unrecorded[0].Path, ".GIT") {
		t.Fatalf("unrecorded: %+v, warnings %q", s.Unrecorded, s.Warnings)
	}
	// All the way into R and back out of W.
	must(t, os.RemoveAll(p.path(".GIT")))
	s = p.snapshot()
	d, err := p.m.Diff(context.Background(), p.repo, p.ws.BaseCommit, s.Commit)
	must(t, err)
	listed := map[string]bool{}
	for _, f := range d.Files {
		listed[f.Path] = true
	}
	in := p.input(s.Commit)
	merged, err := p.m.Merge(context.Background(), in)
	must(t, err)
	must(t, p.m.Deliver(context.Background(), in, merged))
	for _, n := range names {
		equal(t, "listed "+n, listed[n], true)
		equal(t, n, read(t, filepath.Join(p.repo.Path, n)), n)
	}
	equal(t, "status", git(t, p.repo.Path, "status", "--porcelain"), "")
	for _, n := range names {
		write(t, p.path(n), "by a check")
	}
	back, err := p.m.PutBack(context.Background(), p.repo, p.id)
	must(t, err)
	equal(t, "put back", len(back.Changed), len(names))
	for _, n := range names {
		equal(t, n, read(t, p.path(n)), n)
	}
}

func TestWorkingTreeEncodingThatDoesNotFit(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	write(t, p.path(".gitattributes"), "*.txt working-tree-encoding=UTF-16\n")
	write(t, p.path("a.txt"), "plain\n")
	write(t, p.path("x.txt"), "odd\n")
	s := p.snapshot()
	files := p.files(s.Commit)
	equal(t, "a.txt", files["a.txt"], "100644 plain\n")
	equal(t, "x.txt", files["x.txt"], "100644 odd\n")
	equal(t, "warnings", len(s.Warnings), 1)
}

// TestPushHasNowhereToGo: the workspace has no remote, and writing into its objects reaches no other
// repository's.
func TestPushHasNowhereToGo(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	if out, err := tryGit(p.w, "push", "origin", "HEAD:main"); err == nil {
		t.Fatal(out)
	}
	equal(t, "remotes", git(t, p.w, "remote"), "")
	_ = filepath.WalkDir(p.path(".git"), func(path string, d os.DirEntry, err error) error {
		if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() && fi.Sys().(*syscall.Stat_t).Nlink != 1 {
			t.Errorf("%s is shared", path)
		}
		return nil
	})
	if strings.Contains(read(t, p.path(".git/config")), p.m.mirror(p.repo)) {
		t.Fatal("the configuration names the mirror")
	}
}
