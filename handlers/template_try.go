package handlers

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// opTry is the editor's button that tries the draft on finished plans.
const opTry = "try"

// tryTemplate shows the editor again with what the draft would have said about
// the plans that finished last. Nothing is published.
func (s *Server) tryTemplate(c echo.Context, draft templateDraft, of *models.Template) error {
	args, _ := draft.templateArgs()
	r, err := s.Engine.ReplayDod(c.Request().Context(), s.actor(c), engine.DodReplayInput{Text: draft.text, Args: args, Last: replayUsual})
	refused, status, isRefusal := refusal(err)
	if err != nil && !isRefusal {
		return err
	}
	f := s.templateForm(draft, of, nil)
	if isRefusal {
		f.Errors, f.Message = refused.Fields, "The draft was not tried: please mend the marked fields."
		if len(refused.Fields) == 0 {
			f.Message = refused.Message
		}
	} else {
		f.Tried, status = dodReplayReport(r), http.StatusOK
	}
	if wantsFragment(c) {
		return s.fragment(c, status, views.TemplateFormFields(f))
	}
	return s.templateFormPage(c, status, f)
}

// tryNote says what trying a draft does and may ask.
func (s *Server) tryNote(text string) string {
	note := fmt.Sprintf("Over the stored evidence of the last %d finished plans; nothing is published.", replayUsual)
	spec, questions := s.Engine.EvaluatorSpec(), 0
	for _, c := range dod.ParseCriteria(text) {
		if c.Check.Kind == dod.CheckJudge {
			questions++
		}
	}
	if spec != "text" && questions > 0 {
		note += fmt.Sprintf(" At most %d questions to %s.", questions*replayUsual, spec)
	}
	return note
}
