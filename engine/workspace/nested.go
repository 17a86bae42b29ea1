package workspace

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// nestedHistories names the repositories inside of W whose history goes with W: those that agents made
// and git does not ignore, and submodules in which somebody committed or stashed something.
func (m *Manager) nestedHistories(ctx context.Context, repo Repo, planID string) (lost []Unrecorded, err error) {
	r := m.newRecording(repo, planID)
	dirs, err := nestedRepositories(r.w)
	if err != nil {
		return nil, fmt.Errorf("read the workspace: %w", err)
	}
	subs, err := r.gitlinks(ctx)
	if err != nil {
		return nil, err
	}
	var made []string
	for _, dir := range dirs {
		if !slices.ContainsFunc(subs, func(s submodule) bool { return dir == s.path || strings.HasPrefix(dir, s.path+"/") }) {
			made = append(made, dir)
			continue
		}
		why, err := m.newInSubmodule(ctx, repo, filepath.Join(r.w, filepath.FromSlash(dir), ".git"), dir)
		if err != nil {
			return nil, err
		}
		if why != "" {
			lost = append(lost, Unrecorded{dir + "/.git", "the submodule's own repository is not kept: " + why})
		}
	}
	if made, err = r.notIgnored(ctx, made); err != nil {
		return nil, err
	}
	for _, dir := range made {
		git := filepath.Join(r.w, filepath.FromSlash(dir), ".git")
		if oddGitDir(git) == "" {
			if found := readTips(git); len(found.list)+len(found.odd) == 0 {
				continue // made by git init, and nothing was committed
			}
		}
		lost = append(lost, Unrecorded{dir + "/.git", "the history of a repository of its own is not kept, its files are"})
	}
	return lost, nil
}

// nestedRepositories are the folders below W's top that have a .git, as a folder or as the file that
// leads to one.
func nestedRepositories(w string) (dirs []string, err error) {
	err = filepath.WalkDir(w, func(path string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(strings.TrimPrefix(path, w), "/")
		switch {
		case err != nil && rel == "":
			return err
		case err != nil:
			return fs.SkipDir // named by the snapshot already
		case d.Name() == ".git":
			if dir := filepath.Dir(rel); dir != "." {
				dirs = append(dirs, dir)
			}
			if d.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
	return dirs, err
}

// newInSubmodule says what a submodule's git folder in W names and R's checkout of it, from which it
// was cloned, does not have; "" for nothing.
func (m *Manager) newInSubmodule(ctx context.Context, repo Repo, git, path string) (why string, err error) {
	source := filepath.Join(repo.Path, filepath.FromSlash(path))
	if why := oddGitDir(git); why != "" {
		return why, nil
	}
	if !lexists(filepath.Join(source, ".git")) {
		return "the registered repository has no checkout of it any more", nil
	}
	found := readTips(git)
	if len(found.odd) > 0 {
		return found.odd[0].Path + ": " + found.odd[0].Why, nil
	}
	c := inR(source, "cat-file", "--batch-check=%(objecttype)")
	for _, t := range found.list {
		c.stdin += t.oid + "\n"
	}
	out, _, err := m.git(ctx, c)
	if exitCode(err) < 0 {
		return "", err
	}
	types := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if err != nil || len(found.list) > 0 && len(types) != len(found.list) {
		return "it could not be compared with the registered repository's", nil
	}
	var news []tip
	for i, t := range found.list {
		if strings.HasSuffix(types[i], " missing") {
			news = append(news, t)
		}
	}
	if len(news) == 0 {
		return "", nil
	}
	return someTips(news), nil
}
