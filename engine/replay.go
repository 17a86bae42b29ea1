package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"donewhen/dod"
	"donewhen/models"
)

// Bounds of a replay: it reads much and may cost money.
const (
	MaxReplay       = 50 // passes, or plans
	replayAtOnce    = 3  // whose evidence is in memory
	replayQuestions = 4  // asked at once
	replayTrouble   = 3  // evaluator errors after which nobody is asked any more
)

// Who judges the plain lines of a replay.
const (
	ReplayConfigured = "as configured" // whoever judges done_when, or `judge` lines of a definition of done
	ReplayText       = "text"          // literal matching; `judge` lines stay open
)

// ReplayInput says which condition is tried on which past passes.
type ReplayInput struct {
	// PassIDs are the passes; when empty, those that Filter chooses. Both are
	// bounded by MaxReplay.
	PassIDs  []int64
	Filter   models.PassFilter
	DoneWhen string
	// Evaluator is ReplayConfigured (also when empty), ReplayText or one of Evaluators.
	Evaluator string
}

// ReplayState is what a replay came to.
type ReplayState string

const (
	ReplayMet    ReplayState = "met"
	ReplayNotMet ReplayState = "not met"
	// ReplayUnknown: nothing failed, but something could not be replayed. Unsure is
	// never taken for met, and never for a finding either.
	ReplayUnknown ReplayState = "unknown"
)

// ReplayChange compares a replay with what was decided.
type ReplayChange string

const (
	ChangeNone       ReplayChange = "same"
	ChangeHeldBack   ReplayChange = "held back"   // it was taken, and would not have been
	ChangeLetThrough ReplayChange = "let through" // it was not taken, and would have been
	ChangeUnknown    ReplayChange = "unknown"
)

// ReplayOrigin says where a result of a replay comes from.
type ReplayOrigin string

const (
	OriginReplayed ReplayOrigin = ""         // checked now, over the stored evidence and the recorded files
	OriginRecorded ReplayOrigin = "recorded" // the result of then: of a run: check, or a file: check without its files
	OriginMissing  ReplayOrigin = "missing"  // such a check that has no recorded result
)

// ReplayResult is one criterion's result in a replay.
type ReplayResult struct {
	dod.Result
	Origin ReplayOrigin
}

// Replayed is what a condition or a definition of done came to over one piece
// of stored evidence.
type Replayed struct {
	State   ReplayState
	Change  ReplayChange
	Lines   []int // indexes of the counting criteria that failed, or could not be replayed while State is unknown
	Reason  string
	Results []ReplayResult
	Answers []dod.Answer
}

// ReplayedPass is one pass: what was decided then, and what would be now.
type ReplayedPass struct {
	Pass     models.Pass
	Phase    string
	Plan     models.Plan
	Verdict  *models.Verdict // the newest, nil when nobody judged it
	Old      []dod.Result    // its results
	OldMet   bool
	Replayed // what the condition would have said
	// Moved: the evidence as it can be collected now is not the evidence that was
	// judged then (a log was cut, a secret is redacted now).
	Moved bool
}

// ReplayCost is what the questions of a replay cost.
type ReplayCost struct {
	Questions                 int
	InputTokens, OutputTokens int64
	USD                       float64
}

func (c *ReplayCost) add(answers []dod.Answer) {
	for _, a := range answers {
		c.Questions++
		if a.Reasked {
			c.Questions++
		}
		c.InputTokens, c.OutputTokens, c.USD = c.InputTokens+a.InputTokens, c.OutputTokens+a.OutputTokens, c.USD+a.CostUSD
	}
}

// ReplayReport is a condition tried on past passes, in the order of the passes.
type ReplayReport struct {
	Criteria  []dod.Criterion
	Evaluator string // the resolved one
	Passes    []ReplayedPass
	Cost      ReplayCost
	Took      time.Duration
}

// Count is how many passes changed so.
func (r ReplayReport) Count(c ReplayChange) (n int) {
	for _, p := range r.Passes {
		if p.Change == c {
			n++
		}
	}
	return n
}

// Replay tries a completion condition on the stored evidence of decided passes.
// It writes nothing. It ends when ctx does, with ctx's error. Fields of an error
// are "done_when" and "passes". file: checks look at the files as they were
// recorded then. run: checks looked at a workspace that is not there any more: one
// that the pass's verdict has a result for keeps it, marked as recorded; any other
// is skipped.
func (e *Engine) Replay(ctx context.Context, actor models.Actor, in ReplayInput) (ReplayReport, error) {
	began := e.Now()
	var rep ReplayReport
	if err := require(actor, models.RoleLead); err != nil {
		return rep, err
	}
	criteria, err := replayCriteria(in.DoneWhen)
	if err != nil {
		return rep, err
	}
	ids, err := e.replayPasses(ctx, in)
	if err != nil {
		return rep, err
	}
	asker, err := e.replayAsker(e.Judge, in.Evaluator)
	if err != nil {
		return rep, err
	}
	rep = ReplayReport{Criteria: criteria, Evaluator: specOf(asker), Passes: make([]ReplayedPass, len(ids))}
	ctx, end := e.untilClosed(ctx)
	defer end()
	err = eachOf(ctx, ids, func(ctx context.Context, i int, id int64) (err error) {
		rep.Passes[i], err = e.replayPass(ctx, id, criteria, asker)
		return err
	})
	if err != nil {
		return ReplayReport{}, err
	}
	for _, p := range rep.Passes {
		rep.Cost.add(p.Answers)
	}
	rep.Took = e.Now().Sub(began)
	return rep, nil
}

// untilClosed is ctx, which also ends when the engine is closed: a replay must
// not read from a store that is.
func (e *Engine) untilClosed(ctx context.Context) (context.Context, func()) {
	ctx, end := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.life, func() {
		end(models.Errorf(models.CodeUnavailable, "The server stops. Try it again in a moment."))
	})
	return ctx, func() { stop(); end(nil) }
}

// eachOf does something for each of the things, a few at a time. The first error
// ends the rest and is returned.
func eachOf[T any](ctx context.Context, things []T, do func(ctx context.Context, i int, thing T) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var all sync.WaitGroup
	slots := make(chan struct{}, replayAtOnce)
	for i, thing := range things {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			if err := guarded(func() error { return do(ctx, i, thing) }); err != nil {
				end(err)
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// ReplayQuestions is how many questions a replay of doneWhen puts for each pass
// at most, a second one after an invalid reply not counted.
func (e *Engine) ReplayQuestions(doneWhen, evaluator string) (n int) {
	asker, err := e.replayAsker(e.Judge, evaluator)
	if err != nil || asker == nil {
		return 0
	}
	for _, c := range dod.ParseCriteria(doneWhen) {
		if judgedBy(dod.Suite{Asker: asker, PlainToAsker: true}, c) {
			n++
		}
	}
	return n
}

func replayCriteria(doneWhen string) ([]dod.Criterion, error) {
	switch problems := dod.ValidateDoneWhen(doneWhen); {
	case strings.TrimSpace(doneWhen) == "":
		return nil, models.Invalid("done_when", "Write the condition that is to be tried.")
	case len(doneWhen) > maxText:
		return nil, models.Invalid("done_when", "The condition is too long: at most 256 KiB.")
	case len(problems) > 0:
		return nil, models.Invalid("done_when", "%s", problemText(problems))
	}
	return dod.ParseCriteria(doneWhen), nil
}

// replayPasses are the ids of the passes to replay, each once.
func (e *Engine) replayPasses(ctx context.Context, in ReplayInput) ([]int64, error) {
	var ids []int64
	for _, id := range in.PassIDs {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if len(ids) > MaxReplay {
			return nil, models.Invalid("passes", "Choose at most %d passes at a time.", MaxReplay)
		}
	}
	if len(ids) == 0 {
		in.Filter.Limit = min(max(in.Filter.Limit, 1), MaxReplay)
		found, err := e.Store.DecidedPasses(ctx, in.Filter)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			ids = append(ids, p.Pass.ID)
		}
	}
	if len(ids) == 0 {
		return nil, models.Invalid("passes", "No decided pass fits. Choose another project or phase.")
	}
	return ids, nil
}

// replayAsker is the chosen judge behind the bounds of a replay, nil for literal
// matching.
func (e *Engine) replayAsker(configured dod.Asker, evaluator string) (dod.Asker, error) {
	judge := configured
	switch evaluator {
	case ReplayText:
		return nil, nil
	case "", ReplayConfigured:
	default:
		if judge = e.askerOf(evaluator); judge == nil {
			return nil, models.Invalid("evaluator", "Choose one of the evaluators.")
		}
	}
	if judge == nil {
		return nil, nil
	}
	return &boundedAsker{Asker: judge, slots: make(chan struct{}, replayQuestions)}, nil
}

// errJudgeDown is what questions get after a judge failed too often.
var errJudgeDown = errors.New("not asked, because the judge failed several times in this replay")
