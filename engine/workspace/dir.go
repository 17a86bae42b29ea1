package workspace

// Dir is the absolute path of a plan's workspace, whether it exists or not.
func (m *Manager) Dir(repo Repo, planID string) string { return m.workDir(repo, planID) }
