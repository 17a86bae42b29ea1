package workspace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Dir is the absolute path of a plan's workspace, whether it exists or not.
func (m *Manager) Dir(repo Repo, planID string) string { return m.workDir(repo, planID) }

// Ready says whether something may be started in a plan's workspace: it and the folders above it,
// up to the server's own, are plain folders. An agent may have put a link in their place; a process
// started there would work wherever that leads. The error is a *Refused.
func (m *Manager) Ready(repo Repo, planID string) error {
	if err := m.checkWorkDir(repo, planID); err != nil {
		return err
	}
	for dir := filepath.Dir(m.workDir(repo, planID)); len(dir) > len(m.cfg.Dir); dir = filepath.Dir(dir) {
		if fi, err := os.Lstat(dir); err != nil || !fi.IsDir() {
			return refuse(CodeNoWorkspace, nil, "The folder %s above the plan's workspace is no plain folder any more.", dir)
		}
	}
	return nil
}

// Entry looks a path up in a recorded tree (or commit): kind is "file", "folder", "link",
// "submodule", or "" when it is not there. path is a slash path from the top; one that leaves it is
// never there.
func (m *Manager) Entry(ctx context.Context, repo Repo, tree, path string) (kind string, err error) {
	if err := checkOIDs(tree, tree); err != nil {
		return "", err
	}
	clean := filepath.ToSlash(filepath.Clean("/" + path))[1:]
	if clean == "" || clean != strings.TrimSuffix(filepath.ToSlash(filepath.Clean(path)), "/") {
		return "", nil
	}
	return remembered(m, repo, "entry", []string{tree, clean}, func() (string, error) {
		out, _, err := m.git(ctx, m.inM(repo, "ls-tree", "-z", "--full-tree", "--end-of-options", tree, clean))
		if err != nil {
			return "", fmt.Errorf("look %s up in the recorded work: %w", path, err)
		}
		return entryKind(out, clean), nil
	})
}

// entryKind reads what ls-tree says of one path.
func entryKind(out, clean string) string {
	for line := range strings.SplitSeq(out, "\x00") {
		head, name, ok := strings.Cut(line, "\t")
		if !ok || name != clean {
			continue
		}
		mode, _, _ := strings.Cut(head, " ")
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
	return ""
}
