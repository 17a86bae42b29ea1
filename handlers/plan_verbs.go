package handlers

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/views"
)

// doPlan does one verb to the plan of the address: done leads back to its page,
// refused shows the page with the reason beside the button.
func (s *Server) doPlan(c echo.Context, verb, said string, do func(ctx context.Context, a models.Actor, id string) error) error {
	id, err := planParam(c)
	if err != nil {
		return err
	}
	key := "plan-" + verb
	if k := field(c, "key"); k != "" { // the same verb stands at more than one place
		key = k
	}
	return s.decided(c, id, key, said, views.PlanPath(id), do(c.Request().Context(), s.actor(c), id))
}

// decided answers a verb's form. A refusal of any kind keeps what was typed.
func (s *Server) decided(c echo.Context, planID, key, said, back string, err error) error {
	if err == nil {
		if err := s.flash(c, views.FlashDone, "%s", said); err != nil {
			return err
		}
		return seeOther(c, back)
	}
	e, status, ok := refusal(err)
	if !ok || status == http.StatusNotFound {
		return err
	}
	form := &refusedForm{key: key, err: e, values: map[string]string{}}
	for name := range c.Request().PostForm {
		form.values[name] = field(c, name)
	}
	return s.planPage(c, status, planID, form)
}

// POST /plans/:id/start
func (s *Server) startPlan(c echo.Context) error {
	return s.doPlan(c, views.VerbStart, "The plan is started.", s.Engine.StartPlan)
}

// POST /plans/:id/pause
func (s *Server) pausePlan(c echo.Context) error {
	return s.doPlan(c, views.VerbPause, "The plan is paused: what runs now runs to its end, nothing new starts.", s.Engine.PausePlan)
}

// POST /plans/:id/resume
func (s *Server) resumePlan(c echo.Context) error {
	return s.doPlan(c, views.VerbResume, "The plan goes on.", s.Engine.ResumePlan)
}

// POST /plans/:id/cancel
func (s *Server) cancelPlan(c echo.Context) error {
	return s.doPlan(c, views.VerbCancel, "The plan is cancelled. Its branch and workspace are kept.", func(ctx context.Context, a models.Actor, id string) error {
		return s.Engine.CancelPlan(ctx, a, id, reason(c))
	})
}

// POST /plans/:id/discard
func (s *Server) discardPlan(c echo.Context) error {
	return s.doPlan(c, views.VerbDiscard, "The plan is discarded. Its branch and workspace are kept until they are cleaned up.", func(ctx context.Context, a models.Actor, id string) error {
		return s.Engine.DiscardPlan(ctx, a, id, reason(c))
	})
}

// POST /plans/:id/clean
func (s *Server) cleanPlan(c echo.Context) error {
	return s.doPlan(c, views.VerbClean, "The workspace is removed. The branch is kept.", s.Engine.CleanUp)
}

// POST /plans/:id/evaluate
func (s *Server) evaluatePlan(c echo.Context) error {
	return s.doPlan(c, views.VerbEvaluate, "The definition of done is being evaluated.", s.Engine.Evaluate)
}

// POST /plans/:id/stop-evaluation
func (s *Server) stopEvaluation(c echo.Context) error {
	evaluation, _ := strconv.ParseInt(field(c, "evaluation"), 10, 64) // what is no number is no evaluation: the engine refuses it
	return s.doPlan(c, views.VerbStopEvaluation, "The evaluation is stopped. Evaluate again when it is time.", func(ctx context.Context, a models.Actor, id string) error {
		return s.Engine.StopEvaluation(ctx, a, id, evaluation, reason(c))
	})
}

// POST /plans/:id/apply
func (s *Server) applyPlan(c echo.Context) error {
	id, err := planParam(c)
	if err != nil {
		return err
	}
	evaluation, _ := strconv.ParseInt(field(c, "evaluation"), 10, 64) // what is no number was not shown by us: the engine refuses it
	err = s.Engine.Apply(c.Request().Context(), s.actor(c), id, strings.TrimSpace(field(c, "commit")), evaluation)
	return s.decided(c, id, "apply", "The plan is applied.", views.PlanPath(id), err)
}

// POST /plans/:id/criteria/:n/waive
func (s *Server) waiveCriterion(c echo.Context) error {
	return s.doCriterion(c, views.VerbWaive, "The criterion is waived.", func(ctx context.Context, a models.Actor, id string, n int, evaluation int64) error {
		return s.Engine.Waive(ctx, a, id, n, evaluation, reason(c))
	})
}

// POST /plans/:id/criteria/:n/take-back-waiver
func (s *Server) takeBackWaiver(c echo.Context) error {
	return s.doCriterion(c, views.VerbTakeBackWaiver, "The criterion counts again.", func(ctx context.Context, a models.Actor, id string, n int, evaluation int64) error {
		return s.Engine.TakeBackWaiver(ctx, a, id, n, evaluation, reason(c))
	})
}

// POST /plans/:id/criteria/:n/approve
func (s *Server) approveCriterion(c echo.Context) error {
	return s.doCriterion(c, views.VerbApprove, "The criterion is approved.", func(ctx context.Context, a models.Actor, id string, n int, evaluation int64) error {
		return s.Engine.SignOff(ctx, a, id, n, evaluation, true, reason(c))
	})
}

// POST /plans/:id/criteria/:n/reject
func (s *Server) rejectCriterion(c echo.Context) error { return s.reject(c, views.VerbReject) }

// POST /plans/:id/criteria/:n/take-back-approval: a rejection from another form
func (s *Server) takeBackApproval(c echo.Context) error {
	return s.reject(c, views.VerbTakeBackApproval)
}

func (s *Server) reject(c echo.Context, verb string) error {
	return s.doCriterion(c, verb, "The criterion is rejected.", func(ctx context.Context, a models.Actor, id string, n int, evaluation int64) error {
		return s.Engine.SignOff(ctx, a, id, n, evaluation, false, reason(c))
	})
}

func (s *Server) doCriterion(c echo.Context, verb, said string, do func(ctx context.Context, a models.Actor, id string, n int, evaluation int64) error) error {
	id, err := planParam(c)
	if err != nil {
		return err
	}
	n, err := idParam(c, "n")
	if err != nil {
		return err
	}
	evaluation, _ := strconv.ParseInt(field(c, "evaluation"), 10, 64) // what is no number is no evaluation: the engine refuses it
	return s.decided(c, id, criterionKey(int(n), verb), said, views.PlanPath(id)+"#gate", do(c.Request().Context(), s.actor(c), id, int(n), evaluation))
}

func reason(c echo.Context) string { return strings.TrimSpace(field(c, "reason")) }
