package dod

import (
	"slices"
	"strings"
)

// Agreed is what a definition of done asks for: its criteria, filled, the
// arguments that its commands read, and how many judges its judged lines ask.
type Agreed struct {
	Criteria []Criterion       `json:"criteria"`
	Args     map[string]string `json:"args,omitempty"`
	Opinions int               `json:"opinions"`
}

// Dropped are the required criteria of before that after does not ask for as
// strictly any more: taken out, worded or checked otherwise, of a lower level,
// with another value in their command, or asked of fewer judges. A criterion that
// only moved, or became a (must), is not among them.
func Dropped(before, after Agreed) []Criterion {
	var dropped []Criterion
	for _, c := range before.Criteria {
		if c.Level != Info && !slices.ContainsFunc(after.Criteria, func(now Criterion) bool { return keeps(before, after, c, now) }) {
			dropped = append(dropped, c)
		}
	}
	return dropped
}

func keeps(before, after Agreed, was, now Criterion) bool {
	if was.Text != now.Text || was.Pattern != now.Pattern || was.Check != now.Check || now.Level == Info || was.Level == Must && now.Level != Must {
		return false
	}
	switch was.Check.Kind {
	case CheckRun:
		return slices.Equal(argsRead(was.Check.Arg, before.Args), argsRead(was.Check.Arg, after.Args))
	case CheckText, CheckJudge:
		return after.Opinions >= before.Opinions
	}
	return true
}

// argsRead are the values that a command may read, as ARG_NAME=value. A name that
// only begins like one counts too: unsure means that it reads it.
func argsRead(command string, args map[string]string) []string {
	return slices.DeleteFunc(ArgEnv(args), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return !strings.Contains(command, name)
	})
}
