package workspace

import (
	"strings"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"
)

// Bounds of what is remembered. An entry is forgotten after an hour: the objects
// that it speaks of may be cleaned away by git after two weeks.
const (
	memoEntries = 256
	memoFor     = time.Hour
	memoPatch   = 256 << 10 // bytes; a larger patch is read again
)

// memo keeps answers of git that follow from object names alone and so cannot
// become wrong: each saves the start of a process whenever a page is looked at.
type memo = expirable.LRU[string, any]

func newMemo() *memo { return expirable.NewLRU[string, any](memoEntries, nil, memoFor) }

// sized is an answer that says how many bytes it holds.
type sized interface{ size() int }

// remembered is what ask answered for these names in this project before, or
// answers now. Errors and answers of more than memoPatch bytes are not remembered.
// What it returns is shared: it must not be changed.
func remembered[T any](m *Manager, repo Repo, what string, names []string, ask func() (T, error)) (T, error) {
	key := repo.Key + "\x00" + what + "\x00" + strings.Join(names, "\x00")
	if known, ok := m.memo.Get(key); ok {
		return known.(T), nil
	}
	v, err := ask()
	if s, ok := any(v).(sized); err == nil && (!ok || s.size() <= memoPatch) {
		m.memo.Add(key, v)
	}
	return v, err
}
