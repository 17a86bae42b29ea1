package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Variables of ours that a run's process has.
const (
	envRunID    = "DONEWHEN_RUN_ID"
	envPlanID   = "DONEWHEN_PLAN_ID"
	envTaskFile = "DONEWHEN_TASK_FILE"
	envInstance = "DONEWHEN_INSTANCE"
)

// fallbackPath is used when the server itself has no PATH.
const fallbackPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// environment is what a process may see. It is built from nothing: of the
// server's environment it has PATH and the names of allow.
type environment struct {
	home  string            // HOME, unless allow has HOME
	who   string            // the git identity: "agent", "check", "judge"
	allow []string          // names taken from the server's environment, when set there
	set   map[string]string // fixed values of the operator
	more  []string          // NAME=VALUE of the caller: ARG_*, DONEWHEN_PHASE, …
	own   []string          // NAME=VALUE of ours; they win over all others
}

// build returns the environment as sorted NAME=VALUE pairs, each name once.
// Later layers win: base, allow, set, more, own.
func (e environment) build(server []string) []string {
	from := parseEnv(server)
	path := from["PATH"]
	if path == "" {
		path = fallbackPath
	}
	cache := filepath.Join(e.home, ".cache")
	vars := map[string]string{
		"PATH": path, "HOME": e.home,
		"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "dumb",
		"XDG_CONFIG_HOME": filepath.Join(e.home, ".config"),
		"XDG_CACHE_HOME":  cache,
		"XDG_DATA_HOME":   filepath.Join(e.home, ".local", "share"),
		"XDG_STATE_HOME":  filepath.Join(e.home, ".local", "state"),

		// Caches of their own, also where HOME is the operator's: what a plan builds
		// and downloads stays with the plan.
		"GOCACHE":          filepath.Join(cache, "go-build"),
		"GOMODCACHE":       filepath.Join(cache, "go-mod"),
		"GOFLAGS":          "-modcacherw", // otherwise the cache is read-only and the home cannot be removed
		"npm_config_cache": filepath.Join(cache, "npm"),

		"GIT_AUTHOR_NAME": "donewhen " + e.who, "GIT_AUTHOR_EMAIL": e.who + "@donewhen.invalid",
		"GIT_COMMITTER_NAME": "donewhen " + e.who, "GIT_COMMITTER_EMAIL": e.who + "@donewhen.invalid",
		"GIT_CONFIG_NOSYSTEM": "1",
		"GIT_CONFIG_GLOBAL":   filepath.Join(e.home, ".gitconfig"),
		"GIT_TERMINAL_PROMPT": "0",
	}
	if slices.Contains(e.allow, "HOME") && from["HOME"] != "" {
		// The XDG folders go with the home: a login is looked for below them.
		for _, name := range []string{"XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"} {
			delete(vars, name)
			if v, found := from[name]; found {
				vars[name] = v
			}
		}
	}
	for _, name := range e.allow {
		if v, found := from[name]; found && !ours(name) {
			vars[name] = v
		}
	}
	for name, v := range e.set {
		vars[name] = v
	}
	for name, v := range parseEnv(e.more) {
		if strings.HasPrefix(name, "ARG_") || strings.HasPrefix(name, "DONEWHEN_") {
			vars[name] = v // no caller can turn PATH or HOME around
		}
	}
	for name, v := range parseEnv(e.own) {
		vars[name] = v
	}
	out := make([]string, 0, len(vars))
	for name, v := range vars {
		out = append(out, name+"="+v)
	}
	slices.Sort(out)
	return out
}

func parseEnv(pairs []string) map[string]string {
	out := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		if name, v, found := strings.Cut(pair, "="); found && name != "" {
			out[name] = v
		}
	}
	return out
}

// runTags are the pairs that tell a run's processes from all others on the
// machine; Reap looks for exactly these.
func runTags(runID int64, instance string) []string {
	return []string{envRunID + "=" + strconv.FormatInt(runID, 10), envInstance + "=" + instance}
}

// lookPath finds a program: as it is when it has a slash, otherwise on the
// server's PATH. Relative entries of PATH are passed over, since they would mean
// the workspace.
func lookPath(name string, server []string) (string, error) {
	if strings.ContainsRune(name, '/') {
		if err := executable(name); err != nil {
			return "", fmt.Errorf("the program %s cannot be run (%w); mend args in runtimes.yaml", name, err)
		}
		return name, nil
	}
	path := parseEnv(server)["PATH"]
	if path == "" {
		path = fallbackPath
	}
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) {
			if file := filepath.Join(dir, name); executable(file) == nil {
				return file, nil
			}
		}
	}
	return "", fmt.Errorf("the program %q was not found on the server's PATH; install it, or write its full path in runtimes.yaml", name)
}

func executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return pathCause(err)
	case info.IsDir():
		return fmt.Errorf("it is a folder")
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("it is not executable: chmod +x")
	}
	return nil
}
