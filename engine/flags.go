package engine

import (
	"encoding/json"
	"slices"

	"donewhen/dod"
	"donewhen/models"
)

// maxFlags bounds what is kept of the places where evidence talks to its judge.
const maxFlags = 30

// Flags are the places where a pass's evidence talks to its judge. They are a
// hint for the lead: they change no verdict, and no judge is told of them.
type Flags struct {
	Places []FlaggedPlace `json:"places"`
	More   int            `json:"more,omitempty"` // places beyond those kept
}

// FlaggedPlace is one such place.
type FlaggedPlace struct {
	// Value is where it stands, as in "worker/output", "diff" (added lines) or
	// "files" (their names). Line counts in this value.
	Value string `json:"value"`
	dod.Flag
}

// rawLook looks at a part of evidence as it came: with control sequences and
// zero-width signs, which cleaning takes out and which hide words from a reader.
type rawLook func(value, text string)

// flagger collects Flags from raw values. What the task itself says is no
// finding, and secrets do not come into the excerpts.
type flagger struct {
	Flags
	off    bool // no model is asked: there is nobody to talk to
	redact func(string) string
	echo   echo
}

// newFlagger looks at a pass whose condition has these criteria.
func (e *Engine) newFlagger(pass models.Pass, criteria []dod.Criterion) *flagger {
	suite := dod.Suite{Asker: e.Judge, PlainToAsker: e.Judge != nil}
	asked := slices.ContainsFunc(criteria, func(c dod.Criterion) bool { return judgedBy(suite, c) })
	return &flagger{off: !asked, redact: e.redact, echo: newEcho(pass.TaskText)}
}

func (f *flagger) look(value, text string) {
	if f.off || text == "" {
		return
	}
	before := f.Places
	for _, found := range dod.TalksToJudge(f.echo.blank(f.redact(text))) {
		said := func(p FlaggedPlace) bool { return p.Kind == found.Kind && p.Excerpt == found.Excerpt }
		if slices.ContainsFunc(before, said) {
			continue // a final message is the end of an output, a file is printed
		}
		if len(f.Places) == maxFlags {
			f.More++
			continue
		}
		found.Excerpt = f.redact(found.Excerpt)
		f.Places = append(f.Places, FlaggedPlace{Value: value, Flag: found})
	}
}

// json is what is stored: "" when nothing was found.
func (f Flags) json() string {
	if len(f.Places) == 0 {
		return ""
	}
	return toJSON(f)
}

// FlagsOf decodes where a verdict's evidence talks to its judge; a row that
// cannot be read has none.
func FlagsOf(v models.Verdict) Flags {
	var f Flags
	if v.FlagsJSON == "" || json.Unmarshal([]byte(v.FlagsJSON), &f) != nil {
		return Flags{}
	}
	return f
}
