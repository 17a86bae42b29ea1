package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"donewhen/models"
)

// table is a kind of row that has a status.
type table struct {
	name string
	noun string // in sentences
	kind string // in event kinds
	refs string // what an event of it refers to: plan, phase, pass, run
}

var (
	plansTable       = table{"plans", "plan", "plan", "id, NULL, NULL, NULL"}
	phasesTable      = table{"phases", "phase", "phase", "plan_id, id, pass_id, NULL"}
	passesTable      = table{"passes", "pass", "pass", "plan_id, phase_id, id, NULL"}
	runsTable        = table{"runs", "run", "run", "plan_id, phase_id, pass_id, id"}
	evaluationsTable = table{"evaluations", "evaluation", "evaluation", "plan_id, NULL, NULL, NULL"}
	attemptsTable    = table{"apply_attempts", "try to apply the plan", "apply", "plan_id, NULL, NULL, NULL"}
)

// move changes a status by compare-and-swap and writes its event. A move that
// models.MayMove forbids is our own fault and a plain error; a row that is no
// longer in from is a CodeConflict and nothing is written.
func move[S models.Status](ctx context.Context, tx *Tx, t table, id any, from, to S, c columns, why Why) error {
	if !models.MayMove(from, to) {
		return fmt.Errorf("store: %s %v may not go from %q to %q", t.noun, id, from, to)
	}
	c.put("status", string(to))
	e := models.Event{
		Kind:    cmp.Or(why.Kind, t.kind+"."+string(to)),
		From:    string(from),
		To:      string(to),
		ActorID: why.Actor.ID,
		Actor:   why.Actor.Name,
		Reason:  why.Reason,
	}
	if err := update(ctx, tx, t, id, from, c, &e); err != nil {
		return err
	}
	return tx.InsertEvent(ctx, e)
}

// update writes columns of the row that is in status when ("" is any) and fills
// in what the event refers to.
func update[S models.Status](ctx context.Context, tx *Tx, t table, id any, when S, c columns, e *models.Event) error {
	if e == nil {
		e = &models.Event{}
	}
	var q strings.Builder
	fmt.Fprintf(&q, `UPDATE %s SET `, t.name)
	for i, name := range c.names {
		if i > 0 {
			q.WriteString(", ")
		}
		fmt.Fprintf(&q, `"%s" = ?`, name)
	}
	if len(c.names) == 0 {
		q.WriteString("status = status")
	}
	q.WriteString(" WHERE id = ?")
	args := append(c.values, id)
	if when != "" {
		q.WriteString(" AND status = ?")
		args = append(args, string(when))
	}
	q.WriteString(" RETURNING " + t.refs)

	err := tx.q(ctx).Raw(q.String(), args...).Row().Scan(&e.PlanID, &e.PhaseID, &e.PassID, &e.RunID)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return tx.conflict(ctx, t, id)
	case err != nil:
		return fmt.Errorf("update %s %v: %w", t.noun, id, err)
	}
	tx.touch(e.PlanID)
	return nil
}

// conflict says what became of a row that is not in the expected status.
func (tx *Tx) conflict(ctx context.Context, t table, id any) error {
	var now []string
	if err := tx.q(ctx).Raw("SELECT status FROM "+t.name+" WHERE id = ?", id).Scan(&now).Error; err != nil {
		return fmt.Errorf("read the status of %s %v: %w", t.noun, id, err)
	}
	if len(now) == 0 {
		return models.Errorf(models.CodeNotFound, "There is no %s %v. It may have been typed wrongly.", t.noun, id)
	}
	return models.Errorf(models.CodeConflict, "The %s changed meanwhile: it is now %s. Look at it again.", t.noun, strings.ReplaceAll(now[0], "_", " "))
}
