package dod

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// TextMatch is the default evaluator. A criterion with a pattern is matched as a
// Go regular expression (RE2; (?i), (?m) and (?s) inside) against the context's
// values; any other text must appear, literally and case-sensitively, in some
// value or key. An absent: pattern must match no value.
//
// With an empty context everything is skipped. A pattern that does not compile
// fails with the error. run:, file:, judge and human are none of its business and
// are skipped.
//
// It costs one pass over the values for all literal texts together and one for
// each distinct pattern.
type TextMatch struct {
	// Cut names the context keys whose values are not whole. absent: cannot be
	// decided over them and is skipped, unless the pattern is found.
	Cut map[string]bool
	// Whole are the values before anything was taken out of them (echoes of the
	// task, secrets): what absent: looks at, since what was taken out was there.
	// nil means that nothing was.
	Whole map[string]string
	// ValuesOnly: keys are no evidence, because people chose them and no agent.
	ValuesOnly bool
}

// Evaluate returns one result per criterion, in order. When ctx ends, what was
// not looked at yet is skipped.
func (t TextMatch) Evaluate(ctx context.Context, criteria []Criterion, evidence map[string]string) []Result {
	results := make([]Result, len(criteria))
	search := newSearch(evidence, t.Cut)
	whole := search
	if t.Whole != nil {
		whole = newSearch(t.Whole, t.Cut)
	}
	search.valuesOnly = t.ValuesOnly
	var literals []int // positions in criteria, decided together below
	for i, c := range criteria {
		switch c.Check.Kind {
		case CheckText, CheckMatch, CheckAbsent, "":
		default:
			results[i] = skipped(c, "the text matcher does not carry out "+string(c.Check.Kind)+": checks")
			continue
		}
		switch {
		case len(evidence) == 0 && (c.Check.Kind != CheckAbsent || len(t.Whole) == 0):
			results[i] = skipped(c, "there is no evidence to look at")
		case c.hasPattern() && ctx.Err() != nil:
			results[i] = skipped(c, "the evaluation was stopped: "+ctx.Err().Error())
		case c.hasPattern() && c.Check.Kind == CheckAbsent:
			results[i] = whole.pattern(c)
		case c.hasPattern():
			results[i] = search.pattern(c)
		case c.Check.Kind == CheckAbsent:
			results[i] = failed(c, "the pattern is empty, so there is nothing whose absence could be shown")
		case strings.TrimSpace(c.Text) == "":
			results[i] = failed(c, "the criterion has no text to look for")
		default:
			literals = append(literals, i)
		}
	}
	texts := make([]string, len(literals))
	for i, at := range literals {
		texts[i] = criteria[at].Text
	}
	for i, match := range search.texts(ctx, texts) {
		c := criteria[literals[i]]
		switch {
		case match != nil:
			results[literals[i]] = found(c, match)
		case ctx.Err() != nil:
			results[literals[i]] = skipped(c, "the evaluation was stopped: "+ctx.Err().Error())
		default:
			results[literals[i]] = failed(c, "the text was not found in the evidence"+search.cutNote())
		}
	}
	return results
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

// pattern decides a match: or absent: criterion.
func (s *search) pattern(c Criterion) Result {
	p, ok := s.compiled[c.Pattern]
	if !ok {
		p = s.matchPattern(c.Pattern)
		s.compiled[c.Pattern] = p
	}
	absent := c.Check.Kind == CheckAbsent
	open := OpenPlaceholders([]Criterion{{Check: c.Check}})
	switch {
	case absent && len(open) > 0:
		return failed(c, "{"+open[0]+"} is not filled in, so nothing can be said about its absence; give it a value, or write \\{"+open[0]+"\\} for the braces themselves")
	case p.err != nil:
		return failed(c, p.err.Error())
	case absent && p.match != nil:
		r := failed(c, "must be absent, but is in "+p.match.where())
		r.Match = p.match
		return r
	case absent && len(s.cut) > 0:
		return skipped(c, "absence cannot be shown: "+clip(strings.Join(s.cut, ", "), 200)+" was cut")
	case absent:
		return Result{Criterion: c, Status: Passed, Reasoning: "the pattern matches nowhere in the evidence"}
	case p.match != nil:
		return found(c, p.match)
	}
	return failed(c, "the pattern matches nowhere in the evidence"+s.cutNote())
}

func (s *search) matchPattern(pattern string) *compiledPattern {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return &compiledPattern{err: err}
	}
	if re.MatchString("") {
		return &compiledPattern{err: errMatchesEmpty}
	}
	needed := neededLiteral(pattern)
	for _, key := range s.keys {
		value := s.evidence[key]
		if !strings.Contains(value, needed) {
			continue
		}
		if at := re.FindStringIndex(value); at != nil {
			return &compiledPattern{match: s.place(key, at[0], at[1])}
		}
	}
	return &compiledPattern{}
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
		finder.find(key, func(text, end int) {
			start := end - len(texts[text])
			matches[text] = &Match{Key: key, Before: key[:start], Text: key[start:end], After: key[end:]}
		})
	}
	return matches
}
