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

// TemplateArchivePath is where a template is archived, TemplateRestorePath where
// it is brought back.
func TemplateArchivePath(id int64) string { return TemplatePath(id) + "/archive" }

// TemplateRestorePath is where an archived template is brought back.
func TemplateRestorePath(id int64) string { return TemplatePath(id) + "/restore" }

// TemplateVersionsPath is where a template's next version is posted to.
func TemplateVersionsPath(id int64) string { return TemplatePath(id) + "/versions" }
