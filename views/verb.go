package views

import "donewhen/views/ui"

// Verb is one action a person may take now: a link, a button that posts, a
// question with a form, or a fold with a small form.
type Verb struct {
	Key   string // names its form on the page, such as "phase-3-reject"; unique there
	Label string
	Icon  string
	Kind  ui.ButtonKind
	Small bool

	Href   string      // makes it a link
	Action string      // URL its form posts to
	Hidden [][2]string // what the form carries along: what the person saw

	Question string // asked in a dialog before anything happens; Body says what will
	Body     string
	Fields   []VerbField // with these and no Question, the form stands in a fold
	Submit   string      // the form's own button; Label when ""
	Columns  bool        // short fields stand beside each other where there is room

	Disabled bool
	Why      string // why it is disabled

	Error   string   // why the last press was refused, shown beside it
	Details []string // more about that: the gate's reasons, files
	Open    bool     // the form is shown: it was refused
}

// VerbField is an input of a verb's form.
type VerbField struct {
	Kind VerbInput
	ui.FieldProps
}

// VerbInput is the kind of a VerbField.
type VerbInput string

// The kinds of inputs in verbs' forms.
const (
	VerbText   VerbInput = "text" // several lines
	VerbNumber VerbInput = "number"
	VerbChoice VerbInput = "choice"
)

func (v Verb) submit() string {
	if v.Submit != "" {
		return v.Submit
	}
	return v.Label
}

// submitKind is the kind of the button that does it: what opens the form may be
// quiet, that button is to be seen as one.
func (v Verb) submitKind() ui.ButtonKind {
	if v.Kind == ui.Ghost {
		return ui.Secondary
	}
	return v.Kind
}

func (v Verb) button() ui.ButtonProps {
	return ui.ButtonProps{Label: v.Label, Icon: v.Icon, Kind: v.Kind, Small: v.Small, Disabled: v.Disabled, Title: v.Why}
}

func summaryVariant(k ui.ButtonKind) string {
	if k == "" {
		return string(ui.Secondary)
	}
	return string(k)
}

func summarySize(small bool) string {
	if small {
		return "sm"
	}
	return "default"
}
