package workspace

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
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

// files are the questions about a checkout's index and files, all asked at once.
type files struct {
	changes func() (rawChanges, error)
	index   func() (map[string]entry, error)
	dirty   func() (map[string]bool, error)
}

// lookAt begins to ask what the branch's move touches and how a checkout's index and files stand.
func (t *target) lookAt(ctx context.Context, dir string) files {
	return files{
		changes: begin(func() (rawChanges, error) { return t.rawChanges(ctx) }),
		index:   begin(func() (map[string]entry, error) { return t.index(ctx, dir) }),
		dirty:   begin(func() (map[string]bool, error) { return t.changedFiles(ctx, dir) }),
	}
}

// end waits for what was asked.
func (f files) end() {
	_, _ = f.changes()
	_, _ = f.index()
	_, _ = f.dirty()
}

// rawChanges are the paths that differ between two states.
type rawChanges []change

func (r rawChanges) size() (n int) {
	for _, c := range r {
		n += 2*len(c.oldID) + len(c.path)
	}
	return n
}

func (t *target) rawChanges(ctx context.Context) (rawChanges, error) {
	return remembered(t.m, t.repo, "raw", []string{t.old, t.new}, func() (rawChanges, error) {
		out, _, err := t.m.git(ctx, t.m.inM(t.repo, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", t.old, t.new, "--"))
		if err != nil {
			return nil, fmt.Errorf("compare the target's states: %w", err)
		}
		return parseRaw(out)
	})
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

// parseRaw reads ":oldmode newmode oldid newid status NUL path NUL".
func parseRaw(out string) (changes rawChanges, err error) {
	fields := split0(out)
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git listed a change as %q", fields[i])
		}
		changes = append(changes, change{path: fields[i+1], oldMode: f[0], newMode: f[1], oldID: f[2], newID: f[3]})
	}
	if len(fields)%2 != 0 {
		return nil, fmt.Errorf("git's list of changes ends in the middle")
	}
	return changes, nil
}

// index reads the checkout's index: "tag mode id stage TAB path NUL".
func (t *target) index(ctx context.Context, dir string) (map[string]entry, error) {
	out, _, err := t.m.git(ctx, inR(dir, "ls-files", "-s", "-v", "-z"))
	if err != nil {
		return nil, fmt.Errorf("read the index of %s: %w", dir, err)
	}
	index := map[string]entry{}
	for _, l := range split0(out) {
		meta, path, _ := strings.Cut(l, "\t")
		f := strings.Fields(meta)
		if len(f) != 4 {
			return nil, fmt.Errorf("git listed an index entry as %q", l)
		}
		index[path] = entry{
			mode: f[1], id: f[2], unmerged: f[3] != "0",
			hidden: f[0] >= "a" && f[0] <= "z", sparse: f[0] == "S" || f[0] == "s",
		}
	}
	return index, nil
}

// changedFiles are tracked paths whose file differs from the index, by git's own reckoning. Nothing is
// written: optional locks are off in every call.
func (t *target) changedFiles(ctx context.Context, dir string) (map[string]bool, error) {
	out, _, err := t.m.git(ctx, inR(dir, "status", "--porcelain=v2", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames"))
	if err != nil {
		return nil, fmt.Errorf("look at the files of %s: %w", dir, err)
	}
	changed := map[string]bool{}
	for _, l := range split0(out) {
		var path string
		switch {
		case strings.HasPrefix(l, "1 "):
			f := strings.SplitN(l, " ", 9)
			if len(f) != 9 {
				return nil, fmt.Errorf("git status said %q", l)
			}
			if len(f[1]) == 2 && f[1][1] == '.' {
				continue // staged only
			}
			path = f[8]
		case strings.HasPrefix(l, "u "):
			f := strings.SplitN(l, " ", 11)
			path = f[len(f)-1]
		default:
			continue
		}
		changed[path] = true
	}
	return changed, nil
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

// cQuote writes a path so that git's line based input takes any byte.
func cQuote(path string) string {
	if !strings.ContainsAny(path, "\n\"\\") {
		return path
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(path); i++ {
		switch ch := path[i]; {
		case ch == '"' || ch == '\\':
			b.WriteByte('\\')
			b.WriteByte(ch)
		case ch < 0x20:
			fmt.Fprintf(&b, "\\%03o", ch)
		default:
			b.WriteByte(ch)
		}
	}
	b.WriteByte('"')
	return b.String()
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

func alternates(path string) string {
	if strings.ContainsAny(path, ":\"") {
		return cQuoteAlways(path)
	}
	return path
}

func cQuoteAlways(path string) string {
	if q := cQuote(path); strings.HasPrefix(q, `"`) {
		return q
	}
	return `"` + path + `"`
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
