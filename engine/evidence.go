package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"donewhen/engine/workspace"
	"donewhen/models"
)

// Bounds of evidence. The full values are what text is matched against; the
// rendering is what a judge and the summary card read.
const (
	maxOutput = 80 << 20 // of one run's log: its cap, so normally everything
	maxDiff   = 32 << 20 // of the added lines
	maxPart   = 64 << 10 // of each part of the rendering
)

// Evidence is what the runs of one pass surfaced. CollectEvidence is its only
// source, for the judge, the text matcher and the summary card, so that they
// cannot disagree.
type Evidence struct {
	Pass  models.Pass
	Runs  []RunEvidence // the newest try of each position
	Files []workspace.FileChange
	Added int // lines
	Gone  int
	Diff  string // added lines
	// Values are the full values by key: "<agent>/message", "<agent>/output",
	// "files", "diff". Empty ones are left out, so that no evidence is an empty map.
	Values map[string]string
	Cut    map[string]bool // keys whose value is not whole
}

// RunEvidence is one run's part.
type RunEvidence struct {
	Label    string
	Run      models.Run
	Message  string
	Output   string
	Cut      bool
	Duration time.Duration
}

// CollectEvidence gathers what a pass surfaced: for each run its runtime, exit
// code, final message and output; for the pass the changed files and added
// lines. Control sequences are stripped, invalid UTF-8 is replaced and secrets
// are redacted before anything is cut; lines of the pass's own task text are
// taken out of what agents said and printed, since an echo proves nothing.
func (e *Engine) CollectEvidence(ctx context.Context, repo workspace.Repo, pass models.Pass) (Evidence, error) {
	ev := Evidence{Pass: pass, Values: map[string]string{}, Cut: map[string]bool{}}
	runs, err := e.Store.RunsOf(ctx, pass.ID)
	if err != nil {
		return ev, err
	}
	echo := newEcho(pass.TaskText)
	labels := map[string]int{}
	for _, r := range latestTries(runs) {
		raw, cut, err := e.Logs.HeadTail(ctx, r.ID, maxOutput)
		if err != nil {
			return ev, fmt.Errorf("read the output of run %d: %w", r.ID, err)
		}
		label := r.Agent.Label()
		if labels[label]++; labels[label] > 1 {
			label += "-" + itoa(labels[label])
		}
		re := RunEvidence{
			Label: label, Run: r, Cut: cut || r.LogCut,
			Message: echo.remove(e.redact(cleanText(r.FinalMessage))),
			Output:  echo.remove(e.redact(cleanText(string(raw)))),
		}
		if r.StartedAt != nil && r.EndedAt != nil {
			re.Duration = r.EndedAt.Sub(*r.StartedAt)
		}
		ev.Runs = append(ev.Runs, re)
		ev.put(label+"/message", re.Message, false)
		ev.put(label+"/output", re.Output, re.Cut)
	}
	if pass.StartCommit == "" || pass.EndCommit == "" {
		return ev, nil
	}
	diff, err := e.Spaces.Diff(ctx, repo, pass.StartCommit, pass.EndCommit)
	if err != nil {
		return ev, fmt.Errorf("compare the pass's start and end: %w", err)
	}
	added, cut, err := e.Spaces.AddedLines(ctx, repo, pass.StartCommit, pass.EndCommit, maxDiff)
	if err != nil {
		return ev, fmt.Errorf("read the pass's added lines: %w", err)
	}
	ev.Files, ev.Added, ev.Gone = diff.Files, diff.Added, diff.Deleted
	ev.Diff = echo.removeFromFiles(e.redact(cleanText(added)))
	ev.put("diff", ev.Diff, cut)
	ev.put("files", fileList(diff.Files), false)
	return ev, nil
}

func (ev *Evidence) put(key, value string, cut bool) {
	if value != "" {
		ev.Values[key] = value
	}
	if cut {
		ev.Cut[key] = true
	}
}

func fileList(files []workspace.FileChange) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s %s", f.Status, strings.ToValidUTF8(f.Path, "\uFFFD"))
		if f.OldPath != "" {
			fmt.Fprintf(&b, " (was %s)", strings.ToValidUTF8(f.OldPath, "\uFFFD"))
		}
		fmt.Fprintf(&b, " +%d -%d\n", f.Added, f.Deleted)
	}
	return b.String()
}

// Render is the bounded rendering for the judge and the summary card: the head
// and tail of each part, cut on rune boundaries and marked. checks are the
// results of deterministic checks, one line each.
func (ev Evidence) Render(checks []string) string {
	var b strings.Builder
	for _, r := range ev.Runs {
		fmt.Fprintf(&b, "## Run %d: %s (runtime %s), %s", r.Run.Position, r.Label, r.Run.Agent.Runtime, r.Run.Status)
		if r.Run.ExitCode != nil {
			fmt.Fprintf(&b, ", exit code %d", *r.Run.ExitCode)
		}
		if r.Duration > 0 {
			fmt.Fprintf(&b, ", %s", r.Duration.Round(time.Millisecond))
		}
		b.WriteString("\n")
		part(&b, "Final message", r.Message)
		part(&b, "Output", r.Output)
	}
	fmt.Fprintf(&b, "## Changed files: %d (+%d -%d lines)\n", len(ev.Files), ev.Added, ev.Gone)
	part(&b, "Files", fileList(ev.Files))
	part(&b, "Added lines", ev.Diff)
	if len(checks) > 0 {
		part(&b, "Checks", strings.Join(checks, "\n"))
	}
	return b.String()
}

func part(b *strings.Builder, title, text string) {
	if strings.TrimSpace(text) == "" {
		fmt.Fprintf(b, "### %s: none\n", title)
		return
	}
	fmt.Fprintf(b, "### %s\n%s\n", title, headTail(text, maxPart))
}

// Hash names the evidence and check results, times left out: equal hashes mean
// that judging again could not find anything new.
func (ev Evidence) Hash(checks []string) string {
	h := sha256.New()
	write := func(s string) { fmt.Fprintf(h, "%d:%s", len(s), s) }
	for _, r := range ev.Runs {
		write(r.Label)
		write(string(r.Run.Status))
		if r.Run.ExitCode != nil {
			write(itoa(*r.Run.ExitCode))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(ev.Values)) {
		write(k)
		write(withoutTimes(ev.Values[k]))
	}
	write(ev.Pass.EndTree)
	for _, c := range checks {
		write(withoutTimes(c))
	}
	return hex.EncodeToString(h.Sum(nil))
}
