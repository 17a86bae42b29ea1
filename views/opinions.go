package views

import "donewhen/views/ui"

// OpinionRow is what one of several judges said about a criterion.
type OpinionRow struct {
	Who    string
	Word   string // "met", "not met", or the kind of trouble
	Tone   ui.Tone
	Reason string
}

// OpinionsField is the choice of how many judges have to say met. Its options
// name who is asked, in plain words; there are none where nobody is.
type OpinionsField struct {
	Options []ui.Option
	Hint    string
}

// Field is the choice as an input; value is a number of judges, 1 when empty.
func (f OpinionsField) Field(name, id, label, value, problem string) ui.FieldProps {
	if value == "" {
		value = "1"
	}
	return ui.FieldProps{Name: name, ID: id, Label: label, Options: f.Options, Value: value, Hint: f.Hint, Error: problem}
}
