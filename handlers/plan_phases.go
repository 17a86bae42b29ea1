package handlers

import (
	"context"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/views"
)

// Bounds of the timeline, so that a plan with a long history does not make a
// heavy page. What is left out is one link away.
const (
	maxWholePhases = 12       // plans with more show the ones around the open phase whole, the others as a line
	nearPhases     = 2        // whole on each side of the open phase and of the one asked for
	maxPassTexts   = 96 << 10 // of all passes that open on the page, in bytes; the newest come first
	passFrame      = 3 << 10  // what a pass costs beside its texts, about
)

// openedPhase is the phase that the reader asks to see whole, or whose verb was
// just posted; 0 for none.
func openedPhase(c echo.Context) int64 {
	wanted := c.QueryParam("phase")
	if strings.HasPrefix(c.Path(), "/phases/") {
		wanted = c.Param("id")
	}
	id, err := strconv.ParseInt(wanted, 10, 64)
	if err != nil {
		return 0
	}
	return id
}

func (b *planBuilder) phases(ctx context.Context) (views.PhasesCard, error) {
	card := views.PhasesCard{PlanID: b.plan().ID, Opened: b.opened, Now: b.now}
	whole, marks := wholePhases(b.detail.Phases, b.opened), gridMarks
	grids := make([]*views.Grid, len(b.detail.Phases))
	for i := len(grids) - 1; i >= 0; i-- { // the newest first
		if whole[i] {
			grids[i] = phaseGrid(b.detail.Phases[i], &marks)
		}
	}
	summaries, err := b.s.Reader.SummariesOf(ctx, b.plan().ID)
	if err != nil {
		return card, err
	}
	for i, d := range b.detail.Phases {
		last := i == len(b.detail.Phases)-1
		if !whole[i] {
			ph := d.Phase
			card.Phases = append(card.Phases, views.PhaseCard{ID: ph.ID, Position: ph.Position, Name: ph.Name, Status: ph.Status, Brief: true,
				PassCount: len(d.Passes), Overridden: ph.Overridden, Last: last})
			continue
		}
		stale, err := b.s.Engine.StaleApproval(ctx, d.Phase)
		if err != nil {
			return card, err
		}
		ph := b.phase(d, last, stale)
		ph.Grid = grids[i]
		if s, ok := summaries[deref(d.Phase.PassID)]; ok && d.Phase.Status == models.PhaseCompleted {
			ph.Summary = summaryCard(s, d)
		}
		if grids[i] != nil && b.role.Can(lead) {
			ph.Replay = views.ReplayPhasePath(d.Phase.ID)
		}
		if ph.Forecast, err = b.s.Engine.Forecast(ctx, d.Phase); err != nil {
			return card, err
		}
		card.Phases = append(card.Phases, ph)
	}
	boundPasses(card.Phases)
	return card, nil
}

// wholePhases says which phases are shown whole.
func wholePhases(phases []models.PhaseDetail, opened int64) []bool {
	whole := make([]bool, len(phases))
	show := func(at int) {
		for i := max(0, at-nearPhases); i <= min(len(phases)-1, at+nearPhases); i++ {
			whole[i] = true
		}
	}
	open := len(phases) - 1
	for i := len(phases) - 1; i >= 0; i-- {
		switch st := phases[i].Phase.Status; {
		case len(phases) <= maxWholePhases:
			whole[i] = true
		case st != models.PhaseCompleted && st != models.PhasePending && st != models.PhaseCancelled:
			whole[i] = true // something happens here, or it waits for a person
			open = i
		case st != models.PhaseCompleted:
			open = i
		}
	}
	for i, d := range phases {
		if d.Phase.ID == opened {
			show(i)
		}
	}
	show(open)
	return whole
}

// boundPasses keeps what opens under the newest passes, as far as the page's
// bound goes; the others become links to their own pages.
func boundPasses(phases []views.PhaseCard) {
	left := maxPassTexts
	for i := len(phases) - 1; i >= 0; i-- {
		for j := len(phases[i].Passes) - 1; j >= 0; j-- {
			p := &phases[i].Passes[j]
			if len(p.Task) > maxTaskShown || len(p.Task) > left/2 {
				p.Task = ""
			}
			cost := passFrame + len(p.Reason) + len(p.Note) + len(p.Task)
			for _, r := range p.Results {
				cost += len(r.Text) + len(r.Reasoning)
			}
			if cost > left && !p.Open {
				*p = views.PassRow{ID: p.ID, Position: p.Position, Number: p.Number, Attempt: p.Attempt, Retried: p.Retried, Status: p.Status,
					Mark: p.Mark, Took: p.Took, Ended: p.Ended, Started: p.Started, PlanID: p.PlanID, Now: p.Now, Brief: true}
				continue
			}
			left -= cost
		}
	}
}
