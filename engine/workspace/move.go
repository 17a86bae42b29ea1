package workspace

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

// change is one path that differs between the target's old and new state. A mode of "000000" means
// that the path is not there.
type change struct {
	path             string
	oldMode, newMode string
	oldID, newID     string
}

const (
	noFile      = "000000"
	linkMode    = "120000"
	moduleMode  = "160000"
	programMode = "100755"
)

func (c change) added() bool   { return c.oldMode == noFile }
func (c change) deleted() bool { return c.newMode == noFile }

// entry is a path in R's index.
type entry struct {
	mode, id string
	unmerged bool
	hidden   bool // assume-unchanged: git does not look at the file
	sparse   bool // skip-worktree: git does not expect the file
}

// move is how the files of one checkout go from the old to the new state of the branch.
type move struct {
	t       *target
	dir     string
	changes []change
	// same are changes whose file already has the new contents while the index has not: left by an
	// apply that was interrupted while it wrote, or put there by a person. They are only staged.
	same []change
}

// planMove compares what the branch's move touches with the checkout's index and files, and refuses if
// anything a person has there would be changed that is not in the old state.
func (t *target) planMove(ctx context.Context, dir string, f files) (*move, error) {
	changes, err := f.changes()
	if err != nil {
		return nil, err
	}
	index, err := f.index()
	if err != nil {
		return nil, err
	}
	dirty, err := f.dirty()
	if err != nil {
		return nil, err
	}
	mv := &move{t: t, dir: dir, changes: changes}
	var dirtyFiles, blocked []string
	for _, c := range mv.changes {
		e, tracked := index[c.path]
		switch {
		case tracked && e.unmerged:
			dirtyFiles = append(dirtyFiles, c.path)
		case tracked && e.mode == c.newMode && e.id == c.newID, !tracked && c.deleted():
			// Staged already: moving the branch leaves index and file alone.
		case tracked && (c.added() || e.mode != c.oldMode || e.id != c.oldID), !tracked && !c.added():
			dirtyFiles = append(dirtyFiles, c.path)
		case tracked:
			clean, err := mv.clean(ctx, c, e, dirty[c.path])
			if err != nil {
				return nil, err
			}
			if !clean && !mv.alreadyThere(ctx, c) {
				dirtyFiles = append(dirtyFiles, c.path)
			}
		default:
			if way := mv.inTheWay(c.path, index); way != "" && (way != c.path || !mv.alreadyThere(ctx, c)) {
				blocked = append(blocked, way)
			}
		}
	}
	if len(dirtyFiles) > 0 {
		return nil, refuse(CodeDirty, dirtyFiles, "Files that apply would change have uncommitted changes in %s: commit, stash or undo them there, then apply again.", dir)
	}
	if len(blocked) > 0 {
		sort.Strings(blocked)
		return nil, refuse(CodeInTheWay, blocked, "Files that git does not track stand in %s where apply would put new ones: move them away, then apply again.", dir)
	}
	return mv, nil
}

// clean reports whether the file of a tracked path is as the index has it.
func (mv *move) clean(ctx context.Context, c change, e entry, saysChanged bool) (bool, error) {
	if c.oldMode == moduleMode && (c.newMode == moduleMode || c.deleted()) {
		return true, nil // a submodule's folder is not touched, only its commit
	}
	if saysChanged {
		return false, nil
	}
	if !e.hidden && !e.sparse {
		return true, nil
	}
	// git was told not to look: look ourselves.
	if !lexists(filepath.Join(mv.dir, filepath.FromSlash(c.path))) {
		return e.sparse, nil
	}
	return mv.fileIs(ctx, c.path, e.mode, e.id)
}

// alreadyThere reports whether the file already has the new contents, and notes it.
func (mv *move) alreadyThere(ctx context.Context, c change) bool {
	if c.newMode == moduleMode {
		return false
	}
	if c.deleted() {
		if lexists(filepath.Join(mv.dir, filepath.FromSlash(c.path))) {
			return false
		}
		// A file the person deleted and the plan deletes too.
		mv.same = append(mv.same, c)
		return true
	}
	if same, err := mv.fileIs(ctx, c.path, c.newMode, c.newID); err != nil || !same {
		return false
	}
	mv.same = append(mv.same, c)
	return true
}

// fileIs reports whether the file at path would be stored as id with mode.
func (mv *move) fileIs(ctx context.Context, path, mode, id string) (bool, error) {
	full := filepath.Join(mv.dir, filepath.FromSlash(path))
	fi, err := os.Lstat(full)
	if err != nil {
		return false, nil
	}
	if link := fi.Mode()&fs.ModeSymlink != 0; link || mode == linkMode {
		if !link || mode != linkMode {
			return false, nil
		}
		to, err := os.Readlink(full)
		return err == nil && blobID([]byte(to), len(id)) == id, nil
	}
	if !fi.Mode().IsRegular() || (fi.Mode()&0o100 != 0) != (mode == programMode) {
		return false, nil
	}
	c := inR(mv.dir, "hash-object", "--stdin-paths") // with the clean filters of R, as git itself compares
	c.stdin = cQuote(path) + "\n"
	got, err := mv.t.m.line(ctx, c)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", full, err)
	}
	return got == id, nil
}

func blobID(data []byte, hexLen int) string {
	head := []byte("blob " + strconv.Itoa(len(data)) + "\x00")
	if hexLen == 64 {
		sum := sha256.Sum256(append(head, data...))
		return hex.EncodeToString(sum[:])
	}
	sum := sha1.Sum(append(head, data...)) // git's own naming, no security rests on it
	return hex.EncodeToString(sum[:])
}

// inTheWay returns the untracked or ignored path that stands where a new file comes: the path itself,
// a file or link where a folder is needed, or a file inside a folder that must become a file. git
// itself would overwrite ignored ones.
func (mv *move) inTheWay(path string, index map[string]entry) string {
	parts := strings.Split(path, "/")
	for i := 1; i < len(parts); i++ {
		parent := strings.Join(parts[:i], "/")
		fi, err := os.Lstat(filepath.Join(mv.dir, filepath.FromSlash(parent)))
		if err != nil {
			return ""
		}
		if !fi.IsDir() {
			if _, tracked := index[parent]; tracked {
				return "" // it becomes a folder: a change of its own
			}
			return parent
		}
	}
	full := filepath.Join(mv.dir, filepath.FromSlash(path))
	fi, err := os.Lstat(full)
	if err != nil {
		return ""
	}
	if !fi.IsDir() {
		return path
	}
	way := ""
	err = filepath.WalkDir(full, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(mv.dir, p)
		if err != nil {
			way = rel
			return fs.SkipAll
		}
		if _, tracked := index[rel]; !tracked && !d.IsDir() {
			way = rel
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return path
	}
	return way
}

// writable refuses where a folder that files must be written in cannot be written.
func (mv *move) writable() error {
	asked := map[string]bool{}
	for _, c := range mv.changes {
		dir := filepath.Dir(filepath.Join(mv.dir, filepath.FromSlash(c.path)))
		if asked[dir] {
			continue
		}
		asked[dir] = true
		if err := canWriteIn(dir); err != nil {
			return refuse(CodeReadOnly, []string{c.path}, "The server may not write in %s (%v): give its user write access, then apply again.", dir, err)
		}
	}
	return nil
}
