package engine

import (
	"context"

	"donewhen/models"
	"donewhen/models/store"
)

// StaleApproval is why a phase that waits for an approval cannot be given one any
// more, "" when it can: it asks for something else since its pass was judged.
func (e *Engine) StaleApproval(ctx context.Context, ph models.Phase) (string, error) {
	if ph.Status != models.PhaseAwaitingApproval {
		return "", nil
	}
	return staleApproval(ctx, &e.Store.Reader, ph)
}

func staleApproval(ctx context.Context, r *store.Reader, ph models.Phase) (string, error) {
	err := refuseStaleApproval(ctx, r, ph)
	if refused, ok := err.(*models.Error); ok && refused.Code == models.CodeConflict {
		return refused.Message, nil
	}
	return "", err
}
