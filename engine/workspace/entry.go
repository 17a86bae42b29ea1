package workspace

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many links are followed on the way to one path: as many as os.Root follows, so
// that a recorded tree and a folder are looked at alike.
const maxLinks = 8

// Entry looks a path up in a recorded tree (or commit): kind is "file", "folder", "submodule", or ""
// when it is not there. path is a slash path from the top; with a slash at its end it is a folder's.
// Links are followed inside of the tree; one that leads nowhere or out of it is not there, and
// neither is a path that leads out or names the top itself.
func (m *Manager) Entry(ctx context.Context, repo Repo, tree, name string) (kind string, err error) {
	if err := checkOIDs(tree, tree); err != nil {
		return "", err
	}
	if name = filepath.ToSlash(name); !filepath.IsLocal(name) || path.Clean(name) == "." || strings.Contains(name, "\x00") {
		return "", nil
	}
	return remembered(m, repo, "entry", []string{tree, name}, func() (string, error) {
		w := walk{m: m, repo: repo, tree: tree}
		kind, err := w.to(ctx, name)
		if err != nil {
			return "", fmt.Errorf("look %s up in the recorded work: %w", name, err)
		}
		return kind, nil
	})
}

// walk goes from folder to folder of a recorded tree, as the system would in a checkout of it.
type walk struct {
	m    *Manager
	repo Repo
	tree string
}

func (w walk) to(ctx context.Context, name string) (kind string, err error) {
	// Most paths are plain: one question, because what git finds lies in folders alone.
	if clean := path.Clean(name); clean == strings.TrimSuffix(name, "/") {
		kind, _, err := w.look(ctx, clean)
		if err != nil || kind != "" && kind != "link" {
			return onlyFolder(kind, name != clean), err
		}
	}
	var at []string
	todo, links := strings.Split(name, "/"), 0
	for len(todo) > 0 {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case "", ".":
			continue
		case "..":
			if len(at) == 0 {
				return "", nil // out of the repository
			}
			at = at[:len(at)-1]
			continue
		}
		here := append(slices.Clone(at), part)
		kind, oid, err := w.look(ctx, strings.Join(here, "/"))
		switch {
		case err != nil || kind == "":
			return "", err
		case kind == "folder":
			at = here
		case kind == "link":
			if links++; links > maxLinks {
				return "", nil
			}
			target, _, err := w.m.git(ctx, w.m.inM(w.repo, "cat-file", "blob", oid))
			if err != nil || target == "" || strings.HasPrefix(target, "/") {
				return "", err
			}
			todo = append(strings.Split(target, "/"), todo...)
		default: // nothing of ours lies below a file or a submodule
			below := slices.ContainsFunc(todo, func(p string) bool { return p != "" && p != "." })
			if below {
				return "", nil
			}
			return onlyFolder(kind, len(todo) > 0), nil
		}
	}
	return "folder", nil
}

// onlyFolder is kind where a folder is wanted, as the slash at the end of a path says.
func onlyFolder(kind string, wanted bool) string {
	if wanted && kind == "file" {
		return ""
	}
	return kind
}

// look is the entry at a clean path itself, links not followed.
func (w walk) look(ctx context.Context, clean string) (kind, oid string, err error) {
	c := w.m.inM(w.repo, "ls-tree", "-z", "--full-tree", "--end-of-options", w.tree, clean)
	c.env = []string{"GIT_LITERAL_PATHSPECS=1"}
	out, _, err := w.m.git(ctx, c)
	if err != nil {
		return "", "", err
	}
	for line := range strings.SplitSeq(out, "\x00") {
		head, name, ok := strings.Cut(line, "\t")
		if f := strings.Fields(head); ok && name == clean && len(f) == 3 {
			return kindOfEntry(f[0]), f[2], nil
		}
	}
	return "", "", nil
}

func kindOfEntry(mode string) string {
	switch mode {
	case "040000":
		return "folder"
	case "120000":
		return "link"
	case "160000":
		return "submodule"
	}
	return "file"
}
