// Package storetest makes big databases for benchmarks and tests. The product
// does not import it.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"donewhen/models/store"
)

// Fill makes a database at path, through the real migrations, with plans that
// are over and finishedPhases completed phases spread evenly over them, each
// with one pass and one run. A million phases take some seconds. path must not
// exist yet; nothing may have the file open meanwhile.
func Fill(ctx context.Context, path string, finishedPhases, plans int) (err error) {
	if plans < 1 || finishedPhases < plans {
		return fmt.Errorf("storetest: %d phases cannot be spread over %d plans", finishedPhases, plans)
	}
	s, err := store.Open(ctx, path, store.Options{})
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	// No journal and no syncs: a file that is being made for a test can be made again.
	db, err := sql.Open("sqlite3", "file:"+path+"?_journal_mode=OFF&_synchronous=OFF")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() { err = errors.Join(err, db.Close()) }()

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback()
		}
	}()
	for _, step := range []struct {
		what  string
		query string
		args  []any
	}{
		{"project", projectRow, nil},
		{"plans", planRows, []any{plans}},
		{"phases", phaseRows, []any{finishedPhases, plans, plans, plans}},
		{"passes", passRows, []any{finishedPhases, plans}},
		{"runs", runRows, []any{finishedPhases, plans}},
		{"words", wordRows, nil},
	} {
		if _, err := tx.ExecContext(ctx, step.query, step.args...); err != nil {
			return fmt.Errorf("storetest: fill in the %s: %w", step.what, err)
		}
	}
	return tx.Commit()
}

// The rows are counted out by SQLite itself. Plan i has the id '01' and i as 24
// digits, which is a ULID; phase, pass and run n share their number.
const (
	count = `WITH RECURSIVE count (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM count WHERE n + 1 < ?) `
	when  = `'2025-01-01 00:00:00+00:00'`

	projectRow = `INSERT INTO projects (id, name, path, target_branch, require_dod, example, created_at)
		VALUES (1, 'filled', '/nowhere/filled', 'main', FALSE, FALSE, ` + when + `)`

	planRows = count + `INSERT INTO plans (id, project_id, title, goal, status, target_branch, base_commit, work_commit, work_tree,
			dod_source, dod_text, dod_args, criteria_json, unrecorded, version, form_key, created_by, created_at, updated_at, started_at, ended_at)
		SELECT printf('01%024d', n), 1, 'Plan ' || n, 'Tidy up part ' || n || ' of the house', CASE n % 10 WHEN 0 THEN 'discarded' ELSE 'applied' END,
			'main', '', '', '', 'It is done', 'It is done', '{}', '[]', '[]', 9, 'form-' || n, 1, ` + when + `, ` + when + `, ` + when + `, ` + when + `
		FROM count`

	phaseRows = count + `INSERT INTO phases (id, plan_id, position, name, task, agents, done_when, max_iterations, needs_approval, status,
			attempt, iteration, pass_id, reason, feedback, note, overridden, start_commit, restore_to, created_at, updated_at)
		SELECT n + 1, printf('01%024d', n % ?), n / ? + 1, 'Phase ' || (n / ? + 1), 'Do what the goal says', '[{"runtime":"shell","command":"make"}]',
			'the build is green', 3, FALSE, 'completed', 1, 0, n + 1, 'All criteria are met.', '', '', FALSE, '', '', ` + when + `, ` + when + `
		FROM count`

	passRows = count + `INSERT INTO passes (id, phase_id, plan_id, attempt, iteration, status, task_text, note, start_commit, end_commit,
			end_tree, evidence_hash, judge_tries, reason, claimed_by, created_at, started_at, ended_at)
		SELECT n + 1, n + 1, printf('01%024d', n % ?), 1, 0, 'met', 'Do what the goal says', '', '', '', '', '', 0, '', '', ` + when + `, ` + when + `, ` + when + `
		FROM count`

	wordRows = `INSERT INTO plan_words (plan_id, words)
		SELECT p.id, LOWER(p.title || ' ' || p.goal || ' ' || p.dod_text || ' ' || (SELECT GROUP_CONCAT(h.done_when || ' ' || h.reason, ' ') FROM phases h WHERE h.plan_id = p.id)) FROM plans p`

	runRows = count + `INSERT INTO runs (id, pass_id, phase_id, plan_id, position, try, agent, status, exit_code, pid, pid_start, final_message,
			activity, reason, input_tokens, output_tokens, cost_usd, "commit", tree, log_bytes, log_cut, created_at, started_at, ended_at)
		SELECT n + 1, n + 1, n + 1, printf('01%024d', n % ?), 1, 1, '{"runtime":"shell","command":"make"}', 'succeeded', 0, 0, 0, '', '', '',
			0, 0, 0, '', '', 0, FALSE, ` + when + `, ` + when + `, ` + when + `
		FROM count`
)
