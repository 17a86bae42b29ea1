package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Tests use the git program itself, in folders of their own and with an environment that knows
// nothing of the machine's settings.

var when = time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)

func userEnv() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org",
		"GIT_EDITOR=true", "GIT_ALLOW_PROTOCOL=file"}
}

// tryGit runs git as a person or an agent would, in dir.
func tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, userEnv()
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		t.Fatalf("git %v in %s: %v\n%s", args, dir, err, out)
	}
	return out
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return string(b)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func sameList(t *testing.T, what string, got, want []string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("%s: got %q, want %q", what, got, want)
	}
}

// newRepo makes a repository on main with a few files and one commit.
func newRepo(t *testing.T) Repo {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	must(t, os.MkdirAll(dir, 0o755))
	git(t, dir, "init", "-q", "-b", "main")
	write(t, filepath.Join(dir, "a.txt"), "one\ntwo\nthree\n")
	write(t, filepath.Join(dir, "b.txt"), "b\n")
	write(t, filepath.Join(dir, "gone.txt"), "to be deleted\n")
	write(t, filepath.Join(dir, "sub/c.txt"), "c\n")
	write(t, filepath.Join(dir, ".gitignore"), ".env\nbuild/\n*.log\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "first")
	return Repo{Key: "p1", Path: dir}
}

func open(t *testing.T) *Manager {
	t.Helper()
	m, err := Open(Config{Dir: filepath.Join(t.TempDir(), "data"), MaxFileBytes: 1 << 20})
	must(t, err)
	return m
}

// plan is a started plan in tests.
type plan struct {
	t    *testing.T
	m    *Manager
	repo Repo
	id   string
	w    string
	ws   Workspace
}

func start(t *testing.T, m *Manager, repo Repo, id string) *plan {
	t.Helper()
	ws, err := m.Create(context.Background(), repo, id, "main")
	must(t, err)
	return &plan{t: t, m: m, repo: repo, id: id, w: ws.Dir, ws: ws}
}

func (p *plan) path(name string) string { return filepath.Join(p.w, filepath.FromSlash(name)) }

func (p *plan) snapshot() Snapshot {
	p.t.Helper()
	s, err := p.m.Snapshot(context.Background(), p.repo, p.id, p.ws.BaseCommit, "Pass\n")
	must(p.t, err)
	return s
}

// files lists a tree or commit of M: path -> "mode contents".
func (p *plan) files(tree string) map[string]string {
	p.t.Helper()
	files := map[string]string{}
	for _, e := range split0(mustGit(p.t, p.m.mirror(p.repo), "ls-tree", "-r", "-z", tree)) {
		meta, path, _ := strings.Cut(e, "\t")
		f := strings.Fields(meta)
		if f[1] == "commit" {
			files[path] = f[0] + " " + f[2]
			continue
		}
		files[path] = f[0] + " " + mustGit(p.t, p.m.mirror(p.repo), "cat-file", "blob", f[2])
	}
	return files
}

func mustGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, userEnv()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

func (p *plan) reachable(commit, from string) bool {
	p.t.Helper()
	_, err := tryGit(p.m.mirror(p.repo), "merge-base", "--is-ancestor", commit, from)
	return err == nil
}

func (p *plan) input(commit string) ApplyInput {
	return ApplyInput{Repo: p.repo, PlanID: p.id, Branch: "main", Base: p.ws.BaseCommit, Commit: commit, When: when, Message: "Apply the plan\n\nPlan: " + p.id + "\nDefinition-of-Done: 2 of 2 passed\n"}
}

func (s Snapshot) why(path string) string {
	for _, u := range s.Unrecorded {
		if u.Path == path {
			return u.Why
		}
	}
	return ""
}

func refused(t *testing.T, err error, code string) *Refused {
	t.Helper()
	var r *Refused
	if !errors.As(err, &r) {
		t.Fatalf("got %v, want a refusal %q", err, code)
	}
	equal(t, "code of "+r.Error(), r.Code, code)
	return r
}

// fingerprint is every file, link and folder below dir with mode and contents: git folder, index,
// refs, objects and all.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		line := rel + " " + fi.Mode().String()
		switch {
		case fi.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			line += " -> " + to
		case fi.Mode().IsRegular():
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %x", sha256.Sum256(b))
		}
		lines = append(lines, line)
		return nil
	})
	must(t, err)
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func sameFingerprint(t *testing.T, before, after string) {
	t.Helper()
	if before == after {
		return
	}
	was := map[string]bool{}
	for _, l := range strings.Split(before, "\n") {
		was[l] = true
	}
	for _, l := range strings.Split(after, "\n") {
		if !was[l] {
			t.Errorf("changed or new: %s", l)
		}
		delete(was, l)
	}
	for l := range was {
		t.Errorf("gone: %s", l)
	}
	t.FailNow()
}

// unprivileged runs the rest of a test as a user to whom file permissions apply. It returns true in
// the process that must do the work; as root it runs the same test again as user 65534 and returns false.
func unprivileged(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return true
	}
	dir, err := os.MkdirTemp("", "donewhen-user-")
	must(t, err)
	t.Cleanup(func() { _ = removeAll(dir) })
	must(t, os.Chmod(dir, 0o777))
	self, err := os.Executable()
	must(t, err)
	binary, err := os.ReadFile(self)
	must(t, err)
	prog := filepath.Join(dir, "again.test")
	must(t, os.WriteFile(prog, binary, 0o755))
	cmd := exec.Command(prog, "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("as user 65534: %v\n%s", err, out)
	}
	return false
}
