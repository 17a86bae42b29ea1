package engine

import (
	"cmp"
	"slices"
	"time"

	"donewhen/dod"
)

// Progress is how far an evaluation that is under way has come. It is for
// looking at and is not stored: after a restart the evaluation begins anew.
type Progress struct {
	Total    int // criteria
	Checking []Checking
}

// Checking is a criterion whose check or question has begun and not ended.
type Checking struct {
	Criterion dod.Criterion
	Since     time.Time
	Limit     time.Duration // 0: it has none of ours
}

// Progress is what an evaluation is at, in the order of the criteria.
func (e *Engine) Progress(evaluationID int64) Progress {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := e.progress[evaluationID]
	p.Checking = slices.Clone(p.Checking)
	return p
}

// watch follows an evaluation of so many criteria: begins is for its suite, and
// forget when it is over.
func (e *Engine) watch(evaluationID int64, planID string, total int) (begins func(dod.Criterion) (ended func()), forget func()) {
	change := func(f func(p *Progress)) {
		e.mu.Lock()
		p := e.progress[evaluationID]
		f(&p)
		e.progress[evaluationID] = p
		e.mu.Unlock()
		e.hub.Publish("plan:" + planID)
	}
	change(func(p *Progress) { p.Total = total })
	begins = func(c dod.Criterion) func() {
		at := Checking{Criterion: c, Since: e.Now()}
		if c.Check.Kind == dod.CheckRun {
			at.Limit = e.CheckLimit
		}
		change(func(p *Progress) {
			p.Checking = append(p.Checking, at)
			slices.SortFunc(p.Checking, func(a, b Checking) int { return cmp.Compare(a.Criterion.Index, b.Criterion.Index) })
		})
		return func() {
			change(func(p *Progress) {
				p.Checking = slices.DeleteFunc(p.Checking, func(x Checking) bool { return x.Criterion.Index == c.Index })
			})
		}
	}
	return begins, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.progress, evaluationID)
	}
}
