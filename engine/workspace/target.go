package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// target is the branch in R that a plan is applied to, and the two states it moves between.
type target struct {
	m      *Manager
	repo   Repo
	branch string
	ref    string
	old    string // commit
	new    string // commit or tree; its objects may be in M alone

	patience time.Duration // how long a lock of somebody else's running git command is waited for

	asked sync.Map // dir -> func() (places, error): where things are there does not change while we look
}

// checkout is one work tree of R.
type checkout struct {
	dir      string
	head     string // commit
	ref      string // full ref, empty where detached
	bare     bool
	prunable bool
}

// ready looks for everything that stands against moving the branch and changes nothing. It returns
// how the files of the checkout are to be moved; nil where no checkout holds the branch. What stands
// against it is a *Refused.
func (t *target) ready(ctx context.Context) (*move, error) {
	return t.readyAmong(ctx, func() ([]checkout, error) { return t.checkouts(ctx) })
}

func (t *target) readyAmong(ctx context.Context, list func() ([]checkout, error)) (*move, error) {
	held, err := t.holder(ctx, list)
	if err != nil || held == nil {
		if err == nil {
			err = t.writableGit(ctx, t.repo.Path)
		}
		return nil, err
	}
	// Looking alone, all is asked at once, and what was listed just now is good
	// enough. Who is about to change something waits for the locks of others first:
	// what they wrote must be in the answers.
	head := func() (string, error) { return held.ref, nil }
	var asked files
	if t.patience == 0 {
		asked = t.lookAt(ctx, held.dir)
		defer asked.end()
	} else {
		head = func() (string, error) { return t.head(ctx, held.dir) }
	}
	if err := t.notBusy(ctx, held.dir, head); err != nil {
		return nil, err
	}
	if t.patience > 0 {
		asked = t.lookAt(ctx, held.dir)
		defer asked.end()
	}
	mv, err := t.planMove(ctx, held.dir, asked)
	if err != nil {
		return nil, err
	}
	if err := t.writableGit(ctx, held.dir); err != nil {
		return nil, err
	}
	if err := mv.writable(); err != nil {
		return nil, err
	}
	return mv, mv.rehearse(ctx)
}

// holder finds the checkout that has the branch; nil if none has (or R is bare).
func (t *target) holder(ctx context.Context, list func() ([]checkout, error)) (*checkout, error) {
	all, err := list()
	if err != nil {
		return nil, err
	}
	var held []checkout
	for _, c := range all {
		switch {
		case c.ref == t.ref && (c.prunable || !isDir(c.dir)):
			return nil, refuse(CodeWrongBranch, nil, "%s is checked out in %s, but that folder is missing: run `git worktree prune` in %s, then apply again.", t.branch, c.dir, t.repo.Path)
		case c.ref == t.ref && !c.bare:
			held = append(held, c)
		case !c.bare && isDir(c.dir):
			// During a rebase or bisect HEAD is detached, and the branch looks free though it is not.
			if what, err := t.detachedWork(ctx, c.dir); err != nil || what != "" {
				if err != nil {
					return nil, err
				}
				return nil, refuse(CodeBusy, nil, "%s of %s is in progress in %s: finish or abort it, then apply again.", what, t.branch, c.dir)
			}
		}
	}
	if len(held) > 1 {
		return nil, refuse(CodeWrongBranch, nil, "%s is checked out twice, in %s and %s: switch one of them to another branch, then apply again.", t.branch, held[0].dir, held[1].dir)
	}
	if len(held) == 0 {
		return nil, nil
	}
	return &held[0], nil
}

func (t *target) checkouts(ctx context.Context) ([]checkout, error) {
	list := begin(func() (string, error) {
		out, _, err := t.m.git(ctx, inR(t.repo.Path, "worktree", "list", "--porcelain", "-z"))
		return out, err
	})
	main, placesErr := t.places(ctx, t.repo.Path)
	out, err := list()
	if err != nil {
		return nil, t.m.notReadable(t.repo.Path, err)
	}
	var all []checkout
	for _, f := range strings.Split(out, "\x00") {
		key, value, _ := strings.Cut(f, " ")
		if key == "worktree" {
			all = append(all, checkout{dir: value})
		}
		if len(all) == 0 {
			continue
		}
		c := &all[len(all)-1]
		switch key {
		case "HEAD":
			c.head = value
		case "branch":
			c.ref = value
		case "bare":
			c.bare = true
		case "prunable":
			c.prunable = true
		}
	}
	// With a git folder elsewhere (--separate-git-dir) git names that folder instead of the checkout.
	if len(all) > 0 && !all[0].bare && placesErr == nil && main.top != "" && main.gitDir == main.commonDir {
		all[0].dir = main.top
		if main.top == t.repo.Path {
			return all, nil
		}
		t.asked.LoadOrStore(main.top, func() (places, error) { return main, nil }) // the same checkout
	}
	return all, nil
}

// places is where the things of a checkout are.
type places struct {
	gitDir, commonDir string
	top               string            // "" in a bare repository
	paths             map[string]string // names in the git folder -> absolute paths
}

// places asks git once for all the places in dir that are needed.
func (t *target) places(ctx context.Context, dir string) (places, error) {
	ask, _ := t.asked.LoadOrStore(dir, sync.OnceValues(func() (places, error) { return t.askPlaces(ctx, dir) }))
	return ask.(func() (places, error))()
}

func (t *target) askPlaces(ctx context.Context, dir string) (places, error) {
	names := []string{"index", "index.lock", "objects", t.ref, headOfRebase, headOfAm, startOfBisect}
	for _, w := range works {
		names = append(names, w.file)
	}
	args := []string{"rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir"}
	for _, n := range names {
		args = append(args, "--git-path", n)
	}
	// The last question has no answer in a bare repository, those before it have.
	out, err := t.m.line(ctx, inR(dir, append(args, "--show-toplevel")...))
	lines, want := strings.Split(out, "\n"), len(names)+3
	bare := exitCode(err) == 128 && len(lines) == want-1
	if err != nil && !bare {
		return places{}, t.m.notReadable(dir, err)
	}
	if !bare && len(lines) != want { // a name with a line break in it
		return places{}, fmt.Errorf("git rev-parse named %d places of %d", len(lines), want)
	}
	p := places{gitDir: lines[0], commonDir: lines[1], paths: map[string]string{}}
	for i, n := range names {
		p.paths[n] = lines[i+2]
	}
	if !bare {
		p.top = lines[want-1]
	}
	return p, nil
}

// Files by which git remembers which branch it has taken off HEAD for a while.
const (
	headOfRebase  = "rebase-merge/head-name"
	headOfAm      = "rebase-apply/head-name"
	startOfBisect = "BISECT_START"
)

// detachedWork says which work in dir has taken the branch off HEAD for a while.
func (t *target) detachedWork(ctx context.Context, dir string) (string, error) {
	where, err := t.places(ctx, dir)
	if err != nil {
		return "", err
	}
	for _, n := range []string{headOfRebase, headOfAm, startOfBisect} {
		text, err := os.ReadFile(where.paths[n])
		if err != nil {
			continue
		}
		if name := strings.TrimSpace(string(text)); name == t.ref || name == t.branch {
			if n == startOfBisect {
				return "A bisect", nil
			}
			return "A rebase", nil
		}
	}
	return "", nil
}

// works are the files by which git remembers unfinished work, in the order they are asked.
var works = []struct{ file, what string }{
	{"MERGE_HEAD", "A merge"},
	{"rebase-merge", "A rebase"},
	{"rebase-apply", "A rebase or `git am`"},
	{"CHERRY_PICK_HEAD", "A cherry-pick"},
	{"REVERT_HEAD", "A revert"},
	{"sequencer", "A cherry-pick or revert"},
	{"BISECT_LOG", "A bisect"},
}

// head is the ref that HEAD of a checkout names, "" where it is detached.
func (t *target) head(ctx context.Context, dir string) (string, error) {
	ref, err := t.m.line(ctx, inR(dir, "symbolic-ref", "-q", "HEAD"))
	if err != nil && exitCode(err) != 1 {
		return "", t.m.notReadable(dir, err)
	}
	return ref, nil
}

// notBusy refuses while something is in progress in the checkout that holds the branch.
func (t *target) notBusy(ctx context.Context, dir string, head func() (string, error)) error {
	ref, err := head()
	if err != nil {
		return err
	}
	if ref != t.ref {
		return refuse(CodeWrongBranch, nil, "%s changed its branch just now: apply again.", dir)
	}
	where, err := t.places(ctx, dir)
	if err != nil {
		return err
	}
	paths := where.paths
	for _, w := range works {
		if lexists(paths[w.file]) {
			return refuse(CodeBusy, nil, "%s is in progress in %s: finish or abort it there, then apply again.", w.what, dir)
		}
	}
	for until := time.Now().Add(t.patience); lexists(paths["index.lock"]); {
		if time.Now().After(until) {
			return refuse(CodeLocked, nil, "Another git command is running in %s, or one that crashed left %s: wait for it, or delete that file if none is running, then apply again.", dir, paths["index.lock"])
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil
}

// writableGit refuses where R's git folder cannot be written, before anything is changed.
func (t *target) writableGit(ctx context.Context, dir string) error {
	where, err := t.places(ctx, dir)
	if err != nil {
		return err
	}
	paths := where.paths
	for _, p := range []string{filepath.Dir(paths["index"]), paths["objects"], filepath.Dir(paths[t.ref])} {
		if err := canWriteIn(p); err != nil {
			return refuse(CodeReadOnly, nil, "The server may not write in %s (%v): give its user write access, then apply again.", p, err)
		}
	}
	return nil
}

// canWriteIn checks a folder, or the nearest one above it that exists.
func canWriteIn(dir string) error {
	for {
		fi, err := os.Stat(dir)
		if err == nil && fi.IsDir() {
			return unix.Access(dir, unix.W_OK|unix.X_OK)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) {
			return err
		}
		up := filepath.Dir(dir)
		if up == dir {
			return err
		}
		dir = up
	}
}
