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

// EditDod replaces the definition of done of a plan that is not over. The
// fingerprint moves with it, so that an earlier evaluation does not count. Once
// the plan has started, a required criterion that is asked for no more needs a
// reason (field "reason"), which the gate then shows beside the criterion. seen is
// SeenDod of what the person had before them, "" to replace whatever is there.
func (e *Engine) EditDod(ctx context.Context, actor models.Actor, planID string, in NewPlan, reason, seen string) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	reason = strings.TrimSpace(reason)
	fields := map[string]string{}
	fresh := models.Plan{DodArgs: in.DodArgs}
	err := e.draftDod(ctx, actor, in, &fresh, func(field, format string, args ...any) { fields[field] = sprintf(format, args...) })
	if err != nil {
		return err
	}
	if len(reason) > maxNote {
		fields["reason"] = sprintf("The reason is too long: at most %d bytes.", maxNote)
	}
	if len(fields) > 0 {
		return &models.Error{Code: models.CodeInvalid, Message: "The definition of done was not saved: please mend it.", Fields: fields}
	}
	return e.decide(ctx, planID, func(tx *store.Tx) error {
		plan, err := tx.Plan(ctx, planID)
		if err != nil {
			return err
		}
		if plan.Status.Over() || plan.Status == models.PlanApplying {
			return wrongState(plan, "changed")
		}
		if seen != "" && seen != SeenDod(plan) {
			return changedMeanwhile(ctx, tx, "definition of done", "plan.dod_changed", "dod", planID, 0)
		}
		if SeenDod(plan) == SeenDod(fresh) {
			return models.Invalid("dod", "Nothing is different. Change the text, the template or a value.")
		}
		dropped := agreed(plan)
		dropped.Criteria = dropsFrom(plan, fresh)
		if len(dropped.Criteria) > 0 && reason == "" {
			return &models.Error{Code: models.CodeInvalid, Message: "The definition of done was not saved yet: say why it is changed.", Fields: map[string]string{
				"reason": dropsSentence(dropped.Criteria) + ". Say why: the plan has started, and the gate will name the reason."}}
		}
		set := store.PlanSet{DodSource: &fresh.DodSource, DodText: &fresh.DodText, CriteriaJSON: &fresh.CriteriaJSON, DodArgs: &fresh.DodArgs,
			TemplateVersionID: fresh.TemplateVersionID, NoTemplate: fresh.TemplateVersionID == nil, DodOpinions: &fresh.DodOpinions}
		if err := tx.SetPlan(ctx, planID, plan.Status, set); err != nil {
			return err
		}
		if len(dropped.Criteria) > 0 {
			change := models.DodChange{PlanID: planID, DroppedJSON: toJSON(dropped), Reason: reason, UserID: actor.ID, UserName: actor.Name}
			if err := tx.InsertDodChange(ctx, &change); err != nil {
				return err
			}
		}
		said := "was:\n" + plan.DodText
		if reason != "" {
			said = reason + "\n" + said
		}
		to := ""
		if !slices.Equal(dod.ArgEnv(plan.DodArgs), dod.ArgEnv(fresh.DodArgs)) {
			to = argsChanged
		}
		return tx.InsertEvent(ctx, models.Event{PlanID: planID, Kind: "plan.dod_changed", To: to, ActorID: actor.ID, Actor: actor.Name, Reason: said})
	})
}

// DodDraft is a definition of done that is being typed, as far as it can be read.
type DodDraft struct {
	Source string            // the typed text, or the chosen template's
	Args   map[string]string // as typed, with the template's defaults
	Drops  []dod.Criterion   // required criteria of a started plan that it asks for no more
}

// DraftDod reads what EditDod would save. It stores nothing; what is wrong with it
// is said when it is saved.
func (e *Engine) DraftDod(ctx context.Context, actor models.Actor, plan models.Plan, in NewPlan) (DodDraft, error) {
	fresh := models.Plan{DodArgs: in.DodArgs}
	err := e.draftDod(ctx, actor, in, &fresh, func(string, string, ...any) {})
	d := DodDraft{Source: fresh.DodSource, Args: fresh.DodArgs}
	if fresh.CriteriaJSON != "" { // else it could not be read at all
		d.Drops = dropsFrom(plan, fresh)
	}
	return d, err
}

func dropsFrom(plan, fresh models.Plan) []dod.Criterion {
	if plan.Status == models.PlanDraft { // nobody relies on it yet
		return nil
	}
	return dod.Dropped(agreed(plan), agreed(fresh))
}

func agreed(plan models.Plan) dod.Agreed {
	return dod.Agreed{Criteria: Criteria(plan), Args: plan.DodArgs, Opinions: models.ClampOpinions(plan.DodOpinions)}
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
// not any more, each with who took it out last and why.
func droppedSince(changes []models.DodChange, plan models.Plan) []dod.DroppedCriterion {
	var out []dod.DroppedCriterion
	seen := map[dod.Criterion]bool{}
	for _, c := range slices.Backward(changes) {
		var was dod.Agreed
		if err := json.Unmarshal([]byte(c.DroppedJSON), &was); err != nil { // it was something, and it is not known to be back
			out = append(out, dod.DroppedCriterion{Text: "a criterion that cannot be read", By: c.UserName, Reason: c.Reason})
			continue
		}
		for _, gone := range dod.Dropped(was, agreed(plan)) {
			one := gone
			if one.Index = 0; seen[one] {
				continue
			}
			seen[one] = true
			out = append(out, dod.DroppedCriterion{Text: gone.Text, Level: gone.Level, By: c.UserName, Reason: c.Reason})
		}
	}
	return out
}
