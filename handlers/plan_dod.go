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
	in := engine.NewPlan{Dod: v.Text, DodArgs: args}
	if v.Template != "" {
		if in.TemplateVersionID, err = strconv.ParseInt(v.Template, 10, 64); err != nil || in.TemplateVersionID < 1 {
			in.TemplateVersionID = -1 // no template has it: the engine says so
		}
	}
	err = s.Engine.EditDod(c.Request().Context(), s.actor(c), id, in)
	if err == nil {
		if err := s.flash(c, views.FlashDone, "The definition of done is changed. Evaluate it before applying."); err != nil {
			return err
		}
		return seeOther(c, views.PlanPath(id)+"#dod")
	}
	e, status, ok := refusal(err)
	if !ok {
		return err
	}
	v.Error, v.Errors = e.Message, e.Fields
	return s.dodForm(c, status, p, v, args)
}

// readDodForm is what was typed, with the values of placeholders.
func readDodForm(c echo.Context) (v views.DodForm, args map[string]string) {
	v, args = views.DodForm{Text: field(c, "dod"), Template: field(c, "template")}, map[string]string{}
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
	if _, err := planParam(c); err != nil {
		return err
	}
	v, args := readDodForm(c)
	text := v.Text
	if n, err := strconv.ParseInt(v.Template, 10, 64); err == nil {
		chosen, err := s.Reader.TemplateVersion(c.Request().Context(), n)
		if err != nil {
			return err
		}
		text = chosen.Text
	}
	return s.fragment(c, http.StatusOK, views.Criteria(s.dodPreview(text, args)))
}

// dodPreview reads a definition of done with the values that are typed so far;
// a placeholder without one stays open.
func (s *Server) dodPreview(text string, args map[string]string) views.CriteriaPreview {
	filled := map[string]string{}
	for name, value := range args {
		if value != "" {
			filled[name] = value
		}
	}
	return previewCriteria(text, previewOptions{
		ID: views.DodPreviewID, Spec: s.Engine.EvaluatorSpec(), Args: filled,
		Empty: "Without a definition of done nothing has to hold before the plan can be applied, unless the project asks for one.",
	})
}

// dodForm shows the form. Placeholders of the text get a field each; values
// that are typed already are kept.
func (s *Server) dodForm(c echo.Context, status int, p models.Plan, v views.DodForm, args map[string]string) error {
	ctx := c.Request().Context()
	v.PlanID, v.Plan = p.ID, p.Title
	v.Evaluated = p.Status == models.PlanFinished
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
	v.Preview = s.dodPreview(text, args)
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
