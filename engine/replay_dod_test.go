package engine_test

import (
	"slices"
	"strings"
	"testing"

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
