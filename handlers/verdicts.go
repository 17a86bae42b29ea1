package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/views"
)

// GET /verdicts/:id
func (s *Server) showVerdict(c echo.Context) error {
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	verdict, err := s.Reader.Verdict(ctx, id)
	if err != nil {
		return err
	}
	pass, err := s.Reader.Pass(ctx, verdict.PassID)
	if err != nil {
		return err
	}
	ph, err := s.Reader.Phase(ctx, verdict.PhaseID)
	if err != nil {
		return err
	}
	p, err := s.Reader.Plan(ctx, verdict.PlanID)
	if err != nil {
		return err
	}
	v := views.VerdictView{
		ID: id, Plan: p.Title, PlanID: p.ID, Phase: ph.Name, PassID: pass.ID, Pass: fmt.Sprintf("pass %d", pass.Number()),
		Kind: verdict.Kind, Met: verdict.Met, Reason: verdict.Reason, Evaluator: verdict.Evaluator, Distrusted: verdict.Distrusted, Hash: verdict.EvidenceHash, Tree: verdict.Tree,
		Reused: deref(verdict.ReusedFrom), Created: verdict.CreatedAt, Took: time.Duration(verdict.Millis) * time.Millisecond, Evidence: verdict.Evidence,
	}
	v.Flags = flagNotice(&verdict)
	v.Flags.Href = ""
	for _, r := range engine.Results(verdict) {
		v.Results = append(v.Results, resultRow(r))
	}
	v.Answers = answerRows(engine.Answers(verdict))
	if v.PageMeta, err = s.meta(c, "Verdict on "+v.Pass+" of "+ph.Name, views.NavPlans); err != nil {
		return err
	}
	return s.page(c, http.StatusOK, views.VerdictPage(v))
}

// answerRows are the questions in order, each with its answers.
func answerRows(answers []dod.Answer) (out []views.AnswerRow) {
	question := 0
	for _, a := range answers {
		if a.Opinion == 0 {
			question++
		}
		row := answerRow(a)
		row.Question = question
		out = append(out, row)
	}
	return out
}

// answerRow is one question with what was answered.
func answerRow(a dod.Answer) views.AnswerRow {
	return views.AnswerRow{
		Opinion: a.Opinion, Index: a.Criterion.Index, Criterion: a.Criterion.Text, Evaluator: a.Evaluator, Model: a.Model, System: a.System, Prompt: a.Prompt,
		Raw: a.Raw, FirstRaw: a.FirstRaw, Kind: string(a.Verdict.Kind), Met: a.Verdict.Met, Reason: a.Verdict.Reason,
		Tokens: tokens(a.InputTokens, a.OutputTokens), Cost: answerCost(a), Version: a.PromptVersion,
	}
}

// answerCost is what an answer cost. A model over HTTP does not say: its cost is
// reckoned from list prices that may be out of date, and a model that is not
// among them costs an unknown amount, not nothing.
func answerCost(a dod.Answer) string {
	reckoned := overHTTP(a.Evaluator)
	switch {
	case a.CostUSD > 0 && reckoned:
		return "about " + cost(a.CostUSD) + " by list prices"
	case a.CostUSD <= 0 && a.InputTokens+a.OutputTokens > 0 && reckoned:
		return "cost unknown"
	}
	return cost(a.CostUSD)
}

// overHTTP says whether a spec is a model over HTTP.
func overHTTP(spec string) bool {
	return strings.HasPrefix(spec, "anthropic:") || strings.HasPrefix(spec, "openai:")
}
