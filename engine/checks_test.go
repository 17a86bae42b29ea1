package engine

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"donewhen/dod"
)

func TestFileCheckStaysInsideTheWorkspace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := filepath.Join(dir, "w")
	outside := filepath.Join(dir, "outside.txt")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(w, "sub"), 0o755),
		os.WriteFile(outside, []byte("secret"), 0o644),
		os.WriteFile(filepath.Join(w, "in.txt"), []byte("12345"), 0o644),
		os.Symlink(outside, filepath.Join(w, "out")),
		os.Symlink("../outside.txt", filepath.Join(w, "out-relative")),
		os.Symlink("in.txt", filepath.Join(w, "inner")),
		os.Symlink("/", filepath.Join(w, "root")),
		os.Symlink("gone.txt", filepath.Join(w, "dangling")),
		os.Symlink("loop", filepath.Join(w, "loop")),
		syscall.Mkfifo(filepath.Join(w, "pipe"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]dod.Status{
		"in.txt": dod.Passed, "sub": dod.Passed, "sub/": dod.Passed, "./in.txt": dod.Passed, "inner": dod.Passed, "pipe": dod.Passed,
		"gone.txt": dod.Failed, "dangling": dod.Failed, "loop": dod.Failed, "in.txt/x": dod.Failed,
		"out": dod.Failed, "out-relative": dod.Failed, "root/etc/passwd": dod.Failed,
		"../outside.txt": dod.Failed, "sub/../../outside.txt": dod.Failed, outside: dod.Failed, "/etc/passwd": dod.Failed,
	} {
		got := FileCheck(w, path)
		if got.Status != want {
			t.Errorf("%s: %s (%s), want %s", path, got.Status, got.Reasoning, want)
		}
		if got.Reasoning == "" || strings.Contains(got.Reasoning, "6 bytes") {
			t.Errorf("%s: reasoning %q", path, got.Reasoning)
		}
	}
	if got := FileCheck(filepath.Join(dir, "no-workspace"), "in.txt"); got.Status != dod.Skipped {
		t.Errorf("without a workspace: %+v", got)
	}
}
