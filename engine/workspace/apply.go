package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Preview says what applying a plan would meet at this moment. Nothing in R is changed by asking.
type Preview struct {
	Commit    string   `json:"commit"`               // tip of donewhen/<plan>
	TargetTip string   `json:"target_tip"`           // tip of the target branch in R now
	Behind    int      `json:"behind"`               // commits the target has and the plan's branch has not
	NoOp      bool     `json:"no_op"`                // merging would change no file
	Conflicts []string `json:"conflicts,omitempty"`  // files both sides changed
	Resolved  []string `json:"resolved,omitempty"`   // files in which the work has resolved such a conflict
	BusyCode  string   `json:"busy_code,omitempty"`  // code of Refused, empty when the checkout is ready
	Busy      string   `json:"busy,omitempty"`       // its sentence
	BusyFiles []string `json:"busy_files,omitempty"` // its files
}

// Preview merges what the plan changed since base with branch as it is in R now, inside M, and looks at
// the checkout that holds branch. An error is one of git or of a missing branch; everything that would make apply
// refuse is in the Preview.
func (m *Manager) Preview(ctx context.Context, repo Repo, planID, base, branch string) (Preview, error) {
	var p Preview
	if err := checkIDs(repo, planID); err != nil {
		return p, err
	}
	if err := cmp.Or(checkBranch(branch), checkOID(base)); err != nil {
		return p, err
	}
	// The checkouts are listed while the plan's branch is read. The list says where a
	// branch stands that one of them holds.
	t := &target{m: m, repo: repo, branch: branch, ref: targetRef(branch)}
	commit := begin(func() (string, error) { return m.resolve(ctx, repo, planRef(planID)) })
	list := begin(func() ([]checkout, error) { return t.checkouts(ctx) })
	defer func() { _, _ = commit(); _, _ = list() }()
	var err error
	if p.TargetTip, err = t.tipAmong(ctx, list); err != nil {
		return p, err
	}
	if p.Commit, err = commit(); err != nil {
		return p, err
	}
	if p.Commit == "" {
		return p, refuse(CodeNoWorkspace, nil, "The plan has no branch %s yet: start it first.", branchName(planID))
	}
	merged, err := m.tryMerge(ctx, repo, base, p.TargetTip, p.Commit)
	if err != nil {
		return p, err
	}
	tree := merged.tree
	p.Resolved = merged.resolved
	p.Behind, p.Conflicts, p.NoOp = merged.behind, merged.conflicts, tree == ""
	if len(p.Conflicts) > 0 || p.NoOp {
		p.NoOp = p.NoOp && len(p.Conflicts) == 0
		return p, nil
	}
	t.old, t.new = p.TargetTip, tree
	_, err = t.readyAmong(ctx, list)
	var refused *Refused
	if errors.As(err, &refused) {
		p.BusyCode, p.Busy, p.BusyFiles = refused.Code, refused.Message, refused.Files
		return p, nil
	}
	return p, err
}

// tipAmong is fetchTip that saves the question where a checkout has the branch.
func (t *target) tipAmong(ctx context.Context, list func() ([]checkout, error)) (string, error) {
	all, _ := list() // what is wrong with it is said where it is needed
	for _, c := range all {
		if c.ref == t.ref && checkOID(c.head) == nil && strings.Trim(c.head, "0") != "" {
			return t.m.fetchCommit(ctx, t.repo, t.branch, c.head)
		}
	}
	return t.m.fetchTip(ctx, t.repo, t.branch)
}

// trial is what a merge of a plan's commit into a tip of its target comes to.
type trial struct {
	behind int // commits of the target that the plan does not have
	mergeResult
}

// tryMerge merges theirs into ours in M, for looking.
func (m *Manager) tryMerge(ctx context.Context, repo Repo, base, ours, theirs string) (trial, error) {
	return remembered(m, repo, "merge", []string{base, ours, theirs}, func() (t trial, err error) {
		count, err := m.line(ctx, m.inM(repo, "rev-list", "--count", theirs+".."+ours))
		if err != nil {
			return t, err
		}
		if t.behind, err = strconv.Atoi(count); err != nil {
			return t, err
		}
		t.mergeResult, err = m.mergeTrees(ctx, repo, base, ours, theirs)
		return t, err
	})
}

// ApplyInput is one attempt to apply a plan. The engine stores it before it calls Merge, and calls
// with the same values again after a crash.
type ApplyInput struct {
	Repo         Repo
	PlanID       string
	Branch       string    // target branch, short name
	Base         string    // the plan's BaseCommit: what was changed since then is applied
	Commit       string    // the recorded commit to apply
	ExpectTarget string    // where the person saw the target; empty: wherever it is now
	Message      string    // commit message with its trailers
	When         time.Time // author's and committer's date, so that the same input gives the same commit
}

// Merged is the merge commit made in M and the target tip it was made on.
type Merged struct {
	Commit string // empty when NoOp
	Target string // tip of the target branch the merge was made on
	NoOp   bool   // nothing to apply: the target already has these contents
}

// Merge merges in.Commit into the target branch as it is in R now, in M alone: R is not touched. The
// commit is a function of in and the target's tip (same input, same commit) and is kept by
// refs/donewhen/<plan>/apply in M. Refusals: conflict (with files), moved, no_branch.
func (m *Manager) Merge(ctx context.Context, in ApplyInput) (Merged, error) {
	if err := checkIDs(in.Repo, in.PlanID); err != nil {
		return Merged{}, err
	}
	if err := cmp.Or(checkOID(in.Commit), checkOID(in.Base)); err != nil {
		return Merged{}, err
	}
	if in.When.IsZero() {
		return Merged{}, fmt.Errorf("workspace: ApplyInput.When is not set")
	}
	tip, err := m.fetchTip(ctx, in.Repo, in.Branch)
	if err != nil {
		return Merged{}, err
	}
	if in.ExpectTarget != "" && in.ExpectTarget != tip {
		return Merged{}, movedRefusal(in.Branch, in.ExpectTarget, tip)
	}
	result, err := m.mergeTrees(ctx, in.Repo, in.Base, tip, in.Commit)
	if err != nil {
		return Merged{}, err
	}
	if len(result.conflicts) > 0 {
		return Merged{}, refuse(CodeConflict, result.conflicts, "The plan's work and %s changed the same places: nothing was applied. Merge %s into the plan's work (another pass, or by hand), then apply again.", in.Branch, in.Branch)
	}
	if result.tree == "" {
		return Merged{Target: tip, NoOp: true}, nil
	}
	date := fmt.Sprintf("@%d +0000", in.When.Unix())
	commit, err := m.commitTree(ctx, in.Repo, result.tree, []string{tip, in.Commit}, in.Message, "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	if err != nil {
		return Merged{}, err
	}
	if _, _, err := m.git(ctx, m.inM(in.Repo, "update-ref", "--no-deref", applyRef(in.PlanID), commit)); err != nil {
		return Merged{}, fmt.Errorf("keep the merge commit: %w", err)
	}
	return Merged{Commit: commit, Target: tip}, nil
}

func movedRefusal(branch, want, is string) *Refused {
	return refuse(CodeMoved, nil, "%s moved meanwhile (from %.12s to %.12s): look at the plan again and apply once more.", branch, want, is)
}
