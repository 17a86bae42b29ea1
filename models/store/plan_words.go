package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"donewhen/models"
)

// Bounds of what is searched of a plan, in bytes of each text.
const (
	wordsTitle  = 300
	wordsGoal   = 1000
	wordsDod    = 2000
	wordsWhen   = 1000
	wordsReason = 500
	wordsAll    = 8000
)

// planTexts are the texts of a plan that its words are made of.
type planTexts struct {
	ID, Title, Goal, DodText string
	phases                   []phaseTexts
}

type phaseTexts struct{ PlanID, Name, DoneWhen, Reason, Judged string }

// planTexts reads what the words of plans are made of: nothing that is long.
func (r Reader) planTexts(ctx context.Context, ids []string) ([]planTexts, error) {
	list, err := rows[planTexts](r.q(ctx).Table("plans").
		Select("id, SUBSTR(title, 1, ?) AS title, SUBSTR(goal, 1, ?) AS goal, SUBSTR(dod_text, 1, ?) AS dod_text", wordsTitle, wordsGoal, wordsDod).
		Where("id IN ?", ids), "the texts of plans")
	if err != nil {
		return nil, err
	}
	phases, err := rows[phaseTexts](r.q(ctx).Table("phases").
		Select(`plan_id, name, SUBSTR(done_when, 1, ?) AS done_when, SUBSTR(reason, 1, ?) AS reason, COALESCE((
			SELECT SUBSTR(v.reason, 1, ?) FROM verdicts v WHERE v.pass_id = phases.pass_id ORDER BY v.id DESC LIMIT 1), '') AS judged`,
			wordsWhen, wordsReason, wordsReason).
		Where("plan_id IN ?", ids).Order("plan_id, position"), "the texts of phases")
	if err != nil {
		return nil, err
	}
	for i := range list {
		for _, p := range phases {
			if p.PlanID == list[i].ID {
				list[i].phases = append(list[i].phases, p)
			}
		}
	}
	return list, nil
}

// words are the plan's texts in small letters.
func (p planTexts) words() string {
	parts := []string{p.Title, p.Goal, p.DodText}
	for _, h := range p.phases {
		parts = append(parts, h.DoneWhen, h.Reason, h.Judged)
	}
	small := models.AppendSmall(nil, []byte(strings.Join(parts, "\n")))
	for n := wordsAll; len(small) > n; n-- {
		if utf8.RuneStart(small[n]) {
			small = small[:n]
			break
		}
	}
	return string(small)
}

// excerpt says where the plan has the words; nil when that is its title, which
// the list shows anyway. What was a reason when the words were stored and is
// none any more is said so.
func (p planTexts) excerpt(words string) *models.Excerpt {
	const around = 60
	if models.FindExcerpt("", p.Title, words, 0) != nil {
		return nil
	}
	if e := models.FindExcerpt("Goal", p.Goal, words, around); e != nil {
		return e
	}
	if e := models.FindExcerpt("Definition of done", lineWith(p.DodText, words), words, around); e != nil {
		return e
	}
	for _, h := range p.phases {
		for _, t := range []struct{ where, text string }{
			{"Criterion of " + h.Name, lineWith(h.DoneWhen, words)}, {"Reason of " + h.Name, h.Reason}, {"Verdict on " + h.Name, h.Judged},
		} {
			if e := models.FindExcerpt(t.where, t.text, words, around); e != nil {
				return e
			}
		}
	}
	return &models.Excerpt{Where: "A longer text, or an earlier reason"}
}

// lineWith is the line of a text that has the words: a criterion. Words that go
// over several lines give the text.
func lineWith(text, words string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if bare := strings.TrimPrefix(line, "- "); models.FindExcerpt("", bare, words, 0) != nil {
			return bare
		}
		if models.FindExcerpt("", line, words, 0) != nil {
			return line
		}
	}
	return text
}

// reword notes that the words of a plan have changed.
func (tx *Tx) reword(planID string) {
	if planID != "" && !slices.Contains(tx.reworded, planID) {
		tx.reworded = append(tx.reworded, planID)
	}
}

// rewordPhase notes it by one of the plan's phases.
func (tx *Tx) rewordPhase(ctx context.Context, phaseID int64) error {
	var ids []string
	if err := tx.q(ctx).Raw("SELECT plan_id FROM phases WHERE id = ?", phaseID).Scan(&ids).Error; err != nil {
		return fmt.Errorf("read the plan of phase %d: %w", phaseID, err)
	}
	for _, id := range ids {
		tx.reword(id)
	}
	return nil
}

// writeWords stores the words of the plans whose texts the transaction changed.
func (tx *Tx) writeWords(ctx context.Context) error {
	if len(tx.reworded) == 0 {
		return nil
	}
	list, err := tx.planTexts(ctx, tx.reworded)
	if err != nil {
		return err
	}
	for _, p := range list {
		err := tx.q(ctx).Exec("INSERT INTO plan_words (plan_id, words) VALUES (?, ?) ON CONFLICT (plan_id) DO UPDATE SET words = excluded.words", p.ID, p.words()).Error
		if err != nil {
			return fmt.Errorf("store the words of plan %s: %w", p.ID, err)
		}
	}
	return nil
}

// foundIn fills in where the listed plans have the words.
func (r Reader) foundIn(ctx context.Context, list []models.PlanRow, ids []string, words string) error {
	texts, err := r.planTexts(ctx, ids)
	if err != nil {
		return err
	}
	for _, t := range texts {
		if i := slices.IndexFunc(list, func(row models.PlanRow) bool { return row.ID == t.ID }); i >= 0 {
			list[i].Found = t.excerpt(words)
		}
	}
	return nil
}
