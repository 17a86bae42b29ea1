package engine

import (
	"context"
	"sync"
	"time"

	"donewhen/engine/workspace"
	"donewhen/models"
)

// A finished plan's page asks git how its target stands, which takes ten git
// processes; a hundred open pages ask again whenever something moves. Who asks
// while it is being looked at, or right after, gets what was seen. That is for
// showing only: Apply looks for itself.

// maxLooks is how many looks are remembered; they are as short as they are old.
const maxLooks = 256

// lookKey names what was looked at. A plan's version moves with everything that
// is recorded of it, so that nothing is older than the last event.
type lookKey struct {
	plan, target, commit string
	version              int64
}

func lookKeyOf(plan models.Plan) lookKey {
	return lookKey{plan: plan.ID, target: plan.TargetBranch, commit: plan.WorkCommit, version: plan.Version}
}

// look is what was seen, once done is closed.
type look struct {
	done    chan struct{}
	at      time.Time // when it began: what it says is at least as old
	kept    bool      // it was carried out to the end
	preview *workspace.Preview
	problem string
}

// looks are the newest looks at targets.
type looks struct {
	mu    sync.Mutex
	byKey map[lookKey]*look
}

// shownTarget is how the target of a finished plan stands, or stood at most
// TargetAge ago. Nothing may be decided by it.
func (e *Engine) shownTarget(ctx context.Context, plan models.Plan, project models.Project) (*workspace.Preview, string) {
	key := lookKeyOf(plan)
	for {
		l, mine := e.looks.begin(key, e.Now(), e.TargetAge)
		if mine {
			e.lookAt(ctx, l, plan, project)
			e.looks.end(key, l, e.TargetAge)
			return l.preview, l.problem
		}
		select {
		case <-l.done:
		case <-ctx.Done():
			return nil, ctx.Err().Error()
		}
		if l.kept {
			return l.preview, l.problem
		} // the page that looked was closed meanwhile
	}
}

// lookAt asks git.
func (e *Engine) lookAt(ctx context.Context, l *look, plan models.Plan, project models.Project) {
	defer close(l.done)
	p, err := e.Spaces.Preview(ctx, repoOf(project), plan.ID, plan.BaseCommit, plan.TargetBranch)
	if err != nil {
		l.problem = err.Error()
	} else {
		l.preview = &p
	}
	l.kept = ctx.Err() == nil
}

// begin is the look that is under way or young enough, or a new one of the caller's own.
func (s *looks) begin(key lookKey, now time.Time, age time.Duration) (l *look, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l = s.byKey[key]; l != nil {
		select {
		case <-l.done:
			if since := now.Sub(l.at); l.kept && since >= 0 && since < age {
				return l, false
			}
		default:
			return l, false
		}
	}
	if s.byKey == nil || len(s.byKey) >= maxLooks {
		s.byKey = map[lookKey]*look{} // those under way still answer who waits for them
	}
	l = &look{done: make(chan struct{}), at: now}
	s.byKey[key] = l
	return l, true
}

// last is the last look that was carried out, however old, or nil.
func (s *looks) last(key lookKey) *look {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.byKey[key]
	if l == nil {
		return nil
	}
	select {
	case <-l.done:
		if l.kept {
			return l
		}
	default:
	}
	return nil
}

// end forgets a look that nobody may be shown any more.
func (s *looks) end(key lookKey, l *look, age time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byKey[key] == l && (age == 0 || !l.kept) {
		delete(s.byKey, key)
	}
}
