package engine_test

import (
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

// judgedPlan is a finished and evaluated plan with the given definition of done.
func (h *house) judgedPlan(text string, phases ...engine.NewPhase) (id string, gate engine.GateView) {
	h.t.Helper()
	if len(phases) == 0 {
		phases = []engine.NewPhase{shell("one", "echo work > work.txt; echo built")}
	}
	id = h.createWith(engine.NewPlan{Dod: text, Phases: phases})
	must(h.t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	h.wantPlan(id, models.PlanFinished)
	return id, h.gate(id)
}

func (h *house) gate(id string) engine.GateView {
	h.t.Helper()
	g, err := h.engine.Gate(h.ctx, id)
	must(h.t, err)
	return g
}

// codes are the gate's reasons, as a page would list them.
func codes(g engine.GateView) string {
	var out []string
	for _, r := range g.State.Reasons {
		out = append(out, string(r.Code))
	}
	return strings.Join(out, " ")
}

func TestWaiversHoldOnlyForWhatWasSeen(t *testing.T) {
	h := newHouse(t)
	id, g := h.judgedPlan("- never there\n- built\n- (must) never ever there\n- (info) nor this")
	waive := func(n int, ev int64) error { return h.engine.Waive(h.ctx, lead, id, n, ev, "not needed here") }
	wantErrCode(t, h.engine.Waive(h.ctx, viewer, id, 1, g.EvaluationID, "x"), models.CodeForbidden)
	wantErrCode(t, h.engine.Waive(h.ctx, lead, id, 1, g.EvaluationID, " "), models.CodeInvalid)
	for n, why := range map[int]string{3: "a (must) criterion", 2: "a passed one", 4: "an informational one"} {
		if err := waive(n, g.EvaluationID); models.CodeOf(err) != models.CodeConflict {
			t.Errorf("%s was waived: %v", why, err)
		}
	}
	wantErrCode(t, waive(9, g.EvaluationID), models.CodeNotFound)
	wantErrCode(t, waive(1, g.EvaluationID+1), models.CodeConflict) // a forged or newer evaluation
	click(t, "waive", 10, func() error { return waive(1, g.EvaluationID) })
	g = h.gate(id)
	if g.State.Open || strings.Count(codes(g), "required_failed") != 1 || g.Summary.Results[0].Status != dod.Failed || len(g.Waived) != 1 {
		t.Errorf("after the waiver: %s, results %+v", codes(g), g.Summary.Results)
	}

	// The same plan without the (must) line opens with the waiver.
	id, g = h.judgedPlan("- never there\n- built")
	must(t, h.engine.Waive(h.ctx, lead, id, 1, g.EvaluationID, "not needed here"))
	if g = h.gate(id); !g.State.Open {
		t.Fatalf("closed: %s", codes(g))
	}
	// Somebody edits the workspace by hand: what was waived is not what is there.
	must(t, writeFile(h.workFile(id, "more.txt"), "more\n"))
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	if g = h.gate(id); g.State.Open || len(g.Waived) != 0 {
		t.Errorf("the waiver holds for something else: %s", codes(g))
	}
}

func TestPeopleDecideHumanCriteria(t *testing.T) {
	h := newHouse(t)
	id, g := h.judgedPlan("- built\n- it looks right -> human\n- the owner agrees -> human: admin")
	if g.State.Open || !strings.Contains(codes(g), "approvals_missing") {
		t.Fatalf("gate: %s", codes(g))
	}
	sign := func(by models.Actor, n int, yes bool, why string) error {
		return h.engine.SignOff(h.ctx, by, id, n, h.gate(id).EvaluationID, yes, why)
	}
	wantErrCode(t, sign(viewer, 2, true, ""), models.CodeForbidden)
	wantErrCode(t, sign(lead, 3, true, ""), models.CodeForbidden) // only an admin
	wantErrCode(t, sign(lead, 1, true, ""), models.CodeConflict)  // a machine decides this one
	wantErrCode(t, sign(lead, 2, false, " "), models.CodeInvalid)
	must(t, sign(lead, 2, false, "the margins are off"))
	must(t, sign(admin, 3, true, ""))
	if g = h.gate(id); g.State.Open || !strings.Contains(codes(g), "rejected") {
		t.Errorf("after a no: %s", codes(g))
	}
	click(t, "sign off", 10, func() error { return sign(lead, 2, true, "mended") })
	if g = h.gate(id); !g.State.Open {
		t.Errorf("after all yes: %s", codes(g))
	}
	// A retry of the phase voids the answers, even when the tree comes out the same.
	d := h.phase(id, 1)
	must(t, h.engine.RetryPhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, false, ""))
	h.settle()
	if g = h.gate(id); g.State.Open || !strings.Contains(codes(g), "approvals_missing") {
		t.Errorf("answers outlived the retry: %s, %+v", codes(g), g.Summary.Results)
	}
}

func TestEditedDodMakesTheEvaluationStale(t *testing.T) {
	h := newHouse(t)
	id, g := h.judgedPlan("- built")
	if !g.State.Open {
		t.Fatalf("gate: %s", codes(g))
	}
	wantErrCode(t, h.engine.EditDod(h.ctx, viewer, id, engine.NewPlan{Dod: "- other"}, "", ""), models.CodeForbidden)
	wantErrCode(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: "- x -> match: /a*/"}, "", ""), models.CodeInvalid)
	must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: "- never there"}, "it was wrong", ""))
	g = h.gate(id)
	if g.State.Open || codes(g) != "stale" || !strings.Contains(g.State.Sentence, "the criteria") {
		t.Errorf("gate: %s: %s", codes(g), g.State.Sentence)
	}
	wantErrCode(t, h.engine.Waive(h.ctx, lead, id, 1, g.EvaluationID, "old"), models.CodeConflict)
	wantErrCode(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID), models.CodeConflict)
	must(t, h.engine.Evaluate(h.ctx, lead, id))
	h.settle()
	if g = h.gate(id); codes(g) != "required_failed" {
		t.Errorf("gate: %s", codes(g))
	}
	// Back to no definition of done: the project demands none, so it opens.
	must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{}, "nothing to check", ""))
	if g = h.gate(id); !g.State.Open || g.State.Sentence != "No definition of done. 2 required criteria were taken out or changed after the start." {
		t.Errorf("gate: %s", codes(g))
	}
	for _, over := range []models.PlanStatus{models.PlanApplying, models.PlanApplied, models.PlanCancelled, models.PlanDiscarded} {
		p := h.placePlan(over)
		wantErrCode(t, h.engine.EditDod(h.ctx, lead, p.plan, engine.NewPlan{Dod: "- x"}, "why", ""), models.CodeConflict)
	}
}

// A retry of an earlier phase returns later ones to pending and voids what was
// decided about them.
func TestRetryOfAnEarlierPhaseVoidsLaterApprovals(t *testing.T) {
	h := newHouse(t)
	second := shell("two", "echo two >> two.txt")
	second.NeedsApproval = true
	id := h.start(shell("one", "echo one >> one.txt"), second, shell("three", "echo three >> three.txt"))
	d := h.wantPhase(id, 2, models.PhaseAwaitingApproval, 1)
	must(t, h.engine.ApprovePhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "good"))
	h.settle()
	h.wantPlan(id, models.PlanFinished)
	if n := len(h.detail(id).Decisions); n != 1 {
		t.Fatalf("%d decisions", n)
	}
	one := h.phase(id, 1)
	must(t, h.engine.RetryPhase(h.ctx, lead, one.Phase.ID, *one.Phase.PassID, false, "once more"))
	if n := len(h.detail(id).Decisions); n != 0 {
		t.Errorf("%d decisions still count", n)
	}
	h.wantPhase(id, 2, models.PhasePending, 1)
	h.wantPhase(id, 3, models.PhasePending, 1)
	h.wantPlan(id, models.PlanRunning)
	h.settle()
	d = h.wantPhase(id, 2, models.PhaseAwaitingApproval, 2)
	if d.Phase.Attempt != 2 || d.Phase.Iteration != 0 {
		t.Errorf("%+v", d.Phase)
	}
	h.wantPhase(id, 3, models.PhasePending, 1)
	// The page of the first approval is out of date.
	wantErrCode(t, h.engine.ApprovePhase(h.ctx, lead, d.Phase.ID, d.Passes[0].Pass.ID, ""), models.CodeConflict)
	must(t, h.engine.ApprovePhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, ""))
	h.settle()
	h.wantPlan(id, models.PlanFinished)
	if got := h.read(h.workFile(id, "three.txt")); got != "three\nthree\n" {
		t.Errorf("three.txt is %q", got)
	}
}

func TestRetryFromThePhasesStart(t *testing.T) {
	h := newHouse(t)
	id := h.start(shell("one", "echo one > one.txt"), shell("two", `cat two.txt 2>/dev/null; echo "$DONEWHEN_PASS" >> two.txt; test -e ok`))
	d := h.wantPhase(id, 2, models.PhaseFailed, 1)
	must(t, h.engine.RetryPhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, true, ""))
	h.settle()
	h.wantPhase(id, 2, models.PhaseFailed, 2)
	if got := h.read(h.workFile(id, "two.txt")); got != "1\n" {
		t.Errorf("not from the start: %q", got)
	}
	if got := h.read(h.workFile(id, "one.txt")); got != "one\n" {
		t.Errorf("the earlier phase's work is gone: %q", got)
	}
	// Asked for from the start, then as it is: the last word counts.
	d = h.phase(id, 2)
	must(t, h.store.InTx(h.ctx, func(tx *store.Tx) error {
		return tx.SetPhase(h.ctx, d.Phase.ID, models.PhaseFailed, store.PhaseSet{RestoreTo: &d.Phase.StartCommit})
	}))
	must(t, h.engine.RetryPhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, false, ""))
	h.settle()
	if got := h.read(h.workFile(id, "two.txt")); got != "1\n1\n" {
		t.Errorf("as it is: %q", got)
	}
}

func TestAcceptStartsNoRunOfThePhaseAndIsShownForEver(t *testing.T) {
	h := newHouse(t)
	id := h.start(shell("one", "echo ran >> one.txt; exit 3"), shell("two", "echo two > two.txt"))
	d := h.wantPhase(id, 1, models.PhaseFailed, 1)
	must(t, h.engine.AcceptPhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "it is what it is"))
	h.settle()
	d = h.wantPhase(id, 1, models.PhaseCompleted, 1)
	h.wantPlan(id, models.PlanFinished)
	if !d.Phase.Overridden || !strings.Contains(d.Phase.Reason, "it is what it is") || len(d.Passes[0].Runs) != 1 || h.read(h.workFile(id, "one.txt")) != "ran\n" {
		t.Errorf("%+v", d.Phase)
	}
	decisions := h.detail(id).Decisions
	if len(decisions) != 1 || decisions[0].Kind != models.DecisionAccept || !strings.Contains(decisions[0].Fingerprint, "tree ") {
		t.Errorf("decisions: %+v", decisions)
	}
}

// What a person wrote reaches the agents of whatever pass comes next.
func TestRejectionsReasonAndNotesReachTheNextPass(t *testing.T) {
	h := newHouse(t)
	p := shell("one", "echo x >> x.txt; echo said")
	p.DoneWhen, p.NeedsApproval = "said", true
	id := h.start(p)
	d := h.wantPhase(id, 1, models.PhaseAwaitingApproval, 1)
	must(t, h.engine.RejectPhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "The colour is wrong."))
	h.wantPlan(id, models.PlanFailed)
	must(t, h.engine.RetryPhase(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, false, "Use green."))
	h.settle()
	d = h.wantPhase(id, 1, models.PhaseAwaitingApproval, 2)
	for _, want := range []string{"The colour is wrong.", "Use green."} {
		if !strings.Contains(d.Passes[1].Pass.TaskText, want) {
			t.Errorf("%q is not in the task text:\n%s", want, d.Passes[1].Pass.TaskText)
		}
	}
	must(t, h.engine.AnotherPass(h.ctx, lead, d.Phase.ID, *d.Phase.PassID, "Bigger."))
	h.settle()
	d = h.wantPhase(id, 1, models.PhaseAwaitingApproval, 3)
	if text := d.Passes[2].Pass.TaskText; !strings.Contains(text, "Bigger.") || strings.Contains(text, "Use green.") {
		t.Errorf("a note that was read is told again, or the new one is not:\n%s", text)
	}
}

// What people decided instead of a check stands at the open gate and in the merge
// commit, with who and why.
func TestWhatPeopleDecidedIsInTheMergeCommit(t *testing.T) {
	h := newHouse(t)
	p := shell("work", "echo x > made.txt")
	p.DoneWhen, p.MaxIterations = "- never said", 1
	second := shell("look", "echo looked")
	second.NeedsApproval = true
	id := h.createWith(engine.NewPlan{Dod: "- made -> file: made.txt\n- the log is there -> file: log.md\n- Paul likes it -> human", Phases: []engine.NewPhase{p, second}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	ph := h.wantPhase(id, 1, models.PhaseExhausted, 1).Phase
	must(t, h.engine.AcceptPhase(h.ctx, lead, ph.ID, *ph.PassID, "It works\nall the same."))
	h.settle()
	ph = h.wantPhase(id, 2, models.PhaseAwaitingApproval, 1).Phase
	must(t, h.engine.ApprovePhase(h.ctx, lead, ph.ID, *ph.PassID, "Good."))
	h.settle()
	g := h.gate(id)
	must(t, h.engine.Waive(h.ctx, lead, id, 2, g.EvaluationID, "No log is kept."))
	must(t, h.engine.SignOff(h.ctx, lead, id, 3, g.EvaluationID, true, "Nice."))
	g = h.gate(id)
	if n := strings.Join(g.State.Notes, "\n"); !g.State.Open || len(g.State.Notes) != 2 || !strings.Contains(n, "Criterion 2 was waived by lea: \u201cthe log is there\u201d. Why: No log is kept.") ||
		!strings.Contains(n, "Phase 1 (work) was accepted as it is by lea") {
		t.Errorf("open %v, notes: %s", g.State.Open, n)
	}
	h.write("other.txt", "by somebody else\n")
	h.git("-C", h.repo, "add", "-A")
	h.git("-C", h.repo, "commit", "-q", "-m", "meanwhile")
	must(t, h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID))
	m := h.detail(id).Attempts[0].Message
	for _, line := range []string{"Donewhen-Criterion: passed: made (file: made.txt)", "Donewhen-Criterion: failed: the log is there (file: log.md)",
		"Donewhen-Criterion: passed: Paul likes it (human)", "Donewhen-Approved: phase 2, look (lea: Good.)",
		"Donewhen-Target-Moved: by 1 since the plan's base: no check saw both", "Donewhen-Waived: the log is there (lea: No log is kept.)", "Donewhen-Signed-Off: Paul likes it (lea: Nice.)", "Donewhen-Accepted-As-It-Is: phase 1, work (lea: It works all the same.)"} {
		if !strings.Contains(m, "\n"+line+"\n") {
			t.Errorf("%q is not in\n%s", line, m)
		}
	}
}

// What a waiver opened is closed again by taking it back, for another pass's agents
// too; the waiver stays in the history.
func TestAWaiverCanBeTakenBack(t *testing.T) {
	h := newHouse(t)
	id, g := h.judgedPlan("- never there\n- built")
	back := func(actor models.Actor, n int, ev int64) error {
		return h.engine.TakeBackWaiver(h.ctx, actor, id, n, ev, "it is needed")
	}
	wantErrCode(t, back(lead, 1, g.EvaluationID), models.CodeConflict) // it is not waived
	must(t, h.engine.Waive(h.ctx, lead, id, 1, g.EvaluationID, "not needed"))
	open := h.gate(id)
	if !open.State.Open {
		t.Fatalf("closed: %s", codes(open))
	}
	wantErrCode(t, back(viewer, 1, g.EvaluationID), models.CodeForbidden)
	wantErrCode(t, back(lead, 2, g.EvaluationID), models.CodeConflict)
	wantErrCode(t, back(lead, 1, g.EvaluationID+1), models.CodeConflict)
	click(t, "take back", 10, func() error { return back(lead, 1, g.EvaluationID) })
	if g = h.gate(id); g.State.Open || len(g.Waived) != 0 || g.Summary.Results[0].Status != dod.Failed {
		t.Errorf("open %v, waived %v", g.State.Open, g.Waived)
	}
	wantErrCode(t, h.engine.Apply(h.ctx, lead, id, open.Commit, open.EvaluationID), models.CodeConflict)
	ph := h.phase(id, 1).Phase
	must(t, h.engine.AnotherPass(h.ctx, lead, ph.ID, *ph.PassID, ""))
	h.settle()
	if d := h.phase(id, 1); !strings.Contains(d.Passes[len(d.Passes)-1].Pass.TaskText, "never there") {
		t.Errorf("the next pass is not told what is missing:\n%s", d.Passes[len(d.Passes)-1].Pass.TaskText)
	}
	// It may be waived once more, and both stay in the audit log.
	g = h.gate(id)
	must(t, h.engine.Waive(h.ctx, lead, id, 1, g.EvaluationID, "not needed after all"))
	if g = h.gate(id); !g.State.Open {
		t.Errorf("closed: %s", codes(g))
	}
	events, err := h.store.EventsOf(h.ctx, id, 0, 100)
	must(t, err)
	kinds := map[string]int{}
	for _, e := range events {
		kinds[e.Kind]++
	}
	if kinds["criterion.waived"] != 2 || kinds["criterion.waiver_taken_back"] != 1 {
		t.Errorf("events: %v", kinds)
	}
}
