package handlers

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// GET /plans/:id/dod
func (s *Server) showPlanDod(c echo.Context) error {
	id, err := planParam(c)
	if err != nil {
		return err
	}
	p, err := s.Reader.Plan(c.Request().Context(), id)
	if err != nil {
		return err
	}
	v := views.DodForm{Text: p.DodSource}
	if p.TemplateVersionID != nil {
		v.Template = strconv.FormatInt(*p.TemplateVersionID, 10)
	}
	return s.dodForm(c, http.StatusOK, p, v, p.DodArgs)
}

// POST /plans/:id/dod
func (s *Server) editPlanDod(c echo.Context) error {
	id, err := planParam(c)
	if err != nil {
		return err
	}
	p, err := s.Reader.Plan(c.Request().Context(), id)
	if err != nil {
		return err
	}
	v, args := readDodForm(c)
	err = s.Engine.EditDod(c.Request().Context(), s.actor(c), id, typedDod(v, args), v.Reason, field(c, "seen"))
	if err == nil {
		now, err := s.Reader.Plan(c.Request().Context(), id)
		if err != nil {
			return err
		}
		said := "The definition of done is changed. Evaluate it before applying."
		if len(engine.Criteria(now)) == 0 {
			said = "The plan has no definition of done any more."
		}
		if err := s.flash(c, views.FlashDone, "%s", said); err != nil {
			return err
		}
		return seeOther(c, views.PlanPath(id)+"#dod")
	}
	e, status, ok := refusal(err)
	if !ok {
		return err
	}
	v.Error, v.Errors = e.Message, e.Fields
	if e.Code == models.CodeConflict { // it may be another one by now
		if p, err = s.Reader.Plan(c.Request().Context(), id); err != nil {
			return err
		}
		v.Now = p.DodText
	}
	return s.dodForm(c, status, p, v, args)
}

// readDodForm is what was typed, with the values of placeholders.
func readDodForm(c echo.Context) (v views.DodForm, args map[string]string) {
	v, args = views.DodForm{Text: field(c, "dod"), Template: field(c, "template"), Reason: field(c, "reason")}, map[string]string{}
	for name := range c.Request().PostForm {
		if arg, ok := strings.CutPrefix(name, "dod_args."); ok {
			args[arg] = field(c, name)
		}
	}
	return v, args
}

// POST /plans/:id/dod/preview: what the text, or the template that is chosen
// instead of it, is read as. It stores nothing.
func (s *Server) previewPlanDod(c echo.Context) error {
	id, err := planParam(c)
	if err != nil {
		return err
	}
	p, err := s.Reader.Plan(c.Request().Context(), id)
	if err != nil {
		return err
	}
	v, args := readDodForm(c)
	preview, err := s.dodPreview(c, p, typedDod(v, args))
	if err != nil {
		return err
	}
	return s.fragment(c, http.StatusOK, views.Criteria(preview))
}

// typedDod is the form as the engine takes it.
func typedDod(v views.DodForm, args map[string]string) engine.NewPlan {
	in := engine.NewPlan{Dod: v.Text, DodArgs: args}
	if v.Template != "" {
		var err error
		if in.TemplateVersionID, err = strconv.ParseInt(v.Template, 10, 64); err != nil || in.TemplateVersionID < 1 {
			in.TemplateVersionID = -1 // no template has it: the engine says so
		}
	}
	return in
}

// dodPreview reads a definition of done with the values that are typed so far;
// a placeholder without one stays open. It names the required lines that a started
// plan would lose.
func (s *Server) dodPreview(c echo.Context, p models.Plan, in engine.NewPlan) (views.CriteriaPreview, error) {
	draft, err := s.Engine.DraftDod(c.Request().Context(), s.actor(c), p, in)
	if err != nil {
		return views.CriteriaPreview{}, err
	}
	v := previewCriteria(draft.Source, previewOptions{
		ID: views.DodPreviewID, Spec: s.Engine.EvaluatorSpec(), Args: draft.Args,
		Empty: "Without a definition of done nothing has to hold before the plan can be applied, unless the project asks for one.",
	})
	for _, d := range draft.Drops {
		v.Drops = append(v.Drops, views.PreviewDrop{Text: d.Text, Must: d.Level == dod.Must})
	}
	return v, nil
}

// dodForm shows the form. Placeholders of the text get a field each; values
// that are typed already are kept.
func (s *Server) dodForm(c echo.Context, status int, p models.Plan, v views.DodForm, args map[string]string) error {
	ctx := c.Request().Context()
	v.PlanID, v.Plan, v.Seen = p.ID, p.Title, engine.SeenDod(p)
	v.Evaluated, v.Started = p.Status == models.PlanFinished, p.Status != models.PlanDraft
	v.Templates = []ui.Option{{Value: "", Label: "None: the text below"}}
	list, err := s.Reader.Templates(ctx)
	if err != nil {
		return err
	}
	text, hints := v.Text, map[string]string{}
	known := false
	for _, t := range list {
		if t.ArchivedAt != nil {
			continue // one that the plan pins is added below
		}
		latest, err := s.Reader.LatestTemplateVersion(ctx, t.ID)
		if models.CodeOf(err) == models.CodeNotFound {
			continue
		}
		if err != nil {
			return err
		}
		id := strconv.FormatInt(latest.ID, 10)
		v.Templates = append(v.Templates, ui.Option{Value: id, Label: fmt.Sprintf("%s, version %d", t.Name, latest.Version)})
		known = known || id == v.Template
	}
	if n, err := strconv.ParseInt(v.Template, 10, 64); err == nil {
		pinned, err := s.Reader.TemplateVersion(ctx, n)
		if err == nil {
			text = pinned.Text
			for _, a := range pinned.Args {
				hints[a.Name] = a.Description
			}
			if !known { // an older version that the plan pins
				v.Templates = append(v.Templates, ui.Option{Value: v.Template, Label: fmt.Sprintf("The pinned one, version %d", pinned.Version)})
			}
		} else if models.CodeOf(err) != models.CodeNotFound {
			return err
		}
	}
	if v.Preview, err = s.dodPreview(c, p, typedDod(v, args)); err != nil {
		return err
	}
	names := dod.Placeholders(text)
	for name := range args {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for name := range v.Errors { // a template that was just chosen asks for these
		if arg, ok := strings.CutPrefix(name, "dod_args."); ok && !slices.Contains(names, arg) {
			names = append(names, arg)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		v.Args = append(v.Args, views.DodFormArg{Name: name, Value: args[name], Hint: hints[name]})
	}
	if v.PageMeta, err = s.meta(c, "Definition of done of "+p.Title, views.NavPlans); err != nil {
		return err
	}
	return s.page(c, status, views.DodFormPage(v))
}
