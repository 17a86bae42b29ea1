package workspace

import "context"

// RepoInfo is what a person registering a repository needs to see.
type RepoInfo struct {
	Path          string   `json:"path"`           // absolute, links resolved: the checkout's top folder, or the bare repository
	Bare          bool     `json:"bare"`           // no files of its own
	DefaultBranch string   `json:"default_branch"` // short name; what HEAD points to, else main, master or the first
	Branches      []string `json:"branches"`       // short names, sorted
	Warnings      []string `json:"warnings"`       // sentences: works, but know this (submodules, LFS)
}

// Inspect looks at path for registering it: a git repository (or a folder inside one) with at least
// one commit on a branch, complete (neither shallow nor partial), without a branch `donewhen` or
// anything else that blocks donewhen/<plan>. Each fault is a *Refused that says what to do. R is only read.
func (m *Manager) Inspect(ctx context.Context, path string) (RepoInfo, error) {
	return RepoInfo{}, errTodo
}
