package views

import "strconv"

// Addresses of templates.
const (
	TemplatesPath       = "/templates" // GET the list, POST a new one
	NewTemplatePath     = TemplatesPath + "/new"
	TemplatePreviewPath = TemplatesPath + "/preview" // POST
)

// TemplatePath is a template's newest version.
func TemplatePath(id int64) string { return TemplatesPath + "/" + itoa64(id) }

// TemplateVersionPath is one version of a template.
func TemplateVersionPath(id int64, version int) string {
	return TemplatePath(id) + "?version=" + strconv.Itoa(version)
}

// TemplateDiffPath is one version of a template beside an earlier one.
func TemplateDiffPath(id int64, version, against int) string {
	return TemplateVersionPath(id, version) + "&against=" + strconv.Itoa(against) + "#difference"
}

// TemplateEditPath is the editor for a template's next version; it is posted to
// TemplateVersionsPath.
func TemplateEditPath(id int64) string { return TemplatePath(id) + "/edit" }

// TemplateVersionsPath is where a template's next version is posted to.
func TemplateVersionsPath(id int64) string { return TemplatePath(id) + "/versions" }
