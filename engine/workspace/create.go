package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Workspace is a plan's folder for its agents and the commit it started from.
type Workspace struct {
	Dir        string   // absolute path of W
	Branch     string   // donewhen/<plan>, in M and W
	BaseCommit string   // tip of the target branch when the plan was started
	BaseTree   string   // tree of BaseCommit
	Warnings   []string // sentences to show before the first command: a submodule that could not be fetched, LFS pointers
}

// Create fetches R into M, makes the branch donewhen/<plan> at the tip of branch as it is in R at
// this moment, and clones W from it, without a remote. It is idempotent: after a crash, or when
// called twice, it finishes or returns what is there, with the base of the first call. Where W was
// removed it is made anew from the plan's branch.
func (m *Manager) Create(ctx context.Context, repo Repo, planID, branch string) (Workspace, error) {
	ws := Workspace{Dir: m.workDir(repo, planID), Branch: branchName(planID)}
	unlock, err := m.lockPlan(ctx, repo, planID)
	if err != nil {
		return ws, err
	}
	defer unlock()
	if ws.BaseCommit, err = m.ensureBranch(ctx, repo, planID, branch); err != nil {
		return ws, err
	}
	if ws.BaseTree, err = m.treeOf(ctx, repo, ws.BaseCommit); err != nil {
		return ws, err
	}
	if err := m.clearLeftOvers(repo, planID); err != nil {
		return ws, err
	}
	ws.Warnings = m.contentWarnings(ctx, m.inM(repo), planRef(planID))
	if lexists(ws.Dir) {
		if err := m.checkWorkDir(repo, planID); err != nil {
			return ws, err
		}
		told, err := os.ReadFile(m.warningsFile(repo, planID))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return ws, err
		}
		ws.Warnings = append(ws.Warnings, split0(string(told))...)
		return ws, nil
	}
	more, err := m.clone(ctx, repo, planID)
	ws.Warnings = append(ws.Warnings, more...)
	return ws, err
}

// lockPlan checks the ids and takes the lock of one plan's workspace.
func (m *Manager) lockPlan(ctx context.Context, repo Repo, planID string) (func(), error) {
	if err := checkIDs(repo, planID); err != nil {
		return nil, err
	}
	return m.plans.lock(ctx, repo.Key+"/"+planID)
}

// ensureBranch returns the plan's base, after making base ref and branch in one transaction if they
// are not there yet.
func (m *Manager) ensureBranch(ctx context.Context, repo Repo, planID, branch string) (base string, err error) {
	if lexists(m.mirror(repo)) {
		base, err = m.resolve(ctx, repo, baseRef(planID))
		if err != nil || base != "" {
			return base, err
		}
	}
	if base, err = m.freshTip(ctx, repo, branch); err != nil {
		return "", err
	}
	c := m.inM(repo, "update-ref", "--stdin")
	c.stdin = fmt.Sprintf("start\ncreate %s %s\ncreate %s %s\ncommit\n", baseRef(planID), base, planRef(planID), base)
	if _, _, err := m.git(ctx, c); err != nil {
		return "", fmt.Errorf("make the plan's branch: %w", err)
	}
	return base, nil
}

// freshTip fetches R and returns where branch is now.
func (m *Manager) freshTip(ctx context.Context, repo Repo, branch string) (string, error) {
	if _, err := m.TargetTip(ctx, repo, branch); err != nil { // the clear message, before anything is made
		return "", err
	}
	unlock, err := m.repos.lock(ctx, repo.Key)
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := m.fetch(ctx, repo); err != nil {
		return "", err
	}
	tip, err := m.resolve(ctx, repo, originRef(branch))
	if err == nil && tip == "" {
		err = refuse(CodeNoBranch, nil, "The branch %q was deleted in %s just now: choose another target branch.", branch, repo.Path)
	}
	return tip, err
}

// resolve returns the commit of a full ref in M, empty if there is none.
func (m *Manager) resolve(ctx context.Context, repo Repo, ref string) (string, error) {
	oid, err := m.line(ctx, m.inM(repo, "rev-parse", "--verify", "--quiet", ref+"^{commit}"))
	if exitCode(err) == 1 {
		return "", nil
	}
	return oid, err
}

func (m *Manager) treeOf(ctx context.Context, repo Repo, commit string) (string, error) {
	return m.line(ctx, m.inM(repo, "rev-parse", "--verify", "--quiet", commit+"^{tree}"))
}

// clone makes W under another name, prepares it, and renames it: W that exists is complete.
func (m *Manager) clone(ctx context.Context, repo Repo, planID string) (warnings []string, err error) {
	dir := m.workDir(repo, planID)
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(m.indexFile(repo, planID)), 0o755); err != nil {
		return nil, err
	}
	tmp := newName(dir)
	if err := os.RemoveAll(tmp); err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	// Not local: copying M's object files would share them or race with snapshots that write new ones,
	// and would bring other plans' objects along.
	_, _, err = m.git(ctx, call{long: true, args: []string{"clone", "-q", "--no-local", "--single-branch", "--no-tags", "--template=",
		"--branch", branchName(planID), "--end-of-options", m.mirror(repo), tmp}})
	if err != nil {
		return nil, fmt.Errorf("clone the plan's workspace: %w", err)
	}
	// Without a remote an agent's `git push` has nowhere to go.
	if _, _, err := m.git(ctx, call{gitDir: filepath.Join(tmp, ".git"), args: []string{"remote", "remove", "origin"}}); err != nil {
		return nil, fmt.Errorf("prepare the plan's workspace: %w", err)
	}
	if warnings, err = m.cloneSubmodules(ctx, repo, planID, tmp); err != nil {
		return warnings, err
	}
	// Kept, so that a caller that died meanwhile is told them again.
	if err := writeFileAtomic(m.warningsFile(repo, planID), join0(warnings)); err != nil {
		return warnings, err
	}
	// The clone's index knows the files' times, so that the first snapshot need not read them all.
	if err := copyFile(filepath.Join(tmp, ".git", "index"), m.indexFile(repo, planID)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return warnings, err
	}
	return warnings, os.Rename(tmp, dir)
}

func (m *Manager) warningsFile(repo Repo, planID string) string {
	return filepath.Join(m.stateDir(repo, planID), "warnings")
}

// newName and oldName are where W is while it is made and while it is deleted: beside it, so that a
// rename is one step, and beginning with a dot, which no plan id does.
func newName(dir string) string { return filepath.Join(filepath.Dir(dir), ".new-"+filepath.Base(dir)) }
func oldName(dir string) string { return filepath.Join(filepath.Dir(dir), ".old-"+filepath.Base(dir)) }

// clearLeftOvers deletes what a crash during making or deleting W left. The caller holds the plan's lock.
func (m *Manager) clearLeftOvers(repo Repo, planID string) error {
	dir := m.workDir(repo, planID)
	return errors.Join(removeAll(newName(dir)), removeAll(oldName(dir)))
}

// checkWorkDir makes sure that W is a plain folder: an agent may have replaced it with a link to /.
func (m *Manager) checkWorkDir(repo Repo, planID string) error {
	dir := m.workDir(repo, planID)
	fi, err := os.Lstat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return refuse(CodeNoWorkspace, nil, "The plan's workspace %s is gone: create it again; recorded work is on its branch.", dir)
	}
	if err != nil {
		return err
	}
	if !fi.IsDir() {
		return refuse(CodeNoWorkspace, nil, "The plan's workspace %s is no longer a folder (something replaced it): remove it and create it again; recorded work is on its branch.", dir)
	}
	return nil
}

// Remove deletes W, its private index and other notes about it. The branch in M stays, and with it
// all recorded work, and so do the copies in KeptDir. Removing what is not there is no error.
func (m *Manager) Remove(ctx context.Context, repo Repo, planID string) error {
	unlock, err := m.lockPlan(ctx, repo, planID)
	if err != nil {
		return err
	}
	defer unlock()
	return m.remove(repo, planID)
}

func (m *Manager) remove(repo Repo, planID string) error {
	dir := m.workDir(repo, planID)
	if err := m.clearLeftOvers(repo, planID); err != nil {
		return err
	}
	// Renamed first, so that a crash leaves no half W that Create would take for a whole one.
	if err := os.Rename(dir, oldName(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return errors.Join(removeAll(oldName(dir)), m.removeState(repo, planID))
}

// removeState deletes the server's own files about W, but for what was kept.
func (m *Manager) removeState(repo Repo, planID string) error {
	state := m.stateDir(repo, planID)
	entries, err := os.ReadDir(state)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	left := 0
	for _, e := range entries {
		if path := filepath.Join(state, e.Name()); path == m.KeptDir(repo, planID) {
			left++
		} else {
			err = errors.Join(err, removeAll(path))
		}
	}
	if err == nil && left == 0 {
		err = os.Remove(state)
	}
	return err
}

// Discard is Remove, and deletes the plan's branch and refs in M and what was kept: its work is gone for good.
func (m *Manager) Discard(ctx context.Context, repo Repo, planID string) error {
	unlock, err := m.lockPlan(ctx, repo, planID)
	if err != nil {
		return err
	}
	defer unlock()
	if err := errors.Join(m.remove(repo, planID), removeAll(m.stateDir(repo, planID))); err != nil || !lexists(m.mirror(repo)) {
		return err
	}
	kept, _, err := m.git(ctx, m.inM(repo, "for-each-ref", "--format=%(refname)", keptRefs(planID)))
	if err != nil {
		return err
	}
	c := m.inM(repo, "update-ref", "--stdin")
	c.stdin = "start\n"
	for _, ref := range append(strings.Fields(kept), planRef(planID), baseRef(planID), agentRef(planID), applyRef(planID)) {
		c.stdin += "delete " + ref + "\n"
	}
	c.stdin += "commit\n"
	_, _, err = m.git(ctx, c)
	return err
}

// removeAll is os.RemoveAll that also gets through folders an agent made unreadable.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(p string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700) // WalkDir tells of a folder before it reads it
		}
		return nil
	})
	return os.RemoveAll(path)
}

// copyFile copies an index file with its time: git tells by it which entries it must not trust.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	fi, err := in.Stat()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(to), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = io.Copy(f, in)
	if e := f.Close(); err == nil {
		err = e
	}
	if e := os.Chtimes(f.Name(), fi.ModTime(), fi.ModTime()); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), to)
}
