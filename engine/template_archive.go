package engine

import (
	"context"
	"strings"

	"donewhen/models"
	"donewhen/models/store"
)

// ArchiveTemplate takes a template out of the choices for new plans (archive),
// or brings it back. Its versions, and the plans that pin one, stay as they are.
// why is required for archiving: it stands in the audit log with who did it. A
// template that is in that state already is a CodeConflict.
func (e *Engine) ArchiveTemplate(ctx context.Context, actor models.Actor, id int64, archive bool, why string) error {
	if err := require(actor, models.RoleLead); err != nil {
		return err
	}
	why = strings.TrimSpace(why)
	switch {
	case archive && why == "":
		return models.Invalid("why", "Say why: it stands in the audit log.")
	case len(why) > maxNote:
		return models.Invalid("why", "That is too long: at most %d bytes.", maxNote)
	}
	err := e.Store.Decide(ctx, func(tx *store.Tx) error {
		d, err := tx.TemplateDetail(ctx, id)
		if err != nil {
			return err
		}
		if err := tx.ArchiveTemplate(ctx, id, archive); err != nil {
			return err
		}
		kind, reason := "template.archived", d.Template.Name
		if !archive {
			kind = "template.restored"
		}
		if why != "" {
			reason += ": " + why
		}
		return tx.InsertEvent(ctx, models.Event{Kind: kind, ActorID: actor.ID, Actor: actor.Name, Reason: reason})
	})
	return e.changed("", err)
}
