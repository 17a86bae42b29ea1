package engine_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

func TestReplayDodNamesThePlansAndLines(t *testing.T) {
	h := newHouse(t)
	finish := func(command string, args map[string]string) string {
		t.Helper()
		id := h.createWith(engine.NewPlan{Dod: "- It is built -> match: /built/\n- It is there -> run: test -f out.txt", DodArgs: args, Phases: []engine.NewPhase{shell("work", command)}})
		must(t, h.engine.StartPlan(h.ctx, lead, id))
		h.settle()
		h.wantPlan(id, models.PlanFinished)
		return id
	}
	linted := finish("echo built; echo lint clean for api; echo x > out.txt", map[string]string{"part": "api"})
	sloppy := finish("echo built; echo x > out.txt", nil)
	h.start(shell("running no more", "false")) // not finished: not looked at
	before := h.dump()

	in := engine.DodReplayInput{Last: 10, Args: []models.TemplateArg{{Name: "part", Default: "web"}},
		Text: "- It is built -> match: /built/\n- Lint of {part} is clean -> match: /lint clean for {part}/\n- It is there -> run: test -f out.txt"}
	r, err := h.engine.ReplayDod(h.ctx, lead, in)
	must(t, err)
	if len(r.Plans) != 2 || r.Count(engine.ChangeHeldBack) != 1 || r.Count(engine.ChangeNone) != 1 {
		t.Fatalf("%+v", r)
	}
	for _, p := range r.Plans {
		switch {
		case p.Plan.ID == sloppy && (p.Change != engine.ChangeHeldBack || !slices.Equal(p.Lines, []int{2}) || !strings.Contains(p.Reason, "Lint of web")):
			t.Errorf("the sloppy plan: %+v", p)
		case p.Plan.ID == linted && (p.Change != engine.ChangeNone || p.State != engine.ReplayMet || p.Results[2].Origin != engine.OriginRecorded):
			t.Errorf("the linted plan: %+v", p)
		}
	}

	in.Text += "\n- A lead agrees -> human\n- New -> run: go vet ./..."
	r, err = h.engine.ReplayDod(h.ctx, lead, in)
	must(t, err)
	for _, p := range r.Plans {
		if p.Plan.ID == linted && (p.Change != engine.ChangeUnknown || !slices.Equal(p.Lines, []int{4, 5})) {
			t.Errorf("open lines gave a finding: %+v", p)
		}
	}
	if h.dump() != before {
		t.Error("a replay wrote into the database")
	}
	in.Text = "# nothing"
	_, err = h.engine.ReplayDod(h.ctx, lead, in)
	wantErrCode(t, err, models.CodeInvalid)
	_, err = h.engine.ReplayDod(h.ctx, models.Actor{Role: models.RoleViewer}, in)
	wantErrCode(t, err, models.CodeForbidden)
}

// file: lines look at the files that were recorded, by the same rules as the check
// itself, whatever became of the workspace; what was recorded of another check of
// the same file is not needed.
func TestReplayDodLooksAtRecordedFiles(t *testing.T) {
	h := newHouse(t)
	paths := []string{"docs/guide.md", "docs", "docs/", "./docs/guide.md", "missing.md", "ignored.log", "empty", "link", "a.txt", "docs/guide.md/x", "ümlaut 1.txt", "*.txt"}
	command := "mkdir -p docs empty; echo guide > docs/guide.md; echo '*.log' > .gitignore; echo x > ignored.log; ln -s docs/guide.md link; echo u > 'ümlaut 1.txt'; echo built"
	var lines []string
	for _, p := range paths {
		lines = append(lines, "- "+p+" is there -> file: "+p)
	}
	text := strings.Join(lines, "\n")
	real := h.createWith(engine.NewPlan{Dod: text, Phases: []engine.NewPhase{shell("work", command)}})
	plain := h.createWith(engine.NewPlan{Dod: "- built", Phases: []engine.NewPhase{shell("work", command)}})
	for _, id := range []string{real, plain} {
		must(t, h.engine.StartPlan(h.ctx, lead, id))
		h.settle()
		h.wantPlan(id, models.PlanFinished)
	}
	checked := engine.SummaryOf(h.detail(real).Evaluation).Results
	if len(checked) != len(paths) || checked[0].Status != dod.Passed || checked[5].Status != dod.Failed {
		t.Fatalf("the check itself: %+v", checked)
	}
	g := h.gate(plain)
	must(t, h.engine.Apply(h.ctx, lead, plain, g.Commit, g.EvaluationID))
	must(t, h.engine.CleanUp(h.ctx, lead, plain)) // its workspace is gone
	must(t, writeFile(filepath.Join(h.repo, "missing.md"), "since then\n"))

	replayed := func(text string, args ...models.TemplateArg) map[string]engine.ReplayedPlan {
		t.Helper()
		r, err := h.engine.ReplayDod(h.ctx, lead, engine.DodReplayInput{Last: 10, Text: text, Args: args})
		must(t, err)
		out := map[string]engine.ReplayedPlan{}
		for _, p := range r.Plans {
			out[p.Plan.ID] = p
		}
		return out
	}
	for id, p := range replayed(text) {
		for i, r := range p.Results {
			if r.Status != checked[i].Status || r.Origin != engine.OriginReplayed {
				t.Errorf("plan %s: %s is %s (%s, %q), the check itself said %s", id, paths[i], r.Status, r.Reasoning, r.Origin, checked[i].Status)
			}
		}
	}
	// A path without a value is open, never a finding.
	open := replayed("- built\n- The page is there -> file: docs/{page}.md")[plain]
	if open.State != engine.ReplayUnknown || !slices.Equal(open.Lines, []int{2}) || !strings.Contains(open.Results[1].Reasoning, "{page}") {
		t.Errorf("%+v", open.Replayed)
	}
	given := replayed("- built\n- The page is there -> file: docs/{page}.md", models.TemplateArg{Name: "page", Default: "guide"})[plain]
	if given.State != engine.ReplayMet || given.Results[1].Status != dod.Passed {
		t.Errorf("%+v", given.Replayed)
	}
}

// A value that is asked for with each plan is not there in a trial: nothing can be
// said of a line that waits for it, and it holds no plan back. A value that the plan
// has is taken.
func TestReplaySaysNothingOfLinesWithoutTheirValues(t *testing.T) {
	h := newHouse(t)
	const run = `- It is there -> run: test -f "$ARG_FILE"`
	finish := func(args map[string]string) {
		t.Helper()
		id := h.createWith(engine.NewPlan{Dod: "- built\n" + run, DodArgs: args, Phases: []engine.NewPhase{shell("work", "echo built; echo x > out.txt")}})
		must(t, h.engine.StartPlan(h.ctx, lead, id))
		h.settle()
		h.wantPlan(id, models.PlanFinished)
	}
	finish(map[string]string{"file": "out.txt"})
	try := func(text string) engine.ReplayedPlan {
		t.Helper()
		r, err := h.engine.ReplayDod(h.ctx, lead, engine.DodReplayInput{Last: 10, Text: text, Args: []models.TemplateArg{{Name: "page", Required: true}, {Name: "file", Required: true}}})
		must(t, err)
		return r.Plans[0]
	}
	for _, line := range []string{"- {page} is described", "- it says so -> match: /{page} is there/", `- {page} is there -> run: test -f "$ARG_PAGE"`, `- it is there -> run: test -f "$ARG_OTHER"`, "- it is there -> file: {page}"} {
		p := try("- built\n" + line)
		if p.State != engine.ReplayUnknown || p.Change != engine.ChangeUnknown || len(p.Results) != 2 || p.Results[1].Status != dod.Skipped {
			t.Errorf("%s: %s %s, %+v", line, p.State, p.Change, p.Results)
		}
	}
	if p := try("- built\n" + run); p.State != engine.ReplayMet {
		t.Errorf("with its value: %s, %+v", p.State, p.Results)
	}
	if p := try("- {page} is described\n- never said"); p.State != engine.ReplayNotMet || !slices.Equal(p.Lines, []int{2}) {
		t.Errorf("a line that has all it needs decides: %s, lines %v", p.State, p.Lines)
	}
}
