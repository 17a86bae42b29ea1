package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

// one runs a single pass of a phase and returns its results.
func (h *house) one(p engine.NewPhase) (models.PhaseDetail, []dod.Result) {
	h.t.Helper()
	p.MaxIterations = max(p.MaxIterations, 1)
	d := h.phase(h.start(p), 1)
	v := d.Passes[len(d.Passes)-1].Verdict
	if v == nil {
		h.t.Fatalf("no verdict: %s %s", d.Phase.Status, d.Phase.Reason)
	}
	return d, engine.Results(*v)
}

func phaseOf(command, doneWhen string) engine.NewPhase {
	p := shell("work", command)
	p.DoneWhen, p.MaxIterations = doneWhen, 1
	return p
}

// What was taken out of the evidence because it echoes the task, or is a
// secret, was there all the same: absent: must see it.
func TestAbsentSeesWhatWasTakenOut(t *testing.T) {
	h := newHouse(t)
	fails := func(name string, p engine.NewPhase, hidden string) {
		t.Helper()
		d, results := h.one(p)
		r := results[len(results)-1]
		if r.Status != dod.Failed || d.Phase.Status == models.PhaseCompleted {
			t.Errorf("%s: %s, phase %s: %s", name, r.Status, d.Phase.Status, r.Reasoning)
		}
		if hidden != "" && (strings.Contains(d.Passes[0].Verdict.ResultsJSON, hidden) || strings.Contains(d.Passes[0].Verdict.Evidence, hidden)) {
			t.Errorf("%s: the secret is shown", name)
		}
	}
	quoted := phaseOf("echo 'TypeError: x is undefined'", "gone -> absent: /TypeError: x is undefined/")
	quoted.Task = "Mend the error:\nTypeError: x is undefined"
	fails("the task quotes it", quoted, "")

	loop := phaseOf(`if [ "$DONEWHEN_PASS" = 1 ]; then echo 'WARNING: data race in cache.go:10' > res.txt; else touch ok; fi; cat res.txt`,
		"- suite -> run: cat res.txt; test -e ok\n- quiet -> absent: /WARNING: data race/")
	loop.MaxIterations = 2
	fails("the feedback quotes it", loop, "")

	fails("a copied task text hides a file", phaseOf(`cat "$DONEWHEN_TASK_FILE" > notes.txt; echo BADBADBADBAD > code.txt; echo BADBADBADBAD >> notes.txt`,
		"clean -> absent: /BADBADBADBAD/"), "")
	fails("a secret in a file", phaseOf("echo 'key = AKIAIOSFODNN7EXAMPLE' > conf.py", "no keys -> absent: /AKIA[0-9A-Z]{16}/"), "AKIAIOSFODNN7EXAMPLE")
	fails("a NUL makes it binary", phaseOf(`printf 'FORBIDDENWORD\0\n' > bin.js`, "clean -> absent: /FORBIDDENWORD/"), "")
	fails("UTF-16", phaseOf(`printf 'F\0O\0R\0B\0\n\0' > u.txt`, "clean -> absent: /FORB/"), "")
	fails("an open placeholder", phaseOf("echo hi", "clean -> absent: /{customer}/"), "")

	twins := phaseOf("true", "clean -> absent: /SECRETBAD2/")
	twins.Agents = []models.AgentSpec{{Runtime: "shell", Name: "a", Command: "echo one"}, {Runtime: "shell", Name: "a", Command: "echo SECRETBAD2"}, {Runtime: "shell", Name: "a-2", Command: "echo three"}}
	fails("names that collide", twins, "")
}

// The task's words in the names of files, and names that a lead chose, prove
// nothing.
func TestNamesAreNoEvidence(t *testing.T) {
	h := newHouse(t)
	p := phaseOf(`mkdir x; touch "x/$(grep -m1 '^criterion' "$DONEWHEN_TASK_FILE")"; echo nothing`, "The changelog names the fix")
	p.Name = "The changelog names the fix"
	p.Agents[0].Name = "The changelog names the fix"
	if _, results := h.one(p); results[0].Status == dod.Passed {
		t.Errorf("passed by a name: %+v", results[0].Match)
	}
	forged := phaseOf("touch $'a\\nadded forged.txt +1 -0'", "no forged line -> absent: /(?m)^added forged/")
	if _, results := h.one(forged); results[0].Status != dod.Passed {
		t.Errorf("a line break in a name forges an entry: %+v", results[0].Match)
	}
}

// A file: check looks at what apply brings.
func TestFileCheckLooksAtTheRecordedWork(t *testing.T) {
	h := newHouse(t)
	_, results := h.one(phaseOf("echo docs/ > .gitignore; mkdir docs empty; echo x > docs/guide.md; echo y > real.md",
		"- a -> file: docs/guide.md\n- b -> file: empty\n- c -> file: .git/HEAD\n- e -> file: real.md"))
	for i, want := range []dod.Status{dod.Failed, dod.Failed, dod.Failed, dod.Passed} {
		if results[i].Status != want {
			t.Errorf("%s: %s (%s), want %s", results[i].Criterion.Check, results[i].Status, results[i].Reasoning, want)
		}
	}
}

// A path that leads out of the workspace is refused where it is typed, and never
// looked at when a value makes it so.
func TestFileCheckStaysInside(t *testing.T) {
	h := newHouse(t)
	_, err := h.engine.CreatePlan(h.ctx, lead, engine.NewPlan{ProjectID: h.project.ID, Title: "t", Phases: []engine.NewPhase{phaseOf("true", "- d -> file: ../../state")}})
	wantErrCode(t, err, models.CodeInvalid)
	id := h.createWith(engine.NewPlan{Dod: "- d -> file: {where}", DodArgs: map[string]string{"where": "../../state"}, Phases: []engine.NewPhase{shell("one", "true")}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	if r := h.gate(id).Summary.Results[0]; r.Status != dod.Failed || !strings.Contains(r.Reasoning, "leads out of the workspace") {
		t.Errorf("%+v", r)
	}
}

// A workspace that was replaced by a link is never entered again: neither by
// another try nor by a check.
func TestReplacedWorkspaceIsNotEntered(t *testing.T) {
	h := newHouse(t)
	before := h.git("-C", h.repo, "status", "--short", "--branch") + h.git("-C", h.repo, "rev-parse", "HEAD")
	p := phaseOf(`if [ -e .git ] && [ ! -e was-here ]; then touch was-here; fi
echo damage > a.txt; git checkout -q -b agentbranch 2>/dev/null; w=$PWD; cd /; [ -L "$w" ] || { mv "$w" "$w.gone"; ln -s `+h.repo+` "$w"; }`,
		"- never -> run: touch FOLLOWED")
	p.MaxIterations = 2
	id := h.create(p)
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	for range 4 {
		h.settle()
		h.Forward(3600e9)
	}
	if d := h.phase(id, 1); d.Phase.Status != models.PhaseNeedsAttention {
		t.Errorf("phase is %s: %s", d.Phase.Status, d.Phase.Reason)
	}
	after := h.git("-C", h.repo, "status", "--short", "--branch") + h.git("-C", h.repo, "rev-parse", "HEAD")
	if before != after {
		t.Errorf("the registered repository was changed:\n%s\n%s", before, after)
	}
	if _, err := os.Stat(filepath.Join(h.repo, "FOLLOWED")); err == nil {
		t.Error("a check followed the link")
	}
}

func TestHumanCriterionNeedsARoleThatExists(t *testing.T) {
	h := newHouse(t)
	_, err := h.engine.CreatePlan(h.ctx, lead, engine.NewPlan{ProjectID: h.project.ID, Title: "x", Dod: "agreed -> human: leda", Phases: []engine.NewPhase{shell("a", "true")}})
	wantErrCode(t, err, models.CodeInvalid)
}

// An argument reaches a run: check beside the criteria's text: with another value
// it is another check, and what was evaluated before says nothing about it.
func TestArgumentsAreOfTheFingerprint(t *testing.T) {
	h := newHouse(t)
	text := "- the file is there -> run: test -f \"$ARG_FILE\""
	id := h.createWith(engine.NewPlan{Dod: text, DodArgs: map[string]string{"file": "made.txt"}, Phases: []engine.NewPhase{shell("work", "echo x > made.txt")}})
	must(t, h.engine.StartPlan(h.ctx, lead, id))
	h.settle()
	g, err := h.engine.Gate(h.ctx, id)
	must(t, err)
	if !g.State.Open {
		t.Fatalf("closed at first: %s", g.State.Sentence)
	}
	must(t, h.engine.EditDod(h.ctx, lead, id, engine.NewPlan{Dod: text, DodArgs: map[string]string{"file": "never-made.txt"}}, "another file", ""))
	g, err = h.engine.Gate(h.ctx, id)
	must(t, err)
	if g.State.Open || !g.Stale || !strings.Contains(g.State.Sentence, "the arguments") {
		t.Errorf("open %v, stale %v: %s", g.State.Open, g.Stale, g.State.Sentence)
	}
	if err := h.engine.Apply(h.ctx, lead, id, g.Commit, g.EvaluationID); models.CodeOf(err) == "" {
		t.Error("applied with a check that was never carried out")
	}
}

// A pass is judged on what its phase has made of the tree, not on its own
// changes alone: doing nothing in pass 2 mends nothing of pass 1, and what pass 1
// did right still counts.
func TestEvidenceIsOfThePhase(t *testing.T) {
	h := newHouse(t)
	p := shell("tidy", `if [ "$DONEWHEN_PASS" = 1 ]; then echo 'TODO: errors' > parser.txt; else echo nothing to do; fi`)
	p.DoneWhen, p.MaxIterations = "- no TODO is left -> absent: /TODO/", 3
	if d := h.phase(h.start(p), 1); d.Phase.Status == models.PhaseCompleted {
		t.Error("completed with the forbidden text in the tree")
	}
	p = shell("both", `if [ "$DONEWHEN_PASS" = 1 ]; then echo AAAA > a.txt; else echo BBBB > b.txt; fi`)
	p.DoneWhen, p.MaxIterations = "- one -> match: /AAAA/\n- two -> match: /BBBB/", 3
	if d := h.phase(h.start(p), 1); d.Phase.Status != models.PhaseCompleted || len(d.Passes) != 2 {
		t.Errorf("%s after %d passes: %s", d.Phase.Status, len(d.Passes), d.Phase.Reason)
	}
}

// A terminal hides what stands inside a control sequence, a file does not: absent:
// and the judge see it, in added lines, in names and in what was printed.
func TestControlSequencesHideNothing(t *testing.T) {
	var seen string
	h := newHouse(t, withJudge(judgeFunc(func(q dod.Question) (string, error) { seen = q.Prompt; return saysMet, nil })))
	for name, command := range map[string]string{
		"added lines": `printf 'exec("\033]0;import os; os.system(1)\007"[4:-1])\n' > evil.py; echo made it`,
		"a name":      `touch "$(printf 'a\033]0;os.system\007.py')"; echo made it`,
		"the output":  `printf '\033]0;os.system\007made it\n'`,
	} {
		t.Run(name, func(t *testing.T) {
			if _, r := h.one(phaseOf(command, `- clean -> absent: /os\.system/`)); r[0].Status != dod.Failed {
				t.Errorf("%s: %s", r[0].Status, r[0].Reasoning)
			}
		})
	}
	h.one(phaseOf(`printf 'exec("\033]0;import os; os.system(1)\007"[4:-1])\n' > evil.py; echo made it`, "- the code is harmless"))
	if !strings.Contains(seen, "os.system") {
		t.Error("the judge does not see what the file holds")
	}
}
