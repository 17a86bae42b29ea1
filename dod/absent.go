package dod

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// absence decides absent: criteria. It looks at every reading of every value, and
// takes a pattern in its strictest sense: what people mean by it, not only what
// it says.
type absence struct {
	values map[string]string // as they came
	cut    []string          // the keys whose values are not whole
	wide   []string          // those with bytes as of UTF-16
	unread []string          // those with bytes that are no text in any known way
	sought map[string]*soughtPattern
}

// soughtPattern is kept per expression, so that equal ones are looked for once.
type soughtPattern struct {
	err   error
	forms []patternForm
	match *Match
	letters
}

func newAbsence(values map[string]string, cut []string, criteria []Criterion) *absence {
	a := &absence{values: values, cut: cut, sought: map[string]*soughtPattern{}}
	for _, c := range criteria {
		if a.sought[c.Pattern] == nil {
			a.sought[c.Pattern] = seek(c.Pattern)
		}
	}
	return a
}

// seek compiles the forms in which a pattern is looked for: as it is written, and
// as it looks (without signs that cannot be seen, composed). In both ^ and $ are
// also the ends of a line.
func seek(pattern string) *soughtPattern {
	if _, err := compileForm(pattern); err != nil {
		return &soughtPattern{err: err}
	}
	p := &soughtPattern{letters: lettersOf(pattern)}
	for _, written := range slices.Compact([]string{pattern, asItLooks(pattern)}) {
		if form, err := compileForm("(?m)" + written); err == nil {
			p.forms = append(p.forms, form)
		}
	}
	return p
}

// asItLooks leaves a sign that is repeated by what stands behind it: taken out,
// another one would be.
func asItLooks(pattern string) string {
	var b strings.Builder
	for at, r := range pattern {
		behind := pattern[at+utf8.RuneLen(r):]
		if !unseen(r) || behind != "" && strings.ContainsRune("*+?{", rune(behind[0])) {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// look goes through all values until each pattern is found or ctx ends.
func (a *absence) look(ctx context.Context) {
	for _, key := range slices.Sorted(maps.Keys(a.values)) {
		if value := a.values[key]; mayBeWide(value) {
			a.wide = append(a.wide, key)
			if a.anyForeign() && unread(value) {
				a.unread = append(a.unread, key)
			}
		}
		for reading := range readings(a.values[key]) {
			if ctx.Err() != nil || !a.lookAt(ctx, key, reading) {
				return
			}
		}
	}
}

func (a *absence) anyForeign() bool {
	for _, p := range a.sought {
		if p.foreign {
			return true
		}
	}
	return false
}

// lookAt looks for what was not found yet and says whether anything is left.
func (a *absence) lookAt(ctx context.Context, key, reading string) (left bool) {
	view := newSearch(map[string]string{key: reading}, nil)
	for _, p := range a.sought {
		for _, form := range p.forms {
			if p.match == nil && ctx.Err() == nil {
				p.match = view.first(form)
			}
		}
		left = left || p.err == nil && p.match == nil
	}
	return left
}

func (a *absence) result(ctx context.Context, c Criterion) Result {
	p := a.sought[c.Pattern]
	open := OpenPlaceholders([]Criterion{{Check: c.Check}})
	switch {
	case len(open) > 0:
		return failed(c, "{"+open[0]+"} is not filled in, so nothing can be said about its absence; give it a value, or write \\{"+open[0]+"\\} for the braces themselves")
	case p.err != nil:
		return failed(c, p.err.Error())
	case joined(c) != "": // stored before it was refused
		return failed(c, joined(c))
	case p.match != nil:
		r := failed(c, "must be absent, but is in "+p.match.where())
		r.Match = p.match
		return r
	case ctx.Err() != nil:
		return stopped(c, ctx)
	case p.foreign && len(a.unread) > 0:
		return skipped(c, "absence cannot be shown: "+clip(strings.Join(a.unread, ", "), 200)+" holds bytes that cannot be read as text")
	case p.divided && len(a.wide) > 0:
		return skipped(c, "absence cannot be shown: "+clip(strings.Join(a.wide, ", "), 200)+" may hold UTF-16, in which a letter of the pattern looks like a line's end")
	case len(a.cut) > 0:
		return skipped(c, "absence cannot be shown: "+clip(strings.Join(a.cut, ", "), 200)+" was cut")
	}
	return Result{Criterion: c, Status: Passed, Reasoning: "the pattern matches nowhere in the evidence"}
}

// patternForm is a compiled expression with the texts that each match must hold.
type patternForm struct {
	re      *regexp.Regexp
	needed  string
	anyCase string // as oneCase writes it
}

func compileForm(pattern string) (patternForm, error) {
	re, err := regexp.Compile(pattern)
	switch {
	case err != nil:
		return patternForm{}, err
	case re.MatchString(""):
		return patternForm{}, errMatchesEmpty
	}
	exact, anyCase := neededLiterals(pattern)
	return patternForm{re, exact, anyCase}, nil
}
