package engine_test

import (
	"encoding/json"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

// placed is a plan of two phases whose first phase was put into a state by the
// same moves that the engine makes, without a workspace: verbs only move rows.
type placed struct {
	plan  string
	phase int64
	later int64
	pass  int64 // 0 = none
}

// place makes a plan with its first phase in the given state. With both the
// second phase is completed too.
func (h *house) place(status models.PhaseStatus, both bool) placed {
	h.t.Helper()
	first := shell("one", "true")
	first.DoneWhen = "it is done"
	id := h.create(first, shell("two", "true"))
	p := placed{plan: id, phase: h.phase(id, 1).Phase.ID, later: h.phase(id, 2).Phase.ID}
	must(h.t, h.store.InTx(h.ctx, func(tx *store.Tx) error {
		commit := "1111111111111111111111111111111111111111"
		err := tx.MovePlan(h.ctx, id, models.PlanDraft, models.PlanRunning, store.PlanSet{BaseCommit: &commit, WorkCommit: &commit, WorkTree: &commit}, store.Why{})
		if err != nil {
			return err
		}
		if p.pass, err = h.placePhase(tx, id, p.phase, status); err != nil {
			return err
		}
		if both {
			_, err = h.placePhase(tx, id, p.later, models.PhaseCompleted)
		}
		return err
	}))
	h.derive(id)
	return p
}

func (h *house) placePhase(tx *store.Tx, plan string, phase int64, status models.PhaseStatus) (int64, error) {
	if status == models.PhasePending {
		return 0, nil
	}
	pass := models.Pass{PhaseID: phase, PlanID: plan, Attempt: 1}
	agent := models.AgentSpec{Runtime: "shell", Command: "true"}
	if err := tx.InsertPass(h.ctx, &pass, []models.Run{{Agent: agent}}); err != nil {
		return 0, err
	}
	if err := tx.MovePhase(h.ctx, phase, models.PhasePending, models.PhaseRunning, store.PhaseSet{PassID: &pass.ID}, store.Why{}); err != nil {
		return 0, err
	}
	if status == models.PhaseRunning {
		return pass.ID, nil
	}
	runs, err := tx.RunsOf(h.ctx, pass.ID)
	if err != nil {
		return 0, err
	}
	end := models.RunSucceeded
	if status == models.PhaseFailed {
		end = models.RunFailed
	}
	if err := tx.MoveRun(h.ctx, runs[0].ID, models.RunQueued, models.RunRunning, store.RunSet{}, store.Why{}); err != nil {
		return 0, err
	}
	if err := tx.MoveRun(h.ctx, runs[0].ID, models.RunRunning, end, store.RunSet{}, store.Why{}); err != nil {
		return 0, err
	}
	if err := tx.MovePass(h.ctx, pass.ID, models.PassQueued, models.PassRunning, store.PassSet{}, store.Why{}); err != nil {
		return 0, err
	}
	to := map[models.PhaseStatus]models.PassStatus{
		models.PhaseCompleted: models.PassMet, models.PhaseAwaitingApproval: models.PassMet,
		models.PhaseExhausted: models.PassNotMet, models.PhaseStalled: models.PassNotMet, models.PhaseFailed: models.PassNotMet,
		models.PhaseJudging: models.PassJudging, models.PhaseNeedsAttention: models.PassJudging, models.PhaseCancelled: models.PassCancelled,
	}[status]
	if err := tx.MovePass(h.ctx, pass.ID, models.PassRunning, to, store.PassSet{}, store.Why{}); err != nil {
		return 0, err
	}
	if ph, err := tx.Phase(h.ctx, phase); err != nil {
		return 0, err
	} else if to == models.PassMet && ph.DoneWhen != "" {
		if err := tx.InsertVerdict(h.ctx, metVerdict(ph, pass.ID)); err != nil {
			return 0, err
		}
	}
	return pass.ID, tx.MovePhase(h.ctx, phase, models.PhaseRunning, status, store.PhaseSet{}, store.Why{})
}

// derive sets the plan's status as its phases say.
func (h *house) derive(id string) {
	h.t.Helper()
	must(h.t, h.store.InTx(h.ctx, func(tx *store.Tx) error {
		plan, err := tx.Plan(h.ctx, id)
		if err != nil {
			return err
		}
		to, err := derived(h, tx, plan)
		if err != nil || to == plan.Status {
			return err
		}
		return tx.MovePlan(h.ctx, id, plan.Status, to, store.PlanSet{}, store.Why{})
	}))
}

func derived(h *house, tx *store.Tx, plan models.Plan) (models.PlanStatus, error) {
	phases, err := tx.PhasesOf(h.ctx, plan.ID)
	if err != nil {
		return "", err
	}
	states := make([]models.PhaseStatus, len(phases))
	for i, ph := range phases {
		states[i] = ph.Status
	}
	return models.PlanStatusOf(plan.Status, states), nil
}

// phaseVerb is a verb on a phase, as two people would click it.
type phaseVerb struct {
	name string
	do   func(e *engine.Engine, h *house, by models.Actor, p placed) error
	from []models.PhaseStatus
}

var attention = []models.PhaseStatus{models.PhaseExhausted, models.PhaseStalled, models.PhaseNeedsAttention, models.PhaseFailed}

var phaseVerbs = []phaseVerb{
	{"approve", func(e *engine.Engine, h *house, by models.Actor, p placed) error {
		return e.ApprovePhase(h.ctx, by, p.phase, p.pass, "fine")
	}, []models.PhaseStatus{models.PhaseAwaitingApproval}},
	{"reject", func(e *engine.Engine, h *house, by models.Actor, p placed) error {
		return e.RejectPhase(h.ctx, by, p.phase, p.pass, "not so")
	}, []models.PhaseStatus{models.PhaseAwaitingApproval}},
	{"another pass", func(e *engine.Engine, h *house, by models.Actor, p placed) error {
		return e.AnotherPass(h.ctx, by, p.phase, p.pass, "please")
	}, append([]models.PhaseStatus{models.PhaseAwaitingApproval, models.PhaseCompleted}, attention...)},
	{"more passes", func(e *engine.Engine, h *house, by models.Actor, p placed) error {
		return e.MorePasses(h.ctx, by, p.phase, p.pass, 2, "")
	}, attention},
	{"try again", func(e *engine.Engine, h *house, by models.Actor, p placed) error {
		return e.TryAgain(h.ctx, by, p.phase, p.pass)
	}, []models.PhaseStatus{models.PhaseNeedsAttention}},
	{"judge again", func(e *engine.Engine, h *house, by models.Actor, p placed) error {
		return e.JudgeAgain(h.ctx, by, p.phase, p.pass)
	}, []models.PhaseStatus{models.PhaseNeedsAttention, models.PhaseExhausted, models.PhaseStalled}},
	{"retry", func(e *engine.Engine, h *house, by models.Actor, p placed) error {
		return e.RetryPhase(h.ctx, by, p.phase, p.pass, false, "")
	}, append([]models.PhaseStatus{models.PhaseCompleted}, attention...)},
	{"accept", func(e *engine.Engine, h *house, by models.Actor, p placed) error {
		return e.AcceptPhase(h.ctx, by, p.phase, p.pass, "good enough")
	}, attention},
}

var phaseStates = []models.PhaseStatus{
	models.PhasePending, models.PhaseRunning, models.PhaseJudging, models.PhaseCompleted, models.PhaseAwaitingApproval,
	models.PhaseExhausted, models.PhaseStalled, models.PhaseNeedsAttention, models.PhaseFailed,
}

// metVerdict is what a judge said of a pass that met its condition.
func metVerdict(ph models.Phase, passID int64) *models.Verdict {
	var results []dod.Result
	for _, c := range dod.ParseCriteria(ph.DoneWhen) {
		results = append(results, dod.Result{Criterion: c, Status: dod.Passed})
	}
	raw, _ := json.Marshal(results)
	return &models.Verdict{PassID: passID, PhaseID: ph.ID, PlanID: ph.PlanID, Kind: models.VerdictGiven, Met: true, Reason: "met", Evaluator: "text", ResultsJSON: string(raw)}
}
