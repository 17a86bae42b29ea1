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

	"donewhen/dod"
	"donewhen/engine/workspace"
	"donewhen/models"
)

// Bounds of the full values, which text is matched against.
const (
	maxOutput = 80 << 20 // of one run's log: its cap, so normally everything
	maxDiff   = 32 << 20 // of the added lines
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
	// Whole are the same as they came, before signs, echoes and secrets were taken
	// out: what `absent:` looks at. It is never shown.
	Whole map[string]string
	Cut   map[string]bool // keys whose value is not whole
}

// text is the matcher over this evidence.
func (ev Evidence) text() dod.TextMatch {
	return dod.TextMatch{Cut: ev.Cut, Whole: ev.Whole, ValuesOnly: true}
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
// code, final message and output; the files and lines that its phase has changed
// and added until its end. Control sequences are stripped, invalid UTF-8 is replaced and secrets
// are redacted before anything is cut; lines of the pass's own task text are
// taken out of what agents said and printed, since an echo proves nothing.
func (e *Engine) CollectEvidence(ctx context.Context, repo workspace.Repo, pass models.Pass) (Evidence, error) {
	return e.collectEvidence(ctx, repo, pass, unseen)
}

// collectEvidence is CollectEvidence that also hands out each value as it came.
func (e *Engine) collectEvidence(ctx context.Context, repo workspace.Repo, pass models.Pass, look rawLook) (Evidence, error) {
	ev := Evidence{Pass: pass, Values: map[string]string{}, Whole: map[string]string{}, Cut: map[string]bool{}}
	runs, err := e.Store.RunsOf(ctx, pass.ID)
	if err != nil {
		return ev, err
	}
	echo := newEcho(pass.TaskText)
	latest := latestTries(runs)
	labels := make([]string, len(latest))
	for i, r := range latest {
		labels[i] = r.Agent.Label()
	}
	labels = distinct(labels)
	for i, r := range latest {
		raw, cut, err := e.Logs.HeadTail(ctx, r.ID, maxOutput)
		if err != nil {
			return ev, fmt.Errorf("read the output of run %d: %w", r.ID, err)
		}
		label, message, output := labels[i], cleanText(r.FinalMessage), cleanText(string(raw))
		re := RunEvidence{
			Label: label, Run: r, Cut: cut || r.LogCut || int64(len(raw)) < min(r.LogBytes, maxOutput), // a log that was lost is not empty
			Message: echo.remove(e.redact(message)), Output: echo.remove(e.redact(output)),
		}
		if r.StartedAt != nil && r.EndedAt != nil {
			re.Duration = r.EndedAt.Sub(*r.StartedAt)
		}
		ev.Runs = append(ev.Runs, re)
		look(label+"/output", string(raw))
		look(label+"/message", r.FinalMessage)
		ev.put(label+"/message", re.Message, r.FinalMessage, false)
		ev.put(label+"/output", re.Output, string(raw), re.Cut)
	}
	if pass.StartCommit == "" || pass.EndCommit == "" {
		return ev, nil
	}
	diff, added, cut, err := e.phaseWork(ctx, repo, pass)
	if err != nil {
		return ev, err
	}
	look("diff", added)
	look("files", rawNames(diff.Files))
	ev.putChanges(diff, added, cut, echo, e.redact)
	return ev, nil
}

// putChanges puts changed files and added lines into evidence. A file's name is
// the agent's words too: a task text copied into names is an echo.
func (ev *Evidence) putChanges(diff workspace.Diff, added string, cut bool, echo echo, redact func(string) string) {
	ev.Files, ev.Added, ev.Gone = diff.Files, diff.Added, diff.Deleted
	ev.Diff = echo.removeFromFiles(redact(fileText(added)))
	ev.put("diff", ev.Diff, added, cut)
	ev.put("files", echo.remove(redact(fileList(diff.Files))), wholeNames(diff.Files), false)
}

// put keeps a value; an empty one only where it was cut: that nothing of it is
// there is not known then.
func (ev *Evidence) put(key, value, whole string, cut bool) {
	if value != "" || cut {
		ev.Values[key] = value
	}
	if whole != "" || cut {
		ev.Whole[key] = whole
	}
	if cut {
		ev.Cut[key] = true
	}
}

// oneName is a file's name on one line: a line break in it would forge an entry.
func oneName(path string) string {
	return strings.Join(strings.FieldsFunc(fileText(path), func(r rune) bool { return r == '\n' }), "\\n")
}

// rawNames are files' names as they are, one a line.
func rawNames(files []workspace.FileChange) string {
	var b strings.Builder
	for _, f := range files {
		b.WriteString(oneLineName(f.Path) + "\n")
	}
	return b.String()
}

func oneLineName(path string) string { return strings.ReplaceAll(path, "\n", "\\n") }

// distinct makes names that stand more than once differ by a number, without
// taking a name that another one already has: nothing may overwrite evidence.
func distinct(names []string) []string {
	taken := map[string]bool{}
	for _, n := range names {
		taken[n] = true
	}
	out, seen := make([]string, len(names)), map[string]bool{}
	for i, n := range names {
		out[i] = n
		for k := 2; seen[n] && taken[out[i]]; k++ {
			out[i] = n + "-" + itoa(k)
		}
		seen[n], taken[out[i]] = true, true
	}
	return out
}

func fileList(files []workspace.FileChange) string { return listFiles(files, oneName) }

func listFiles(files []workspace.FileChange, name func(string) string) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s %s", f.Status, name(f.Path))
		if f.OldPath != "" {
			fmt.Fprintf(&b, " (was %s)", name(f.OldPath))
		}
		fmt.Fprintf(&b, " +%d -%d\n", f.Added, f.Deleted)
	}
	return b.String()
}

// wholeNames is the list of files for `absent:`: with their names as they are,
// apart from line breaks, and once more without blanks that break or jump, in case
// they divide a word.
func wholeNames(files []workspace.FileChange) string {
	list := listFiles(files, oneLineName)
	bare := listFiles(files, func(path string) string { return strings.NewReplacer("\n", "", "\r", "", "\t", "").Replace(path) })
	if bare == list {
		return list
	}
	return list + bare
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
