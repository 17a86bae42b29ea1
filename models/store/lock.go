package store

import (
	"fmt"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Lock takes the data folder for this process. The system gives it back when
// the process ends, however it ends. When another server has it, the error says
// so and nothing in the folder has been changed.
func Lock(dir string) (release func(), err error) {
	l := flock.New(filepath.Join(dir, "donewhen.lock"))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data folder %s: %w. Does it exist, and may this user write there?", dir, err)
	}
	if !ok {
		return nil, fmt.Errorf("another donewhen server uses the data folder %s. Stop it, or start this one with another folder", dir)
	}
	return func() { _ = l.Unlock() }, nil
}
