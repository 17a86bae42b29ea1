package handlers

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

const canariesShown = 20 // on the judges' page, the newest

// POST /judges/planted-pass
func (s *Server) givePlanted(c echo.Context) error {
	of := field(c, "evaluator")
	err := s.Engine.GivePlanted(c.Request().Context(), s.actor(c), of)
	return s.judgeVerb(c, err, of, "", "It was given a planted pass. What it says stands below as soon as it has answered.")
}

// POST /judges/trust
func (s *Server) clearJudge(c echo.Context) error {
	of, reason := field(c, "evaluator"), field(c, "reason")
	err := s.Engine.ClearJudge(c.Request().Context(), s.actor(c), of, reason)
	return s.judgeVerb(c, err, of, reason, "It is trusted again.")
}

func (s *Server) judgeVerb(c echo.Context, err error, of, typed, said string) error {
	if e, status, ok := refusal(err); ok {
		return s.judgesPage(c, status, of, typed, e)
	}
	if err != nil {
		return err
	}
	if err := s.flash(c, views.FlashDone, "%s", said); err != nil {
		return err
	}
	return seeOther(c, views.JudgesPath+"#planted")
}

func (s *Server) plantedCard(c echo.Context) (views.PlantedCard, error) {
	ctx := c.Request().Context()
	card := views.PlantedCard{CanAct: s.user(c).Role.Can(lead), Now: s.Now(), Every: "Off: they are only given when somebody asks for it (DONEWHEN_CANARIES)."}
	if n := s.Engine.Canaries; n > 0 {
		card.Every = fmt.Sprintf("About one in %d judgings of each judge is followed by one (DONEWHEN_CANARIES).", n)
	}
	last, err := s.Reader.Canaries(ctx, canariesShown)
	if err != nil {
		return card, err
	}
	judges, err := s.Reader.Judges(ctx)
	if err != nil {
		return card, err
	}
	for _, spec := range s.Engine.Evaluators() {
		row := views.TrustRow{Evaluator: spec}
		for _, j := range judges {
			if j.Evaluator == spec && j.MissedCanary != nil {
				row.Distrusted, row.Missed = j.DistrustedAt, views.CanaryPath(*j.MissedCanary)
			}
		}
		for _, l := range last {
			row.Waiting = row.Waiting || l.Evaluator == spec && l.Outcome == models.CanaryAsked
		}
		card.Judges = append(card.Judges, row)
	}
	for _, l := range last {
		card.Last = append(card.Last, canaryRow(l))
	}
	return card, nil
}

func canaryRow(c models.Canary) views.CanaryRow {
	r := views.CanaryRow{Href: views.CanaryPath(c.ID), Title: engine.PlantedPass(c.Kind).Title, Evaluator: c.Evaluator, Word: string(c.Outcome), Tone: ui.ToneIdle, At: c.CreatedAt}
	if c.AskedBy != 0 {
		r.By = c.AskerName
	}
	switch c.Outcome {
	case models.CanaryCaught:
		r.Tone = ui.ToneOK
	case models.CanaryMissed:
		r.Tone = ui.ToneBad
	case models.CanaryTrouble:
		r.Tone = ui.ToneWarn
	case models.CanaryAsked:
		r.Word, r.Tone = "being asked", ui.ToneBusy
	}
	return r
}

// GET /canaries/:id
func (s *Server) showCanary(c echo.Context) error {
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	canary, err := s.Reader.Canary(c.Request().Context(), id)
	if err != nil {
		return err
	}
	v := views.CanaryView{Row: canaryRow(canary), Why: engine.PlantedPass(canary.Kind).Why, Took: time.Duration(canary.Millis) * time.Millisecond,
		Reason: cmp.Or(canary.Reason, "It has not answered yet.")}
	var a dod.Answer
	if canary.AnswerJSON != "" && json.Unmarshal([]byte(canary.AnswerJSON), &a) == nil {
		row := answerRow(a)
		row.Question = 1
		v.Answer = &row
	}
	if v.Meta, err = s.meta(c, "Planted pass", views.NavInsight); err != nil {
		return err
	}
	return s.page(c, http.StatusOK, views.CanaryPage(v))
}
