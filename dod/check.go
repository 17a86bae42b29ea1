package dod

import (
	"errors"
	"strings"
)

// CheckKind is the way in which a criterion is checked.
type CheckKind string

const (
	// CheckText: a plain line, matched literally or given to the judge.
	CheckText CheckKind = "text"
	// CheckMatch, "match: /re/": the Go regular expression must match some value.
	CheckMatch CheckKind = "match"
	// CheckAbsent, "absent: /re/": the regular expression must match no value.
	CheckAbsent CheckKind = "absent"
	// CheckRun, "run: command": the command must exit with 0 in the workspace.
	CheckRun CheckKind = "run"
	// CheckFile, "file: path": the path must exist inside the workspace.
	CheckFile CheckKind = "file"
	// CheckJudge, "judge" or "judge: question": a model is asked.
	CheckJudge CheckKind = "judge"
	// CheckHuman, "human" or "human: role": a person decides. Not allowed in a done_when.
	CheckHuman CheckKind = "human"
)

// Check is what stands after a line's " -> ". The zero value is a plain line.
type Check struct {
	Kind CheckKind
	// Arg is the command, the path, the question, the role or the regular
	// expression (without its slashes). "" for a plain line, "judge" and "human".
	Arg string
}

// String is the check as a person writes it after the arrow: "" for a plain
// line, "run: go vet ./...", "match: /re/", "judge", "judge: question", ….
func (c Check) String() string {
	switch c.Kind {
	case CheckText, "":
		return ""
	case CheckMatch, CheckAbsent:
		return string(c.Kind) + ": /" + c.Arg + "/"
	case CheckRun, CheckFile:
		return strings.TrimRight(string(c.Kind)+": "+c.Arg, " ")
	default:
		if c.Arg == "" {
			return string(c.Kind)
		}
		return string(c.Kind) + ": " + c.Arg
	}
}

// errNotACheck: what follows the arrow does not begin with a word of ours.
var errNotACheck = errors.New("not a check")

// parseCheck reads the written form. errNotACheck means that the text is not one
// of our checks at all; any other error means that it was meant as one and is
// written wrongly, with a sentence for the person who wrote it.
func parseCheck(written string) (Check, error) {
	written = strings.TrimSpace(written)
	switch written {
	case "judge":
		return Check{Kind: CheckJudge}, nil
	case "human":
		return Check{Kind: CheckHuman}, nil
	}
	kind, arg := cutCheckWord(written)
	switch kind {
	case CheckMatch, CheckAbsent:
		if len(arg) < 2 || arg[0] != '/' || arg[len(arg)-1] != '/' {
			return Check{}, errors.New(string(kind) + `: needs a pattern between slashes, as in "` +
				string(kind) + `: /\d+ passed/"; flags go inside, as in /(?i)done/`)
		}
		return Check{Kind: kind, Arg: arg[1 : len(arg)-1]}, nil
	case CheckRun:
		if arg == "" {
			return Check{}, errors.New(`run: needs a command, as in "run: go vet ./..."`)
		}
		return Check{Kind: kind, Arg: arg}, nil
	case CheckFile:
		if arg == "" {
			return Check{}, errors.New(`file: needs a path inside the workspace, as in "file: docs/notes.md"`)
		}
		return Check{Kind: kind, Arg: arg}, nil
	case CheckJudge, CheckHuman:
		return Check{Kind: kind, Arg: arg}, nil
	}
	return Check{}, errNotACheck
}

// cutCheckWord splits "run: go vet" into its word and the rest; kind is "" when
// no word of ours with a colon opens the text. It looks at the start alone, since
// a line may hold any number of arrows.
func cutCheckWord(written string) (kind CheckKind, arg string) {
	for _, kind := range []CheckKind{CheckMatch, CheckAbsent, CheckRun, CheckFile, CheckJudge, CheckHuman} {
		rest, ok := strings.CutPrefix(written, string(kind))
		if !ok {
			continue
		}
		if rest, ok = strings.CutPrefix(strings.TrimLeft(rest, " \t"), ":"); ok {
			return kind, strings.TrimSpace(rest)
		}
	}
	return "", ""
}
