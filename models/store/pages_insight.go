package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"donewhen/models"
)

// PassStats counts the passes that ended since then, of phases with a
// completion condition, by the plan's template, number and outcome. It reads
// the newest limit passes at most.
func (r Reader) PassStats(ctx context.Context, since time.Time, limit int) (stats models.PassStats, err error) {
	since = stamp(since)
	err = r.snapshot(ctx, func(r Reader) error {
		if stats.CutAt, err = r.cutAt(ctx, "SELECT ended_at FROM passes WHERE ended_at >= ? ORDER BY ended_at DESC", since, limit); err != nil {
			return err
		}
		err := r.q(ctx).Raw(passCountsQuery, since, limit).Find(&stats.Counts).Error
		if err != nil {
			return fmt.Errorf("count the passes: %w", err)
		}
		return nil
	})
	return stats, err
}

// The innermost query is a range of a covering index; names are looked up for
// the few groups, not for each pass.
const passCountsQuery = `SELECT COALESCE(t.name, '') AS template, c.number, c.status = 'met' AS met, SUM(c.passes) AS count
	FROM (SELECT p.iteration + 1 AS number, p.status, plans.template_version_id, COUNT(*) AS passes
		FROM (SELECT phase_id, status, iteration FROM passes WHERE ended_at >= ? ORDER BY ended_at DESC LIMIT ?) p
		JOIN phases ON phases.id = p.phase_id
		JOIN plans ON plans.id = phases.plan_id
		WHERE p.status IN ('met', 'not_met') AND phases.done_when <> ''
		GROUP BY p.iteration, p.status, plans.template_version_id) c
	LEFT JOIN template_versions v ON v.id = c.template_version_id
	LEFT JOIN templates t ON t.id = v.template_id
	GROUP BY COALESCE(t.name, ''), c.number, c.status
	ORDER BY 1, 2, 3`

// RunStats adds up what the runs that ended since then took, by the name of
// their phase and their runtime. It reads the newest limit runs at most.
func (r Reader) RunStats(ctx context.Context, since time.Time, limit int) (stats models.RunStats, err error) {
	since = stamp(since)
	err = r.snapshot(ctx, func(r Reader) error {
		if stats.CutAt, err = r.cutAt(ctx, "SELECT ended_at FROM runs WHERE ended_at >= ? ORDER BY ended_at DESC", since, limit); err != nil {
			return err
		}
		list, err := r.q(ctx).Raw(endedRunsQuery, since, limit).Rows()
		if err != nil {
			return fmt.Errorf("read the ended runs: %w", err)
		}
		defer list.Close()
		sums := runSums{groups: map[runKey]*models.RunGroup{}, runtimes: map[string]string{}}
		for list.Next() {
			if err := sums.add(list); err != nil {
				return fmt.Errorf("read the ended runs: %w", err)
			}
		}
		if err := list.Err(); err != nil {
			return fmt.Errorf("read the ended runs: %w", err)
		}
		stats.Groups = sums.sorted()
		return nil
	})
	return stats, err
}

const endedRunsQuery = `SELECT phases.name, r.agent, r.started_at, r.ended_at, r.input_tokens, r.output_tokens, r.cost_usd
	FROM (SELECT phase_id, agent, started_at, ended_at, input_tokens, output_tokens, cost_usd FROM runs WHERE ended_at >= ? ORDER BY ended_at DESC LIMIT ?) r
	JOIN phases ON phases.id = r.phase_id`

type runKey struct{ phase, runtime string }

// runSums adds up runs row by row: the difference of two times is said
// differently by every database.
type runSums struct {
	groups   map[runKey]*models.RunGroup
	runtimes map[string]string // agent's text -> its runtime; most runs share a few
	agent    sql.RawBytes
	name     sql.RawBytes
}

func (s *runSums) add(row *sql.Rows) error {
	var started, ended sql.NullTime
	var in, out int64
	var cost float64
	if err := row.Scan(&s.name, &s.agent, &started, &ended, &in, &out, &cost); err != nil {
		return err
	}
	runtime, known := s.runtimes[string(s.agent)]
	if !known {
		var a models.AgentSpec
		if err := json.Unmarshal(s.agent, &a); err != nil {
			return fmt.Errorf("agent %.80q: %w", s.agent, err)
		}
		runtime = a.Runtime
		s.runtimes[string(s.agent)] = runtime
	}
	key := runKey{string(s.name), runtime}
	g := s.groups[key]
	if g == nil {
		g = &models.RunGroup{Phase: key.phase, Runtime: key.runtime}
		s.groups[key] = g
	}
	g.Runs++
	if started.Valid && ended.Time.After(started.Time) { // one that was never started took no time
		g.Time += ended.Time.Sub(started.Time)
	}
	g.InputTokens, g.OutputTokens, g.CostUSD = g.InputTokens+in, g.OutputTokens+out, g.CostUSD+cost
	return nil
}

func (s *runSums) sorted() []models.RunGroup {
	out := make([]models.RunGroup, 0, len(s.groups))
	for _, g := range s.groups {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b models.RunGroup) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Runtime, b.Runtime))
	})
	return out
}

// NotMetVerdicts reads the verdicts since then that were given and not met, the
// newest limit at most. Those of judges in trouble and of failed runs are not
// among them: they say nothing about a criterion.
func (r Reader) NotMetVerdicts(ctx context.Context, since time.Time, limit int) (out models.NotMetVerdicts, err error) {
	since = stamp(since)
	const from = " FROM verdicts WHERE kind = 'verdict' AND NOT met AND created_at >= ? ORDER BY created_at DESC"
	err = r.snapshot(ctx, func(r Reader) error {
		if out.CutAt, err = r.cutAt(ctx, "SELECT created_at"+from, since, limit); err != nil {
			return err
		}
		if err := r.q(ctx).Raw("SELECT plan_id, results_json"+from+" LIMIT ?", since, limit).Find(&out.Verdicts).Error; err != nil {
			return fmt.Errorf("read the verdicts that were not met: %w", err)
		}
		return nil
	})
	return out, err
}

// cutAt is the time of the newest row that is left out when only limit rows of
// the query are read, nil when there is none.
func (r Reader) cutAt(ctx context.Context, query string, since time.Time, limit int) (*time.Time, error) {
	var times []time.Time
	if err := r.q(ctx).Raw(query+" LIMIT 1 OFFSET ?", since, limit).Find(&times).Error; err != nil {
		return nil, fmt.Errorf("look for older rows: %w", err)
	}
	if len(times) == 0 {
		return nil, nil
	}
	return &times[0], nil
}

// PlanTitles are the titles of the given plans by their id; those that do not
// exist are left out.
func (r Reader) PlanTitles(ctx context.Context, ids []string) (map[string]string, error) {
	list, err := rows[struct{ ID, Title string }](r.q(ctx).Table("plans").Select("id, title").Where("id IN ?", ids), "the titles of plans")
	if err != nil {
		return nil, err
	}
	titles := make(map[string]string, len(list))
	for _, p := range list {
		titles[p.ID] = p.Title
	}
	return titles, nil
}

// PassesUntilMet is how many passes phases like this one took until they were
// met, the newest plan's first: completed phases of the same name with a
// condition, in the newest plans of the same project that have the same
// template. Phases that a person accepted as they were do not count.
func (r Reader) PassesUntilMet(ctx context.Context, ph models.Phase, plans int) ([]int, error) {
	var numbers []int
	err := r.q(ctx).Raw(passesUntilMetQuery, ph.PlanID, ph.PlanID, plans, ph.Name, models.PhaseCompleted, ph.PlanID).Find(&numbers).Error
	if err != nil {
		return nil, fmt.Errorf("read how phases like phase %d went: %w", ph.ID, err)
	}
	return numbers, nil
}

const passesUntilMetQuery = `SELECT phases.iteration + 1
	FROM (SELECT id, template_version_id FROM plans
		WHERE project_id = (SELECT project_id FROM plans WHERE id = ?) AND id <> ? ORDER BY id DESC LIMIT ?) p
	JOIN phases ON phases.plan_id = p.id
	LEFT JOIN template_versions v ON v.id = p.template_version_id
	WHERE phases.name = ? AND phases.status = ? AND phases.done_when <> '' AND NOT phases.overridden
		AND COALESCE(v.template_id, 0) = COALESCE((SELECT own.template_id FROM plans JOIN template_versions own ON own.id = plans.template_version_id WHERE plans.id = ?), 0)
	ORDER BY p.id DESC, phases.position`
