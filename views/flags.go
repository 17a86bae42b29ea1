package views

import (
	"strconv"
	"strings"
)

// FlagNotice says where the evidence of a verdict or an evaluation talks to its
// judge. It is a hint: no verdict depends on it.
type FlagNotice struct {
	Rows []FlagRow
	More int    // places beyond the rows
	Href string // of the verdict that lists them all, "" on its own page
}

// FlagRow is one such place.
type FlagRow struct {
	Kind    string // as dod.FlagKind
	Value   string // "worker/output", "diff" or "files"; of a plan's evidence as in "<phase>/diff"
	Line    int
	Excerpt string
}

// Any says whether there is something to show.
func (f FlagNotice) Any() bool { return len(f.Rows) > 0 }

func (f FlagNotice) places() string { return count(len(f.Rows)+f.More, "place", "places") }

// first are the rows that stand where the whole list would be too much.
func (f FlagNotice) first() FlagNotice {
	const few = 2
	if n := len(f.Rows); n > few {
		f.Rows, f.More = f.Rows[:few], f.More+n-few
	}
	return f
}

func (r FlagRow) word() string {
	switch r.Kind {
	case "verdict":
		return "looks like a verdict"
	case "instruction":
		return "instructs a judge"
	case "role":
		return "role or control token of a chat"
	case "fence":
		return "looks like the end of the evidence"
	case "hidden":
		return "characters that cannot be seen"
	case "encoded":
		return "one of these, hidden in base64"
	}
	return strings.ReplaceAll(r.Kind, "_", " ")
}

func (r FlagRow) where() string {
	at := strings.LastIndexByte(r.Value, '/') + 1
	of, what := r.Value[:at], r.Value[at:]
	switch what {
	case "diff":
		what = "added lines"
	case "files":
		what = "file names"
	}
	return of + what + ", line " + strconv.Itoa(r.Line)
}
