package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"donewhen/models"
	"donewhen/models/store"
)

// SeenDod names a plan's definition of done as it stands, for a form that replaces
// it: who saves over a newer one than they saw is told, so that no other lead's
// change is lost unseen.
func SeenDod(p models.Plan) string {
	args := p.DodArgs
	if len(args) == 0 {
		args = nil // none is none, however it is stored
	}
	return seen(p.DodSource, args, p.TemplateVersionID, models.ClampOpinions(p.DodOpinions))
}

// SeenCondition is SeenDod for a phase's condition.
func SeenCondition(ph models.Phase) string { return seen(ph.DoneWhen, ph.MaxIterations, ph.Opinions) }

func seen(parts ...any) string {
	sum := sha256.Sum256([]byte(toJSON(parts)))
	return hex.EncodeToString(sum[:8])
}

// changedMeanwhile refuses to save over what somebody else has changed since.
func changedMeanwhile(ctx context.Context, tx *store.Tx, what, kind, field, planID string, phaseID int64) error {
	events, err := tx.EventsOf(ctx, planID, 0, 100)
	if err != nil {
		return err
	}
	who := "Somebody"
	for _, e := range events {
		if e.Kind == kind && e.Actor != "" && (phaseID == 0 || e.PhaseID != nil && *e.PhaseID == phaseID) {
			who = e.Actor
			break
		}
	}
	return &models.Error{Code: models.CodeConflict,
		Message: sprintf("%s changed the %s meanwhile. What you typed is still here: look at what it says now, and save again to replace it.", who, what),
		Fields:  map[string]string{field: sprintf("%s changed it meanwhile. Save again to replace that.", who)}}
}
