package workspace

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// mergeTrees brings what theirs changed since base into ours, in M, and returns the merged tree, or the
// files in conflict. Nothing is in it when ours would not change. No merge driver runs: M configures none.
//
// base, and not what git finds to be common, is what was looked at before: agents may have merged a newer
// state of the target, or anything else, in a way that takes back what is in it ("-s ours", a commit of
// another plan), and git would take it back in the target without a word.
func (m *Manager) mergeTrees(ctx context.Context, repo Repo, base, ours, theirs string) (mergeResult, error) {
	merged, err := m.mergeSince(ctx, repo, base, ours, theirs)
	if err != nil || len(merged.conflicts) > 0 {
		return mergeResult{conflicts: merged.conflicts}, err
	}
	oursTree, err := m.treeOf(ctx, repo, ours)
	if err != nil || merged.tree == oursTree {
		return mergeResult{}, err
	}
	return merged, nil
}

// mergeResult is a merge's tree; where there are conflicts, with their marks in it.
type mergeResult struct {
	tree      string
	conflicts []string
	resolved  []string          // files in which theirs has resolved a conflict with ours
	moved     map[string]string // new files whose folder the other side renamed -> where git would put them
}

func (m *Manager) mergeSince(ctx context.Context, repo Repo, base, ours, theirs string) (mergeResult, error) {
	common, err := m.commonBases(ctx, repo, ours, theirs)
	if err != nil {
		return mergeResult{}, err
	}
	if slices.Equal(common, []string{base}) {
		return m.merge(ctx, repo, ours, theirs)
	}
	// Both as if they had been made on base at once.
	onBase := func(commit string) (string, error) {
		tree, err := m.treeOf(ctx, repo, commit)
		if err != nil {
			return "", err
		}
		return m.commitTree(ctx, repo, tree, []string{base}, "For a merge", "GIT_AUTHOR_DATE=@0 +0000", "GIT_COMMITTER_DATE=@0 +0000")
	}
	oursOnBase, err := onBase(ours)
	if err != nil {
		return mergeResult{}, err
	}
	theirsOnBase, err := onBase(theirs)
	if err != nil {
		return mergeResult{}, err
	}
	sinceBase, err := m.merge(ctx, repo, oursOnBase, theirsOnBase)
	// Once theirs holds all of ours, nothing of ours is newer than what theirs took over: so merging
	// the target again is the way out of what settle refuses.
	if err != nil || len(common) == 0 || len(sinceBase.conflicts) == 0 && slices.Equal(common, []string{ours}) {
		return sinceBase, err
	}
	own, err := m.merge(ctx, repo, ours, theirs)
	switch {
	case err != nil:
		return mergeResult{}, err
	case len(sinceBase.conflicts) == 0:
		return m.settle(ctx, repo, base, common, ours, theirs, sinceBase, own)
	case len(own.conflicts) > 0:
		return own, nil
	}
	// Conflicts that were resolved in the plan's work by merging the target into it are none any more,
	// if nothing else of the target is taken back by that.
	changed, err := m.differing(ctx, repo, sinceBase.tree, own.tree)
	if err != nil {
		return mergeResult{}, err
	}
	takenBack, err := m.lostOf(ctx, repo, ours, own.tree, sinceBase.moved)
	if err != nil {
		return mergeResult{}, err
	}
	for file := range changed {
		if !slices.Contains(sinceBase.conflicts, file) {
			takenBack = append(takenBack, file)
		}
	}
	slices.Sort(takenBack)
	return mergeResult{tree: own.tree, conflicts: slices.Compact(takenBack), resolved: sinceBase.conflicts}, nil
}

// commonBases are the best common ancestors of two commits, none where their histories have nothing in common.
func (m *Manager) commonBases(ctx context.Context, repo Repo, a, b string) ([]string, error) {
	out, _, err := m.git(ctx, m.inM(repo, "merge-base", "--all", a, b))
	if err != nil && exitCode(err) != 1 {
		return nil, fmt.Errorf("merge: %w", err)
	}
	return strings.Fields(out), nil
}

func (m *Manager) merge(ctx context.Context, repo Repo, ours, theirs string) (r mergeResult, err error) {
	out, _, err := m.git(ctx, m.inM(repo, "merge-tree", "--write-tree", "-z", "--name-only", ours, theirs))
	if err != nil && exitCode(err) != 1 {
		return r, fmt.Errorf("merge: %w", err)
	}
	fields := split0(out)
	if len(fields) == 0 {
		return r, fmt.Errorf("merge: %w", err)
	}
	r.tree = strings.TrimSpace(fields[0])
	if err == nil {
		return r, nil
	}
	end := slices.Index(fields, "")
	if end < 0 {
		end = len(fields)
	}
	for _, f := range fields[1:end] {
		if !slices.Contains(r.conflicts, f) {
			r.conflicts = append(r.conflicts, f)
		}
	}
	r.moved = movedFiles(fields[end:])
	if len(r.conflicts) == 0 {
		return r, fmt.Errorf("merge: git found a conflict and named no file: %w", err)
	}
	return r, nil
}

// movedFiles reads the messages of merge-tree -z: the number of paths, these paths, the kind of message
// (which git promises not to change) and its text.
func movedFiles(messages []string) map[string]string {
	moved := map[string]string{}
	if len(messages) > 0 {
		messages = messages[1:] // the empty field before them
	}
	for len(messages) > 0 {
		n, err := strconv.Atoi(messages[0])
		if err != nil || n < 0 || n+3 > len(messages) {
			break
		}
		if messages[n+1] == "CONFLICT (directory rename suggested)" && n == 2 {
			moved[messages[2]] = messages[1]
		}
		messages = messages[n+3:]
	}
	return moved
}
