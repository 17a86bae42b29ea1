package workspace

import "context"

// Restore sets W back to the tree of commit (one recorded in M), for a retry from the phase's start.
// First a snapshot of W is made, then a new commit on the plan's branch has commit's tree: history
// only grows. Ignored files stay. Files that no snapshot could record and that are in the way are
// moved to the plan's folder under state/, never deleted.
func (m *Manager) Restore(ctx context.Context, repo Repo, planID, commit string) error {
	return errTodo
}

// PutBack undoes what a check did to W: files of the last snapshot that were changed, deleted or
// replaced are put back and returned (slash paths, sorted); new files that are neither ignored nor
// unrecorded are moved to the plan's folder under state/, so that they do not become the agents'
// work. Ignored files are left alone.
func (m *Manager) PutBack(ctx context.Context, repo Repo, planID string) (changed []string, err error) {
	return nil, errTodo
}
