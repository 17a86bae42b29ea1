package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// settle makes one merge of two, where the plan's history holds a newer state of the target: over the
// plan's base, and over what git finds to be common. Both are right about what the plan did not
// change. Where they differ in a file, the plan
//
//   - has it as it was at its base: whatever its history holds of the target, it takes nothing back;
//   - has it as it took it over: the target's is newer, a revert for instance, and stays;
//   - has changed it itself: nobody knows what it meant to keep, and it is a conflict.
func (m *Manager) settle(ctx context.Context, repo Repo, base string, common []string, ours, theirs string, since, own mergeResult) (mergeResult, error) {
	differ, err := m.differing(ctx, repo, since.tree, own.tree)
	if err != nil || len(differ) == 0 && len(own.conflicts) == 0 {
		return since, err
	}
	changed, err := m.differing(ctx, repo, base, theirs)
	if err != nil {
		return mergeResult{}, err
	}
	fromTarget, err := m.differing(ctx, repo, ours, since.tree)
	if err != nil {
		return mergeResult{}, err
	}
	taken := make([]map[string]entryPair, len(common))
	for i, c := range common {
		if taken[i], err = m.differing(ctx, repo, c, theirs); err != nil {
			return mergeResult{}, err
		}
	}
	takenOver := func(file string) bool {
		return slices.ContainsFunc(taken, func(d map[string]entryPair) bool { _, differs := d[file]; return !differs })
	}
	var conflicts []string
	newer := map[string]entryPair{}
	for file, pair := range differ {
		_, touched := changed[file]
		_, moved := fromTarget[file]
		switch {
		case !moved:
		case !touched || slices.Contains(own.conflicts, file): // untouched: the plan's change came there by a rename
			conflicts = append(conflicts, file)
		case takenOver(file):
			newer[file] = pair
		default:
			conflicts = append(conflicts, file)
		}
	}
	known, err := m.present(ctx, repo, theirs, own.conflicts)
	if err != nil {
		return mergeResult{}, err
	}
	for _, file := range own.conflicts {
		_, moved := fromTarget[file]
		_, touched := changed[file]
		// What the plan does not have under this name was renamed, or a folder stands where a file was.
		if (touched && moved || !known[file]) && !slices.Contains(conflicts, file) {
			conflicts = append(conflicts, file)
		}
	}
	if len(conflicts) > 0 {
		slices.Sort(conflicts)
		return mergeResult{conflicts: conflicts}, nil
	}
	tree, err := m.withEntries(ctx, since.tree, repo, newer)
	return mergeResult{tree: tree}, err
}

// entryPair is a path's mode and object in one tree and in another; noFile where it is not there.
type entryPair struct{ oldMode, newMode, oldID, newID string }

// differing are the paths in which two commits or trees differ.
func (m *Manager) differing(ctx context.Context, repo Repo, a, b string) (map[string]entryPair, error) {
	out, _, err := m.git(ctx, m.inM(repo, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", "--end-of-options", a, b, "--"))
	if err != nil {
		return nil, fmt.Errorf("compare for a merge: %w", err)
	}
	changes, err := parseRaw(out)
	if err != nil {
		return nil, err
	}
	found := make(map[string]entryPair, len(changes))
	for _, c := range changes {
		found[c.path] = entryPair{c.oldMode, c.newMode, c.oldID, c.newID}
	}
	return found, nil
}

// present says which of the files a commit has.
func (m *Manager) present(ctx context.Context, repo Repo, commit string, files []string) (map[string]bool, error) {
	found := map[string]bool{}
	if len(files) == 0 {
		return found, nil
	}
	out, _, err := m.git(ctx, m.inM(repo, append([]string{"ls-tree", "-z", "--name-only", "--full-tree", commit, "--"}, files...)...))
	if err != nil {
		return nil, fmt.Errorf("look for files of a merge: %w", err)
	}
	for _, f := range split0(out) {
		found[f] = true
	}
	return found, nil
}

// withEntries is tree with the new side of entries in it.
func (m *Manager) withEntries(ctx context.Context, tree string, repo Repo, entries map[string]entryPair) (string, error) {
	if len(entries) == 0 {
		return tree, nil
	}
	tmp, err := os.MkdirTemp(filepath.Join(m.cfg.Dir, "state"), ".merge-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	run := func(stdin string, args ...string) (string, error) {
		c := m.inM(repo, args...)
		c.index, c.stdin = filepath.Join(tmp, "index"), stdin
		out, _, err := m.git(ctx, c)
		return strings.TrimSpace(out), err
	}
	var gone, there strings.Builder // what goes makes room: a file may stand where a folder comes
	for file, e := range entries {
		if e.newMode == noFile {
			fmt.Fprintf(&gone, "0 %s\t%s\x00", e.oldID, file)
		} else {
			fmt.Fprintf(&there, "%s %s\t%s\x00", e.newMode, e.newID, file)
		}
	}
	if _, err := run("", "read-tree", tree); err != nil {
		return "", fmt.Errorf("merge: %w", err)
	}
	if _, err := run(gone.String()+there.String(), "update-index", "-z", "--index-info"); err != nil {
		return "", fmt.Errorf("merge: %w", err)
	}
	tree, err = run("", "write-tree")
	if err != nil {
		return "", fmt.Errorf("merge: %w", err)
	}
	return tree, nil
}

// lostOf are the new files of the target that are not in tree, neither at their own place nor where moved
// would put them: git names them in a conflict by the new place alone. What the work changed in them
// there is its own. At a third place such a file counts if it is as the target has it, and if tree has as
// many of its kind as the target: an empty file is like any other.
func (m *Manager) lostOf(ctx context.Context, repo Repo, ours, tree string, moved map[string]string) ([]string, error) {
	if len(moved) == 0 {
		return nil, nil
	}
	changed, err := m.differing(ctx, repo, ours, tree)
	if err != nil {
		return nil, err
	}
	gained := map[string]int{} // object -> places in tree, less those in ours
	for _, e := range changed {
		gained[e.oldID]--
		gained[e.newID]++
	}
	var lost []string
	for file, to := range moved {
		e, at := changed[file], changed[to].newMode
		if gone := e.newMode == noFile; gone && (at == "" || at == noFile) && gained[e.oldID] < 0 {
			lost = append(lost, file)
		}
	}
	slices.Sort(lost)
	return lost, nil
}
