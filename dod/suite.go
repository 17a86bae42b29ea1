package dod

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
)

// Evaluate checks every criterion against evidence (key to full value). The
// deterministic checks run first, in order and one after the other, since they
// share one workspace; then the judge is asked. With StopOnFailed nobody is asked
// once a check that counts has failed.
//
// Where there are Others, they are asked too, one after the other, about each
// criterion for which everybody before them said met: only a unanimous met passes,
// one not met fails it, and trouble of any of them leaves it skipped.
//
// An invalid reply is asked for once more, with its fault named. An answer that is
// no verdict leaves its criterion skipped. After an evaluator error no further
// question is begun: the whole judging will be tried again.
func (s Suite) Evaluate(ctx context.Context, criteria []Criterion, evidence map[string]string) Outcome {
	out := Outcome{Results: make([]Result, len(criteria))}
	var texts, judged []int
	for i, c := range criteria {
		switch {
		case s.isJudged(c):
			judged = append(judged, i)
		case c.Check.Kind == CheckRun || c.Check.Kind == CheckFile || c.Check.Kind == CheckHuman:
			out.Results[i] = s.check(ctx, c)
		default:
			texts = append(texts, i)
		}
	}
	textCriteria := make([]Criterion, len(texts))
	for i, at := range texts {
		textCriteria[i] = criteria[at]
	}
	for i, r := range s.Text.Evaluate(ctx, textCriteria, evidence) {
		out.Results[texts[i]] = r
	}
	if why := s.noQuestions(ctx, out.Results); why != "" {
		for _, at := range judged {
			out.Results[at] = skipped(criteria[at], why)
		}
		return out
	}
	out.Answers = s.askAll(ctx, criteria, judged, out.Results)
	return out
}

// Evaluator is the suite as an Evaluator: the results without the answers.
func (s Suite) Evaluator() Evaluator { return suiteEvaluator{s} }

type suiteEvaluator struct{ suite Suite }

func (e suiteEvaluator) Evaluate(ctx context.Context, criteria []Criterion, evidence map[string]string) []Result {
	return e.suite.Evaluate(ctx, criteria, evidence).Results
}

func (s Suite) isJudged(c Criterion) bool {
	switch c.Check.Kind {
	case CheckJudge:
		return true
	case CheckText, "":
		return s.PlainToAsker && !c.hasPattern()
	}
	return false
}

// noQuestions says why nobody is to be asked, or "".
func (s Suite) noQuestions(ctx context.Context, results []Result) string {
	if s.Asker == nil {
		return "no judge is configured: set DONEWHEN_JUDGE_MODEL"
	}
	if err := ctx.Err(); err != nil {
		return "the evaluation was stopped: " + err.Error()
	}
	if s.StopOnFailed {
		for _, r := range results {
			if r.Status == Failed && r.Criterion.Level.Counts() {
				return "not asked, because a check failed: " + clip(foldLine(r.Criterion.Text), 120)
			}
		}
	}
	return ""
}

// check carries out one run:, file: or human check.
func (s Suite) check(ctx context.Context, c Criterion) Result {
	if err := ctx.Err(); err != nil {
		return skipped(c, "the evaluation was stopped: "+err.Error())
	}
	defer s.watch(c)()
	var o CheckOutcome
	switch {
	case c.Check.Kind == CheckHuman && s.Human == nil:
		return skipped(c, "nobody was asked for a decision")
	case c.Check.Kind == CheckHuman:
		o = s.Human(c)
	case c.Check.Arg == "":
		return failed(c, string(c.Check.Kind)+": is empty, so there is nothing to check")
	case c.Check.Kind == CheckRun && s.Run == nil, c.Check.Kind == CheckFile && s.File == nil:
		return skipped(c, "there is no workspace to check in")
	case c.Check.Kind == CheckRun && missingArg(c, s.Args) != "":
		return failed(c, missingArg(c, s.Args)+" has no value, and the command reads it: give it one")
	case c.Check.Kind == CheckRun:
		o = s.Run(ctx, c.Check.Arg)
	default:
		o = s.File(ctx, c.Check.Arg)
	}
	if !o.Status.Known() {
		return skipped(c, "the check ended without an outcome")
	}
	return Result{Criterion: c, Status: o.Status, Reasoning: o.Reasoning}
}

func (s Suite) watch(c Criterion) (ended func()) {
	if s.Watch == nil {
		return func() {}
	}
	return s.Watch(c)
}

// askAll asks about criteria[judged], fills their results and returns the answers
// in the order of the criteria, those about one criterion in the order of the judges.
func (s Suite) askAll(ctx context.Context, criteria []Criterion, judged []int, results []Result) []Answer {
	answers := make([][]Answer, len(judged))
	var unreachable atomic.Bool
	var wg sync.WaitGroup
	slots := make(chan struct{}, max(1, s.Parallel))
	for i, at := range judged {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { <-slots }()
			defer s.watch(criteria[at])()
			asked, why := s.opinions(ctx, criteria[at], &unreachable)
			answers[i] = asked
			results[at] = combine(criteria[at], asked, 1+len(s.Others), why)
		}()
	}
	wg.Wait()
	return slices.Concat(answers...)
}

// ask puts one question to a judge, and once more if the reply was invalid.
func (s Suite) ask(ctx context.Context, judge Asker, c Criterion) Answer {
	nonce := NewNonce
	if s.Nonce != nil {
		nonce = s.Nonce
	}
	a := Answer{Criterion: c, Evaluator: judge.Evaluator(), PromptVersion: PromptVersion}
	q := BuildQuestion(c, s.Task, s.Evidence, nonce())
	put(ctx, judge, q, &a)
	if a.Verdict.Kind == KindInvalidReply {
		a.Reasked, a.FirstRaw = true, a.Raw
		put(ctx, judge, Reask(q, a.Verdict.Reason), &a)
	}
	return a
}

// put asks q and notes in a what came back. A reply beside an error is kept, but
// never read as a verdict.
func put(ctx context.Context, judge Asker, q Question, a *Answer) {
	reply, err := judge.Ask(ctx, q)
	a.System, a.Prompt, a.Raw = q.System, q.Prompt, reply.Raw
	if reply.Model != "" {
		a.Model = reply.Model
	}
	a.InputTokens += reply.InputTokens
	a.OutputTokens += reply.OutputTokens
	a.CostUSD += reply.CostUSD
	if err == nil {
		a.Verdict = ParseVerdict(reply.Raw)
		return
	}
	_, a.Withheld = errors.AsType[*WithheldError](err)
	if quota, ok := errors.AsType[*QuotaError](err); ok {
		a.QuotaUntil = quota.Until
	}
	if ctx.Err() != nil {
		err = errors.Join(err, context.Cause(ctx))
	}
	a.Verdict = ErrorVerdict(err)
}

func judgedResult(a Answer) Result {
	r := Result{Criterion: a.Criterion, Status: Skipped, Reasoning: a.Verdict.Reason, Kind: a.Verdict.Kind}
	switch {
	case a.Verdict.Kind == KindInvalidReply:
		r.Reasoning = "the judge's reply could not be used, asked twice: " + a.Verdict.Reason
	case a.Verdict.Kind != KindVerdict:
		r.Reasoning = "the judge could not answer: " + a.Verdict.Reason
	case a.Verdict.Met:
		r.Status = Passed
	default:
		r.Status = Failed
	}
	return r
}
