package handlers

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// templateDraft is the editor exactly as it was typed.
type templateDraft struct {
	base                         int
	name, description, text, why string
	opinions                     string
	args                         []argDraft
}

type argDraft struct {
	key, name, description, def string
	required                    bool
}

func readTemplateDraft(c echo.Context) templateDraft {
	d := templateDraft{name: field(c, "name"), description: field(c, "description"), text: field(c, "text"), why: field(c, "why"), opinions: field(c, "opinions")}
	d.base, _ = strconv.Atoi(field(c, "base")) // anything else is no version, which the engine notices
	for _, key := range partKeys(c, "arg", "args.") {
		at := "args." + key + "."
		d.args = append(d.args, argDraft{
			key: key, name: strings.TrimSpace(field(c, at+"name")), description: field(c, at+"description"),
			def: field(c, at+"default"), required: field(c, at+"required") != "",
		})
	}
	return d
}

// templateArgs are the arguments without rows that nothing was typed into.
// rows maps their places to those of the rows.
func (d templateDraft) templateArgs() (args []models.TemplateArg, rows []int) {
	for i, a := range d.args {
		if a.name == "" && a.description == "" && a.def == "" {
			continue
		}
		args, rows = append(args, models.TemplateArg{Name: a.name, Description: strings.TrimSpace(a.description), Default: a.def, Required: a.required}), append(rows, i)
	}
	return args, rows
}

// addArg adds a row and returns its key.
func (d *templateDraft) addArg(name string) string {
	keys := make([]string, len(d.args))
	for i, a := range d.args {
		keys[i] = a.key
	}
	key := newKey(keys)
	d.args = append(d.args, argDraft{key: key, name: name})
	return key
}

// GET /templates/new
func (s *Server) showNewTemplate(c echo.Context) error {
	return s.templateFormPage(c, http.StatusOK, s.templateForm(templateDraft{}, nil, nil))
}

// GET /templates/:id/edit
func (s *Server) showEditTemplate(c echo.Context) error {
	d, err := s.template(c)
	if err != nil {
		return err
	}
	newest := d.Versions[0]
	draft := templateDraft{base: newest.Version, text: newest.Text, opinions: strconv.Itoa(newest.Opinions)}
	for i, a := range newest.Args {
		draft.args = append(draft.args, argDraft{strconv.Itoa(i), a.Name, a.Description, a.Default, a.Required})
	}
	return s.templateFormPage(c, http.StatusOK, s.templateForm(draft, &d.Template, nil))
}

// POST /templates and POST /templates/:id/versions: publishes, or shows the
// editor again with one more argument, one less, ….
func (s *Server) publishTemplate(c echo.Context) error {
	draft := readTemplateDraft(c)
	var of *models.Template
	newest := 0
	if c.Param("id") != "" {
		d, err := s.template(c)
		if err != nil {
			return err
		}
		of, newest = &d.Template, d.Versions[0].Version
	}
	switch op := field(c, "op"); op {
	case "", "publish":
	case opTry:
		return s.tryTemplate(c, draft, of)
	default:
		return s.changeTemplateForm(c, draft, of, op)
	}
	in := engine.TemplateDraft{Base: draft.base, Name: draft.name, Description: draft.description, Text: draft.text, Why: draft.why}
	if of != nil {
		in.TemplateID = of.ID
	}
	if in.Opinions = draft.judges(); draft.opinions != "" && models.ClampOpinions(in.Opinions) != in.Opinions {
		in.Opinions = -1 // no such number: the engine says so
	}
	var rows []int
	in.Args, rows = draft.templateArgs()
	v, err := s.Engine.PublishTemplate(c.Request().Context(), s.actor(c), in)
	if e, status, ok := refusal(err); ok {
		if e.Code == models.CodeConflict {
			draft.base = newest // seen by now: the next try goes on from there
		}
		f := s.templateForm(draft, of, e.Fields)
		f.Message = e.Message
		for at, row := range rows {
			f.Args[row].Error = e.Fields["args."+strconv.Itoa(at)]
		}
		return s.templateFormPage(c, status, f)
	}
	if err != nil {
		return err
	}
	if err := s.flash(c, views.FlashDone, "Version %d is published.", v.Version); err != nil {
		return err
	}
	return seeOther(c, views.TemplatePath(v.TemplateID))
}

// changeTemplateForm shows the editor again after one of its buttons.
func (s *Server) changeTemplateForm(c echo.Context, draft templateDraft, of *models.Template, op string) error {
	focus := ""
	verb, key, _ := strings.Cut(op, ":")
	switch verb {
	case "arg.add":
		focus = "arg-" + draft.addArg("") + "-name"
	case "arg.remove":
		draft.args = slices.DeleteFunc(draft.args, func(a argDraft) bool { return a.key == key })
	case "arg.declare":
		args, _ := draft.templateArgs()
		for _, name := range s.templatePreview(draft.text, args, draft.judges()).Open {
			draft.addArg(name)
		}
	}
	f := s.templateForm(draft, of, nil)
	f.Focus = focus
	if wantsFragment(c) {
		return s.fragment(c, http.StatusOK, views.TemplateFormFields(f))
	}
	return s.templateFormPage(c, http.StatusOK, f)
}

// POST /templates/preview
func (s *Server) previewTemplate(c echo.Context) error {
	d := readTemplateDraft(c)
	args, _ := d.templateArgs()
	return s.fragment(c, http.StatusOK, views.Criteria(s.templatePreview(d.text, args, d.judges())))
}

// judges are as many as were chosen, 0 for what is no number.
func (d templateDraft) judges() int {
	n, _ := strconv.Atoi(d.opinions)
	return n
}

func (s *Server) templateForm(d templateDraft, of *models.Template, fields map[string]string) views.TemplateForm {
	args, _ := d.templateArgs()
	f := views.TemplateForm{Base: d.base, Name: d.name, Description: d.description, Text: d.text, Why: d.why, Opinions: d.opinions, Judges: opinionsField(s.Engine.EvaluatorPanel, aboutTemplate), Errors: fields, Preview: s.templatePreview(d.text, args, d.judges()), TryNote: s.tryNote(d.text)}
	if of != nil {
		f.ID, f.Name, f.Description = of.ID, of.Name, of.Description
	}
	for i, a := range d.args {
		f.Args = append(f.Args, views.TemplateArgForm{Key: a.key, Number: i + 1, Name: a.name, Description: a.description, Default: a.def, Required: a.required})
	}
	return f
}

func (s *Server) templateFormPage(c echo.Context, status int, f views.TemplateForm) error {
	title := "New template"
	if f.ID != 0 {
		title = "New version of " + f.Name
	}
	var err error
	if f.Meta, err = s.meta(c, title, views.NavTemplates); err != nil {
		return err
	}
	return s.page(c, status, views.TemplateFormPage(f))
}
