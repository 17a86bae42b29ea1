package engine

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"

	"donewhen/dod"
	"donewhen/engine/workspace"
	"donewhen/models"
	"donewhen/models/store"
)

//go:embed canaries.yaml
var canariesYAML []byte

// Planted is a planted pass: it looks done and is not. Kind, Title and Why are for
// people; the judge sees the rest as it sees any pass.
type Planted struct {
	Kind      string
	Title     string
	Why       string // why the criterion is not met
	Task      string
	Criterion string
	Message   string // of the one run
	Output    string
	Files     []struct {
		Status, Path   string
		Added, Deleted int
	}
	Added string // lines
}

// PlantedPasses are all there are, in the order in which judges get them.
var PlantedPasses = sync.OnceValue(func() []Planted {
	var out []Planted
	dec := yaml.NewDecoder(bytes.NewReader(canariesYAML))
	dec.KnownFields(true)
	if err := dec.Decode(&out); err != nil {
		panic("engine/canaries.yaml: " + err.Error()) // it is part of the program
	}
	return out
})

// PlantedPass is the planted pass of that kind; the zero one when there is none
// any more.
func PlantedPass(kind string) Planted {
	for _, p := range PlantedPasses() {
		if p.Kind == kind {
			return p
		}
	}
	return Planted{Kind: kind, Title: kind}
}

// Evidence is the planted pass as the evidence of a pass, for the same rendering.
func (p Planted) Evidence() Evidence {
	run := models.Run{Position: 1, Try: 1, Agent: models.AgentSpec{Runtime: "claude"}, Status: models.RunSucceeded, ExitCode: new(0)}
	ev := Evidence{Runs: []RunEvidence{{Label: "claude", Run: run, Message: cleanText(p.Message), Output: cleanText(p.Output), Duration: p.duration()}}, Diff: cleanText(p.Added)}
	for _, f := range p.Files {
		ev.Files = append(ev.Files, workspace.FileChange{Status: f.Status, Path: f.Path, Added: f.Added, Deleted: f.Deleted})
		ev.Added, ev.Gone = ev.Added+f.Added, ev.Gone+f.Deleted
	}
	return ev
}

// duration is a believable one that does not give the pass away by being the same
// each time.
func (p Planted) duration() time.Duration {
	return time.Duration(40_000+len(p.Output)*97+len(p.Message)*31) * time.Millisecond
}

// GivePlanted gives a judge a planted pass now; its answer comes later, on the
// judges' page. One that has one before it already is a CodeConflict.
func (e *Engine) GivePlanted(ctx context.Context, actor models.Actor, evaluator string) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	asker := e.askerOf(evaluator)
	if asker == nil {
		return models.Errorf(models.CodeNotFound, "There is no judge %q here. Choose one of the list.", evaluator)
	}
	return e.plant(ctx, actor, asker)
}

// plant stores that a judge is given its next planted pass, and asks it in a
// goroutine of its own.
func (e *Engine) plant(ctx context.Context, actor models.Actor, asker dod.Asker) error {
	c := models.Canary{Evaluator: asker.Evaluator(), PromptVersion: dod.PromptVersion, AskedBy: actor.ID, AskerName: actor.Name}
	var p Planted
	err := e.changeJudges(e.Store.InTx(ctx, func(tx *store.Tx) error {
		judges, err := tx.Judges(ctx)
		if err != nil {
			return err
		}
		given := int64(0)
		for _, j := range judges {
			if j.Evaluator == c.Evaluator {
				given = j.Given
			}
		}
		p = PlantedPasses()[given%int64(len(PlantedPasses()))]
		c.Kind = p.Kind
		if err := tx.InsertCanary(ctx, &c); err != nil || actor.ID == 0 {
			return err
		}
		return tx.InsertEvent(ctx, models.Event{Kind: "judge.given_a_planted_pass", ActorID: actor.ID, Actor: actor.Name, Reason: c.Evaluator + ": " + p.Title})
	}))
	if err != nil {
		return err
	}
	e.work.Go(func() {
		err := guarded(func() error { return e.askPlanted(e.life, asker, c, p) })
		if err != nil && e.life.Err() == nil {
			e.Log.Error("planted pass", "judge", c.Evaluator, "err", err)
		}
	})
	return nil
}

// askPlanted asks about a planted pass as about any other and stores what came.
func (e *Engine) askPlanted(ctx context.Context, asker dod.Asker, c models.Canary, p Planted) error {
	began := e.Now()
	suite := dod.Suite{Asker: asker, PlainToAsker: true, Task: p.Task, Evidence: p.Evidence().Render(nil)}
	out := suite.Evaluate(ctx, dod.ParseCriteria(p.Criterion), nil)
	if ctx.Err() != nil {
		return ctx.Err() // the next start says that the server stopped
	}
	c.Outcome, c.Reason, c.Millis = models.CanaryTrouble, "nothing was asked", e.Now().Sub(began).Milliseconds()
	for _, a := range out.Answers {
		c.Reason, c.AnswerJSON, c.PromptVersion = a.Verdict.Reason, toJSON(a), a.PromptVersion
		c.InputTokens, c.OutputTokens, c.CostUSD = a.InputTokens, a.OutputTokens, a.CostUSD
		switch {
		case a.Verdict.Kind != dod.KindVerdict:
		case a.Verdict.Met:
			c.Outcome = models.CanaryMissed
		default:
			c.Outcome = models.CanaryCaught
		}
	}
	return e.persist("answer about a planted pass", func() error {
		return e.changeJudges(e.Store.InTx(ctx, func(tx *store.Tx) error {
			if err := tx.EndCanary(ctx, c); err != nil || c.Outcome != models.CanaryMissed {
				return err
			}
			marked, err := tx.DistrustJudge(ctx, c.Evaluator, c.ID)
			if err != nil || !marked {
				return err
			}
			return tx.InsertEvent(ctx, models.Event{Kind: "judge.distrusted", Reason: c.Evaluator + " called a planted pass met: " + p.Title + ". It said: " + c.Reason})
		}))
	})
}

// ClearJudge takes the mark off a judge that missed a planted pass.
func (e *Engine) ClearJudge(ctx context.Context, actor models.Actor, evaluator, reason string) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	switch reason = strings.TrimSpace(reason); {
	case reason == "":
		return models.Invalid("reason", "Say why it is trusted again: the reason stays in the audit log.")
	case len(reason) > maxNote:
		return models.Invalid("reason", "The reason is too long: at most %d bytes.", maxNote)
	}
	return e.changeJudges(e.Store.Decide(ctx, func(tx *store.Tx) error {
		if err := tx.TrustJudge(ctx, evaluator); err != nil {
			return err
		}
		return tx.InsertEvent(ctx, models.Event{Kind: "judge.trusted_again", ActorID: actor.ID, Actor: actor.Name, Reason: evaluator + ": " + reason})
	}))
}

func (e *Engine) changeJudges(err error) error {
	if err == nil {
		e.hub.Publish("judges")
	}
	return err
}

// countJudged counts a judging for each judge that gave a verdict in it, and says
// which of them are given a planted pass after it: about one in Canaries judgings
// of each.
func (e *Engine) countJudged(ctx context.Context, tx *store.Tx, answers []dod.Answer) (due []string, err error) {
	if e.Canaries <= 0 {
		return nil, nil
	}
	for _, evaluator := range judgesOf(answers, func(a dod.Answer) bool { return a.Verdict.Kind == dod.KindVerdict }) {
		n, err := tx.CountJudging(ctx, evaluator)
		if err != nil {
			return nil, err
		}
		if n%int64(e.Canaries) == 0 {
			due = append(due, evaluator)
		}
	}
	return due, nil
}

// plantAll gives the judges a planted pass each, after what they judged is stored.
// Whatever goes wrong is logged: it is no part of the judging.
func (e *Engine) plantAll(evaluators []string) {
	for _, evaluator := range evaluators {
		asker := e.askerOf(evaluator)
		if asker == nil || e.life.Err() != nil {
			continue
		}
		if err := e.plant(e.life, models.Server, asker); err != nil && models.CodeOf(err) != models.CodeConflict {
			e.Log.Error("planted pass", "judge", evaluator, "err", err)
		}
	}
}

// judgesOf names the judges of some answers, each once.
func judgesOf(answers []dod.Answer, of func(dod.Answer) bool) (out []string) {
	for _, a := range answers {
		if of(a) && !slices.Contains(out, a.Evaluator) {
			out = append(out, a.Evaluator)
		}
	}
	return out
}

// distrusted are those of the judges that missed a planted pass and were not
// cleared since.
func distrusted(ctx context.Context, r *store.Reader, evaluators []string) (out []string, err error) {
	if len(evaluators) == 0 {
		return nil, nil
	}
	judges, err := r.Judges(ctx)
	for _, j := range judges {
		if j.MissedCanary != nil && slices.Contains(evaluators, j.Evaluator) {
			out = append(out, j.Evaluator)
		}
	}
	return out, err
}

// markDistrusted writes onto a verdict which of its judges are not trusted, and
// returns why its met is not enough, "" when it is.
func markDistrusted(ctx context.Context, tx *store.Tx, v *models.Verdict, answers []dod.Answer) (doubt string, err error) {
	all, err := distrusted(ctx, &tx.Reader, judgesOf(answers, func(dod.Answer) bool { return true }))
	if err != nil {
		return "", err
	}
	if len(answers) > 0 {
		v.Distrusted = strings.Join(all, ", ")
	}
	counting := judgesOf(answers, func(a dod.Answer) bool { return a.Criterion.Level.Counts() && slices.Contains(all, a.Evaluator) })
	if !v.Met || len(counting) == 0 {
		return "", nil
	}
	return fmt.Sprintf("It is met by the word of %s, which missed a planted pass and is not trusted until somebody clears it. Look at the work yourself: approve it, or give it another pass.", strings.Join(counting, " and ")), nil
}

// withoutDistrusted takes back what judges passed who are not trusted: unsure
// means not done.
func (e *Engine) withoutDistrusted(ctx context.Context, out *dod.Outcome) error {
	marked, err := distrusted(ctx, &e.Store.Reader, judgesOf(out.Answers, func(dod.Answer) bool { return true }))
	if err != nil || len(marked) == 0 {
		return err
	}
	for i, r := range out.Results {
		of := judgesOf(out.Answers, func(a dod.Answer) bool {
			return a.Criterion.Index == r.Criterion.Index && slices.Contains(marked, a.Evaluator)
		})
		if r.Status == dod.Passed && len(of) > 0 {
			out.Results[i].Status = dod.Skipped
			out.Results[i].Reasoning = fmt.Sprintf("%s said met, but it missed a planted pass and is not trusted until somebody clears it: %s", strings.Join(of, " and "), r.Reasoning)
		}
	}
	return nil
}
