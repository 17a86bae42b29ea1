package dod

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// TextMatch is the default evaluator. A criterion with a pattern is matched as a
// Go regular expression (RE2; (?i), (?m) and (?s) inside) against the context's
// values; any other text must appear, literally and case-sensitively, in some
// value or key, or would but for signs that evidence is cleaned of and for how
// accents are composed. An absent: pattern must match no reading of any value.
//
// With an empty context everything is skipped. A pattern that does not compile
// fails with the error. run:, file:, judge and human are none of its business and
// are skipped.
//
// It costs one pass over the values for all literal texts together and one for
// each distinct pattern, for absent: one over each reading.
type TextMatch struct {
	// Cut names the context keys whose values are not whole. absent: cannot be
	// decided over them and is skipped, unless the pattern is found.
	Cut map[string]bool
	// Whole are the values as they came, before anything was taken out of them
	// (echoes of the task, secrets, signs): what absent: looks at, since what was
	// taken out was there. nil means that nothing was.
	Whole map[string]string
	// ValuesOnly: keys are no evidence, because people chose them and no agent.
	ValuesOnly bool
}

// Evaluate returns one result per criterion, in order. When ctx ends, what was
// not looked at yet is skipped.
func (t TextMatch) Evaluate(ctx context.Context, criteria []Criterion, evidence map[string]string) []Result {
	results := make([]Result, len(criteria))
	search := newSearch(evidence, t.Cut)
	search.valuesOnly = t.ValuesOnly
	whole, wholeCut := evidence, search.cut
	if t.Whole != nil {
		whole = t.Whole
		wholeCut = newSearch(whole, t.Cut).cut
	}
	var literals, absents []int // positions in criteria, decided together below
	for i, c := range criteria {
		absent := c.Check.Kind == CheckAbsent
		switch c.Check.Kind {
		case CheckText, CheckMatch, CheckAbsent, "":
		default:
			results[i] = skipped(c, "the text matcher does not carry out "+string(c.Check.Kind)+": checks")
			continue
		}
		switch {
		case len(evidence) == 0 && (!absent || len(wholeCut) == 0 && showNothing(t.Whole)):
			results[i] = skipped(c, "there is no evidence to look at")
		case c.hasPattern() && ctx.Err() != nil:
			results[i] = stopped(c, ctx)
		case c.hasPattern() && absent:
			absents = append(absents, i)
		case c.hasPattern():
			results[i] = search.pattern(c)
		case absent:
			results[i] = failed(c, "the pattern is empty, so there is nothing whose absence could be shown")
		case Blank(c.Text):
			results[i] = failed(c, "the criterion has no text to look for")
		default:
			literals = append(literals, i)
		}
	}
	at := func(positions []int) []Criterion {
		picked := make([]Criterion, len(positions))
		for i, at := range positions {
			picked[i] = criteria[at]
		}
		return picked
	}
	if len(absents) > 0 {
		absence := newAbsence(whole, wholeCut, at(absents))
		absence.look(ctx)
		for _, i := range absents {
			results[i] = absence.result(ctx, criteria[i])
		}
	}
	for i, r := range search.literals(ctx, at(literals)) {
		results[literals[i]] = r
	}
	return results
}

// showNothing reports whether values hold nothing but signs that are taken out.
func showNothing(values map[string]string) bool {
	for _, v := range values {
		if withoutSigns(v) != "" {
			return false
		}
	}
	return true
}

func stopped(c Criterion, ctx context.Context) Result {
	return skipped(c, "the evaluation was stopped: "+ctx.Err().Error())
}

func skipped(c Criterion, why string) Result {
	return Result{Criterion: c, Status: Skipped, Reasoning: why}
}

func failed(c Criterion, why string) Result {
	return Result{Criterion: c, Status: Failed, Reasoning: why}
}

func found(c Criterion, m *Match) Result {
	return Result{Criterion: c, Status: Passed, Reasoning: "found in " + m.where(), Match: m}
}

// search is one evaluation's view of the evidence.
type search struct {
	keys     []string // sorted, so that the place shown is always the same
	evidence map[string]string
	cut      []string // the cut keys that are in the evidence, sorted
	lines    map[string]*lineIndex
	compiled map[string]*compiledPattern
	folded   *search           // the same, folded; made when it is needed
	oneCase  map[string]string // the values in one case, as far as they were needed

	valuesOnly bool
}

// compiledPattern is kept per expression, so that equal ones are compiled and
// matched once, and report one error.
type compiledPattern struct {
	err   error
	match *Match
}

func newSearch(evidence map[string]string, cut map[string]bool) *search {
	s := &search{
		keys:     slices.Sorted(maps.Keys(evidence)),
		evidence: evidence,
		lines:    map[string]*lineIndex{},
		compiled: map[string]*compiledPattern{},
	}
	for _, key := range s.keys {
		if cut[key] {
			s.cut = append(s.cut, key)
		}
	}
	return s
}

func (s *search) cutNote() string {
	if len(s.cut) == 0 {
		return ""
	}
	return "; only the kept part of " + clip(strings.Join(s.cut, ", "), 200) + " could be searched"
}

// pattern decides a match: criterion.
func (s *search) pattern(c Criterion) Result {
	p, ok := s.compiled[c.Pattern]
	if !ok {
		p = s.matchPattern(c.Pattern)
		s.compiled[c.Pattern] = p
	}
	switch {
	case p.err != nil:
		return failed(c, p.err.Error())
	case p.match != nil:
		return found(c, p.match)
	}
	return failed(c, "the pattern matches nowhere in the evidence"+s.cutNote())
}

func (s *search) matchPattern(pattern string) *compiledPattern {
	form, err := compileForm(pattern)
	if err != nil {
		return &compiledPattern{err: err}
	}
	match := s.first(form)
	if match == nil && mayFold(pattern) {
		if form, err := compileForm(fold(pattern)); err == nil {
			match = s.fold().first(form)
		}
	}
	return &compiledPattern{match: match}
}

// first is where form matches first, in the order of the keys.
func (s *search) first(form patternForm) *Match {
	for _, key := range s.keys {
		value := s.evidence[key]
		if !strings.Contains(value, form.needed) || form.anyCase != "" && !strings.Contains(s.inOneCase(key), form.anyCase) {
			continue
		}
		if at := form.re.FindStringIndex(value); at != nil {
			return s.place(key, at[0], at[1])
		}
	}
	return nil
}

func (s *search) inOneCase(key string) string {
	value, there := s.oneCase[key]
	if !there {
		if s.oneCase == nil {
			s.oneCase = map[string]string{}
		}
		value = oneCase(s.evidence[key])
		s.oneCase[key] = value
	}
	return value
}

// literals decides criteria whose text must appear.
func (s *search) literals(ctx context.Context, criteria []Criterion) []Result {
	texts := make([]string, len(criteria))
	for i, c := range criteria {
		texts[i] = c.Text
	}
	matches := s.texts(ctx, texts)
	folded, any := make([]string, len(texts)), false
	for i, text := range texts {
		if matches[i] == nil && mayFold(text) {
			folded[i], any = fold(text), true
		}
	}
	if any && ctx.Err() == nil {
		for i, match := range s.fold().texts(ctx, folded) {
			if match != nil {
				matches[i] = match
			}
		}
	}
	results := make([]Result, len(criteria))
	for i, c := range criteria {
		switch {
		case matches[i] != nil:
			results[i] = found(c, matches[i])
		case ctx.Err() != nil:
			results[i] = stopped(c, ctx)
		default:
			results[i] = failed(c, "the text was not found in the evidence"+s.cutNote())
		}
	}
	return results
}

// texts looks all texts up together; the place is the first in the sorted keys'
// values, else a key that holds the text. nil where there is none.
func (s *search) texts(ctx context.Context, texts []string) []*Match {
	matches := make([]*Match, len(texts))
	finder := newFinder(texts)
	for _, key := range s.keys {
		if ctx.Err() != nil {
			return matches
		}
		finder.find(s.evidence[key], func(text, end int) {
			matches[text] = s.place(key, end-len(texts[text]), end)
		})
	}
	if s.valuesOnly {
		return matches
	}
	for _, key := range s.keys {
		name := s.nameOf(key)
		finder.find(name, func(text, end int) {
			start := end - len(texts[text])
			matches[text] = &Match{Key: key, Before: name[:start], Text: name[start:end], After: name[end:]}
		})
	}
	return matches
}
