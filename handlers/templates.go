package handlers

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/views"
)

func (s *Server) templateRoutes() []route {
	return []route{
		{Method: get, Path: "/templates", Role: viewer, Handler: s.showTemplates},
		{Method: get, Path: "/templates/new", Role: lead, Handler: s.showNewTemplate},
		{Method: post, Path: "/templates", Role: lead, Handler: s.publishTemplate},
		{Method: post, Path: "/templates/preview", Role: lead, Handler: s.previewTemplate},
		{Method: get, Path: "/templates/:id", Role: viewer, Handler: s.showTemplate},
		{Method: get, Path: "/templates/:id/edit", Role: lead, Handler: s.showEditTemplate},
		{Method: post, Path: "/templates/:id/archive", Role: lead, Handler: s.archiveTemplate},
		{Method: post, Path: "/templates/:id/restore", Role: lead, Handler: s.archiveTemplate},
		{Method: post, Path: "/templates/:id/versions", Role: lead, Handler: s.publishTemplate},
	}
}

// GET /templates
func (s *Server) showTemplates(c echo.Context) error {
	rows, err := s.Reader.Templates(c.Request().Context())
	if err != nil {
		return err
	}
	v := views.TemplatesView{CanWrite: s.user(c).Role.Can(lead)}
	for _, r := range rows {
		if r.PublishedAt == nil {
			continue
		}
		list := &v.Rows
		if r.ArchivedAt != nil {
			list = &v.Archived
		}
		*list = append(*list, views.TemplateRow{ID: r.ID, Name: r.Name, Description: r.Description, Version: r.Latest, At: *r.PublishedAt, By: r.PublishedBy})
	}
	if v.Meta, err = s.meta(c, "Templates", views.NavTemplates); err != nil {
		return err
	}
	return s.page(c, http.StatusOK, views.TemplatesPage(v))
}

// GET /templates/:id?version=N&against=M
func (s *Server) showTemplate(c echo.Context) error {
	return s.templatePage(c, http.StatusOK, "", nil)
}

// POST /templates/:id/archive and /templates/:id/restore
func (s *Server) archiveTemplate(c echo.Context) error {
	d, err := s.template(c)
	if err != nil {
		return err
	}
	archive, why := strings.HasSuffix(c.Path(), "/archive"), field(c, "why")
	err = s.Engine.ArchiveTemplate(c.Request().Context(), s.actor(c), d.Template.ID, archive, why)
	if e, status, ok := refusal(err); ok && e.Fields != nil {
		return s.templatePage(c, status, why, e.Fields)
	}
	if err != nil {
		return err
	}
	said := "%s is archived: new plans cannot begin with it. Plans that did keep their version."
	if !archive {
		said = "%s is back: new plans can begin with it."
	}
	if err := s.flash(c, views.FlashDone, said, d.Template.Name); err != nil {
		return err
	}
	return seeOther(c, views.TemplatePath(d.Template.ID))
}

// templatePage shows a version; why is what was typed into the question about
// archiving, and errors what is wrong with it.
func (s *Server) templatePage(c echo.Context, status int, why string, errors map[string]string) error {
	d, err := s.template(c)
	if err != nil {
		return err
	}
	shown, err := versionOf(d, c.QueryParam("version"), d.Versions[0].Version)
	if err != nil {
		return err
	}
	v := views.TemplateView{
		ID: d.Template.ID, Name: d.Template.Name, Description: d.Template.Description, Version: shown.Version, Newest: d.Versions[0].Version,
		At: shown.CreatedAt, By: shown.PublisherName, Why: shown.Why, Text: shown.Text, Args: shown.Args, CanWrite: s.user(c).Role.Can(lead),
		Preview: s.templatePreview(shown.Text, shown.Args, shown.Opinions), Archived: d.Template.ArchivedAt, ArchiveWhy: why, ArchiveError: errors["why"],
	}
	if shown.Opinions > 1 {
		v.Opinions = templatePanel(s.Engine.EvaluatorPanel, shown.Opinions)
	}
	for _, r := range d.Versions {
		v.Versions = append(v.Versions, views.TemplateVersionRow{Version: r.Version, At: r.CreatedAt, By: r.PublisherName, Why: r.Why, Shown: r.Version == shown.Version})
	}
	if against := c.QueryParam("against"); against != "" {
		old, err := versionOf(d, against, 0)
		if err != nil {
			return err
		}
		v.Diff = templateDiff(old, shown)
	}
	if v.Meta, err = s.meta(c, d.Template.Name, views.NavTemplates); err != nil {
		return err
	}
	return s.page(c, status, views.TemplatePage(v))
}

// template is the one in the address, with at least one version.
func (s *Server) template(c echo.Context) (models.TemplateDetail, error) {
	id, err := idParam(c, "id")
	if err != nil {
		return models.TemplateDetail{}, err
	}
	d, err := s.Reader.TemplateDetail(c.Request().Context(), id)
	if err == nil && len(d.Versions) == 0 {
		err = models.Errorf(models.CodeNotFound, "This template has no published version.")
	}
	return d, err
}

// versionOf is the version that is asked for; "" is the usual one.
func versionOf(d models.TemplateDetail, asked string, usual int) (models.TemplateVersion, error) {
	n := usual
	if asked != "" {
		var err error
		if n, err = strconv.Atoi(asked); err != nil {
			n = 0
		}
	}
	for _, v := range d.Versions {
		if v.Version == n {
			return v, nil
		}
	}
	return models.TemplateVersion{}, models.Errorf(models.CodeNotFound, "%s has no version %.20s. Its newest is %d.", d.Template.Name, asked, d.Versions[0].Version)
}

func templateDiff(old, shown models.TemplateVersion) *views.TemplateDiff {
	d := &views.TemplateDiff{From: old.Version, To: shown.Version, Text: diffLines(old.Text, shown.Text)}
	if before, after := argLines(old.Args), argLines(shown.Args); before != after {
		d.Args = diffLines(before, after)
	}
	if old.Opinions != shown.Opinions {
		d.Opinions = judgeCount(old.Opinions) + " → " + judgeCount(shown.Opinions)
	}
	return d
}

// argLines are arguments as a text, one a line.
func argLines(args []models.TemplateArg) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteString("{" + a.Name + "}")
		if a.Required {
			b.WriteString(", required")
		}
		if a.Default != "" {
			b.WriteString(", default " + oneLine(a.Default))
		}
		if a.Description != "" {
			b.WriteString(": " + oneLine(a.Description))
		}
		b.WriteString("\n")
	}
	return b.String()
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func (s *Server) templatePreview(text string, args []models.TemplateArg, opinions int) views.CriteriaPreview {
	return previewCriteria(text, previewOptions{
		ID: views.TemplatePreviewID, Spec: s.Engine.EvaluatorSpec(), More: opinions > 1, Template: true, Declared: args,
		Empty: "What the criteria are read as stands here while you type.",
	})
}
