package handlers

import (
	"strings"
	"unicode"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/views"
)

// previewOptions say where a text of criteria stands.
type previewOptions struct {
	ID       string // of the preview's place on the page
	Empty    string // what an empty text means there
	Spec     string // the model that is asked: "text" for none
	More     bool   // further models are asked after it
	DoneWhen bool   // a phase's condition, otherwise a definition of done
	Args     map[string]string
	Template bool // placeholders stay open: a plan fills them
	Declared []models.TemplateArg
}

// previewCriteria reads a text as the engine will and says in plain words how
// each line will be judged, and what to look at before saving.
func previewCriteria(text string, o previewOptions) views.CriteriaPreview {
	parsed := dod.Parse(text)
	p := views.CriteriaPreview{ID: o.ID, Empty: o.Empty, Blank: strings.TrimSpace(text) == ""}
	criteria := parsed.Criteria
	if !o.DoneWhen && !o.Template {
		criteria = dod.FillCriteria(criteria, o.Args)
	}
	byLine := map[int]*views.PreviewLine{}
	for i, c := range criteria {
		l := views.PreviewLine{Number: c.Index, Line: parsed.Lines[i], Text: c.Text}
		if c.Level != dod.Required {
			l.Level = string(c.Level)
		}
		l.Icon, l.How, l.Code = howJudged(c, o)
		for _, hint := range lineHints(c, o) {
			hint.Line = 0 // it stands at its line
			l.Warnings = append(l.Warnings, hint)
		}
		p.Lines = append(p.Lines, l)
	}
	for i := range p.Lines {
		byLine[p.Lines[i].Line] = &p.Lines[i]
	}
	warn := func(line int, text string, refused bool) {
		w := views.PreviewWarning{Line: line, Text: sentence(text), Refused: refused}
		if l := byLine[line]; l != nil {
			w.Line = 0
			l.Warnings = append(l.Warnings, w)
			return
		}
		p.Warnings = append(p.Warnings, w)
	}
	said := map[dod.Problem]bool{}
	for _, w := range parsed.Warnings {
		said[dod.Problem{Line: w.Line, Message: w.Message}] = true
		warn(w.Line, w.Message, w.Refused)
	}
	if o.DoneWhen {
		for _, problem := range dod.ValidateDoneWhen(text) {
			if !said[problem] {
				warn(problem.Line, problem.Message, true)
			}
		}
	}
	for _, i := range parsed.Ignored {
		p.Ignored = append(p.Ignored, views.PreviewIgnored{Line: i.Line, Text: i.Text, Why: i.Why})
	}
	if n := counting(criteria); n == 0 && len(criteria) > 0 {
		if o.DoneWhen {
			warn(0, "Only informational lines: nothing could ever be met.", true)
		} else {
			warn(0, "Only informational lines: nothing is required, so apply stays closed.", false)
		}
	}
	if !o.DoneWhen {
		p.Open, p.Unused = placeholders(criteria, o)
	}
	return p
}

func counting(criteria []dod.Criterion) int {
	n := 0
	for _, c := range criteria {
		if c.Level != dod.Info {
			n++
		}
	}
	return n
}

// howJudged is the way a criterion is checked: an icon, plain words, and the
// command, pattern or path.
func howJudged(c dod.Criterion, o previewOptions) (icon, how, code string) {
	model := o.Spec != "text" && o.Spec != ""
	who := o.Spec
	if o.More {
		who += " first"
	}
	switch c.Check.Kind {
	case dod.CheckRun:
		return "square-terminal", "Run as a command in the workspace; it must end with exit code 0:", c.Check.Arg
	case dod.CheckFile:
		return "file-text", "This file must be there:", c.Check.Arg
	case dod.CheckMatch:
		return "search", "This pattern must match what the agents print or change:", c.Check.Arg
	case dod.CheckAbsent:
		return "ban", "This pattern must match nothing that the agents print or change:", c.Check.Arg
	case dod.CheckHuman:
		if c.Check.Arg != "" {
			return "user", "A person answers it: " + c.Check.Arg + ".", ""
		}
		return "user", "A person answers it.", ""
	case dod.CheckJudge:
		if !model {
			return "gavel", "Asked of a judge, and none is configured: it is never passed.", ""
		}
		if c.Check.Arg != "" {
			return "gavel", "Asked of " + who + ": " + c.Check.Arg, ""
		}
		return "gavel", "Asked of " + who + ".", ""
	}
	if o.DoneWhen && model {
		return "gavel", "Asked of " + who + ".", ""
	}
	return "search", "Matched literally: these exact words must appear in what the agents print or change.", ""
}

// lineHints are what a person should think about once more.
func lineHints(c dod.Criterion, o previewOptions) []views.PreviewWarning {
	var out []views.PreviewWarning
	hint := func(text string) { out = append(out, views.PreviewWarning{Text: text}) }
	model := o.Spec != "text" && o.Spec != ""
	plain := c.Check.Kind == dod.CheckText || c.Check.Kind == ""
	if c.Check.Kind == dod.CheckJudge && !model && c.Level != dod.Info {
		refused := !o.Template
		out = append(out, views.PreviewWarning{Refused: refused, Text: "It counts and could never pass. Write it as a check, mark it (info), or have an operator configure a model."})
	}
	if plain && !(o.DoneWhen && model) && ordinaryEnglish(c.Text) {
		if model {
			hint("This reads like a sentence, but is matched letter by letter. End it with -> judge to ask " + o.Spec + ", or with a check such as -> run: command.")
		} else {
			hint("This reads like a sentence, but is matched letter by letter: no model is configured. End it with a check such as -> run: command or -> match: /re/.")
		}
	}
	if (plain || c.Check.Kind == dod.CheckJudge || c.Check.Kind == dod.CheckHuman) && twoClaims(c.Text) {
		hint("This names two things: when one is missing the whole line fails. Two lines tell which.")
	}
	if o.DoneWhen && c.Check.Kind != dod.CheckRun {
		if open := dod.OpenPlaceholders([]dod.Criterion{c}); len(open) > 0 {
			hint("{" + strings.Join(open, "}, {") + "} stays as it is written: only the definition of done takes arguments.")
		}
	}
	return out
}

// ordinaryEnglish reports whether a line looks like a sentence for people and
// not like a piece of output: three words or more, and hardly anything else.
func ordinaryEnglish(text string) bool {
	fields := strings.Fields(text)
	words := 0
	for _, f := range fields {
		bare := strings.Trim(f, ".,;:!?()'’")
		if bare != "" && strings.IndexFunc(bare, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '-' && r != '’' }) < 0 {
			words++
		}
	}
	return words >= 3 && words*4 >= len(fields)*3 && !strings.ContainsAny(text, "\"`'=<>/\\")
}

// twoClaims reports whether a line joins two claims, as in "the tests pass and
// the change log has an entry": some words on either side of an "and".
func twoClaims(text string) bool {
	lower := strings.ToLower(text)
	for _, join := range []string{" and ", "; "} {
		if before, after, found := strings.Cut(lower, join); found && len(strings.Fields(before)) >= 3 && len(strings.Fields(after)) >= 3 {
			return true
		}
	}
	return false
}

// placeholders are the ones that nothing fills in, and the declared arguments
// that no line uses.
func placeholders(criteria []dod.Criterion, o previewOptions) (open, unused []string) {
	var commands strings.Builder
	for _, c := range criteria {
		if c.Check.Kind == dod.CheckRun {
			commands.WriteString(c.Check.Arg + "\n")
		}
	}
	declared := map[string]bool{}
	for _, a := range o.Declared {
		declared[a.Name] = true
	}
	found := map[string]bool{}
	for _, name := range dod.OpenPlaceholders(criteria) {
		found[name] = true
		if !o.Template || !declared[name] {
			open = append(open, name)
		}
	}
	if o.Template {
		for _, a := range o.Declared {
			if a.Name != "" && !found[a.Name] && !usesArg(commands.String(), a.Name) {
				unused = append(unused, a.Name)
			}
		}
	}
	return open, unused
}

// usesArg reports whether a command reads an argument, as $ARG_NAME or ${ARG_NAME…}.
func usesArg(commands, name string) bool {
	key, _, _ := strings.Cut(dod.ArgEnv(map[string]string{name: ""})[0], "=")
	for _, before := range []string{"$", "${"} {
		rest := commands
		for {
			_, after, found := strings.Cut(rest, before+key)
			if !found {
				break
			}
			if after == "" || !strings.ContainsAny(after[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") {
				return true
			}
			rest = after
		}
	}
	return false
}

// sentence makes a message of the parser a sentence.
func sentence(s string) string {
	if s == "" {
		return s
	}
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}
