package store

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"donewhen/models"
)

// afterAllIDs sorts behind every plan's id: the cursor of the first page. With
// it every page is a range of an index and none is a scan.
const afterAllIDs = "~"

// Plans reads one page of the plans list, newest first, and the cursor for the
// next one ("" when this is the last). It counts nothing beyond the page, and
// plans that come in meanwhile do not shift it.
func (r Reader) Plans(ctx context.Context, f models.PlanFilter) (list []models.PlanRow, next string, err error) {
	limit := pageSize(f.Limit)
	err = r.snapshot(ctx, func(r Reader) error {
		ids, err := r.planIDs(ctx, f, true, limit+1)
		if err != nil {
			return err
		}
		if len(ids) > limit {
			ids = ids[:limit]
			next = ids[limit-1]
		}
		lines, err := r.planLines(ctx, ids)
		for _, l := range lines {
			list = append(list, l.PlanRow)
		}
		if err == nil && f.Search != "" && len(list) > 0 {
			err = r.foundIn(ctx, list, ids, shortSearch(f.Search))
		}
		return err
	})
	return list, next, err
}

// planIDs reads the ids of a page by the newest or the oldest.
func (r Reader) planIDs(ctx context.Context, f models.PlanFilter, newest bool, limit int) ([]string, error) {
	set := planSet{}
	for _, s := range f.Status {
		set[s] = ""
	}
	return r.planIDsOf(ctx, f, set, newest, limit)
}

func (r Reader) planIDsOf(ctx context.Context, f models.PlanFilter, set planSet, newest bool, limit int) ([]string, error) {
	q, args := planIDsQuery(f, set, newest, limit)
	var ids []string
	if err := r.q(ctx).Raw(q, args...).Find(&ids).Error; err != nil {
		return nil, fmt.Errorf("read the list of plans: %w", err)
	}
	return ids, nil
}

// planSet are the wanted statuses, each with what else must hold of such a plan,
// in SQL; "" for nothing. None is any status.
type planSet map[models.PlanStatus]string

// planIDsQuery makes one index range for each wanted status, each cut at the
// page's size, and merges them. A single range over several statuses would have
// to sort all of them.
func planIDsQuery(f models.PlanFilter, set planSet, newest bool, limit int) (string, []any) {
	order := "id"
	if newest {
		order = "id DESC"
	}
	var where []string
	var shared []any
	if f.ProjectID != 0 {
		where, shared = append(where, "project_id = ?"), append(shared, f.ProjectID)
	}
	before := f.Before
	if before == "" {
		before = afterAllIDs
	}
	where, shared = append(where, "id < ?"), append(shared, before)
	if search := shortSearch(f.Search); search != "" {
		like := "%" + escapeLike(search) + "%"
		small := string(models.AppendSmall(nil, []byte(like)))
		// As it was typed too: LOWER of some databases knows only the letters of ASCII.
		named := `LOWER(title) LIKE LOWER(?) ESCAPE '\' OR LOWER(goal) LIKE LOWER(?) ESCAPE '\'
			OR id IN (SELECT plan_id FROM plan_words WHERE words LIKE ? ESCAPE '\' OR words LIKE ? ESCAPE '\')`
		shared = append(shared, like, like, small, like)
		if maybeID.MatchString(search) { // what a merge commit, a branch or a link names
			named += ` OR id LIKE ? OR id IN (SELECT plan_id FROM apply_attempts WHERE merge_commit LIKE ?)`
			shared = append(shared, "%"+strings.ToUpper(search), strings.ToLower(search)+"%")
		}
		where = append(where, "("+named+")")
	}
	branch := "SELECT id FROM plans WHERE " + strings.Join(where, " AND ")
	tail := " ORDER BY " + order + " LIMIT ?"

	statuses := slices.Sorted(maps.Keys(set))
	if len(statuses) == 0 {
		return branch + tail, append(shared, limit)
	}
	var parts []string
	var args []any
	for i, s := range statuses {
		part := branch + " AND status = ?"
		if also := set[s]; also != "" {
			part += " AND " + also
		}
		part += tail
		if len(statuses) > 1 {
			part = fmt.Sprintf("SELECT id FROM (%s) AS part%d", part, i)
		}
		parts = append(parts, part)
		args = append(append(args, shared...), string(s), limit)
	}
	if len(parts) == 1 {
		return parts[0], args
	}
	return strings.Join(parts, " UNION ALL ") + tail, append(args, limit)
}

// maybeID is a plan's id, the short form that pages show, or a commit's.
var maybeID = regexp.MustCompile(`^[0-9A-Za-z]{6,64}$`)

// shortSearch is what is looked for: SQLite refuses long patterns, and nobody types one.
func shortSearch(s string) string {
	if len(s) > maxSearch {
		s = strings.ToValidUTF8(s[:maxSearch], "")
	}
	return s
}

// escapeLike takes the special meaning from what a person typed.
func escapeLike(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// maxSearch bounds what is searched for, in bytes.
const maxSearch = 500
