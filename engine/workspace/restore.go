package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// Restore sets W back to the tree of commit (one recorded in M), for a retry from the phase's start.
// First a snapshot of W is made, then a new commit on the plan's branch has commit's tree: history
// only grows. Ignored files stay. Files that no snapshot has and that are in the way are moved to KeptDir,
// never deleted.
func (m *Manager) Restore(ctx context.Context, repo Repo, planID, commit string) error {
	if err := checkOID(commit); err != nil {
		return err
	}
	unlock, err := m.lockPlan(ctx, repo, planID)
	if err != nil {
		return err
	}
	defer unlock()
	tree, err := m.treeOf(ctx, repo, commit)
	if err != nil {
		return fmt.Errorf("%s is not recorded for this project: %w", commit, err)
	}
	before, err := m.snapshot(ctx, repo, planID, commit, "Record the workspace before it is set back\n")
	if err != nil {
		return err
	}
	k := m.newKeeping(repo, planID)
	for _, u := range before.Unrecorded {
		in, err := m.inTheWayOf(ctx, repo, planID, tree, u.Path)
		if err != nil {
			return err
		}
		if in {
			if err := k.move(u.Path); err != nil {
				return err
			}
		}
	}
	// What is ignored now may have been tracked then.
	out, _, err := m.git(ctx, m.inM(repo, "diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=A", before.Tree, tree))
	if err != nil {
		return fmt.Errorf("list what comes back into the workspace: %w", err)
	}
	for _, p := range split0(out) {
		if err := k.beforeWriting(p); err != nil {
			return err
		}
	}
	// W first: if the server dies before the branch moves, the next snapshot records the set-back tree.
	c := m.onW(repo, planID, "read-tree", "--reset", "-u", tree)
	c.long = true
	if _, _, err := m.git(ctx, c); err != nil {
		return fmt.Errorf("set the workspace back: %w", err)
	}
	if _, err := k.done(); err != nil {
		return err
	}
	if tree == before.Tree {
		return nil
	}
	back, err := m.commitTree(ctx, repo, tree, []string{before.Commit}, "Set the workspace back to "+commit[:12]+"\n")
	if err != nil {
		return err
	}
	return m.moveBranch(ctx, repo, planID, back, before.Commit)
}

// inTheWayOf reports whether setting W to tree would touch an unrecorded path: it is in the index
// (kept as it was) or in tree, or a folder or file of tree stands there.
func (m *Manager) inTheWayOf(ctx context.Context, repo Repo, planID, tree, path string) (bool, error) {
	if fi, err := os.Lstat(filepath.Join(m.workDir(repo, planID), path)); err != nil || fi.IsDir() {
		return false, nil // gone, or an unreadable folder: git will say so itself
	}
	out, _, err := m.git(ctx, m.onW(repo, planID, "ls-files", "-z", "--", ":(literal,top)"+path))
	if err != nil || out != "" {
		return out != "", err
	}
	for p := path; p != "." && p != "/"; p = filepath.Dir(p) {
		out, _, err := m.git(ctx, m.inM(repo, "ls-tree", "-z", "--full-tree", tree, "--", p))
		if err != nil {
			return false, err
		}
		if p == path && out != "" || p != path && out != "" && !strings.HasPrefix(out, "040000 ") {
			return true, nil
		}
	}
	return false, nil
}

// Returned is what PutBack did to W. Paths are slash paths, sorted.
type Returned struct {
	Changed []string // files of the last snapshot that were changed, deleted or replaced
	Kept    []string // what W held otherwise, now in Folder; contents that were kept before are not named again
	Folder  string
}

// PutBack undoes what a check did to W: files of the last snapshot are put back, new files that are
// neither ignored nor unrecorded are taken out, so that they do not become the agents' work. Nobody
// knows whether the check or a person changed a file meanwhile, so what W held goes to KeptDir.
// Ignored files that are not in the way and the insides of submodules are left alone.
func (m *Manager) PutBack(ctx context.Context, repo Repo, planID string) (done Returned, err error) {
	unlock, err := m.lockPlan(ctx, repo, planID)
	if err != nil {
		return done, err
	}
	defer unlock()
	return m.putBack(ctx, repo, planID)
}

// putBack is PutBack with the plan's lock held.
func (m *Manager) putBack(ctx context.Context, repo Repo, planID string) (done Returned, err error) {
	if err := m.checkWorkDir(repo, planID); err != nil {
		return done, err
	}
	tip, err := m.resolve(ctx, repo, planRef(planID))
	if err != nil {
		return done, err
	}
	if tip == "" {
		return done, refuse(CodeNoWorkspace, nil, "The plan's branch %s is gone from the server's repository: start the plan anew.", branchName(planID))
	}
	r := m.newRecording(repo, planID)
	if err := r.ensureIndex(ctx, tip); err != nil {
		return done, err
	}
	leftOut, err := r.readLeftOut()
	if err != nil {
		return done, err
	}
	if done.Changed, err = r.unblock(ctx, leftOut); err != nil {
		return done, err
	}
	k := m.newKeeping(repo, planID)
	done.Folder = k.folder
	err = r.putBack(ctx, k, leftOut, &done)
	// Also after a failure: what was taken out until then is to be found.
	kept, e := k.done()
	done.Kept = kept
	return done, errors.Join(err, e)
}

// putBack goes on until nothing is found any more: a rule of a .gitignore that the check wrote hides
// files only until that is put back.
func (r *recording) putBack(ctx context.Context, k *keeping, leftOut leftOut, done *Returned) error {
	const rounds = 20
	var before []string
	for range rounds {
		moved, err := r.moveNewFiles(ctx, k, leftOut)
		if err != nil {
			return err
		}
		restored, err := r.restoreTracked(ctx, k, leftOut)
		done.Changed = append(done.Changed, restored...)
		sort.Strings(done.Changed)
		done.Changed = slices.Compact(done.Changed)
		if err != nil || moved == 0 && (len(restored) == 0 || slices.Equal(restored, before)) { // some file systems keep no mode
			return err
		}
		before = restored
	}
	return fmt.Errorf("what a check left is not put back after %d rounds", rounds)
}

// unblock makes W readable for git again and returns the tracked files that had become pipes.
func (r *recording) unblock(ctx context.Context, leftOut leftOut) (changed []string, err error) {
	if _, err := r.prepare(ctx); err != nil {
		return nil, err
	}
	for p := range r.unrecorded {
		if out, _, err := r.git(ctx, "", "ls-files", "-z", "--", ":(literal,top)"+p); err == nil && out != "" {
			changed = append(changed, p)
		}
	}
	found, err := scanWorkDir(r.w)
	for _, p := range found.unreadable {
		if !leftOut.has(p) {
			_ = os.Chmod(filepath.Join(r.w, filepath.FromSlash(p)), 0o755) // what stays closed makes git fail below
		}
	}
	return changed, err
}

// moveNewFiles moves what the check left behind out of W and counts it.
func (r *recording) moveNewFiles(ctx context.Context, k *keeping, leftOut leftOut) (moved int, err error) {
	out, _, err := r.git(ctx, "", "ls-files", "-z", "-o", "--exclude-standard")
	if err != nil {
		return 0, fmt.Errorf("list what a check left: %w", err)
	}
	for _, p := range split0(out) {
		if !leftOut.has(p) {
			if err := k.move(strings.TrimSuffix(p, "/")); err != nil {
				return moved, err
			}
			moved++
		}
	}
	return moved, nil
}

// restoreTracked writes files of the index that W has otherwise.
func (r *recording) restoreTracked(ctx context.Context, k *keeping, leftOut leftOut) (restored []string, err error) {
	subs, err := r.gitlinks(ctx)
	if err != nil {
		return nil, err
	}
	isSub := map[string]bool{}
	for _, s := range subs {
		isSub[s.path] = true
	}
	out, _, err := r.git(ctx, "", "ls-files", "-z", "-m")
	if err != nil {
		return nil, fmt.Errorf("list what a check changed: %w", err)
	}
	for _, p := range split0(out) {
		if !isSub[p] && !leftOut.has(p) {
			restored = append(restored, p)
		}
	}
	slices.Sort(restored)
	restored = slices.Compact(restored) // -m names a deleted file twice
	if len(restored) == 0 {
		return nil, nil
	}
	for _, p := range restored {
		if err := k.beforeWriting(p); err != nil {
			return nil, fmt.Errorf("keep what is put back: %w", err)
		}
	}
	c := r.call(join0(restored), "checkout-index", "-f", "-u", "-z", "--stdin")
	c.long = true
	if _, _, err := r.m.git(ctx, c); err != nil {
		return nil, fmt.Errorf("put back what a check changed: %w", err)
	}
	return restored, nil
}
