package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	maxRefFile = 64 << 20 // bytes of packed-refs, of one log of a ref or of another file that names objects
	maxTips    = 100_000
)

// tip is an object that a git folder of the agents' names, and the name it has there: "heads/side",
// "stash", or "logs/HEAD" for what a branch or HEAD pointed to before.
type tip struct{ oid, name string }

func (t tip) past() bool { return strings.HasPrefix(t.name, "logs/") }

// tips are read by ourselves: git would obey the folder's configuration, which can hide refs.
type tips struct {
	git  string
	list []tip
	seen map[string]bool
	odd  []Unrecorded // files of the git folder that could not be read
	more bool         // there were more than maxTips
}

// readTips collects what refs, logs of refs (newest first) and files such as ORIG_HEAD name, the most
// telling names first. Links are not followed.
func readTips(git string) *tips {
	t := &tips{git: git, seen: map[string]bool{}}
	t.walk("refs", t.ref)
	t.file("packed-refs", t.packed)
	for _, pattern := range []string{"*HEAD", "MERGE_AUTOSTASH", "rebase-merge/autostash", "rebase-apply/autostash", "worktrees/*/*HEAD"} {
		found, _ := filepath.Glob(filepath.Join(git, pattern)) // the patterns are well formed
		for _, path := range found {
			t.file(t.rel(path), func(name string, text []byte) { t.lines(name, text, 0) })
		}
	}
	t.walk("logs/refs/stash", t.stash)
	t.walk("logs", t.log)
	worktrees, _ := filepath.Glob(filepath.Join(git, "worktrees/*"))
	for _, w := range worktrees {
		t.walk(t.rel(w)+"/refs", t.ref)
		t.walk(t.rel(w)+"/logs", t.log)
	}
	return t
}

func (t *tips) rel(path string) string {
	return filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(path, t.git), "/"))
}

// walk hands over every file below name, which may be missing.
func (t *tips) walk(name string, read func(name string, text []byte)) {
	_ = filepath.WalkDir(filepath.Join(t.git, filepath.FromSlash(name)), func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			t.unread(t.rel(path), "the server may not read it")
			return fs.SkipDir
		case !d.IsDir():
			t.file(t.rel(path), read)
		}
		return nil
	})
}

func (t *tips) unread(name, why string) {
	t.odd = append(t.odd, Unrecorded{Path: ".git/" + name, Why: why + ", so that commits which only it names are not kept"})
}

// file reads a plain file of the git folder, never through a link and never waiting for a pipe.
func (t *tips) file(name string, read func(name string, text []byte)) {
	fd, err := unix.Open(filepath.Join(t.git, filepath.FromSlash(name)), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT):
		return
	case errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO):
		t.unread(name, "it is no plain file")
		return
	case err != nil:
		t.unread(name, "the server may not read it")
		return
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		t.unread(name, "it is no plain file")
		return
	}
	text, err := io.ReadAll(io.LimitReader(f, maxRefFile+1))
	switch {
	case err != nil:
		t.unread(name, "the server may not read it")
	case len(text) > maxRefFile:
		t.unread(name, "it is too large")
	default:
		read(name, text)
	}
}

// add notes an object under the first name that it is found with.
func (t *tips) add(oid, name string) {
	switch {
	case !oidPattern.MatchString(oid) || strings.Trim(oid, "0") == "" || t.seen[oid]:
	case len(t.list) == maxTips:
		t.more = true
	default:
		t.seen[oid] = true
		t.list = append(t.list, tip{oid, strings.TrimPrefix(name, "refs/")})
	}
}

func (t *tips) ref(name string, text []byte) {
	if !strings.HasSuffix(name, ".lock") {
		t.add(strings.TrimSpace(string(text)), name)
	}
}

func (t *tips) packed(_ string, text []byte) {
	for l := range bytes.Lines(text) {
		oid, name, _ := strings.Cut(strings.TrimSpace(string(l)), " ")
		t.add(oid, name)
	}
}

// lines adds the object that stands in one column of each line.
func (t *tips) lines(name string, text []byte, column int) {
	var found []string
	for l := range bytes.Lines(text) {
		if f := strings.Fields(string(l)); len(f) > column {
			found = append(found, f[column])
		}
	}
	slices.Reverse(found)
	for _, oid := range found {
		t.add(oid, name)
	}
}

// stash adds the older stashes: git itself has them in the log of the newest alone.
func (t *tips) stash(_ string, text []byte) { t.lines("refs/stash", text, 1) }

// log adds what a ref pointed to. The old object of a line is mostly the new one of the line before,
// but not where lines were taken out.
func (t *tips) log(name string, text []byte) {
	t.lines(name, text, 1)
	t.lines(name, text, 0)
}

var plainRef = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*$`)

// keptName is where a tip is kept below keptRefs: the object's name makes it unique for ever, so that
// nothing kept is ever overwritten. A name of the agents' that git might misread is left out.
func (t tip) keptName() string {
	name := t.name
	if !plainRef.MatchString(name) || len(name) > 150 || strings.Contains(name, "..") || strings.Contains(name+"/", ".lock/") || strings.Contains(name+"/", "./") {
		name = "unnamed"
	}
	return t.oid[:12] + "/" + name
}

func (t tip) String() string { return fmt.Sprintf("%s at %s", t.oid[:12], t.name) }
