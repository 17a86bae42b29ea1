package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

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
	var info RepoInfo
	real, err := realFolder(path)
	if err != nil {
		return info, err
	}
	for _, own := range []string{"mirrors", "workspaces", "state"} {
		if within(filepath.Join(m.cfg.Dir, own), real) {
			return info, refuse(CodeNotARepository, nil, "%s belongs to this server: register the repository it was made from.", real)
		}
	}
	out, err := m.line(ctx, inR(real, "rev-parse", "--is-bare-repository", "--is-inside-git-dir", "--is-shallow-repository", "--absolute-git-dir"))
	if err != nil {
		return info, m.notReadable(real, err)
	}
	facts := strings.SplitN(out, "\n", 4)
	if len(facts) < 4 {
		return info, fmt.Errorf("git rev-parse answered %q", out)
	}
	info.Bare = facts[0] == "true"
	switch {
	case info.Bare:
		info.Path = facts[3]
	case facts[1] == "true":
		return info, refuse(CodeNotARepository, nil, "%s is the inside of a git folder: register the checkout around it.", real)
	default:
		if info.Path, err = m.line(ctx, inR(real, "rev-parse", "--show-toplevel")); err != nil {
			return info, m.notReadable(real, err)
		}
	}
	if facts[2] == "true" {
		return info, refuse(CodeUnsupported, nil, "%s is a shallow clone: run `git fetch --unshallow` there first.", info.Path)
	}
	if out, _, err := m.git(ctx, inR(info.Path, "config", "--local", "--get-regexp", `^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$`)); err == nil && out != "" {
		return info, refuse(CodeUnsupported, nil, "%s is a partial clone, which lacks objects: register a full clone.", info.Path)
	}
	if err := m.inspectBranches(ctx, &info); err != nil {
		return info, err
	}
	info.Warnings = m.contentWarnings(ctx, inR(info.Path), targetRef(info.DefaultBranch))
	return info, nil
}

func (m *Manager) inspectBranches(ctx context.Context, info *RepoInfo) error {
	out, _, err := m.git(ctx, inR(info.Path, "for-each-ref", "--format=%(refname)", "refs/heads/"))
	if err != nil {
		return err
	}
	for _, ref := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if b := strings.TrimPrefix(ref, "refs/heads/"); b != "" && b != ref {
			info.Branches = append(info.Branches, b)
		}
	}
	sort.Strings(info.Branches)
	if len(info.Branches) == 0 {
		return refuse(CodeNoBranch, nil, "%s has no commit on a branch yet: commit something there first.", info.Path)
	}
	for _, b := range info.Branches {
		if b == "donewhen" {
			return refuse(CodeBlockedName, nil, "%s has a branch named `donewhen`, so that plans' branches donewhen/<plan> cannot stand beside it: rename it with `git branch -m donewhen NEWNAME`.", info.Path)
		}
	}
	head, _ := m.line(ctx, inR(info.Path, "symbolic-ref", "-q", "HEAD"))
	info.DefaultBranch = info.Branches[0]
	for _, want := range []string{strings.TrimPrefix(head, "refs/heads/"), "main", "master"} {
		if i := sort.SearchStrings(info.Branches, want); i < len(info.Branches) && info.Branches[i] == want {
			info.DefaultBranch = want
			break
		}
	}
	return nil
}

// contentWarnings tells what of a commit's contents needs more than git: submodules, filters.
func (m *Manager) contentWarnings(ctx context.Context, c call, commit string) (warnings []string) {
	c.args = []string{"ls-tree", "-r", "-z", "--full-tree", commit}
	out, _, err := m.git(ctx, c)
	if err != nil {
		return nil
	}
	subs := 0
	var attributes []string
	for _, e := range split0(out) {
		meta, path, _ := strings.Cut(e, "\t")
		if strings.HasPrefix(meta, "160000 ") {
			subs++
		}
		if f := strings.Fields(meta); len(f) == 3 && filepath.Base(path) == ".gitattributes" && f[0] != "120000" {
			attributes = append(attributes, f[2])
		}
	}
	if subs > 0 {
		warnings = append(warnings, fmt.Sprintf("%d submodule(s): agents see them as far as they are checked out in the registered repository, but changes inside them are not recorded.", subs))
	}
	for _, oid := range attributes {
		c.args = []string{"cat-file", "blob", oid}
		if text, _, err := m.git(ctx, c); err == nil && strings.Contains(text, "filter=") {
			warnings = append(warnings, "Some files go through a git filter (such as LFS): agents see the stored form (LFS pointers), because the server runs no filters; apply runs those that the registered repository itself configures (`git lfs install --local`).")
			break
		}
	}
	return warnings
}

// realFolder is path as an absolute path of an existing folder with all links resolved.
func realFolder(path string) (string, error) {
	if strings.TrimSpace(path) == "" {
		return "", refuse(CodeNotARepository, nil, "Enter the folder of the repository.")
	}
	if !filepath.IsAbs(path) {
		return "", refuse(CodeNotARepository, nil, "%q is no absolute path: enter the full path of the folder.", path)
	}
	real, err := filepath.EvalSymlinks(path)
	if os.IsPermission(err) {
		return "", refuse(CodeReadOnly, nil, "The server may not read %s: give its user access to the folder.", path)
	}
	if err != nil {
		return "", refuse(CodeNotARepository, nil, "%s does not exist on the server: check the path.", path)
	}
	if fi, err := os.Stat(real); err != nil || !fi.IsDir() {
		return "", refuse(CodeNotARepository, nil, "%s is not a folder: enter the repository's folder.", path)
	}
	return real, nil
}

// within reports whether path is folder or lies in it. Both are clean absolute paths.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
