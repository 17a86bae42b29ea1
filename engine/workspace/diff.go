package workspace

import "context"

// FileChange is one changed file of a Diff. Paths are slash paths from the top, as raw bytes of the
// file's name (never quoted).
type FileChange struct {
	Status  string `json:"status"` // added, modified, deleted, renamed, type_changed
	Path    string `json:"path"`
	OldPath string `json:"old_path,omitempty"` // only where renamed
	Added   int    `json:"added"`              // lines; 0 for binary files
	Deleted int    `json:"deleted"`
	Binary  bool   `json:"binary,omitempty"`
}

// Diff is the list of changed files between two trees, in git's order, with the sums of lines.
type Diff struct {
	Files   []FileChange `json:"files"`
	Added   int          `json:"added"`
	Deleted int          `json:"deleted"`
}

// Diff compares two commits or trees of M (full object names). Renames are found.
func (m *Manager) Diff(ctx context.Context, repo Repo, from, to string) (Diff, error) {
	return Diff{}, errTodo
}

// Patch is the same as a text patch, renames found, no external diff and no textconv. At most
// maxBytes of it (0: all), cut after a whole line; cut tells that something is missing.
func (m *Manager) Patch(ctx context.Context, repo Repo, from, to string, maxBytes int64) (patch []byte, cut bool, err error) {
	return nil, false, errTodo
}

// AddedLines returns the lines that `to` has and `from` has not, without the plus signs, one per
// line; at most max bytes (0: all), cut after a whole line.
func (m *Manager) AddedLines(ctx context.Context, repo Repo, from, to string, max int64) (text string, cut bool, err error) {
	return "", false, errTodo
}
