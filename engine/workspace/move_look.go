package workspace

import (
	"context"
	"fmt"
	"strings"
)

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
