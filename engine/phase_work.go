package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"donewhen/engine/workspace"
	"donewhen/models"
)

// stretch is a piece of the plan's history in which only one phase was at work.
type stretch struct{ from, to string }

// stretchesOf are the pieces in which a pass's phase was at work until the pass's
// end, the oldest first. Passes that follow one another directly are one piece.
func (e *Engine) stretchesOf(ctx context.Context, pass models.Pass) ([]stretch, error) {
	passes, err := e.Store.PassesOf(ctx, pass.PhaseID)
	if err != nil {
		return nil, err
	}
	var out []stretch
	for _, p := range passes {
		if p.ID == pass.ID {
			p = pass // its end may have been recorded a moment ago
		}
		if p.ID > pass.ID || p.StartCommit == "" || p.EndCommit == "" {
			continue
		}
		if n := len(out); n > 0 && out[n-1].to == p.StartCommit {
			out[n-1].to = p.EndCommit
			continue
		}
		out = append(out, stretch{p.StartCommit, p.EndCommit})
	}
	return out, nil
}

// phaseWork is what a phase has made of the tree until the end of a pass: a fault
// of pass 1 is not gone because pass 2 did nothing, nor is what pass 1 did right.
// Where other phases worked in between, because an earlier one ran again, their work
// is not counted, and of this one's older work what is still there.
func (e *Engine) phaseWork(ctx context.Context, repo workspace.Repo, pass models.Pass) (workspace.Diff, string, bool, error) {
	stretches, err := e.stretchesOf(ctx, pass)
	if err != nil {
		return workspace.Diff{}, "", false, err
	}
	last := stretch{pass.StartCommit, pass.EndCommit}
	if n := len(stretches); n > 0 {
		last, stretches = stretches[n-1], stretches[:n-1]
	}
	diff, added, cut, err := e.changesIn(ctx, repo, last)
	if err != nil || len(stretches) == 0 {
		return diff, added, cut, err
	}
	plan, err := e.Store.Plan(ctx, pass.PlanID)
	if err != nil {
		return diff, "", false, err
	}
	now, lines, nowCut, err := e.changesIn(ctx, repo, stretch{plan.BaseCommit, pass.EndCommit})
	if err != nil {
		return diff, "", false, err
	}
	still, files := map[string]bool{}, map[string]workspace.FileChange{}
	for line := range strings.Lines(lines) {
		still[line] = true
	}
	for _, f := range now.Files {
		files[f.Path] = f
	}
	diff.Files = slices.Clone(diff.Files) // what is remembered is not ours to change
	known := map[string]bool{}
	for _, f := range diff.Files {
		known[f.Path] = true
	}
	var older strings.Builder
	for _, s := range stretches {
		d, text, c, err := e.changesIn(ctx, repo, s)
		if err != nil {
			return diff, "", false, err
		}
		cut = cut || c || nowCut
		for line := range strings.Lines(text) {
			if still[line] {
				older.WriteString(line)
			}
		}
		for _, f := range d.Files {
			if at, there := files[f.Path]; there && !known[f.Path] {
				known[f.Path] = true
				diff.Files = append(diff.Files, at)
				diff.Added, diff.Deleted = diff.Added+at.Added, diff.Deleted+at.Deleted
			}
		}
	}
	return diff, older.String() + added, cut, nil
}

func (e *Engine) changesIn(ctx context.Context, repo workspace.Repo, s stretch) (workspace.Diff, string, bool, error) {
	diff, err := e.Spaces.Diff(ctx, repo, s.from, s.to)
	if err != nil {
		return diff, "", false, fmt.Errorf("compare two states of the work: %w", err)
	}
	added, cut, err := e.Spaces.AddedLines(ctx, repo, s.from, s.to, maxDiff)
	if err != nil {
		return diff, "", false, fmt.Errorf("read the added lines: %w", err)
	}
	return diff, added, cut, nil
}
