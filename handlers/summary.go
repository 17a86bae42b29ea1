package handlers

import (
	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// summaryCard is the card of a completed phase's pass; nil until its facts are
// put together.
func summaryCard(s models.PhaseSummary, d models.PhaseDetail) *views.SummaryCard {
	facts, ok := engine.FactsOf(s)
	if !ok {
		return nil
	}
	card := views.SummaryCard{FileCount: facts.FileCount, Added: facts.Added, Deleted: facts.Deleted, Commit: facts.Commit, Tree: facts.Tree,
		Hash: s.EvidenceHash, Verdict: deref(s.VerdictID), Judged: "nobody: it has no condition", Prose: s.Prose, By: s.Evaluator, Trouble: s.Trouble,
		Cost: answerCost(dod.Answer{Evaluator: s.Evaluator, InputTokens: s.InputTokens, OutputTokens: s.OutputTokens, CostUSD: s.CostUSD})}
	if facts.FileCount > 0 {
		card.Diff = views.PlanDiffPath(s.PlanID, s.PassID, "")
	}
	for _, f := range facts.Files {
		card.Files = append(card.Files, views.SummaryFile(f))
	}
	for _, p := range d.Passes {
		if p.Pass.ID != s.PassID {
			continue
		}
		words := map[int64]string{}
		for _, r := range facts.Runs {
			words[r.RunID] = r.Message
		}
		for _, r := range p.Runs {
			if said, current := words[r.ID]; current {
				card.Runs = append(card.Runs, views.SummaryRun{RunRow: runRow(r), Message: said})
			}
		}
		if v := p.Verdict; v != nil {
			card.Verdict, card.Judged, card.Moved = v.ID, judgedAs(*v), v.Kind == models.VerdictGiven && v.EvidenceHash != s.EvidenceHash
		} else if d.Phase.DoneWhen != "" {
			card.Judged = "not judged"
		}
	}
	return card.Anchored(s.PassID)
}

// judgedAs is a verdict in one line.
func judgedAs(v models.Verdict) string {
	word := "not judged"
	switch {
	case v.Kind == models.VerdictGiven && v.Met:
		word = "met"
	case v.Kind == models.VerdictGiven:
		word = "not met"
	}
	reason, cut := cutText(v.Reason, 300)
	if cut {
		reason += "…"
	}
	return word + ": " + reason
}
