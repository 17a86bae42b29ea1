package engine

import (
	"encoding/json"
	"slices"

	"donewhen/dod"
)

// maxFlags bounds what is kept of the places where evidence talks to its judge.
const maxFlags = 30

// Flags are the places where the evidence of a pass or a plan talks to its judge. They are a
// hint for the lead: they change no verdict, and no judge is told of them.
type Flags struct {
	Places []FlaggedPlace `json:"places"`
	More   int            `json:"more,omitempty"` // places beyond those kept
}

// FlaggedPlace is one such place.
type FlaggedPlace struct {
	// Value is where it stands, as in "worker/output", "diff" (added lines) or
	// "files" (their names); of a plan's evidence those of a phase come as in
	// "<phase>/worker/output". Line counts in this value.
	Value string `json:"value"`
	dod.Flag
}

// rawLook looks at a part of evidence as it came: with control sequences and
// zero-width signs, which cleaning takes out and which hide words from a reader.
type rawLook func(value, text string)

// unseen is for evidence that nobody judges now.
func unseen(string, string) {}

// flagger collects Flags from raw values. What the task itself says is no
// finding, and secrets do not come into the excerpts.
type flagger struct {
	Flags
	off    bool // no model is asked: there is nobody to talk to
	redact func(string) string
	echo   echo
}

// newFlagger looks at the evidence that the suite judges these criteria by. own
// are the texts in which people said what is asked for.
func (e *Engine) newFlagger(suite dod.Suite, criteria []dod.Criterion, own ...string) *flagger {
	asked := slices.ContainsFunc(criteria, func(c dod.Criterion) bool { return judgedBy(suite, c) })
	return &flagger{off: !asked, redact: e.redact, echo: newEcho(own...)}
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

// FlagsOf decodes where the evidence of a verdict or an evaluation talks to its
// judge, from the row's FlagsJSON; one that cannot be read has none.
func FlagsOf(flagsJSON string) Flags {
	var f Flags
	if flagsJSON == "" || json.Unmarshal([]byte(flagsJSON), &f) != nil {
		return Flags{}
	}
	return f
}
