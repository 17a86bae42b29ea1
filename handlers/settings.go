package handlers

import (
	"cmp"
	"net/http"

	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/views"
)

// GET /settings: what the operator has set; it is read-only, because settings
// come from the environment and runtimes.yaml.
func (s *Server) showSettings(c echo.Context) error {
	e := s.Engine
	v := views.SettingsView{
		Judge: e.JudgeSpec(), Evaluator: e.EvaluatorSpec(), Canaries: e.Canaries, Workers: e.Workers, CheckLimit: limitText(int(e.CheckLimit.Seconds())),
		Passes: [2]int{models.MinIterations, models.MaxIterations}, Commands: string(e.CommandsBy),
	}
	for _, j := range e.MoreJudges {
		v.MoreJudges = append(v.MoreJudges, j.Evaluator())
	}
	for _, r := range e.RuntimeList() {
		v.Runtimes = append(v.Runtimes, views.RuntimeRow{
			Alias: r.Alias, Title: cmp.Or(r.Title, r.Alias), Program: r.Shown, Shell: r.Shell, Available: r.Available, Why: r.Unavailable,
			Limit: limitText(int(r.Limit.Seconds())), MaxLimit: limitText(int(r.MaxLimit.Seconds())),
		})
	}
	var err error
	if v.Meta, err = s.meta(c, "Settings", views.NavSettings); err != nil {
		return err
	}
	return s.page(c, http.StatusOK, views.SettingsPage(v))
}
