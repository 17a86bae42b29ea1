package engine_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

var viewer = models.Actor{ID: 3, Name: "vic", Role: models.RoleViewer}

func TestPhaseVerbsByState(t *testing.T) {
	h := newHouse(t)
	for _, v := range phaseVerbs {
		for _, state := range phaseStates {
			p := h.place(state, false)
			before := h.detail(p.plan)
			if err := v.do(h.engine, h, viewer, p); models.CodeOf(err) != models.CodeForbidden {
				t.Errorf("%s from %s by a viewer: %v", v.name, state, err)
			}
			stale := p
			stale.pass += 1000
			if err := v.do(h.engine, h, lead, stale); models.CodeOf(err) != models.CodeConflict {
				t.Errorf("%s from %s with another pass on the page: %v", v.name, state, err)
			}
			if now := h.detail(p.plan); now.Phases[0].Phase.Status != state || now.Plan.Version != before.Plan.Version {
				t.Fatalf("%s from %s: a refusal changed something", v.name, state)
			}
			err := v.do(h.engine, h, lead, p)
			if allowed := slices.Contains(v.from, state); allowed && err != nil {
				t.Errorf("%s from %s: %v", v.name, state, err)
			} else if !allowed && models.CodeOf(err) != models.CodeConflict {
				t.Errorf("%s from %s: got %v, want a conflict", v.name, state, err)
			} else if !allowed && h.detail(p.plan).Plan.Version != before.Plan.Version {
				t.Errorf("%s from %s: a conflict changed something", v.name, state)
			}
			h.wantDerived(p.plan)
		}
	}
}

// No verb on a phase revives a plan that is over, being applied, or a draft.
func TestPhaseVerbsOnPlansThatAreOver(t *testing.T) {
	h := newHouse(t)
	for _, over := range []models.PlanStatus{models.PlanCancelled, models.PlanDiscarded, models.PlanApplied, models.PlanApplying} {
		for _, v := range phaseVerbs {
			p := h.place(v.from[0], false)
			h.force(p.plan, over)
			if err := v.do(h.engine, h, lead, p); models.CodeOf(err) != models.CodeConflict {
				t.Errorf("%s under a plan that is %s: %v", v.name, over, err)
			}
			h.wantPlan(p.plan, over)
		}
	}
	draft := h.create(shell("one", "true"))
	ph := h.phase(draft, 1).Phase.ID
	for _, v := range phaseVerbs {
		if err := v.do(h.engine, h, lead, placed{plan: draft, phase: ph}); models.CodeOf(err) != models.CodeConflict {
			t.Errorf("%s in a draft: %v", v.name, err)
		}
	}
}

// force takes a plan to a state by the moves that lead there.
func (h *house) force(id string, to models.PlanStatus) {
	h.t.Helper()
	for _, next := range map[models.PlanStatus][]models.PlanStatus{
		models.PlanApplying: {models.PlanFinished, models.PlanApplying},
		models.PlanApplied:  {models.PlanFinished, models.PlanApplying, models.PlanApplied},
		models.PlanFailed:   {models.PlanFailed}, models.PlanWaiting: {models.PlanWaiting}, models.PlanPaused: {models.PlanPaused},
		models.PlanFinished: {models.PlanFinished}, models.PlanCancelled: {models.PlanCancelled}, models.PlanDiscarded: {models.PlanDiscarded},
	}[to] {
		must(h.t, h.store.InTx(h.ctx, func(tx *store.Tx) error {
			now, err := tx.Plan(h.ctx, id)
			if err != nil || now.Status == next {
				return err
			}
			return tx.MovePlan(h.ctx, id, now.Status, next, store.PlanSet{}, store.Why{})
		}))
	}
}

func (h *house) wantDerived(id string) {
	h.t.Helper()
	must(h.t, h.store.InTx(h.ctx, func(tx *store.Tx) error {
		plan, err := tx.Plan(h.ctx, id)
		if err != nil {
			return err
		}
		want, err := derived(h, tx, plan)
		if err == nil && plan.Status != want {
			h.t.Errorf("the plan is %s, its phases say %s: %s", plan.Status, want, describe(h.detail(id)))
		}
		return err
	}))
}

type planVerb struct {
	name string
	do   func(e *engine.Engine, h *house, by models.Actor, plan string) error
	from []models.PlanStatus
}

var planVerbs = []planVerb{
	{"pause", func(e *engine.Engine, h *house, by models.Actor, id string) error { return e.PausePlan(h.ctx, by, id) },
		[]models.PlanStatus{models.PlanRunning, models.PlanWaiting}},
	{"resume", func(e *engine.Engine, h *house, by models.Actor, id string) error { return e.ResumePlan(h.ctx, by, id) },
		[]models.PlanStatus{models.PlanPaused}},
	{"cancel", func(e *engine.Engine, h *house, by models.Actor, id string) error {
		return e.CancelPlan(h.ctx, by, id, "enough")
	}, []models.PlanStatus{models.PlanDraft, models.PlanRunning, models.PlanPaused, models.PlanWaiting, models.PlanFailed, models.PlanFinished}},
	{"discard", func(e *engine.Engine, h *house, by models.Actor, id string) error {
		return e.DiscardPlan(h.ctx, by, id, "not needed")
	}, []models.PlanStatus{models.PlanDraft, models.PlanRunning, models.PlanPaused, models.PlanWaiting, models.PlanFailed, models.PlanFinished, models.PlanCancelled}},
	{"evaluate", func(e *engine.Engine, h *house, by models.Actor, id string) error { return e.Evaluate(h.ctx, by, id) },
		[]models.PlanStatus{models.PlanFinished}},
}

// placePlan makes a plan in the given state with phases that fit to it.
func (h *house) placePlan(status models.PlanStatus) placed {
	h.t.Helper()
	var p placed
	switch status {
	case models.PlanDraft:
		p.plan = h.create(shell("one", "true"))
	case models.PlanRunning:
		return h.place(models.PhaseRunning, false)
	case models.PlanWaiting:
		return h.place(models.PhaseExhausted, false)
	case models.PlanFailed:
		return h.place(models.PhaseFailed, false)
	case models.PlanFinished, models.PlanApplying, models.PlanApplied:
		p = h.place(models.PhaseCompleted, true)
	default:
		p = h.place(models.PhaseRunning, false)
	}
	h.force(p.plan, status)
	return p
}

var planStates = []models.PlanStatus{models.PlanDraft, models.PlanRunning, models.PlanPaused, models.PlanWaiting, models.PlanFailed,
	models.PlanFinished, models.PlanApplying, models.PlanApplied, models.PlanCancelled, models.PlanDiscarded}

func TestPlanVerbsByState(t *testing.T) {
	h := newHouse(t)
	for _, v := range planVerbs {
		for _, state := range planStates {
			p := h.placePlan(state)
			h.giveDod(p.plan)
			before := h.detail(p.plan).Plan
			if before.Status != state {
				t.Fatalf("placed in %s, want %s", before.Status, state)
			}
			if err := v.do(h.engine, h, viewer, p.plan); models.CodeOf(err) != models.CodeForbidden {
				t.Errorf("%s from %s by a viewer: %v", v.name, state, err)
			}
			err := v.do(h.engine, h, lead, p.plan)
			allowed := slices.Contains(v.from, state)
			if allowed && err != nil {
				t.Errorf("%s from %s: %v", v.name, state, err)
			}
			if !allowed {
				if models.CodeOf(err) != models.CodeConflict {
					t.Errorf("%s from %s: got %v, want a conflict", v.name, state, err)
				}
				if now := h.detail(p.plan).Plan; now.Status != state || now.Version != before.Version {
					t.Errorf("%s from %s: a refusal changed something", v.name, state)
				}
			}
		}
	}
}

// Nothing under a cancelled or discarded plan is left open.
func TestCancelAndDiscardLeaveNothingOpen(t *testing.T) {
	h := newHouse(t)
	for _, v := range planVerbs[2:4] {
		for _, state := range phaseStates {
			p := h.place(state, false)
			must(t, v.do(h.engine, h, lead, p.plan))
			d := h.detail(p.plan)
			for _, ph := range d.Phases {
				if s := ph.Phase.Status; s != models.PhaseCancelled && s != models.PhaseCompleted {
					t.Errorf("%s, phase was %s: now %s", v.name, state, s)
				}
				if ph.Phase.DueAt != nil {
					t.Errorf("%s, phase was %s: still due", v.name, state)
				}
				for _, pass := range ph.Passes {
					if !pass.Pass.Status.Ended() {
						t.Errorf("%s, phase was %s: pass %s", v.name, state, pass.Pass.Status)
					}
					for _, r := range pass.Runs {
						if !r.Status.Ended() {
							t.Errorf("%s, phase was %s: run %s", v.name, state, r.Status)
						}
					}
				}
			}
			if d.Plan.EndedAt == nil {
				t.Errorf("%s: no end time", v.name)
			}
		}
	}
}

func TestWordsAreDemanded(t *testing.T) {
	h := newHouse(t)
	p := h.place(models.PhaseAwaitingApproval, false)
	for _, blank := range []string{"", "  \n "} {
		wantErrCode(t, h.engine.RejectPhase(h.ctx, lead, p.phase, p.pass, blank), models.CodeInvalid)
	}
	q := h.place(models.PhaseExhausted, false)
	wantErrCode(t, h.engine.AcceptPhase(h.ctx, lead, q.phase, q.pass, " "), models.CodeInvalid)
	for _, n := range []int{0, -3} {
		wantErrCode(t, h.engine.MorePasses(h.ctx, lead, q.phase, q.pass, n, ""), models.CodeInvalid)
	}
	long := strings.Repeat("n", 9<<10)
	wantErrCode(t, h.engine.AnotherPass(h.ctx, lead, q.phase, q.pass, long), models.CodeInvalid)
	wantErrCode(t, h.engine.RetryPhase(h.ctx, lead, q.phase, q.pass, false, long), models.CodeInvalid)
	h.wantPhase(q.plan, 1, models.PhaseExhausted, 1)
	for _, err := range []error{
		h.engine.ApprovePhase(h.ctx, lead, 999_999, 1, ""), h.engine.PausePlan(h.ctx, lead, "01NOPE"),
		h.engine.StartPlan(h.ctx, lead, "01NOPE"), h.engine.Apply(h.ctx, lead, "01NOPE", "", 0),
	} {
		wantErrCode(t, err, models.CodeNotFound)
	}
}

// The limit grows by what was allowed, never shrinks, and never passes 20.
func TestTheLimitOfPasses(t *testing.T) {
	h := newHouse(t)
	set := func(p placed, iteration, limit int) {
		must(t, h.store.InTx(h.ctx, func(tx *store.Tx) error {
			return tx.SetPhase(h.ctx, p.phase, "", store.PhaseSet{Iteration: &iteration, MaxIterations: &limit})
		}))
	}
	more := func(n int) func(placed) error {
		return func(p placed) error { return h.engine.MorePasses(h.ctx, lead, p.phase, p.pass, n, "") }
	}
	another := func(p placed) error { return h.engine.AnotherPass(h.ctx, lead, p.phase, p.pass, "") }
	for _, c := range []struct {
		name             string
		from             models.PhaseStatus
		iteration, limit int
		do               func(placed) error
		want             int // 0 = a conflict
	}{
		{"another pass at the limit", models.PhaseExhausted, 2, 3, another, 4},
		{"another pass with passes left", models.PhaseStalled, 1, 5, another, 5},
		{"another pass of a met one", models.PhaseAwaitingApproval, 0, 1, another, 2},
		{"the twentieth", models.PhaseExhausted, 18, 19, another, 20},
		{"no twenty-first", models.PhaseExhausted, 19, 20, another, 0},
		{"two more", models.PhaseExhausted, 2, 3, more(2), 5},
		{"more with passes left", models.PhaseStalled, 1, 5, more(1), 6},
		{"more in an early pass", models.PhaseNeedsAttention, 0, 10, more(3), 13},
		{"more than there are", models.PhaseExhausted, 2, 3, more(1_000_000), 20},
		{"more at the end", models.PhaseExhausted, 19, 20, more(1), 0},
		{"an absurd number", models.PhaseExhausted, 2, 3, more(int(^uint(0) >> 1)), 20},
	} {
		p := h.place(c.from, false)
		set(p, c.iteration, c.limit)
		err := c.do(p)
		ph := h.phase(p.plan, 1).Phase
		switch {
		case c.want == 0:
			if models.CodeOf(err) != models.CodeConflict || ph.Status != c.from {
				t.Errorf("%s: %v, phase %s", c.name, err, ph.Status)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case ph.MaxIterations != c.want || ph.Iteration != c.iteration+1 || ph.Status != models.PhasePending:
			t.Errorf("%s: limit %d (want %d), iteration %d, %s", c.name, ph.MaxIterations, c.want, ph.Iteration, ph.Status)
		}
	}
}

// giveDod writes a definition of done into the row, whatever the plan's state.
func (h *house) giveDod(id string) {
	h.t.Helper()
	must(h.t, h.store.InTx(h.ctx, func(tx *store.Tx) error {
		text := "- work is there"
		b, err := json.Marshal(dod.ParseCriteria(text))
		if err != nil {
			return err
		}
		criteria := string(b)
		return tx.SetPlan(h.ctx, id, "", store.PlanSet{DodSource: &text, DodText: &text, CriteriaJSON: &criteria})
	}))
}
