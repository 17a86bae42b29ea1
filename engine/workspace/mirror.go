package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ensureMirror makes M if it is not there yet. The caller holds the project's lock. M is made under
// another name and renamed, so that a crash leaves none that is half made.
func (m *Manager) ensureMirror(ctx context.Context, repo Repo) error {
	path := m.mirror(repo)
	if lexists(filepath.Join(path, "HEAD")) {
		return nil
	}
	format, err := m.line(ctx, inR(repo.Path, "rev-parse", "--show-object-format"))
	if err != nil {
		return m.notReadable(repo.Path, err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	// No template: no sample hooks, no info/exclude that would hide files of a plan.
	if _, _, err := m.git(ctx, call{args: []string{"init", "-q", "--bare", "--template=", "--object-format=" + format, "--end-of-options", tmp}}); err != nil {
		return fmt.Errorf("make the project's mirror: %w", err)
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// fetch brings R's branches into M under refs/origin/. Never `--mirror`: its pruning would delete the
// plans' branches. The caller holds the project's lock.
func (m *Manager) fetch(ctx context.Context, repo Repo) error {
	if err := m.ensureMirror(ctx, repo); err != nil {
		return err
	}
	c := m.inM(repo, "fetch", "-q", "--prune", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head",
		"--no-auto-maintenance", "--end-of-options", repo.Path, "+refs/heads/*:refs/origin/*")
	c.long = true
	if _, _, err := m.git(ctx, c); err != nil {
		return fmt.Errorf("fetch from %s: %w", repo.Path, err)
	}
	return nil
}

// fetchTip makes sure that M has the commit at which branch stands in R now, and returns it.
func (m *Manager) fetchTip(ctx context.Context, repo Repo, branch string) (string, error) {
	tip, err := m.TargetTip(ctx, repo, branch)
	if err != nil {
		return "", err
	}
	return m.fetchCommit(ctx, repo, branch, tip)
}

// fetchCommit makes sure that M has tip, at which branch stands in R, or where it stands by then.
func (m *Manager) fetchCommit(ctx context.Context, repo Repo, branch, tip string) (string, error) {
	unlock, err := m.repos.lock(ctx, repo.Key)
	if err != nil {
		return "", err
	}
	defer unlock()
	// A commit that M has once it keeps: only that answer is remembered.
	_, err = remembered(m, repo, "has", []string{tip}, func() (bool, error) {
		if !m.hasCommit(ctx, m.mirror(repo), tip) {
			return false, errMissing
		}
		return true, nil
	})
	if err == nil {
		return tip, nil
	}
	if err := m.fetch(ctx, repo); err != nil {
		return "", err
	}
	// It may have moved while we fetched: what M has now is a state R was in just then.
	return m.line(ctx, m.inM(repo, "rev-parse", "--verify", "--quiet", originRef(branch)+"^{commit}"))
}

var errMissing = errors.New("the mirror does not have it")

func (m *Manager) hasCommit(ctx context.Context, gitDir, oid string) bool {
	_, _, err := m.git(ctx, call{gitDir: gitDir, foreign: true, args: []string{"cat-file", "-e", oid + "^{commit}"}})
	return err == nil
}

// TargetTip returns the commit that branch (short name) has in R now. A missing branch is a *Refused.
func (m *Manager) TargetTip(ctx context.Context, repo Repo, branch string) (commit string, err error) {
	if err := checkBranch(branch); err != nil {
		return "", err
	}
	commit, err = m.line(ctx, inR(repo.Path, "rev-parse", "--verify", "--quiet", targetRef(branch)+"^{commit}"))
	if exitCode(err) == 1 {
		return "", refuse(CodeNoBranch, nil, "The branch %q does not exist in %s: choose another target branch or create it.", branch, repo.Path)
	}
	if err != nil {
		return "", m.notReadable(repo.Path, err)
	}
	return commit, nil
}

// Contains re-reads R and reports whether commit is reachable from branch there. A commit that R does
// not have is simply not contained.
func (m *Manager) Contains(ctx context.Context, repo Repo, branch, commit string) (bool, error) {
	if err := checkOID(commit); err != nil {
		return false, err
	}
	tip, err := m.TargetTip(ctx, repo, branch)
	if err != nil {
		return false, err
	}
	if _, _, err := m.git(ctx, inR(repo.Path, "cat-file", "-e", commit+"^{commit}")); err != nil {
		if exitCode(err) > 0 {
			return false, nil
		}
		return false, err
	}
	return m.isAncestor(ctx, inR(repo.Path), commit, tip)
}

// isAncestor reports whether a is reachable from b (a == b included) in the repository of c.
func (m *Manager) isAncestor(ctx context.Context, c call, a, b string) (bool, error) {
	c.args = []string{"merge-base", "--is-ancestor", a, b}
	_, _, err := m.git(ctx, c)
	switch exitCode(err) {
	case 0:
		return true, nil
	case 1:
		return false, nil
	}
	return false, err
}

// notReadable words the failure of the first command on R.
func (m *Manager) notReadable(path string, err error) error {
	if _, e := os.Stat(path); errors.Is(e, os.ErrNotExist) {
		return refuse(CodeNotARepository, nil, "%s does not exist: check the path, or register the repository where it is now.", path)
	} else if errors.Is(e, os.ErrPermission) {
		return refuse(CodeReadOnly, nil, "The server may not read %s: give its user access to the folder.", path)
	}
	if text := stderrOf(err); strings.Contains(text, "not a git repository") {
		return refuse(CodeNotARepository, nil, "%s is not a git repository: run `git init` and commit there first, or choose another folder.", path)
	} else if strings.Contains(text, "Permission denied") {
		return refuse(CodeReadOnly, nil, "The server may not read the git folder of %s: give its user access.", path)
	}
	return err
}
