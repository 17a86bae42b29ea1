package engine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine/workspace"
)

// A `file:` check says the same of a folder (the command line) and of what was
// recorded of it (the server), and neither passes on what leads nowhere or out.
func TestFileCheckIsTheSameForAFolderAndItsRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	repo, id := workspace.Repo{Key: "p1", Path: filepath.Join(dir, "repo")}, "01A"
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repo.Path, "-c", "user.name=t", "-c", "user.email=t@localhost"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ok(os.MkdirAll(repo.Path, 0o755))
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	spaces, err := workspace.Open(workspace.Config{Dir: filepath.Join(dir, "git")})
	ok(err)
	ws, err := spaces.Create(t.Context(), repo, id, "main")
	ok(err)
	at := func(name string) string { return filepath.Join(ws.Dir, name) }
	for _, name := range []string{"guide.md", "docs/a/deep.md", "docs/guide.md", ":(top)odd", "*.txt"} {
		ok(os.MkdirAll(filepath.Dir(at(name)), 0o755))
		ok(os.WriteFile(at(name), []byte("text\n"), 0o644))
	}
	ok(os.WriteFile(filepath.Join(filepath.Dir(ws.Dir), "outside.md"), []byte("not ours\n"), 0o644))
	for link, to := range map[string]string{
		"to-file": "guide.md", "to-folder": "docs", "dotted": "./docs/./guide.md", "docs/up": "../guide.md", "docs/a/twice": "../up", "slashes": "docs//guide.md",
		"into": "docs/a", "to-file-slash": "guide.md/", "to-folder-slash": "docs/", "back": "docs/a/../guide.md", "top": ".",
		"nowhere": "missing.md", "docs/nowhere": "nowhere", "absolute": "/etc/passwd", "out": "../outside.md", "far": "../../../../../../../../../../etc/passwd",
		"etc": "/etc", "parent": "..", "loop": "loop", "ping": "pong", "pong": "ping", "own": ws.Dir + "/guide.md", "through-file": "guide.md/../guide.md",
		"c1": "guide.md", "c2": "c1", "c3": "c2", "c4": "c3", "c5": "c4", "c6": "c5", "c7": "c6", "c8": "c7", "c9": "c8",
	} {
		ok(os.Symlink(to, at(link)))
	}
	snap, err := spaces.Snapshot(t.Context(), repo, id, ws.BaseCommit, "work")
	ok(err)
	e := New(Config{Spaces: spaces})
	t.Cleanup(e.Close)

	const yes, no = dod.Passed, dod.Failed
	for path, want := range map[string]dod.Status{
		"guide.md": yes, "./guide.md": yes, "docs": yes, "docs/": yes, "docs//guide.md": yes, "docs/a/../guide.md": yes, ":(top)odd": yes, "*.txt": yes,
		"to-file": yes, "to-folder": yes, "to-folder/": yes, "to-folder/guide.md": yes, "to-folder/a/deep.md": yes, "dotted": yes, "docs/up": yes, "slashes": yes,
		"docs/a/twice": yes, "to-folder/a/twice": yes, "into/deep.md": yes, "to-folder-slash": yes, "back": yes, "top": yes, "top/docs/guide.md": yes, "c8": yes,
		"guide.md/": no, "guide.md//": no, "docs/guide.md/": no, "to-file/": no, "to-file-slash": no, "guide.md/x": no, "to-file/x": no, "through-file": no,
		"missing.md": no, "nowhere": no, "nowhere/": no, "docs/nowhere": no, "missing/../guide.md": no, "guide.md/../guide.md": no, "*.md": no, "GUIDE.md": no,
		"absolute": no, "out": no, "far": no, "etc/passwd": no, "etc": no, "parent": no, "parent/outside.md": no, "own": no,
		"loop": no, "loop/x": no, "ping": no, "c9": no,
		".": no, "./": no, "docs/..": no, "../outside.md": no, "/etc/passwd": no, "": no,
		// What "into" names lies in docs, and its parent is docs.
		"into/../guide.md": yes, "into/../../guide.md": no,
	} {
		if got := FileCheck(ws.Dir, path); got.Status != want {
			t.Errorf("folder: %q is %s (%s), want %s", path, got.Status, got.Reasoning, want)
		}
		if got := e.fileInTree(t.Context(), repo, snap.Tree, path); got.Status != want {
			t.Errorf("record: %q is %s (%s), want %s", path, got.Status, got.Reasoning, want)
		}
	}
}
