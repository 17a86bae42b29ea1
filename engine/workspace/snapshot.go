package workspace

import "context"

// Snapshot is the state of a workspace as it was recorded in M.
type Snapshot struct {
	Commit     string       // tip of donewhen/<plan> afterwards
	Tree       string       // its tree: exactly what W held, but for Unrecorded
	Changed    bool         // Tree differs from the tree the branch had before
	Unrecorded []Unrecorded // what W holds and Tree does not; the gate shows it
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
	return Snapshot{}, errTodo
}
