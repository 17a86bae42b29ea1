package workspace

import "context"

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
	return Workspace{}, errTodo
}

// Remove deletes W, its private index and what was set aside for it. The branch in M stays, and with
// it all recorded work. Removing what is not there is no error.
func (m *Manager) Remove(ctx context.Context, repo Repo, planID string) error { return errTodo }

// Discard is Remove, and deletes the plan's branch and refs in M too: its work is gone for good.
func (m *Manager) Discard(ctx context.Context, repo Repo, planID string) error { return errTodo }
