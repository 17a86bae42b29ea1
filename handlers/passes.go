package handlers

import (
	"fmt"
	"net/http"

	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/views"
)

// GET /passes/:id
func (s *Server) showPass(c echo.Context) error {
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	pass, err := s.Reader.Pass(ctx, id)
	if err != nil {
		return err
	}
	detail, err := s.Reader.PlanDetail(ctx, pass.PlanID)
	if err != nil {
		return err
	}
	ph, d, err := findPass(detail, id)
	if err != nil {
		return err
	}
	v := views.PassView{Plan: detail.Plan.Title, PlanID: pass.PlanID, Phase: ph.Name, PhaseID: ph.ID, Pass: passRow(d, ph, s.Now()), Task: pass.TaskText}
	v.Pass.Task = "" // it has a card of its own here
	sum, err := s.Reader.SummaryOf(ctx, id)
	if err != nil {
		return err
	}
	if sum != nil {
		if v.Summary = summaryCard(*sum, models.PhaseDetail{Phase: ph, Passes: []models.PassDetail{d}}); v.Summary != nil {
			v.Summary.System, v.Summary.Prompt, v.Summary.Raw = sum.System, sum.Prompt, sum.Raw
		}
	}
	before, err := s.Reader.PassBefore(ctx, pass)
	if err != nil {
		return err
	}
	if before != nil {
		v.OlderPass, v.TaskDiff = before.ID, textDiff(before.TaskText, pass.TaskText)
	}
	if v.PageMeta, err = s.meta(c, v.Pass.Title()+" of "+ph.Name, views.NavPlans); err != nil {
		return err
	}
	return s.page(c, http.StatusOK, views.PassPage(v))
}

func findPass(detail models.PlanDetail, id int64) (models.Phase, models.PassDetail, error) {
	for _, ph := range detail.Phases {
		for _, p := range ph.Passes {
			if p.Pass.ID == id {
				return ph.Phase, p, nil
			}
		}
	}
	return models.Phase{}, models.PassDetail{}, models.Errorf(models.CodeNotFound, "There is no pass %d. It may have been typed wrongly.", id)
}

// textDiff compares two texts line by line: equal lines around a change are
// kept, longer stretches of them are one remark. nil when the texts are equal.
func textDiff(older, newer string) []views.DiffLine {
	if older == newer {
		return nil
	}
	var out []views.DiffLine
	for _, l := range diffLines(older, newer) {
		out = append(out, views.DiffLine{Op: l.Kind[0], Old: int64(l.Old), New: int64(l.New), Text: l.Text})
	}
	return foldEqual(out)
}

// foldEqual keeps two equal lines on either side of a change.
func foldEqual(lines []views.DiffLine) []views.DiffLine {
	const around = 2
	near := make([]bool, len(lines))
	for i, l := range lines {
		if l.Op != ' ' {
			for k := max(0, i-around); k <= min(len(lines)-1, i+around); k++ {
				near[k] = true
			}
		}
	}
	var out []views.DiffLine
	for i := 0; i < len(lines); {
		if near[i] {
			out = append(out, lines[i])
			i++
			continue
		}
		n := 0
		for i+n < len(lines) && !near[i+n] {
			n++
		}
		out = append(out, views.DiffLine{Op: '\\', Text: fmt.Sprintf("%d equal lines", n)})
		i += n
	}
	return out
}
