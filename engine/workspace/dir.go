package workspace

import (
	"os"
	"path/filepath"
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
