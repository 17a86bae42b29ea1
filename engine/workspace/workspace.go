// Package workspace keeps agents away from registered repositories and brings their work back.
//
// Three places matter, and their letters are used in comments throughout: R is the registered
// repository of a person, M the project's bare repository that the server owns (R's branches are
// fetched into refs/origin/*, every plan has refs/heads/donewhen/<plan>), W the plan's workspace, a
// clone of M without a remote in which agents work. The server never runs git with W's own .git for
// a snapshot: M is the git folder, W the work tree, and a private index file stands beside them, so
// that nothing an agent plants in W (hooks, filters, fsmonitor, config) is run by the server.
// R is written by Deliver alone.
//
// Agents that run as the server's own user are no security boundary: the above stops accidents and
// planted configuration, not an agent that writes M directly.
package workspace

import (
	"context"
	"time"
)

// Config says where the git part of the data folder is and bounds what git may cost.
type Config struct {
	Dir          string        // folder for mirrors/, workspaces/ and state/; made if missing
	MaxFileBytes int64         // larger files are not recorded and are listed instead; 0 means 50 MiB
	Git          string        // git program; empty means "git" from PATH
	Timeout      time.Duration // limit of one git call; 0 means 60 s. Clones and fetches get ten times that
}

// Manager runs all git work of the server. It is safe for use by several goroutines: calls for one
// plan, and calls that change one project's mirror or target, wait for each other.
type Manager struct {
	cfg Config
}

// Repo names a registered repository: Key is the project's id (letters, digits, - and _), Path the
// absolute path that Inspect returned when it was registered.
type Repo struct {
	Key  string
	Path string
}

// Open checks that git is there and at least 2.39.4 (older versions fetch lazily from what an agent
// names as a remote), makes the folders and writes the configuration file that stands in for the
// user's global one in every call.
func Open(cfg Config) (*Manager, error) { return &Manager{cfg: cfg}, errTodo }

// FetchCommand is the line with which a person gets the plan's branch into a clone of theirs.
func (m *Manager) FetchCommand(repo Repo, planID string) string { return "" }

// TargetTip returns the commit that branch (short name) has in R now. A missing branch is a *Refused.
func (m *Manager) TargetTip(ctx context.Context, repo Repo, branch string) (commit string, err error) {
	return "", errTodo
}

// Contains re-reads R and reports whether commit is reachable from branch there. A commit that R does
// not have is simply not contained.
func (m *Manager) Contains(ctx context.Context, repo Repo, branch, commit string) (bool, error) {
	return false, errTodo
}
