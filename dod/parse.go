package dod

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// ParseCriteria reads the criteria of a definition of done or a done_when, in
// reading order. Empty text, or only headings, gives an empty list. The rules are
// those of Parse.
func ParseCriteria(text string) []Criterion { return Parse(text).Criteria }

// Parse reads text line by line: a plain line, a bullet (-, *, +, unicode) or a
// numbered item (1. or 1)) is one criterion; a box "[ ]" is taken off whatever its
// mark, because a tick is no evidence; indented, unmarked lines directly below an
// item continue it. Headings, rules, table separators, blank lines, empty bullets
// and closed code fences are none; a fence that is never closed is no fence. In
// doubt a line is kept: an extra criterion is seen by a person, a lost one is not.
//
// It never fails. What a person should know before saving is in Warnings.
func Parse(text string) Parsed {
	var p Parsed
	for _, item := range readItems(text, &p) {
		p.add(item)
	}
	if p.Criteria == nil {
		p.Criteria = []Criterion{}
	}
	return p
}

// ValidateDoD returns what keeps text from being saved as a definition of done.
func ValidateDoD(text string) []Problem { return refusals(Parse(text)) }

// ValidateDoneWhen returns what keeps text from being saved as a done_when: the
// same as for a definition of done, and human checks, because a phase has its own
// approval.
func ValidateDoneWhen(text string) []Problem {
	p := Parse(text)
	for i, c := range p.Criteria {
		if c.Check.Kind == CheckHuman {
			p.warn(p.Lines[i], true, `"human" cannot be used in a done_when: let the phase ask for an approval instead`)
		}
	}
	return refusals(p)
}

func refusals(p Parsed) []Problem {
	var problems []Problem
	for _, w := range p.Warnings {
		if w.Refused {
			problems = append(problems, Problem{Line: w.Line, Message: w.Message})
		}
	}
	return problems
}

func (p *Parsed) warn(line int, refused bool, message string) {
	p.Warnings = append(p.Warnings, Warning{Line: line, Message: message, Refused: refused})
}

// add turns one item's joined text into a criterion.
func (p *Parsed) add(it item) {
	c := Criterion{Index: len(p.Criteria) + 1}
	text := strings.Join(it.parts, " ")
	c.Level, text = cutLevel(text)
	if hint := unreadLevel(c.Level, text); hint != "" {
		p.warn(it.line, false, hint)
	}
	var hint string
	var hintRefused bool
	c.Text, c.Check, hint, hintRefused = cutCheck(text)
	if hint != "" {
		p.warn(it.line, hintRefused, hint)
	}
	if c.Check.Kind == CheckMatch || c.Check.Kind == CheckAbsent {
		c.Pattern = c.Check.Arg
		p.checkPattern(it.line, c)
	}
	if c.Check.Kind == CheckRun {
		p.checkCommand(it.line, c.Check.Arg)
	}
	if c.Check.Kind == CheckFile && LeadsOut(c.Check.Arg) {
		p.Warnings = append(p.Warnings, Warning{Line: it.line, Refused: true, Fails: true, Message: leadsOut(c.Check.Arg)})
	}
	p.Criteria = append(p.Criteria, c)
	p.Lines = append(p.Lines, it.line)
}

// cutLevel takes "(info)" or "(must)" off the start of text. A line that is
// nothing else keeps it as its text.
func cutLevel(text string) (Level, string) {
	for _, level := range []Level{Info, Must} {
		mark := "(" + string(level) + ")"
		if len(text) <= len(mark) || !strings.EqualFold(text[:len(mark)], mark) {
			continue
		}
		rest := strings.TrimLeftFunc(text[len(mark):], isBlank)
		if rest != "" && len(rest) < len(text)-len(mark) {
			return level, rest
		}
	}
	return Required, text
}

// likeALevel is what people write at a line's start when they mean a level.
var likeALevel = regexp.MustCompile(`(?i)^[(\[]\s*(info|must|required|optional)\s*[)\]]`)

// unreadLevel is what to tell about a mark that stayed part of the text: a second
// one, or one that is not written as a level is. "" where there is none.
func unreadLevel(level Level, text string) string {
	mark := likeALevel.FindString(text)
	switch {
	case mark == "", mark[0] == '[' && strings.HasPrefix(text[len(mark):], "("): // a link
		return ""
	case level != Required:
		return fmt.Sprintf("a line has one level, and this one is (%s): %q stays part of its text", level, mark)
	case strings.EqualFold(mark, "(required)"):
		return fmt.Sprintf("%q stays part of the text: a line is required unless it starts with (info), and never waivable with (must)", mark)
	}
	return fmt.Sprintf("%q stays part of the text, and the line is required: a level is (must) or (info), followed by a blank", mark)
}

// arrow stands between a criterion's text and its check.
const arrow = " -> "

// cutCheck splits text at the first arrow that is followed by a check of ours. The
// arrow may open the line; the check in its written form is the text then.
func cutCheck(text string) (rest string, check Check, hint string, refused bool) {
	padded := " " + text
	for from := 0; ; {
		at := strings.Index(padded[from:], arrow)
		if at < 0 {
			return text, Check{Kind: CheckText}, hint, refused
		}
		at += from
		from = at + len(arrow) - 1
		written := strings.TrimSpace(padded[at+len(arrow):])
		check, err := parseCheck(written)
		switch {
		case err == nil:
			if rest = strings.TrimSpace(padded[:at]); rest == "" {
				rest = check.String()
			}
			return rest, check, "", false
		case !errors.Is(err, errNotACheck):
			hint, refused = err.Error(), true
		case hint == "":
			word, _, _ := strings.Cut(written, " ")
			hint = `"` + clip(word, 40) + `" after "->" is no check, so it stays part of the text; checks are match:, absent:, run:, file:, judge and human`
		}
	}
}

// checkCommand refuses {placeholders} in a command: a value must never become
// program text. "${NAME}" is the shell's own and no placeholder here.
func (p *Parsed) checkCommand(line int, command string) {
	seen := map[string]bool{}
	for i := 0; i < len(command); i++ {
		if command[i] != '{' || i > 0 && command[i-1] == '$' {
			continue
		}
		name := placeholderName(command[i:])
		if name == "" || seen[name] {
			continue
		}
		seen[name] = true
		p.warn(line, true, "{"+name+"} is not filled in inside a run: command: use \"$"+argEnvName(name)+
			"\", or put a blank behind the brace if the brace is meant for the program")
	}
}
