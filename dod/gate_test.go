package dod_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"donewhen/dod"
)

// openFacts are those of a plan that may be applied; each row of the table moves
// one of them.
func openFacts() dod.GateFacts {
	return dod.GateFacts{
		PlanStatus: "finished", Phases: 3, HasDoD: true, ProjectRequiresDoD: true,
		Evaluation: dod.EvaluationDone, EvaluatedFingerprint: "f1", CurrentFingerprint: "f1",
		Summary: dod.Summary{EvaluatedAt: time.Unix(1, 0), Results: []dod.Result{
			named(1, "tests pass", dod.Required, dod.Passed), named(2, "is safe", dod.Must, dod.Passed), named(3, "is nice", dod.Info, dod.Failed),
		}},
		ApprovalsNeeded: 1, Approvals: []dod.Approval{{By: "Ada", Fingerprint: "f1"}}, CanAct: []string{"Ada", "Bo"},
		TargetBranch: "main",
	}
}

func named(index int, text string, level dod.Level, status dod.Status) dod.Result {
	r := result(index, level, status)
	r.Criterion.Text = text
	return r
}

func TestGateRows(t *testing.T) {
	for _, tc := range []struct {
		name     string
		change   func(*dod.GateFacts)
		code     dod.ReasonCode // "" for open
		action   dod.Action
		sentence string
	}{
		{"open", func(f *dod.GateFacts) {}, "", "", "All 2 required criteria passed."},
		{"phase running", func(f *dod.GateFacts) { f.PlanStatus, f.UnfinishedPhase, f.PhaseStatus = "running", 2, "running" },
			dod.ReasonPlanNotFinished, dod.ActionWait, "Phase 2 of 3 is still running."},
		{"phase judging", func(f *dod.GateFacts) { f.PlanStatus, f.UnfinishedPhase, f.PhaseStatus = "running", 1, "judging" },
			dod.ReasonPlanNotFinished, dod.ActionWait, "Phase 1 of 3 is being judged."},
		{"phase waits", func(f *dod.GateFacts) {
			f.PlanStatus, f.UnfinishedPhase, f.PhaseStatus = "waiting", 3, "awaiting_approval"
		},
			dod.ReasonPlanNotFinished, dod.ActionOpenPhase, "Phase 3 of 3 waits for an approval."},
		{"phase failed", func(f *dod.GateFacts) { f.PlanStatus, f.UnfinishedPhase, f.PhaseStatus = "failed", 1, "failed" },
			dod.ReasonPlanNotFinished, dod.ActionOpenPhase, "Phase 1 of 3 has failed."},
		{"draft", func(f *dod.GateFacts) { f.PlanStatus = "draft" }, dod.ReasonPlanNotFinished, dod.ActionStart, "The plan is a draft. Start it."},
		{"paused", func(f *dod.GateFacts) { f.PlanStatus = "paused" }, dod.ReasonPlanNotFinished, dod.ActionResume, "The plan is paused. Resume it."},
		{"unknown plan status", func(f *dod.GateFacts) { f.PlanStatus = "" }, dod.ReasonPlanNotFinished, dod.ActionWait, "The plan is not finished."},
		{"finished with an open phase", func(f *dod.GateFacts) { f.UnfinishedPhase, f.PhaseStatus = 2, "odd" },
			dod.ReasonPlanNotFinished, dod.ActionWait, "Phase 2 of 3 is not finished."},
		{"applied", func(f *dod.GateFacts) { f.PlanStatus = "applied" }, dod.ReasonPlanEnded, dod.ActionNone, "The plan is applied already."},
		{"cancelled", func(f *dod.GateFacts) { f.PlanStatus = "cancelled" }, dod.ReasonPlanEnded, dod.ActionNone, "The plan was cancelled."},
		{"discarded", func(f *dod.GateFacts) { f.PlanStatus = "discarded" }, dod.ReasonPlanEnded, dod.ActionNone, "The plan was discarded."},

		{"no DoD, none demanded", func(f *dod.GateFacts) {
			f.HasDoD, f.ProjectRequiresDoD, f.Evaluation = false, false, dod.EvaluationNone
		},
			"", "", "No definition of done."},
		{"no DoD, one demanded", func(f *dod.GateFacts) { f.HasDoD = false }, dod.ReasonNoDoD, dod.ActionEditDoD, "This project demands a definition of done, and the plan has none. Write one."},

		{"never evaluated", func(f *dod.GateFacts) { f.Evaluation = dod.EvaluationNone }, dod.ReasonNotEvaluated, dod.ActionEvaluate, "never evaluated"},
		{"unknown evaluation state", func(f *dod.GateFacts) { f.Evaluation = "" }, dod.ReasonNotEvaluated, dod.ActionEvaluate, "never evaluated"},
		{"evaluation queued", func(f *dod.GateFacts) { f.Evaluation = dod.EvaluationQueued }, dod.ReasonEvaluating, dod.ActionWait, "is being evaluated"},
		{"evaluation running", func(f *dod.GateFacts) { f.Evaluation = dod.EvaluationRunning }, dod.ReasonEvaluating, dod.ActionWait, "is being evaluated"},
		{"evaluation errored", func(f *dod.GateFacts) { f.Evaluation, f.EvaluationError = dod.EvaluationErrored, "quota used up" },
			dod.ReasonEvaluationError, dod.ActionRetryEvaluation, "could not be carried out: quota used up. Try again."},
		{"evaluation incomplete", func(f *dod.GateFacts) { f.Summary.EvaluatedAt = time.Time{} }, dod.ReasonEvaluationError, dod.ActionRetryEvaluation, "not complete"},

		{"fingerprint moved", func(f *dod.GateFacts) { f.EvaluatedFingerprint, f.Changed = "f0", []string{"workspace", "criteria"} },
			dod.ReasonStale, dod.ActionEvaluate, "Evaluated before the last change (workspace and criteria). Evaluate again."},
		{"evaluated fingerprint unknown", func(f *dod.GateFacts) { f.EvaluatedFingerprint = "" }, dod.ReasonStale, dod.ActionEvaluate, "Evaluated before the last change. Evaluate again."},

		{"nothing required", func(f *dod.GateFacts) { f.Summary.Results = f.Summary.Results[2:] }, dod.ReasonNothingRequired, dod.ActionEditDoD,
			"Only informational criteria: nothing is required."},
		{"no results", func(f *dod.GateFacts) { f.Summary.Results = nil }, dod.ReasonNothingRequired, dod.ActionEditDoD, "nothing is required"},

		{"required failed", func(f *dod.GateFacts) { f.Summary.Results[0].Status = dod.Failed }, dod.ReasonRequiredFailed, dod.ActionWaive,
			"1 of 2 required criteria failed: tests pass."},
		{"required failed, waived", func(f *dod.GateFacts) {
			f.Summary.Results[0].Status, f.Waivers = dod.Failed, []dod.Waiver{{Criterion: 1, Fingerprint: "f1"}}
		}, "", "", "1 of 2 required criteria passed, 1 waived."},
		{"waiver about another fingerprint", func(f *dod.GateFacts) {
			f.Summary.Results[0].Status, f.Waivers = dod.Failed, []dod.Waiver{{Criterion: 1, Fingerprint: "f0"}, {Criterion: 1}}
		}, dod.ReasonRequiredFailed, dod.ActionWaive, "1 of 2 required criteria failed: tests pass."},
		{"must failed, waived", func(f *dod.GateFacts) {
			f.Summary.Results[1].Status, f.Waivers = dod.Failed, []dod.Waiver{{Criterion: 2, Fingerprint: "f1"}}
		}, dod.ReasonRequiredFailed, dod.ActionRework, "1 of 2 required criteria failed: is safe."},
		{"required skipped", func(f *dod.GateFacts) { f.Summary.Results[0].Status = dod.Skipped }, dod.ReasonRequiredSkipped, dod.ActionWaive,
			"1 required criterion could not be checked: tests pass."},
		{"must skipped", func(f *dod.GateFacts) { f.Summary.Results[1].Status = dod.Skipped }, dod.ReasonRequiredSkipped, dod.ActionEvaluate,
			"1 required criterion could not be checked: is safe."},
		{"required skipped, waived", func(f *dod.GateFacts) {
			f.Summary.Results[0].Status, f.Waivers = dod.Skipped, []dod.Waiver{{Criterion: 1, Fingerprint: "f1"}}
		}, "", "", "waived"},

		{"rejected", func(f *dod.GateFacts) {
			f.Rejections = []dod.Rejection{{By: "Bo", Reason: "too slow", Fingerprint: "f1"}}
		},
			dod.ReasonRejected, dod.ActionLiftRejection, "Rejected by Bo (too slow). Ada or Bo can act."},
		{"rejected, fingerprint unknown", func(f *dod.GateFacts) { f.Rejections = []dod.Rejection{{By: "Bo"}} }, dod.ReasonRejected, dod.ActionLiftRejection, "Rejected by Bo."},
		{"rejected what was there before", func(f *dod.GateFacts) { f.Rejections = []dod.Rejection{{By: "Bo", Fingerprint: "f0"}} }, "", "", "All 2"},
		{"approvals missing", func(f *dod.GateFacts) { f.ApprovalsNeeded = 2 }, dod.ReasonApprovalsMissing, dod.ActionApprove, "1 of 2 approvals given. Ada or Bo can act."},
		{"one person approves once", func(f *dod.GateFacts) { f.ApprovalsNeeded, f.Approvals = 2, append(f.Approvals, f.Approvals[0]) },
			dod.ReasonApprovalsMissing, dod.ActionApprove, "1 of 2 approvals given."},
		{"approved what was there before", func(f *dod.GateFacts) { f.Approvals[0].Fingerprint = "f0" }, dod.ReasonApprovalsMissing, dod.ActionApprove, "0 of 1 approval given."},

		{"unrecorded files", func(f *dod.GateFacts) { f.Unrecorded = []dod.UnrecordedFile{{Path: "big.bin", Why: "too large"}} },
			dod.ReasonUnrecorded, dod.ActionFixFiles, "1 file in the workspace could not be recorded and would be missing: big.bin (too large)."},
		{"conflict", func(f *dod.GateFacts) { f.ConflictFiles = []string{"a.go", "b.go"} }, dod.ReasonConflict, dod.ActionResolveConflict,
			"The work conflicts with main in a.go, b.go."},
		{"conflict without files", func(f *dod.GateFacts) { f.Conflicted = true }, dod.ReasonConflict, dod.ActionResolveConflict, "The work conflicts with main."},
		{"target busy", func(f *dod.GateFacts) { f.TargetBusy = "a merge is in progress" }, dod.ReasonTargetBusy, dod.ActionClearTarget,
			"It cannot be brought to main now: a merge is in progress."},
		{"files in the way", func(f *dod.GateFacts) {
			f.TargetBusy, f.BusyFiles = "Untracked files: move them.", []string{"a.go", "b.go"}
		}, dod.ReasonTargetBusy, dod.ActionClearTarget, "It cannot be brought to main now: Untracked files: move them. In the way: a.go, b.go."},
		{"target dirty", func(f *dod.GateFacts) { f.DirtyFiles = []string{"a.go"} }, dod.ReasonTargetDirty, dod.ActionClearTarget,
			"1 file that apply would touch is not committed in the checkout of main: a.go."},
		{"applying", func(f *dod.GateFacts) { f.PlanStatus = "applying" }, dod.ReasonApplying, dod.ActionWait, "is being applied"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := openFacts()
			tc.change(&f)
			g := dod.Gate(f)
			if !strings.Contains(g.Sentence, tc.sentence) {
				t.Errorf("sentence %q, want %q", g.Sentence, tc.sentence)
			}
			if tc.code == "" {
				if !g.Open || len(g.Reasons) != 0 {
					t.Errorf("closed: %+v", g)
				}
				return
			}
			if g.Open || len(g.Reasons) != 1 || g.Reasons[0].Code != tc.code || g.Reasons[0].Action != tc.action || g.Reasons[0].Sentence != g.Sentence {
				t.Errorf("got %+v", g)
			}
		})
	}
}

func codes(g dod.GateState) []dod.ReasonCode {
	var out []dod.ReasonCode
	for _, r := range g.Reasons {
		out = append(out, r.Code)
	}
	return out
}

func TestGateOrder(t *testing.T) {
	f := openFacts()
	f.PlanStatus = "applying"
	f.Summary.Results = append(f.Summary.Results, named(4, "x", dod.Required, dod.Skipped), named(5, "y", dod.Must, dod.Failed), named(6, "z", dod.Required, dod.Failed))
	f.Rejections = []dod.Rejection{{By: "Bo", Fingerprint: "f1"}}
	f.ApprovalsNeeded = 2
	f.Unrecorded = []dod.UnrecordedFile{{Path: "u"}}
	f.ConflictFiles, f.TargetBusy, f.DirtyFiles = []string{"c"}, "a rebase is in progress", []string{"d"}
	tail := []dod.ReasonCode{dod.ReasonRejected, dod.ReasonApprovalsMissing, dod.ReasonUnrecorded, dod.ReasonConflict, dod.ReasonTargetBusy, dod.ReasonTargetDirty, dod.ReasonApplying}
	g := dod.Gate(f)
	if want := append([]dod.ReasonCode{dod.ReasonRequiredFailed, dod.ReasonRequiredSkipped}, tail...); !slices.Equal(codes(g), want) {
		t.Errorf("got %v, want %v", codes(g), want)
	}
	if r := g.Reasons[0]; !slices.Equal(r.Criteria, []int{5, 6}) || !slices.Equal(r.Waivable, []int{6}) || r.Details[0] != "y: because" ||
		r.Sentence != "2 of 5 required criteria failed: y, z." {
		t.Errorf("%+v", r)
	}
	f.EvaluatedFingerprint = "f0"
	if want := append([]dod.ReasonCode{dod.ReasonStale}, tail...); !slices.Equal(codes(dod.Gate(f)), want) {
		t.Errorf("stale: got %v", codes(dod.Gate(f)))
	}
	f.HasDoD = false
	if want := append([]dod.ReasonCode{dod.ReasonNoDoD}, tail...); !slices.Equal(codes(dod.Gate(f)), want) {
		t.Errorf("no definition of done: got %v", codes(dod.Gate(f)))
	}
	f.ProjectRequiresDoD = false
	if !slices.Equal(codes(dod.Gate(f)), tail) {
		t.Errorf("none demanded: got %v", codes(dod.Gate(f)))
	}
	f.PlanStatus = "running"
	if want := []dod.ReasonCode{dod.ReasonPlanNotFinished, dod.ReasonRejected, dod.ReasonUnrecorded, dod.ReasonConflict, dod.ReasonTargetBusy, dod.ReasonTargetDirty}; !slices.Equal(codes(dod.Gate(f)), want) {
		t.Errorf("running: got %v", codes(dod.Gate(f)))
	}
	f.PlanStatus = "applied"
	if want := []dod.ReasonCode{dod.ReasonPlanEnded}; !slices.Equal(codes(dod.Gate(f)), want) {
		t.Errorf("applied: got %v", codes(dod.Gate(f)))
	}
}

func TestGateSentencesStayShort(t *testing.T) {
	f := openFacts()
	for i := range 40 {
		f.DirtyFiles = append(f.DirtyFiles, fmt.Sprint("f", i))
	}
	r := dod.Gate(f).Reasons[0]
	if len(r.Details) != 40 || !strings.HasSuffix(r.Sentence, "f0, f1, f2, f3, f4 and 35 more.") {
		t.Errorf("%+v", r)
	}
}
