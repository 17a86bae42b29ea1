package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Snapshot is the state of a workspace as it was recorded in M.
type Snapshot struct {
	Commit     string       // tip of donewhen/<plan> afterwards
	Tree       string       // its tree: exactly what W held, but for Unrecorded
	Changed    bool         // Tree differs from the tree the branch had before
	Unrecorded []Unrecorded // what W holds and Tree does not, sorted by path; the gate shows it
	PutBack    Returned     // what a check had left that nobody ended
	Warnings   []string     // sentences: recorded, but know this (the agent's own commits could not be read, …)
}

// Unrecorded is a file or folder that could not be recorded, and why in a few words. Path is a slash
// path from W's top.
type Unrecorded struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Snapshot records W after a run. The agents' own commits are kept in the branch's history, whatever
// they did to theirs (amend, reset, orphan); the branch moves by compare-and-swap and never
// backwards. base is the plan's BaseCommit, message the commit's message if one must be made.
// Nothing in W is run. W that is missing or has become a link is a *Refused (CodeNoWorkspace).
func (m *Manager) Snapshot(ctx context.Context, repo Repo, planID, base, message string) (Snapshot, error) {
	if err := checkOID(base); err != nil {
		return Snapshot{}, err
	}
	unlock, err := m.lockPlan(ctx, repo, planID)
	if err != nil {
		return Snapshot{}, err
	}
	defer unlock()
	return m.snapshot(ctx, repo, planID, base, message)
}

func (m *Manager) snapshot(ctx context.Context, repo Repo, planID, base, message string) (s Snapshot, err error) {
	if s.PutBack, err = m.recordable(ctx, repo, planID); err != nil {
		return s, err
	}
	if s.Tree, s.Unrecorded, s.Warnings, err = m.record(ctx, repo, planID, base); err != nil {
		return s, err
	}
	old, err := m.resolve(ctx, repo, planRef(planID)) // empty if somebody deleted the branch
	if err != nil {
		return s, err
	}
	tip := old
	if tip == "" {
		tip = base
	}
	tipTree, err := m.treeOf(ctx, repo, tip)
	if err != nil {
		return s, err
	}
	s.Changed = s.Tree != tipTree
	agent, warning, err := m.agentHead(ctx, repo, planID)
	if err != nil {
		return s, err
	}
	if warning != "" {
		s.Warnings = append(s.Warnings, warning)
	}
	parents, ready, err := m.parents(ctx, repo, tip, tipTree, agent, s.Tree)
	if err != nil {
		return s, err
	}
	if s.Commit = ready; s.Commit == "" {
		if s.Commit, err = m.commitTree(ctx, repo, s.Tree, parents, message); err != nil {
			return s, err
		}
	}
	return s, m.moveBranch(ctx, repo, planID, s.Commit, old)
}

// parents decides where the snapshot's tree goes: either an existing commit already is the new tip
// (ready), or a commit with these parents must be made. Whatever agents did to their own history,
// the old tip and their commits are both reachable from the new one.
func (m *Manager) parents(ctx context.Context, repo Repo, tip, tipTree, agent, tree string) (parents []string, ready string, err error) {
	onTip := func() ([]string, string, error) {
		if tree == tipTree {
			return nil, tip, nil
		}
		return []string{tip}, "", nil
	}
	if agent == "" {
		return onTip()
	}
	known, err := m.isAncestor(ctx, m.inM(repo), agent, tip)
	if err != nil {
		return nil, "", err
	}
	if known {
		return onTip()
	}
	ahead, err := m.isAncestor(ctx, m.inM(repo), tip, agent)
	if err != nil {
		return nil, "", err
	}
	if !ahead { // amended, reset, rebased or orphaned
		return []string{tip, agent}, "", nil
	}
	agentTree, err := m.treeOf(ctx, repo, agent)
	if err != nil {
		return nil, "", err
	}
	if agentTree == tree {
		return nil, agent, nil
	}
	return []string{agent}, "", nil
}

// agentHead fetches what W's HEAD points to into M and returns it; empty with a warning if it cannot be
// had. That costs the agents' history, never the tree.
func (m *Manager) agentHead(ctx context.Context, repo Repo, planID string) (commit, warning string, err error) {
	unread := func(why string) string {
		return "The agents' own commits could not be read (" + why + "); their files are recorded."
	}
	git := filepath.Join(m.workDir(repo, planID), ".git")
	if why := oddGitDir(git); why != "" {
		return "", unread(why), nil
	}
	oid, why := readHead(git)
	if why != "" {
		return "", unread(why), nil
	}
	s, err := m.newStandIn(repo, planID, git) // W's objects alone: M has those of other plans
	if err != nil {
		return "", "", err
	}
	defer os.RemoveAll(s.dir)
	// HEAD alone: W may hold any number of refs.
	if err := s.fetchHead(ctx, oid); err != nil {
		if ctx.Err() != nil {
			return "", "", ctx.Err()
		}
		return "", unread(strings.ReplaceAll(firstLine(reason(err)), s.dir, ".git")), nil
	}
	commit, err = m.resolve(ctx, repo, agentRef(planID))
	return commit, "", err
}

func reason(err error) string {
	if s := stderrOf(err); s != "" {
		return s
	}
	return err.Error()
}

// oddGitDir says why W's .git must not be fetched from: git would follow a .git file, commondir,
// alternates and links to any repository the server can read, and wait for ever on a pipe.
func oddGitDir(git string) string {
	if !isDir(git) {
		return ".git is missing or no folder"
	}
	for _, name := range []string{"commondir", "objects/info/alternates", "objects/info/http-alternates", "shallow"} {
		if lexists(filepath.Join(git, name)) {
			return ".git/" + name + " points elsewhere"
		}
	}
	for _, name := range []string{"objects", "objects/pack", "objects/info", "refs", "refs/heads"} {
		if fi, err := os.Lstat(filepath.Join(git, name)); err == nil && !fi.IsDir() || err != nil && (name == "objects" || name == "refs" || !errors.Is(err, fs.ErrNotExist)) {
			return ".git/" + name + " is no folder"
		}
	}
	for _, name := range []string{"HEAD", "config", "packed-refs"} {
		fi, err := os.Lstat(filepath.Join(git, name))
		if err == nil && !fi.Mode().IsRegular() || err != nil && name == "HEAD" {
			return ".git/" + name + " is no plain file"
		}
	}
	// Objects and packs that are links lead elsewhere as well.
	odd := ""
	_ = filepath.WalkDir(filepath.Join(git, "objects"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !d.Type().IsRegular() {
			odd = strings.TrimPrefix(path, filepath.Dir(git)+"/") + " is no plain file"
			return fs.SkipAll
		}
		return nil
	})
	return odd
}

// commitTree makes a commit in M with the server's identity.
func (m *Manager) commitTree(ctx context.Context, repo Repo, tree string, parents []string, message string, env ...string) (string, error) {
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	c := m.inM(repo, append(args, "-F", "-")...)
	c.stdin, c.env = message, env
	if strings.TrimSpace(message) == "" {
		c.stdin = "Record the workspace\n"
	}
	commit, err := m.line(ctx, c)
	if err != nil {
		return "", fmt.Errorf("make a commit: %w", err)
	}
	return commit, nil
}

// moveBranch moves the plan's branch by compare-and-swap. old is empty where the branch was missing.
func (m *Manager) moveBranch(ctx context.Context, repo Repo, planID, to, old string) error {
	if to == old {
		return nil
	}
	if old == "" {
		old = strings.Repeat("0", len(to))
	}
	if _, _, err := m.git(ctx, m.inM(repo, "update-ref", "--no-deref", planRef(planID), to, old)); err != nil {
		return fmt.Errorf("move the plan's branch: %w", err)
	}
	return nil
}
