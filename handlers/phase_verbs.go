package handlers

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// doPhase does one verb to the phase of the address. The form carries the pass
// that the person saw.
func (s *Server) doPhase(c echo.Context, verb, said string, do func(ctx context.Context, a models.Actor, phase, pass int64) error) error {
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	ph, err := s.Reader.Phase(ctx, id)
	if err != nil {
		return err
	}
	pass, err := strconv.ParseInt(field(c, "pass"), 10, 64)
	if err != nil {
		pass = -1 // no pass has it: the engine answers that the phase has moved on
	}
	err = do(ctx, s.actor(c), id, pass)
	return s.decided(c, ph.PlanID, phaseKey(id, verb), said, views.PhasePath(ph.PlanID, id), err)
}

func note(c echo.Context) string { return strings.TrimSpace(field(c, "note")) }

// POST /phases/:id/approve
func (s *Server) approvePhase(c echo.Context) error {
	return s.doPhase(c, views.VerbApprove, "The phase is approved.", func(ctx context.Context, a models.Actor, phase, pass int64) error {
		return s.Engine.ApprovePhase(ctx, a, phase, pass, note(c))
	})
}

// POST /phases/:id/reject
func (s *Server) rejectPhase(c echo.Context) error {
	return s.doPhase(c, views.VerbReject, "The phase is rejected.", func(ctx context.Context, a models.Actor, phase, pass int64) error {
		return s.Engine.RejectPhase(ctx, a, phase, pass, reason(c))
	})
}

// POST /phases/:id/another-pass
func (s *Server) anotherPass(c echo.Context) error {
	return s.doPhase(c, views.VerbAnotherPass, "The phase gets another pass.", func(ctx context.Context, a models.Actor, phase, pass int64) error {
		return s.Engine.AnotherPass(ctx, a, phase, pass, note(c))
	})
}

// POST /phases/:id/more-passes
func (s *Server) morePasses(c echo.Context) error {
	return s.doPhase(c, views.VerbMorePasses, "The phase may take more passes and goes on.", func(ctx context.Context, a models.Actor, phase, pass int64) error {
		n, err := strconv.Atoi(strings.TrimSpace(field(c, "passes")))
		if err != nil || n > models.MaxIterations {
			return models.Invalid("passes", "Enter a number from 1 to %d.", models.MaxIterations)
		}
		return s.Engine.MorePasses(ctx, a, phase, pass, n, note(c))
	})
}

// POST /phases/:id/try-again
func (s *Server) tryPhaseAgain(c echo.Context) error {
	return s.doPhase(c, views.VerbTryAgain, "It is tried again.", s.Engine.TryAgain)
}

// POST /phases/:id/judge-again
func (s *Server) judgePhaseAgain(c echo.Context) error {
	return s.doPhase(c, views.VerbJudgeAgain, "The last pass is judged again.", s.Engine.JudgeAgain)
}

// POST /phases/:id/retry
func (s *Server) retryPhase(c echo.Context) error {
	return s.doPhase(c, views.VerbRetry, "A new attempt begins.", func(ctx context.Context, a models.Actor, phase, pass int64) error {
		from := field(c, "from")
		if from != "here" && from != "start" {
			return models.Invalid("from", "Choose what the new attempt begins with.")
		}
		return s.Engine.RetryPhase(ctx, a, phase, pass, from == "start", note(c))
	})
}

// POST /phases/:id/edit-condition
func (s *Server) editCondition(c echo.Context) error {
	return s.doPhase(c, views.VerbCondition, "The condition is changed.", func(ctx context.Context, a models.Actor, phase, pass int64) error {
		n, err := strconv.Atoi(strings.TrimSpace(field(c, "max_iterations")))
		if err != nil {
			n = 0 // out of range: the engine says what to enter
		}
		opinions, err := strconv.Atoi(cmp.Or(field(c, "opinions"), "0"))
		if err != nil {
			opinions = -1 // likewise
		}
		return s.Engine.EditCondition(ctx, a, phase, pass, engine.Condition{DoneWhen: field(c, "done_when"), MaxIterations: n, Opinions: opinions, Seen: field(c, "seen"), Reason: reason(c)})
	})
}

// POST /phases/:id/stop-run
func (s *Server) stopRun(c echo.Context) error {
	return s.doPhase(c, views.VerbStopRun, "The run is stopped. Its phase waits for you now, or once the plan is resumed.", func(ctx context.Context, a models.Actor, phase, pass int64) error {
		run, _ := strconv.ParseInt(field(c, "run"), 10, 64) // what is no number is no run: the engine refuses it
		return s.Engine.StopRun(ctx, a, phase, pass, run, reason(c))
	})
}

// POST /phases/:id/accept
func (s *Server) acceptPhase(c echo.Context) error {
	return s.doPhase(c, views.VerbAccept, "The phase is accepted as it is.", func(ctx context.Context, a models.Actor, phase, pass int64) error {
		return s.Engine.AcceptPhase(ctx, a, phase, pass, reason(c))
	})
}

// withoutApproval is what is left to choose when an approval could only be
// refused: another pass stands out instead.
func withoutApproval(verbs []views.Verb, ph models.Phase) []views.Verb {
	out := slices.DeleteFunc(verbs, func(v views.Verb) bool { return v.Key == phaseKey(ph.ID, views.VerbApprove) })
	for i := range out {
		if out[i].Key == phaseKey(ph.ID, views.VerbAnotherPass) {
			out[i].Kind = ui.Primary
		}
	}
	return out
}
