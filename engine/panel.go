package engine

import "donewhen/dod"

// panelFor is who has to say met where so many opinions are wanted: first, then
// the further judges, then first again; nobody when there is no first.
func (e *Engine) panelFor(first dod.Asker, opinions int) []dod.Asker {
	return dod.Panel(first, e.MoreJudges, opinions)
}

// seat puts a panel into a suite; the plan pays for each of its questions.
func (e *Engine) seat(s *dod.Suite, planID string, panel []dod.Asker) {
	for i, a := range panel {
		if a = e.withinBudget(planID, a); i == 0 {
			s.Asker = a
		} else {
			s.Others = append(s.Others, a)
		}
	}
}

// JudgePanel names who judges a done_when with so many opinions, in the order in
// which they are asked; nobody when no model is configured.
func (e *Engine) JudgePanel(opinions int) []string { return names(e.panelFor(e.Judge, opinions)) }

// EvaluatorPanel is JudgePanel for `judge` lines of a definition of done.
func (e *Engine) EvaluatorPanel(opinions int) []string {
	return names(e.panelFor(e.Evaluator, opinions))
}

func names(panel []dod.Asker) []string {
	out := make([]string, len(panel))
	for i, a := range panel {
		out[i] = a.Evaluator()
	}
	return out
}
