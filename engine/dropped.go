package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"donewhen/dod"
	"donewhen/models"
	"donewhen/models/store"
)

var reasonTooLong = sprintf("The reason is too long: at most %d bytes.", maxNote)

// agreed is what a plan's definition of done asks for.
func agreed(plan models.Plan) dod.Agreed {
	return dod.Agreed{Criteria: Criteria(plan), Args: plan.DodArgs, Opinions: models.ClampOpinions(plan.DodOpinions)}
}

// agreedIn is what a phase's condition asks for. Its commands read the plan's values.
func agreedIn(plan models.Plan, ph models.Phase) dod.Agreed {
	return dod.Agreed{Criteria: dod.ParseCriteria(ph.DoneWhen), Args: plan.DodArgs, Opinions: models.ClampOpinions(ph.Opinions)}
}

// drop is what a change asks for no more, in one place.
type drop struct {
	phaseID *int64 // nil: in the definition of done
	was     dod.Agreed
	lines   []dod.Criterion
}

// dropsFrom is what a started plan with fresh's definition of done and values asks
// for no more: in it, and in the conditions whose commands read other values then.
func dropsFrom(plan, fresh models.Plan, phases []models.Phase) []drop {
	if plan.Status == models.PlanDraft { // nobody relies on it yet
		return nil
	}
	drops := []drop{{was: agreed(plan), lines: dod.Dropped(agreed(plan), agreed(fresh))}}
	for _, ph := range phases {
		was := agreedIn(plan, ph)
		drops = append(drops, drop{phaseID: &ph.ID, was: was, lines: dod.Dropped(was, agreedIn(fresh, ph))})
	}
	return slices.DeleteFunc(drops, func(d drop) bool { return len(d.lines) == 0 })
}

func linesOf(drops []drop) (lines []dod.Criterion) {
	for _, d := range drops {
		lines = append(lines, d.lines...)
	}
	return lines
}

// recordDropped keeps what a change of a started plan asks for no more. It needs a
// reason then, which the gate names: the error's field is "reason". what is the
// thing that is changed.
func recordDropped(ctx context.Context, tx *store.Tx, actor models.Actor, planID, what, reason string, drops []drop) error {
	if len(drops) > 0 && reason == "" {
		return &models.Error{Code: models.CodeInvalid, Message: "The " + what + " was not saved yet: say why it is changed.", Fields: map[string]string{
			"reason": dropsSentence(linesOf(drops)) + ". Say why: the plan has started, and the gate will name the reason."}}
	}
	for _, d := range drops {
		d.was.Criteria = d.lines
		change := models.DodChange{PlanID: planID, PhaseID: d.phaseID, DroppedJSON: toJSON(d.was), Reason: reason, UserID: actor.ID, UserName: actor.Name}
		if err := tx.InsertDodChange(ctx, &change); err != nil {
			return err
		}
	}
	return nil
}

// dropsSentence names what would be asked for no more, without its full stop.
func dropsSentence(dropped []dod.Criterion) string {
	names := make([]string, len(dropped))
	for i, c := range dropped {
		names[i] = cutLine(c.Text, 120)
	}
	what := "This takes out or changes a required line"
	if len(dropped) > 1 {
		what = fmt.Sprintf("This takes out or changes %d required lines", len(dropped))
	}
	return what + " (" + strings.Join(names, "; ") + ")"
}

// droppedSince are the criteria that were asked for since the plan's start and are
// not any more, in its definition of done and its phases' conditions, each with who
// took it out last and why.
func droppedSince(changes []models.DodChange, plan models.Plan, phases []models.Phase) []dod.DroppedCriterion {
	type line struct {
		phase int64
		dod.Criterion
	}
	var out []dod.DroppedCriterion
	seen := map[line]bool{}
	for _, c := range slices.Backward(changes) {
		d := dod.DroppedCriterion{Text: "a criterion that cannot be read", By: c.UserName, Reason: c.Reason}
		now, phase := agreed(plan), int64(0)
		if c.PhaseID != nil {
			at := slices.IndexFunc(phases, func(ph models.Phase) bool { return ph.ID == *c.PhaseID })
			if at < 0 {
				continue // a phase of a started plan is never taken away
			}
			now, phase = agreedIn(plan, phases[at]), phases[at].ID
			d.Position, d.Phase = phases[at].Position, phases[at].Name
		}
		var was dod.Agreed
		if err := json.Unmarshal([]byte(c.DroppedJSON), &was); err != nil { // it was something, and it is not known to be back
			out = append(out, d)
			continue
		}
		for _, gone := range dod.Dropped(was, now) {
			one := line{phase, gone}
			if one.Index = 0; seen[one] {
				continue
			}
			seen[one] = true
			d.Text, d.Level = gone.Text, gone.Level
			out = append(out, d)
		}
	}
	return out
}
