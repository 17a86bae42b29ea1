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
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
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
	cfg   Config
	plans keyed // one holder per plan's workspace, taken before the project's
	repos keyed // one holder per project's mirror and target
	memo  *memo

	checking sync.Map // Left -> true while a check is at work there

	// step is called between the steps of Deliver. Tests stop it there as a crash would.
	step func(name string) error
}

// Repo names a registered repository: Key is the project's id (letters, digits, - and _), Path the
// absolute path that Inspect returned when it was registered.
type Repo struct {
	Key  string
	Path string
}

const (
	defaultMaxFileBytes = 50 << 20
	defaultTimeout      = 60 * time.Second
)

// minGit is the first version that refuses to fetch lazily from a remote an agent names in W's
// configuration.
var minGit = [3]int{2, 39, 4}

// Open checks that git is there and at least 2.39.4 (older versions fetch lazily from what an agent
// names as a remote), makes the folders and writes the configuration file that stands in for the
// user's global one in every call.
func Open(cfg Config) (*Manager, error) {
	if cfg.Dir == "" {
		return nil, fmt.Errorf("workspace: no folder given")
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for workspaces: %w", err)
	}
	// git compares real paths; one spelling saves surprises with a linked data folder.
	if cfg.Dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	if cfg.MaxFileBytes <= 0 {
		cfg.MaxFileBytes = defaultMaxFileBytes
	}
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.Git == "" {
		cfg.Git = "git"
	}
	if cfg.Git, err = exec.LookPath(cfg.Git); err != nil {
		return nil, fmt.Errorf("git was not found: install git %s or newer and start again (%w)", versionText(minGit), err)
	}
	m := &Manager{cfg: cfg, memo: newMemo()}
	for _, d := range []string{"mirrors", "workspaces", "state"} {
		if err := os.MkdirAll(filepath.Join(cfg.Dir, d), 0o755); err != nil {
			return nil, fmt.Errorf("make the folder for workspaces: %w", err)
		}
	}
	if err := writeFileAtomic(m.configFile(), globalConfig); err != nil {
		return nil, fmt.Errorf("write the configuration for git: %w", err)
	}
	out, err := m.line(context.Background(), call{args: []string{"version"}})
	if err != nil {
		return nil, fmt.Errorf("ask git for its version: %w", err)
	}
	if err := checkVersion(out); err != nil {
		return nil, err
	}
	return m, nil
}

var versionPattern = regexp.MustCompile(`^git version (\d+)\.(\d+)(?:\.(\d+))?`)

// checkVersion reads the line that `git version` prints.
func checkVersion(line string) error {
	p := versionPattern.FindStringSubmatch(line)
	if p == nil {
		return fmt.Errorf("git answered %q when asked for its version: install git %s or newer", line, versionText(minGit))
	}
	for i, least := range minGit {
		n, _ := strconv.Atoi(p[i+1])
		if n > least {
			return nil
		}
		if n < least {
			return fmt.Errorf("%s is too old: it can be made to contact servers named by an agent. Install git %s or newer", line, versionText(minGit))
		}
	}
	return nil
}

func versionText(v [3]int) string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// The places on disk and the names of refs, all in one list.

func (m *Manager) configFile() string { return filepath.Join(m.cfg.Dir, "state", "gitconfig") }

func (m *Manager) mirror(r Repo) string { return filepath.Join(m.cfg.Dir, "mirrors", r.Key+".git") }

func (m *Manager) workDir(r Repo, plan string) string {
	return filepath.Join(m.cfg.Dir, "workspaces", r.Key, plan)
}

// stateDir holds the server's own files for one plan: its index, what was set aside.
func (m *Manager) stateDir(r Repo, plan string) string {
	return filepath.Join(m.cfg.Dir, "state", r.Key, plan)
}

// KeptDir is where copies lie of files that had to leave W without being recorded, one folder for
// each time. Nothing in it is ever deleted by the server.
func (m *Manager) KeptDir(r Repo, plan string) string {
	return filepath.Join(m.stateDir(r, plan), "kept")
}

func (m *Manager) indexFile(r Repo, plan string) string {
	return filepath.Join(m.stateDir(r, plan), "index")
}

func branchName(plan string) string { return "donewhen/" + plan }
func planRef(plan string) string    { return "refs/heads/" + branchName(plan) }
func baseRef(plan string) string    { return "refs/donewhen/" + plan + "/base" }
func agentRef(plan string) string   { return "refs/donewhen/" + plan + "/agent" }
func applyRef(plan string) string   { return "refs/donewhen/" + plan + "/apply" }
func originRef(b string) string     { return "refs/origin/" + b }
func targetRef(b string) string     { return "refs/heads/" + b }

var (
	idPattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)
	oidPattern = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
)

// checkIDs keeps ids that become file and ref names to a shape that means nothing else to either.
func checkIDs(repo Repo, plan string) error {
	if !idPattern.MatchString(repo.Key) {
		return refuse(CodeBadName, nil, "The project id %q cannot name a folder: use letters, digits, - and _.", repo.Key)
	}
	if !filepath.IsAbs(repo.Path) {
		return refuse(CodeBadName, nil, "The repository path %q is not absolute: register it with its full path.", repo.Path)
	}
	if !idPattern.MatchString(plan) {
		return refuse(CodeBadName, nil, "The plan id %q cannot name a branch: use letters, digits, - and _.", plan)
	}
	return nil
}

// checkBranch keeps short branch names to what git allows in a ref, so that none is read as an
// expression such as main~1. The rules are those of git-check-ref-format(1).
func checkBranch(branch string) error {
	bad := branch == "" || strings.HasSuffix(branch, ".") || strings.Contains(branch, "..") || strings.Contains(branch, "@{") ||
		strings.ContainsFunc(branch, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune("~^:?*[\\", r) })
	for _, part := range strings.Split(branch, "/") {
		bad = bad || part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock")
	}
	if bad {
		return refuse(CodeBadName, nil, "%q is no branch name: choose one of the repository's branches.", branch)
	}
	return nil
}

func checkOID(oid string) error {
	if !oidPattern.MatchString(oid) {
		return refuse(CodeBadName, nil, "%q is not a full commit id.", oid)
	}
	return nil
}

// inR is a call on the registered repository with its own attributes and ignore rules.
func inR(dir string, args ...string) call { return call{dir: dir, foreign: true, args: args} }

// inM is a call on the project's bare repository.
func (m *Manager) inM(r Repo, args ...string) call { return call{gitDir: m.mirror(r), args: args} }

// onW is a call with M as git folder, W as work tree and the plan's private index.
func (m *Manager) onW(r Repo, plan string, args ...string) call {
	w := m.workDir(r, plan)
	return call{gitDir: m.mirror(r), work: w, index: m.indexFile(r, plan), dir: w, args: args}
}

// FetchCommand is the line with which a person gets the plan's branch into a clone of theirs.
func (m *Manager) FetchCommand(repo Repo, planID string) string {
	b := branchName(planID)
	return "git fetch " + shellWord(m.mirror(repo)) + " " + b + ":" + b
}

// FetchTargetCommand is the line with which an agent gets the target branch, as it is known here, into its
// workspace, as FETCH_HEAD.
func (m *Manager) FetchTargetCommand(repo Repo, branch string) string {
	return "git fetch " + shellWord(m.mirror(repo)) + " " + shellWord(originRef(branch))
}

// shellWord quotes a path for a shell where it must.
func shellWord(s string) string {
	if regexp.MustCompile(`^[A-Za-z0-9_./-]+$`).MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// writeFileAtomic writes a small file so that a reader sees the old or the new one.
func writeFileAtomic(path, content string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(content)
	if e := f.Chmod(0o644); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func lexists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
