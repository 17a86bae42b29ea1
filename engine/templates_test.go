package engine_test

import (
	"errors"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

func TestSeedTemplatesIsDoneOnce(t *testing.T) {
	h := newHouse(t)
	for range 2 {
		must(t, h.engine.SeedTemplates(h.ctx))
	}
	rows, err := h.store.Templates(h.ctx)
	must(t, err)
	if len(rows) != 5 {
		t.Fatalf("%d templates after two starts", len(rows))
	}
	for _, r := range rows {
		if r.Latest != 1 || r.PublishedBy != "donewhen" || r.PublishedAt == nil {
			t.Errorf("%s: version %d by %q", r.Name, r.Latest, r.PublishedBy)
		}
	}
}

func TestPublishTemplate(t *testing.T) {
	h := newHouse(t)
	draft := engine.TemplateDraft{Name: "Ours", Text: "- Tests -> run: true"}
	v, err := h.engine.PublishTemplate(h.ctx, lead, draft)
	must(t, err)
	next := engine.TemplateDraft{TemplateID: v.TemplateID, Base: 1, Text: "- Tests -> run: make test", Why: "The real ones."}
	refused := func(in engine.TemplateDraft, code models.Code, field string) {
		t.Helper()
		_, err := h.engine.PublishTemplate(h.ctx, lead, in)
		e, _ := err.(*models.Error)
		if e == nil || e.Code != code || field != "" && e.Fields[field] == "" {
			t.Errorf("%+v: %v, want %s at %q", in, err, code, field)
		}
	}
	refused(draft, models.CodeInvalid, "name") // the name is taken
	same, silent, none := next, next, next
	same.Text = draft.Text
	refused(same, models.CodeInvalid, "text")
	silent.Why = " \n"
	refused(silent, models.CodeInvalid, "why")
	none.Text = "# only a heading"
	refused(none, models.CodeInvalid, "text")
	twice := next
	twice.Args = []models.TemplateArg{{Name: "a"}, {Name: "a"}}
	refused(twice, models.CodeInvalid, "args.1")

	v2, err := h.engine.PublishTemplate(h.ctx, lead, next)
	must(t, err)
	if v2.Version != 2 {
		t.Errorf("version %d", v2.Version)
	}
	refused(next, models.CodeConflict, "") // sent twice
	late := next
	late.Text = "- Other -> run: true"
	_, err = h.engine.PublishTemplate(h.ctx, lead, late)
	if models.CodeOf(err) != models.CodeConflict || !strings.Contains(err.Error(), "Version 2") {
		t.Errorf("a version over one that was not seen: %v", err)
	}
	d, err := h.store.TemplateDetail(h.ctx, v.TemplateID)
	must(t, err)
	if len(d.Versions) != 2 || d.Versions[0].Text != next.Text || d.Versions[1].Text != draft.Text {
		t.Errorf("versions: %+v", d.Versions)
	}
}

// An argument that is not required may stay empty, but not where a criterion would
// be weaker for it; a $ARG_ variable may.
func TestABlankArgumentIsNoValue(t *testing.T) {
	h := newHouse(t)
	v, err := h.engine.PublishTemplate(h.ctx, lead, engine.TemplateDraft{Name: "A page",
		Text: "- The page is there -> file: docs/{page}\n- Known -> run: test -z \"$ARG_WORD\"",
		Args: []models.TemplateArg{{Name: "page"}, {Name: "word"}}})
	must(t, err)
	in := engine.NewPlan{ProjectID: h.project.ID, Title: "T", TemplateVersionID: v.ID, DodArgs: map[string]string{"page": " \t", "word": ""},
		Phases: []engine.NewPhase{shell("work", "mkdir -p docs; echo x > docs/a.md")}}
	_, err = h.engine.CreatePlan(h.ctx, lead, in)
	var refused *models.Error
	if !errors.As(err, &refused) || refused.Fields["dod_args.page"] == "" || refused.Fields["dod_args.word"] != "" {
		t.Fatalf("%+v", err)
	}
	// Written by hand, the line stays open, and so it is not done.
	in.TemplateVersionID, in.Dod = 0, v.Text
	plan, err := h.engine.CreatePlan(h.ctx, lead, in)
	must(t, err)
	must(t, h.engine.StartPlan(h.ctx, lead, plan))
	h.settle()
	g, err := h.engine.Gate(h.ctx, plan)
	must(t, err)
	if g.State.Open || g.Summary.Results[0].Status != dod.Failed || g.Summary.Results[1].Status != dod.Failed {
		t.Errorf("%+v", g.Summary.Results)
	}
}
