package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
)

// A completed phase gets a summary in the background: its facts from the same
// evidence as its verdict, and a short text where a summariser is configured.
// Nothing that decides reads it, and its trouble stops nothing.

const (
	summaryLease = 15 * time.Minute // after a crash it is tried again then
	maxProse     = 1200             // bytes
	maxSummary   = 20               // files that are listed
	maxLastWord  = 600              // bytes of a final message
)

// SummaryFacts are what a pass produced, as its evidence has it.
type SummaryFacts struct {
	Files     []SummaryFile `json:"files,omitempty"`
	FileCount int           `json:"file_count"`
	Added     int           `json:"added"`
	Deleted   int           `json:"deleted"`
	Commit    string        `json:"commit,omitempty"`
	Tree      string        `json:"tree,omitempty"`
	Runs      []SummaryRun  `json:"runs,omitempty"`
}

// SummaryFile is a changed file.
type SummaryFile struct {
	Status  string `json:"status"`
	Path    string `json:"path"`
	Added   int    `json:"added"`
	Deleted int    `json:"deleted"`
}

// SummaryRun is one run with its agent's last word.
type SummaryRun struct {
	RunID   int64  `json:"run_id"`
	Label   string `json:"label"`
	Message string `json:"message,omitempty"`
}

// FactsOf decodes a summary's facts; ok is false when there are none.
func FactsOf(s models.PhaseSummary) (f SummaryFacts, ok bool) {
	return f, s.FactsJSON != "" && json.Unmarshal([]byte(s.FactsJSON), &f) == nil
}

func (ev Evidence) facts() SummaryFacts {
	f := SummaryFacts{FileCount: len(ev.Files), Added: ev.Added, Deleted: ev.Gone, Commit: ev.Pass.EndCommit, Tree: ev.Pass.EndTree}
	for _, c := range ev.Files[:min(len(ev.Files), maxSummary)] {
		f.Files = append(f.Files, SummaryFile{Status: string(c.Status), Path: oneName(c.Path), Added: c.Added, Deleted: c.Deleted})
	}
	for _, r := range ev.Runs {
		f.Runs = append(f.Runs, SummaryRun{RunID: r.Run.ID, Label: r.Label, Message: headTail(strings.TrimSpace(r.Message), maxLastWord)})
	}
	return f
}

// beginSummaries tries what is due, each in a goroutine of its own.
func (e *Engine) beginSummaries(ctx context.Context) error {
	due, err := e.Store.DueSummaries(ctx, e.Now(), sweepBatch)
	if err != nil {
		return err
	}
	var errs []error
	for _, s := range due {
		if s.Tries >= models.MaxSummaryTries { // a crash took the last one
			s.DueAt = nil
			if s.Trouble == "" {
				s.Trouble = "The server stopped while it was put together."
			}
			errs = append(errs, e.saveSummary(ctx, s))
			continue
		}
		claimed := false
		err := e.Store.InTx(ctx, func(tx *store.Tx) (err error) {
			claimed, err = tx.ClaimSummary(ctx, s.PassID, e.Now().Add(summaryLease))
			return err
		})
		errs = append(errs, err)
		if !claimed {
			continue
		}
		s.Tries++
		e.work.Go(func() {
			if err := guarded(func() error { return e.summarise(e.life, s) }); err != nil && e.life.Err() == nil {
				e.Log.Error("summary", "pass", s.PassID, "err", err)
			}
		})
	}
	return errors.Join(errs...)
}

// summarise is one try: the facts, then the prose.
func (e *Engine) summarise(ctx context.Context, s models.PhaseSummary) error {
	again := func(err error) error {
		s.Trouble, s.DueAt = err.Error(), nil
		if s.Tries < models.MaxSummaryTries {
			s.DueAt = new(e.Now().Add(e.backoff(s.Tries)))
		}
		var quota *dod.QuotaError
		if errors.As(err, &quota) && s.DueAt != nil && quota.Until.After(*s.DueAt) {
			s.DueAt = &quota.Until
		}
		return e.saveSummary(context.WithoutCancel(ctx), s)
	}
	pass, err := e.Store.Pass(ctx, s.PassID)
	if err != nil {
		return again(err)
	}
	plan, project, err := e.planProject(ctx, s.PlanID)
	if err != nil {
		return again(err)
	}
	ev, err := e.CollectEvidence(ctx, repoOf(project), pass)
	if err != nil {
		return again(err)
	}
	v, err := e.Store.LatestVerdict(ctx, pass.ID)
	if err != nil {
		return again(err)
	}
	var checks []string
	if v != nil && v.Kind == models.VerdictGiven {
		s.VerdictID, checks = &v.ID, checkLines(Results(*v))
	}
	s.FactsJSON, s.EvidenceHash, s.Trouble, s.DueAt = toJSON(ev.facts()), ev.Hash(checks), "", nil
	asker := e.withinBudget(s.PlanID, e.Summariser)
	givenUp := plan.Status == models.PlanCancelled || plan.Status == models.PlanDiscarded
	if asker == nil || givenUp { // the facts stay; nobody pays for prose about a plan that was given up
		return e.saveSummary(ctx, s)
	}
	q := dod.BuildSummaryQuestion(pass.TaskText, ev.Render(checks), "")
	reply, err := asker.Ask(ctx, q)
	if e.life.Err() != nil {
		return nil // the server stops: its lease ends, and it is tried again
	}
	s.Evaluator, s.Model, s.System, s.Prompt, s.Raw = asker.Evaluator(), reply.Model, q.System, q.Prompt, reply.Raw
	s.InputTokens, s.OutputTokens, s.CostUSD = s.InputTokens+reply.InputTokens, s.OutputTokens+reply.OutputTokens, s.CostUSD+reply.CostUSD
	var withheld *dod.WithheldError
	switch s.Prose = proseOf(e.redact(cleanText(reply.Raw))); {
	case errors.As(err, &withheld):
		s.Prose, s.Trouble = "", withheld.Error()
		return e.saveSummary(ctx, s)
	case err != nil:
		s.Prose = ""
		return again(err)
	case s.Prose == "":
		return again(errors.New("the reply is empty"))
	}
	return e.saveSummary(ctx, s)
}

// proseOf bounds a reply to what stands beside the facts.
func proseOf(raw string) string { return cutLine(strings.TrimSpace(raw), maxProse) }

func (e *Engine) saveSummary(ctx context.Context, s models.PhaseSummary) error {
	return e.change(ctx, s.PlanID, func(tx *store.Tx) error { return tx.SaveSummary(ctx, s) })
}
