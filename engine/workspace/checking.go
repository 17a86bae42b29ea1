package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
)

// Left names a plan's workspace that a check may have left changed.
type Left struct{ Key, PlanID string }

// BeginCheck says that what W holds from now on, until EndCheck, may be the doing of a command that
// was to look only. Nothing of W is recorded meanwhile: Snapshot and Restore refuse (CodeChecking).
// A note on disk outlives a crash: whatever would record W next puts it back first.
func (m *Manager) BeginCheck(ctx context.Context, repo Repo, planID string) error {
	unlock, err := m.lockPlan(ctx, repo, planID)
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := m.undoCheck(ctx, repo, planID); err != nil {
		return err
	}
	if err := os.MkdirAll(m.stateDir(repo, planID), 0o755); err != nil {
		return err
	}
	if err := writeFileAtomic(m.checkFile(repo, planID), ""); err != nil {
		return err
	}
	m.checking.Store(Left{repo.Key, planID}, true)
	return nil
}

// EndCheck puts W back, as PutBack does, and ends what BeginCheck began. After an error the note
// stays.
func (m *Manager) EndCheck(ctx context.Context, repo Repo, planID string) (Returned, error) {
	unlock, err := m.lockPlan(ctx, repo, planID)
	if err != nil {
		return Returned{}, err
	}
	defer unlock()
	m.checking.Delete(Left{repo.Key, planID})
	return m.undoCheck(ctx, repo, planID)
}

// UndoCheck puts W back if a check that nobody ended may have changed it.
func (m *Manager) UndoCheck(ctx context.Context, repo Repo, planID string) (Returned, error) {
	unlock, err := m.lockPlan(ctx, repo, planID)
	if err != nil {
		return Returned{}, err
	}
	defer unlock()
	return m.undoCheck(ctx, repo, planID)
}

// undoCheck is called with the plan's lock.
func (m *Manager) undoCheck(ctx context.Context, repo Repo, planID string) (Returned, error) {
	if _, atWork := m.checking.Load(Left{repo.Key, planID}); atWork {
		return Returned{}, refuse(CodeChecking, nil, "A check is at work in the plan's workspace: wait until it has ended.")
	}
	note := m.checkFile(repo, planID)
	if !lexists(note) {
		return Returned{}, nil
	}
	done, err := m.putBack(ctx, repo, planID)
	if err != nil {
		return done, err
	}
	return done, os.Remove(note)
}

// LeftChecks are the workspaces whose check nobody ended: after a start, those that a crash left.
func (m *Manager) LeftChecks() ([]Left, error) {
	notes, err := filepath.Glob(m.checkFile(Repo{Key: "*"}, "*"))
	if err != nil {
		return nil, err
	}
	left := make([]Left, len(notes))
	for i, n := range notes {
		dir := filepath.Dir(n)
		left[i] = Left{Key: filepath.Base(filepath.Dir(dir)), PlanID: filepath.Base(dir)}
	}
	return left, nil
}

func (m *Manager) checkFile(repo Repo, planID string) string {
	return filepath.Join(m.stateDir(repo, planID), "checking")
}

// recordable puts W back if need be, before it is recorded. A workspace that is gone has nothing to
// put back; whoever records it says so.
func (m *Manager) recordable(ctx context.Context, repo Repo, planID string) (Returned, error) {
	done, err := m.undoCheck(ctx, repo, planID)
	if r, ok := errors.AsType[*Refused](err); ok && r.Code == CodeNoWorkspace {
		return done, nil
	}
	return done, err
}
