package engine

import (
	"slices"

	"donewhen/dod"
)

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

// Evaluators are all who may be asked: whoever judges done_when, whoever answers
// `judge` lines, the further judges; each once. There are none with `text` alone.
func (e *Engine) Evaluators() (specs []string) {
	for _, a := range e.askers() {
		specs = append(specs, a.Evaluator())
	}
	return specs
}

func (e *Engine) askers() (out []dod.Asker) {
	for _, a := range append([]dod.Asker{e.Judge, e.Evaluator}, e.MoreJudges...) {
		if a != nil && !slices.ContainsFunc(out, func(b dod.Asker) bool { return a.Evaluator() == b.Evaluator() }) {
			out = append(out, a)
		}
	}
	return out
}

// askerOf is the asker of that name, nil when there is none here.
func (e *Engine) askerOf(spec string) dod.Asker {
	for _, a := range e.askers() {
		if a.Evaluator() == spec {
			return a
		}
	}
	return nil
}
