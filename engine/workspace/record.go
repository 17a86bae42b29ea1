package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// recording is one go at bringing W into the plan's private index.
type recording struct {
	m          *Manager
	repo       Repo
	plan       string
	gitDir     string // M, or for the second try a stand-in with attributes of its own
	env        []string
	w          string
	unrecorded map[string]string // path -> why
	emptyRepos []string          // nested repositories without a file to record: git goes on naming them
	warnings   []string
}

// record brings the private index to what W holds and writes its tree into M. Nothing of W's own .git
// is opened and no program is started by git: what could start one is not used (`git add` looks into
// nested repositories and runs their filters, so those are left out and added file by file).
func (m *Manager) record(ctx context.Context, repo Repo, planID, base string) (tree string, un []Unrecorded, warnings []string, err error) {
	r := m.newRecording(repo, planID)
	if err := m.checkWorkDir(repo, planID); err != nil {
		return "", nil, nil, err
	}
	if err := r.ensureIndex(ctx, base); err != nil {
		return "", nil, nil, err
	}
	found, err := r.prepare(ctx)
	if err != nil {
		return "", nil, nil, err
	}
	if err := r.addAll(ctx, found); err != nil {
		return "", nil, nil, err
	}
	if err := r.submoduleChanges(ctx); err != nil {
		return "", nil, nil, err
	}
	out, _, err := r.git(ctx, "", "write-tree")
	if err != nil {
		return "", nil, nil, fmt.Errorf("record the workspace: %w", err)
	}
	if err := r.writeLeftOut(); err != nil {
		return "", nil, nil, err
	}
	return strings.TrimSpace(out), r.list(), r.warnings, nil
}

func (m *Manager) newRecording(repo Repo, planID string) *recording {
	return &recording{m: m, repo: repo, plan: planID, gitDir: m.mirror(repo), w: m.workDir(repo, planID), unrecorded: map[string]string{}}
}

// leftOut is what the last snapshot saw and did not record: for PutBack it is the agents', not a
// check's. It is stored as names ended by NUL.
type leftOut map[string]bool

// has reports whether path, or a folder it lies in, was left out.
func (l leftOut) has(path string) bool {
	for p := strings.TrimSuffix(path, "/"); p != "." && p != "/"; p = filepath.Dir(p) {
		if l[p] {
			return true
		}
	}
	return false
}

func (r *recording) leftOutFile() string {
	return filepath.Join(r.m.stateDir(r.repo, r.plan), "left-out")
}

func (r *recording) writeLeftOut() error {
	names := append([]string(nil), r.emptyRepos...)
	for p := range r.unrecorded {
		names = append(names, p)
	}
	return writeFileAtomic(r.leftOutFile(), join0(names))
}

func (r *recording) readLeftOut() (leftOut, error) {
	l := leftOut{}
	text, err := os.ReadFile(r.leftOutFile())
	if errors.Is(err, os.ErrNotExist) {
		return l, nil
	}
	for _, p := range split0(string(text)) {
		l[p] = true
	}
	return l, err
}

func (r *recording) call(stdin string, args ...string) call {
	return call{gitDir: r.gitDir, work: r.w, index: r.m.indexFile(r.repo, r.plan), dir: r.w, env: r.env, stdin: stdin, args: args}
}

func (r *recording) git(ctx context.Context, stdin string, args ...string) (string, string, error) {
	return r.m.git(ctx, r.call(stdin, args...))
}

// ensureIndex makes the private index from the branch's tip (or base) where there is none, and removes
// a lock that a killed git left: the plan's lock is ours, so nobody else can hold it.
func (r *recording) ensureIndex(ctx context.Context, base string) error {
	index := r.m.indexFile(r.repo, r.plan)
	if err := os.Remove(index + ".lock"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if lexists(index) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(index), 0o755); err != nil {
		return err
	}
	tip, err := r.m.resolve(ctx, r.repo, planRef(r.plan))
	if err != nil {
		return err
	}
	if tip == "" {
		tip = base
	}
	_, _, err = r.git(ctx, "", "read-tree", tip)
	return err
}

// prepare scans W and takes away what would hang git.
func (r *recording) prepare(ctx context.Context) (scan, error) {
	found, err := scanWorkDir(r.w)
	if err != nil {
		return found, fmt.Errorf("read the workspace: %w", err)
	}
	for _, b := range found.blockers {
		to, err := setAside(r.w, b)
		if err != nil {
			return found, err
		}
		r.unrecorded[b] = "not a plain file; renamed to " + filepath.Base(to) + ", because git would wait on it for ever"
		r.unrecorded[to] = "not a plain file"
		// A tracked one is kept as it was: without its rules, ignored files would be recorded.
		if out, _, err := r.git(ctx, "", "ls-files", "-z", "--", ":(literal,top)"+b); err == nil && out != "" {
			if _, _, err := r.git(ctx, b+"\x00", "checkout-index", "-z", "--stdin"); err != nil {
				return found, fmt.Errorf("put %s back: %w", b, err)
			}
		}
	}
	return found, nil
}

// addAll stages everything W holds that can be recorded.
func (r *recording) addAll(ctx context.Context, found scan) error {
	spec := []string{"."}
	exclude := func(path string) { spec = append(spec, ":(exclude,literal,top)"+strings.TrimSuffix(path, "/")) }

	unreadable, err := r.notIgnored(ctx, found.unreadable)
	if err != nil {
		return err
	}
	for _, p := range unreadable {
		r.unrecorded[p] = whyUnreadableDir
	}
	for _, p := range found.unreadable {
		exclude(p)
	}
	special, err := r.notIgnored(ctx, found.special)
	if err != nil {
		return err
	}
	for _, p := range special {
		r.fit(p) // noted; git leaves it alone by itself, or it is tracked and left out below
	}
	subs, err := r.gitlinks(ctx)
	if err != nil {
		return err
	}
	for _, s := range subs {
		exclude(s.path)
	}
	out, _, err := r.git(ctx, "", "ls-files", "-z", "-o", "-m", "--exclude-standard")
	if err != nil {
		return fmt.Errorf("list the workspace: %w", err)
	}
	var inner []string
	for _, p := range split0(out) {
		if strings.HasSuffix(p, "/") { // git's sign for a nested repository
			exclude(p)
			files, err := r.nested(ctx, p)
			if err != nil {
				return err
			}
			if len(files) == 0 {
				r.emptyRepos = append(r.emptyRepos, strings.TrimSuffix(p, "/"))
			}
			inner = append(inner, files...)
		} else if !r.fit(p) {
			exclude(p)
		}
	}
	if err := r.add(ctx, spec); err != nil {
		return err
	}
	return r.addInner(ctx, inner)
}

// fit looks at one path and notes why it is unfit.
func (r *recording) fit(p string) bool {
	for d := filepath.Dir(p); d != "."; d = filepath.Dir(d) {
		if r.unrecorded[d] == whyUnreadableDir {
			return false
		}
	}
	if _, known := r.unrecorded[p]; known {
		return lexists(filepath.Join(r.w, p)) && unfit(filepath.Join(r.w, p), r.m.cfg.MaxFileBytes) == ""
	}
	if why := unfit(filepath.Join(r.w, p), r.m.cfg.MaxFileBytes); why != "" {
		r.unrecorded[p] = why
		return false
	}
	return true
}

// gitlinks are the real submodules in the index.
func (r *recording) gitlinks(ctx context.Context) (subs []submodule, err error) {
	out, _, err := r.git(ctx, "", "ls-files", "-s", "-z")
	if err != nil {
		return nil, fmt.Errorf("read the plan's index: %w", err)
	}
	for _, e := range split0(out) {
		if meta, path, _ := strings.Cut(e, "\t"); strings.HasPrefix(meta, "160000 ") {
			subs = append(subs, submodule{path, strings.Fields(meta)[1]})
		}
	}
	return subs, nil
}

// nested lists the files of a repository an agent made inside W (p ends with a slash) and of those
// inside it. M is the git folder here too, so that its own configuration is never read.
func (r *recording) nested(ctx context.Context, p string) (files []string, err error) {
	var all []string
	for todo := []string{p}; len(todo) > 0; todo = todo[1:] {
		dir := filepath.Join(r.w, filepath.FromSlash(todo[0]))
		if fi, err := os.Lstat(dir); err != nil || !fi.IsDir() {
			continue
		}
		out, _, err := r.m.git(ctx, call{gitDir: r.gitDir, work: dir, index: r.m.indexFile(r.repo, r.plan) + ".none", dir: dir, env: r.env,
			args: []string{"ls-files", "-z", "-o", "--exclude-standard"}})
		if err != nil {
			return nil, fmt.Errorf("list the nested repository %s: %w", todo[0], err)
		}
		for _, x := range split0(out) {
			if strings.HasSuffix(x, "/") {
				todo = append(todo, todo[0]+x)
			} else {
				all = append(all, todo[0]+x)
			}
		}
	}
	if all, err = r.notIgnored(ctx, all); err != nil {
		return nil, err
	}
	for _, f := range all {
		if r.fit(f) {
			files = append(files, f)
		}
	}
	return files, nil
}

// notIgnored drops the paths that W's ignore rules name.
func (r *recording) notIgnored(ctx context.Context, paths []string) ([]string, error) {
	if len(paths) == 0 {
		return nil, nil
	}
	out, _, err := r.git(ctx, join0(paths), "check-ignore", "-z", "--stdin")
	if err != nil && exitCode(err) != 1 { // 1: none is ignored
		return nil, fmt.Errorf("read the ignore rules: %w", err)
	}
	ignored := map[string]bool{}
	for _, p := range split0(out) {
		ignored[p] = true
	}
	var kept []string
	for _, p := range paths {
		if !ignored[p] {
			kept = append(kept, p)
		}
	}
	return kept, nil
}

// add stages the pathspec. Files git leaves out (exit code 1, or only a line on standard error) are
// noted; a fatal error is tried once more with attributes that cannot make git fail.
func (r *recording) add(ctx context.Context, spec []string) error {
	args := []string{"add", "-A", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul"}
	_, stderr, err := r.git(ctx, join0(spec), args...)
	if exitCode(err) > 1 && strings.Contains(stderr, "encod") {
		if e := r.withoutEncodings(); e != nil {
			return e
		}
		_, stderr, err = r.git(ctx, join0(spec), args...)
	}
	if err != nil && exitCode(err) != 1 {
		return fmt.Errorf("record the workspace: %w", err)
	}
	r.complaints(stderr)
	if exitCode(err) == 1 && len(r.unrecorded) == 0 && len(r.warnings) == 0 {
		r.warnings = append(r.warnings, "Git left some files out: "+firstLine(stderr))
	}
	return nil
}

// complaints turns git's lines about single files into unrecorded files.
func (r *recording) complaints(stderr string) {
	for _, l := range strings.Split(stderr, "\n") {
		switch {
		case l == "" || strings.HasPrefix(l, "hint:") || strings.HasPrefix(l, "warning: in the working copy of"):
		case strings.HasPrefix(l, "warning: unable to access") || strings.HasPrefix(l, "warning: could not open directory"):
			// Links named .gitignore are not followed; unreadable folders were found by the scan.
		default:
			if name := quoted(l); name != "" {
				if p := strings.TrimSuffix(name, "/"); r.unrecorded[p] == "" {
					r.unrecorded[p] = "git refused it: " + strings.TrimPrefix(l, "error: ")
				}
			} else if !strings.HasPrefix(l, "fatal: adding files failed") {
				r.warnings = append(r.warnings, "Git said while recording: "+l)
			}
		}
	}
}

// quoted returns what stands between the first and the last single quote of a line.
func quoted(l string) string {
	if i, j := strings.IndexByte(l, '\''), strings.LastIndexByte(l, '\''); i >= 0 && j > i {
		return l[i+1 : j]
	}
	return ""
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return s
}

// withoutEncodings switches to a git folder of its own whose attributes take working-tree-encoding
// away: an agent that declares UTF-16 for files that are none makes git fail as a whole. Objects still
// go to M. It is a second try only, because repositories may really use it.
func (r *recording) withoutEncodings() error {
	dir := filepath.Join(r.m.stateDir(r.repo, r.plan), "plain.git")
	for _, d := range []string{"refs", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	config, err := os.ReadFile(filepath.Join(r.m.mirror(r.repo), "config")) // the object format is in it
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": string(config), "info/attributes": "* !working-tree-encoding\n"} {
		if err := writeFileAtomic(filepath.Join(dir, filepath.FromSlash(name)), text); err != nil {
			return err
		}
	}
	r.gitDir, r.env = dir, []string{"GIT_OBJECT_DIRECTORY=" + filepath.Join(r.m.mirror(r.repo), "objects")}
	r.warnings = append(r.warnings, "A .gitattributes file asks for a working-tree-encoding that files do not have: they were recorded as they are.")
	return nil
}

// addInner stages files of nested repositories as plain files.
func (r *recording) addInner(ctx context.Context, files []string) error {
	if len(files) == 0 {
		return nil
	}
	if _, _, err := r.git(ctx, join0(files), "update-index", "-z", "--add", "--stdin"); err == nil {
		return nil
	} else if exitCode(err) < 0 {
		return err
	}
	// One of them cannot be added (a name git forbids): go one by one and say which.
	for _, f := range files {
		if _, stderr, err := r.git(ctx, f+"\x00", "update-index", "-z", "--add", "--stdin"); exitCode(err) < 0 {
			return err
		} else if err != nil {
			r.unrecorded[f] = "git refused it: " + firstLine(stderr)
		}
	}
	return nil
}

// submoduleChanges lists changes inside submodules: the registered repository only names a commit of
// theirs, so that work in there cannot be brought back. It compares with the index of the clone as it
// was made, kept with the plan; W's own git folders are not used.
func (r *recording) submoduleChanges(ctx context.Context) error {
	subs, err := r.gitlinks(ctx)
	if err != nil {
		return err
	}
	for _, s := range subs {
		dir := filepath.Join(r.w, filepath.FromSlash(s.path))
		index := r.m.submoduleIndex(r.repo, r.plan, s.path)
		fi, err := os.Lstat(dir)
		if err != nil || !fi.IsDir() {
			r.unrecorded[s.path] = "the submodule's folder was removed or replaced; its commit is kept as it was"
			continue
		}
		if !lexists(index) {
			if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
				r.unrecorded[s.path] = "files inside a submodule are not recorded"
			}
			continue
		}
		out, _, err := r.m.git(ctx, call{gitDir: r.gitDir, work: dir, index: index, dir: dir, env: r.env,
			args: []string{"ls-files", "-z", "-o", "-m", "--exclude-standard"}})
		if err != nil {
			return fmt.Errorf("look into the submodule %s: %w", s.path, err)
		}
		for _, p := range split0(out) {
			if inner := filepath.Join(dir, filepath.FromSlash(p)); isDir(inner) && lexists(filepath.Join(inner, ".git")) {
				continue // a submodule's own submodule
			}
			r.unrecorded[s.path+"/"+p] = "inside a submodule; commit it in the submodule's own repository"
		}
	}
	return nil
}

func isDir(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.IsDir()
}

func (r *recording) list() []Unrecorded {
	list := make([]Unrecorded, 0, len(r.unrecorded))
	for p, why := range r.unrecorded {
		list = append(list, Unrecorded{p, why})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Path < list[j].Path })
	return list
}
