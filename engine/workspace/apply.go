package workspace

import (
	"context"
	"time"
)

// Preview says what applying a plan would meet at this moment. Nothing in R is changed by asking.
type Preview struct {
	Commit    string   `json:"commit"`               // tip of donewhen/<plan>
	TargetTip string   `json:"target_tip"`           // tip of the target branch in R now
	Behind    int      `json:"behind"`               // commits the target has and the plan's branch has not
	NoOp      bool     `json:"no_op"`                // merging would change no file
	Conflicts []string `json:"conflicts,omitempty"`  // files both sides changed
	BusyCode  string   `json:"busy_code,omitempty"`  // code of Refused, empty when the checkout is ready
	Busy      string   `json:"busy,omitempty"`       // its sentence
	BusyFiles []string `json:"busy_files,omitempty"` // its files
}

// Preview merges the plan's branch with branch as it is in R now, inside M, and looks at the checkout
// that holds branch. An error is one of git or of a missing branch; everything that would make apply
// refuse is in the Preview.
func (m *Manager) Preview(ctx context.Context, repo Repo, planID, branch string) (Preview, error) {
	return Preview{}, errTodo
}

// ApplyInput is one attempt to apply a plan. The engine stores it before it calls Merge, and calls
// with the same values again after a crash.
type ApplyInput struct {
	Repo         Repo
	PlanID       string
	Branch       string    // target branch, short name
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
	return Merged{}, errTodo
}

// Deliver moves the target branch in R from merged.Target to merged.Commit, and with it the files of
// the checkout that holds the branch, if one does. It changes nothing that the merge does not bring,
// and nothing at all when it refuses. A call that was interrupted is finished by calling again with
// the same values; a call whose work is already in the branch returns nil. After it the engine asks
// Contains before it writes "applied". NoOp needs no delivery and returns nil.
func (m *Manager) Deliver(ctx context.Context, in ApplyInput, merged Merged) error {
	return errTodo
}
