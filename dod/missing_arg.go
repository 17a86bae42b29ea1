package dod

import (
	"regexp"
	"strings"
)

// argVariable is a command's reading of a value, as $ARG_NAME or ${ARG_NAME}; what
// else stands in the braces, as in ${ARG_NAME:-x}, says what to do without one.
var argVariable = regexp.MustCompile(`\$(?:(ARG_[A-Z0-9_]+)|\{(ARG_[A-Z0-9_]+)([^}]?))`)

// WaitsFor names the value that a filled criterion still waits for, "" for none: a
// {placeholder} that is open, or a variable that its command reads.
func WaitsFor(c Criterion, args map[string]string) string {
	if open := OpenPlaceholders([]Criterion{c}); len(open) > 0 {
		return "{" + open[0] + "}"
	}
	if c.Check.Kind == CheckRun {
		return missingArg(c, args)
	}
	return ""
}

// missingArg names a value that a run: line waits for and its command reads, "" for
// none: a {placeholder} of its text that nothing shows in, or a variable that no
// argument stands for. An argument that is there and empty is a value, as long as
// the line does not name it.
func missingArg(c Criterion, args map[string]string) string {
	reads := map[string]bool{}
	for _, m := range argVariable.FindAllStringSubmatch(c.Check.Arg, -1) {
		if m[3] == "" {
			reads[m[1]+m[2]] = true
		}
	}
	for _, name := range Placeholders(c.Text) {
		if Blank(args[name]) && reads[argEnvName(name)] {
			return "{" + name + "}"
		}
	}
	there := map[string]bool{}
	for name := range args {
		there[argEnvName(name)] = true
	}
	for _, m := range argVariable.FindAllStringSubmatch(c.Check.Arg, -1) {
		if name := m[1] + m[2]; m[3] == "" && !there[name] && !strings.Contains(c.Check.Arg, name+"=") {
			return "$" + name
		}
	}
	return ""
}
