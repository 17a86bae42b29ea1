package handlers

import (
	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// GET /evaluations/:id
func (s *Server) showEvaluation(c echo.Context) error {
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	return s.pageOrFragment(c, func() (templ.Component, error) {
		v, err := s.evaluationView(c, id)
		if err == nil {
			v.PageMeta, err = s.meta(c, "Evaluation of "+v.Plan, views.NavPlans)
		}
		return views.EvaluationPage(v), err
	}, func() (templ.Component, error) {
		v, err := s.evaluationView(c, id)
		v.Now = s.Now()
		return views.EvaluationPart(v), err
	})
}

func (s *Server) evaluationView(c echo.Context, id int64) (v views.EvaluationView, err error) {
	ctx := c.Request().Context()
	ev, err := s.Reader.Evaluation(ctx, id)
	if err != nil {
		return v, err
	}
	detail, err := s.Reader.PlanDetail(ctx, ev.PlanID)
	if err != nil {
		return v, err
	}
	v = views.EvaluationView{ID: id, Plan: detail.Plan.Title, PlanID: ev.PlanID, Status: ev.Status, Error: ev.Error, By: "the server, when the last phase was completed",
		Asked: ev.CreatedAt, Began: ev.StartedAt, Ended: ev.EndedAt, Took: between(ev.StartedAt, ev.EndedAt), Evaluator: ev.Evaluator, Fingerprint: ev.Fingerprint,
		Newest: detail.Evaluation == nil || detail.Evaluation.ID <= id}
	if ev.RequestedBy != 0 {
		by, err := s.Reader.User(ctx, ev.RequestedBy)
		if err != nil {
			return v, err
		}
		v.By = by.Name
	}
	switch ev.Status {
	case models.EvaluationErrored, models.EvaluationQueued, models.EvaluationRunning:
		v.Word, v.Tone, v.Trouble = unresolved(ev)
		v.Checking = s.checking(&ev)
		return v, nil
	}
	next, err := s.Reader.NextEvaluation(ctx, ev)
	if err != nil {
		return v, err
	}
	at := s.Engine.PastEvaluation(detail.Plan, ev, detail.Decisions, next)
	counts := at.Counts()
	v.Stale, v.Tree, v.Passes = at.Stale && detail.Plan.Status != models.PlanApplied, at.Tree, evidenceLinks(detail, ev)
	v.Checked, v.Word, v.Tone = counts.Sentence(), counts.Words(), countsTone(counts, at.Summary)
	for _, r := range at.Summary.Results {
		row := resultRow(r)
		row.Waived = waivedBy(at.Waived, r)
		v.Results = append(v.Results, row)
	}
	v.Flags = flagsIn(ev.FlagsJSON)
	v.Answers = answerRows(engine.Answers(models.Verdict{AnswersJSON: ev.AnswersJSON}))
	return v, nil
}

// unresolved is how an evaluation without a result stands, as a badge and a title.
func unresolved(ev models.Evaluation) (word string, tone ui.Tone, trouble string) {
	errored := ev.Status == models.EvaluationErrored
	switch {
	case errored && ev.StoppedBy != "":
		return "stopped", ui.ToneWarn, "It has no result"
	case errored:
		return "trouble", ui.ToneWarn, "It could not be carried out"
	case ev.StoppedBy != "":
		return "being stopped", ui.ToneBusy, "It will have no result"
	}
	return "being evaluated", ui.ToneBusy, ""
}

// evidenceLinks are the passes that were each phase's last one when the
// evaluation began.
func evidenceLinks(d models.PlanDetail, ev models.Evaluation) (out []views.EvidenceLink) {
	for _, ph := range d.Phases {
		var last *models.Pass
		for _, p := range ph.Passes {
			if p.Pass.EndedAt != nil && ev.StartedAt != nil && !p.Pass.EndedAt.After(*ev.StartedAt) {
				last = &p.Pass
			}
		}
		if last != nil {
			row := views.PassRow{Number: last.Number(), Attempt: last.Attempt, Retried: ph.Phase.Attempt > 1}
			out = append(out, views.EvidenceLink{Label: row.Title() + " of " + phaseNamed(ph.Phase), Href: views.PassPath(last.ID)})
		}
	}
	return out
}
