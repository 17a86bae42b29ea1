package engine

import (
	"context"
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
		fields["reason"] = reasonTooLong
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
		phases, err := tx.PhasesOf(ctx, planID)
		if err != nil {
			return err
		}
		if err := recordDropped(ctx, tx, actor, planID, "definition of done", reason, dropsFrom(plan, fresh, phases)); err != nil {
			return err
		}
		set := store.PlanSet{DodSource: &fresh.DodSource, DodText: &fresh.DodText, CriteriaJSON: &fresh.CriteriaJSON, DodArgs: &fresh.DodArgs,
			TemplateVersionID: fresh.TemplateVersionID, NoTemplate: fresh.TemplateVersionID == nil, DodOpinions: &fresh.DodOpinions}
		if err := tx.SetPlan(ctx, planID, plan.Status, set); err != nil {
			return err
		}
		said := "was: none"
		if plan.DodText != "" {
			said = "was:\n" + plan.DodText
		}
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
	Drops  []dod.Criterion   // required criteria of a started plan, its phases' included, that it asks for no more
}

// DraftDod reads what EditDod would save. It stores nothing; what is wrong with it
// is said when it is saved.
func (e *Engine) DraftDod(ctx context.Context, actor models.Actor, plan models.Plan, in NewPlan) (DodDraft, error) {
	fresh := models.Plan{DodArgs: in.DodArgs}
	err := e.draftDod(ctx, actor, in, &fresh, func(string, string, ...any) {})
	d := DodDraft{Source: fresh.DodSource, Args: fresh.DodArgs}
	if err != nil || fresh.CriteriaJSON == "" { // it could not be read at all
		return d, err
	}
	phases, err := e.Store.PhasesOf(ctx, plan.ID)
	if err != nil {
		return d, err
	}
	d.Drops = linesOf(dropsFrom(plan, fresh, phases))
	return d, nil
}
