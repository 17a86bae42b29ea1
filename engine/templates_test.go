package engine_test

import (
	"strings"
	"testing"

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
