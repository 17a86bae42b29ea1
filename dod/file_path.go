package dod

import (
	"path/filepath"
)

// LeadsOut says whether the path of a `file:` check names something outside of
// the workspace, which nobody may look at: it can never be there.
func LeadsOut(path string) bool { return !filepath.IsLocal(filepath.FromSlash(path)) }

func leadsOut(path string) string {
	return "the path " + clip(foldLine(path), 120) + ` leads out of the workspace, so this could never pass: write one that begins inside it, as in "file: docs/notes.md"`
}

// OutsidePath is what such a check comes to.
func OutsidePath(path string) CheckOutcome {
	return CheckOutcome{Status: Failed, Reasoning: leadsOut(path)}
}
