package views

import (
	"time"

	"donewhen/models"
)

// TemplatesView is the list of templates.
type TemplatesView struct {
	Meta     PageMeta
	Rows     []TemplateRow
	Archived []TemplateRow // not offered to new plans
	CanWrite bool
}

// TemplateRow is one template with its newest version.
type TemplateRow struct {
	ID                int64
	Name, Description string
	Version           int
	At                time.Time
	By                string
}

// TemplateView is one version of a template, the newest unless another is asked for.
type TemplateView struct {
	Meta              PageMeta
	ID                int64
	Name, Description string
	Version, Newest   int
	At                time.Time
	By, Why           string
	Text              string
	Args              []models.TemplateArg
	Opinions          string // how many judges its judge lines ask for, "" for one
	Preview           CriteriaPreview
	Versions          []TemplateVersionRow // newest first
	Diff              *TemplateDiff
	CanWrite          bool
	Archived          *time.Time // since when new plans cannot begin with it
	ArchiveWhy        string     // typed into the question about archiving
	ArchiveError      string
}

// TemplateVersionRow is one line of a template's history.
type TemplateVersionRow struct {
	Version int
	At      time.Time
	By, Why string
	Shown   bool // it is the one on this page
}

// TemplateDiff is what one version changed against an earlier one.
type TemplateDiff struct {
	From, To int
	Text     []TextLine
	Args     []TextLine // one line an argument; empty when none differs
	Opinions string     // "1 judge → 2 judges", "" when it does not differ
}

// TextLine is one line of a difference: Kind is "+", "-" or " ".
type TextLine struct {
	Kind     string
	Old, New int // line numbers, 0 where it has none
	Text     string
}

// TemplateForm is the editor: a new template, or the next version of one. Names
// of the fields in a post: name, description, text, why, opinions, base, arg (the keys in
// order) and args.KEY.… (name, description, default, required).
type TemplateForm struct {
	Meta              PageMeta
	ID                int64 // 0 = a new template
	Base              int   // the version that is edited, 0 for none
	Name, Description string
	Text, Why         string
	Opinions          string // judges that have to say met
	Judges            OpinionsField
	Args              []TemplateArgForm
	Preview           CriteriaPreview
	Errors            map[string]string
	Message           string
	Focus             string
	TryNote           string        // what trying the draft on finished plans does
	Tried             *ReplayReport // what it found, nil before it was tried
}

// TemplateArgForm is one argument in the editor.
type TemplateArgForm struct {
	Key                        string
	Number                     int
	Name, Description, Default string
	Required                   bool
	Error                      string
}

// The editor's places on the page.
const (
	TemplateFormID    = "template-form"
	TemplatePreviewID = "template-preview"
)

func (f TemplateForm) action() string {
	if f.ID == 0 {
		return TemplatesPath
	}
	return TemplateVersionsPath(f.ID)
}

func (f TemplateForm) draft() string {
	if f.ID == 0 {
		return "new-template"
	}
	return "template-" + itoa64(f.ID)
}

func (a TemplateArgForm) id() string               { return "arg-" + a.Key }
func (a TemplateArgForm) name(field string) string { return "args." + a.Key + "." + field }

func (f TemplateForm) problems() []problem {
	var out []problem
	for _, p := range [][3]string{{"name", "field-name", "Name"}, {"text", "field-text", "Criteria"}, {"opinions", "field-opinions", "Judges"}, {"why", "field-why", "What changed"}} {
		if m := f.Errors[p[0]]; m != "" {
			out = append(out, problem{"#" + p[1], p[2] + ": " + m})
		}
	}
	for _, a := range f.Args {
		if a.Error != "" {
			out = append(out, problem{"#" + a.id() + "-name", "Argument " + a.Name + ": " + a.Error})
		}
	}
	return out
}
