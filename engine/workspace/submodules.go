package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxSubmoduleDepth bounds submodules inside submodules.
const maxSubmoduleDepth = 5

// submodule is a gitlink: a path and the commit that belongs there.
type submodule struct{ path, commit string }

// cloneSubmodules fills the submodules' folders of a new W (dir) from the registered repository's own
// checkout of them. Their URLs are never contacted: a URL is data an agent or a stranger can write,
// and may need credentials the server does not have. What is not checked out there is a warning, told
// before the first command runs. Runs before any agent has touched W.
func (m *Manager) cloneSubmodules(ctx context.Context, repo Repo, planID, dir string) (warnings []string, err error) {
	subs, err := m.submodulesOf(ctx, m.inM(repo), planRef(planID))
	if err != nil || len(subs) == 0 {
		return nil, err
	}
	source := repo.Path
	if bare, err := m.line(ctx, inR(repo.Path, "rev-parse", "--is-bare-repository")); err != nil || bare == "true" {
		source = ""
	}
	for _, s := range subs {
		warnings = append(warnings, m.cloneSubmodule(ctx, source, dir, s, s.path, 1)...)
		// What the agents found, for telling later what they changed in there.
		index := m.submoduleIndex(repo, planID, s.path)
		if err := os.MkdirAll(filepath.Dir(index), 0o755); err != nil {
			return warnings, err
		}
		err := copyFile(filepath.Join(dir, filepath.FromSlash(s.path), ".git", "index"), index)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return warnings, err
		}
	}
	return warnings, nil
}

// submoduleIndex is the plan's copy of a submodule's index; its name is a digest of the path.
func (m *Manager) submoduleIndex(repo Repo, planID, path string) string {
	sum := sha256.Sum256([]byte(path))
	return filepath.Join(m.stateDir(repo, planID), "submodules", hex.EncodeToString(sum[:12]))
}

func (m *Manager) submodulesOf(ctx context.Context, c call, commit string) (subs []submodule, err error) {
	c.args = []string{"ls-tree", "-r", "-z", "--full-tree", commit}
	out, _, err := m.git(ctx, c)
	if err != nil {
		return nil, err
	}
	for _, e := range split0(out) {
		meta, path, _ := strings.Cut(e, "\t")
		if f := strings.Fields(meta); len(f) == 3 && f[0] == "160000" {
			subs = append(subs, submodule{path, f[2]})
		}
	}
	return subs, nil
}

// cloneSubmodule clones parentSource/s.path into parent/s.path at s.commit. shown is the path from W's top.
func (m *Manager) cloneSubmodule(ctx context.Context, parentSource, parent string, s submodule, shown string, depth int) (warnings []string) {
	missing := func(why string) []string {
		return []string{fmt.Sprintf("The submodule %s is empty here: %s. Check it out in the registered repository (`git submodule update --init --recursive`) and start a new plan if the agents need it.", shown, why)}
	}
	if parentSource == "" {
		return missing("the registered repository is bare and has no checkout of it")
	}
	if depth > maxSubmoduleDepth {
		return missing("it lies too deep in other submodules")
	}
	source := filepath.Join(parentSource, filepath.FromSlash(s.path))
	if !lexists(filepath.Join(source, ".git")) {
		return missing("it is not checked out in the registered repository")
	}
	if _, _, err := m.git(ctx, inR(source, "cat-file", "-e", s.commit+"^{commit}")); err != nil {
		return missing("its commit " + s.commit[:12] + " is not in the registered repository's checkout of it")
	}
	target := filepath.Join(parent, filepath.FromSlash(s.path))
	// The folder is empty and ours: git makes one for each gitlink when it checks out.
	if _, _, err := m.git(ctx, call{long: true, args: []string{"clone", "-q", "--no-local", "--no-checkout", "--template=", "--end-of-options", source, target}}); err != nil {
		return missing("it could not be cloned (" + err.Error() + ")")
	}
	gitDir := filepath.Join(target, ".git")
	steps := [][]string{
		{"fetch", "-q", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "origin", s.commit},
		{"remote", "remove", "origin"},
		{"checkout", "-q", "--detach", s.commit},
	}
	if m.hasCommit(ctx, gitDir, s.commit) {
		steps = steps[1:]
	}
	for _, args := range steps {
		if _, _, err := m.git(ctx, call{dir: target, long: true, args: args}); err != nil {
			_ = os.RemoveAll(target)
			_ = os.MkdirAll(target, 0o755)
			return missing("it could not be checked out (" + err.Error() + ")")
		}
	}
	inner, err := m.submodulesOf(ctx, call{gitDir: gitDir}, s.commit)
	if err != nil {
		return missing(err.Error())
	}
	for _, i := range inner {
		warnings = append(warnings, m.cloneSubmodule(ctx, source, target, i, shown+"/"+i.path, depth+1)...)
	}
	return warnings
}
