package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// rehearse lets git itself try the move on a copy of the index, without writing a file: what it would
// refuse is refused before R is touched. The new state's objects are read from M.
func (mv *move) rehearse(ctx context.Context) error {
	m := mv.t.m
	where, err := mv.t.places(ctx, mv.dir)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Join(m.cfg.Dir, "state"), ".rehearse-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	index := filepath.Join(tmp, "index")
	if err := copyFile(where.paths["index"], index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	env := []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + alternates(filepath.Join(m.mirror(mv.t.repo), "objects"))}
	run := func(args ...string) error {
		if args[0] == "read-tree" {
			args = append([]string{"read-tree", "-n"}, args[1:]...) // a rehearsal: no file is written
		}
		c := inR(mv.dir, append([]string{"-c", "core.splitIndex=false"}, args...)...)
		c.index, c.env, c.long = index, env, true
		if args[0] == "update-index" && args[1] == "-z" {
			c.stdin = mv.indexInfo()
		}
		_, _, err := m.git(ctx, c)
		return err
	}
	// Mostly the index knows its files, and git says yes without looking at each of them.
	if len(mv.same) == 0 && run("read-tree", "-m", "-u", mv.t.old, mv.t.new) == nil {
		return nil
	}
	return mv.steps(run)
}

// steps are the commands that move index and files; run executes one on a copy or on R itself.
func (mv *move) steps(run func(args ...string) error) error {
	if len(mv.same) > 0 {
		if err := run("update-index", "-z", "--index-info"); err != nil {
			return mv.refusal(err)
		}
	}
	// Exit code 1 only says that some file, which need not be ours, is changed.
	if err := run("update-index", "-q", "--refresh"); err != nil && exitCode(err) != 1 {
		return mv.refusal(err)
	}
	if err := run("read-tree", "-m", "-u", mv.t.old, mv.t.new); err != nil {
		return mv.refusal(err)
	}
	return nil
}

// indexInfo stages the changes whose files are there already.
func (mv *move) indexInfo() string {
	var b strings.Builder
	for _, c := range mv.same {
		if c.deleted() {
			fmt.Fprintf(&b, "0 %s\t%s\x00", c.oldID, c.path)
		} else {
			fmt.Fprintf(&b, "%s %s\t%s\x00", c.newMode, c.newID, c.path)
		}
	}
	return b.String()
}

// refusal words what git said against moving the files.
func (mv *move) refusal(err error) error {
	text := stderrOf(err)
	var files []string
	for _, l := range strings.Split(text, "\n") {
		if q := quoted(l); q != "" && strings.HasPrefix(l, "error:") {
			files = append(files, q)
		}
	}
	switch {
	case text == "":
		return err
	case strings.Contains(text, "index.lock") && strings.Contains(text, "File exists"):
		return refuse(CodeLocked, nil, "Another git command is running in %s, or one that crashed left its index.lock: wait for it, or delete that file if none is running, then apply again.", mv.dir)
	case strings.Contains(text, "Permission denied") || strings.Contains(text, "Read-only file system") || strings.Contains(text, "No space left"):
		return refuse(CodeReadOnly, files, "The files in %s could not be written (%s): mend that, then apply again.", mv.dir, firstLine(text))
	case strings.Contains(text, "not uptodate") || strings.Contains(text, "would be overwritten") || strings.Contains(text, "would be lost"):
		return refuse(CodeDirty, files, "Files that apply would change have uncommitted changes in %s: commit, stash or undo them there, then apply again.", mv.dir)
	}
	return err
}

// carryOut moves index and files of the checkout. The caller holds the lock of the ref and has R's own
// copy of the new objects. If git fails half way, what it wrote is put back.
func (mv *move) carryOut(ctx context.Context) error {
	missing := mv.missingFolders()
	err := mv.steps(func(args ...string) error {
		c := inR(mv.dir, args...)
		c.long = true
		if args[0] == "update-index" && args[1] == "-z" {
			c.stdin = mv.indexInfo()
		}
		if args[0] == "read-tree" {
			if err := mv.t.m.at("files"); err != nil {
				return err
			}
		}
		_, _, err := mv.t.m.git(ctx, c)
		return err
	})
	if err == nil || errors.Is(err, errStopped) {
		return err
	}
	if e := mv.putBack(ctx, missing); e != nil {
		return fmt.Errorf("%w; and not everything in %s could be put back (%v): apply again to finish", err, mv.dir, e)
	}
	return err
}

// missingFolders are the folders that new files need and that are not there yet, deepest first.
func (mv *move) missingFolders() (folders []string) {
	seen := map[string]bool{}
	for _, c := range mv.changes {
		for d := filepath.Dir(c.path); d != "." && !seen[d]; d = filepath.Dir(d) {
			seen[d] = true
			if !lexists(filepath.Join(mv.dir, d)) {
				folders = append(folders, d)
			}
		}
	}
	sort.Slice(folders, func(i, j int) bool { return len(folders[i]) > len(folders[j]) })
	return folders
}

// putBack undoes a move that git gave up half way: index and ref are still the old ones. Before the
// move every touched file was as in the old state, so that only files which now have the new contents
// (or the beginning of them, or are missing) are taken for ours; anything else is left alone.
func (mv *move) putBack(ctx context.Context, missing []string) error {
	was := map[string]bool{}
	for _, c := range mv.same {
		was[c.path] = true
	}
	var restore []string
	var failed error
	for _, c := range mv.changes {
		full := filepath.Join(mv.dir, filepath.FromSlash(c.path))
		if was[c.path] || c.oldMode == moduleMode || c.newMode == moduleMode {
			continue
		}
		if !lexists(full) {
			if !c.added() {
				restore = append(restore, c.path)
			}
			continue
		}
		ours, err := mv.written(ctx, c)
		if err != nil {
			return err
		}
		if ours && c.added() {
			failed = errors.Join(failed, os.Remove(full))
		} else if ours {
			restore = append(restore, c.path)
		}
	}
	for _, d := range missing {
		_ = os.Remove(filepath.Join(mv.dir, d)) // fails where somebody put something in
	}
	if len(restore) > 0 {
		c := inR(mv.dir, "checkout-index", "-f", "-q", "-z", "--stdin")
		c.stdin, c.long = join0(restore), true
		_, _, err := mv.t.m.git(ctx, c)
		failed = errors.Join(failed, err)
	}
	return failed
}

// written reports whether the file is what git was writing for c: all of it or a beginning.
func (mv *move) written(ctx context.Context, c change) (bool, error) {
	if c.deleted() {
		return false, nil
	}
	if same, err := mv.fileIs(ctx, c.path, c.newMode, c.newID); err != nil || same {
		return same, err
	}
	full := filepath.Join(mv.dir, filepath.FromSlash(c.path))
	if fi, err := os.Lstat(full); err != nil || !fi.Mode().IsRegular() {
		return false, nil
	}
	have, err := os.ReadFile(full)
	if err != nil {
		return false, err
	}
	if !c.added() && blobID(have, len(c.oldID)) == c.oldID {
		return false, nil // not reached yet
	}
	blob, _, err := mv.t.m.git(ctx, inR(mv.dir, "cat-file", "blob", c.newID))
	return err == nil && bytes.HasPrefix([]byte(blob), have), nil
}
