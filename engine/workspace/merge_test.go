package workspace

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

// advance commits a change to main in R.
func advance(t *testing.T, repo Repo, name, text string) string {
	t.Helper()
	write(t, repo.Path+"/"+name, text)
	git(t, repo.Path, "add", "-A")
	git(t, repo.Path, "commit", "-q", "-m", "By somebody else")
	return git(t, repo.Path, "rev-parse", "HEAD")
}

// What others did in the target meanwhile is not taken back by what the agents
// merged, in whatever way: what they changed since the plan's base is applied.
func TestApplyTakesNothingBack(t *testing.T) {
	for name, c := range map[string]struct {
		merge []string
		hers  string // theirs.txt after apply
	}{
		"merged by ours":  {[]string{"merge", "-q", "-s", "ours", "-m", "Merge main", "FETCH_HEAD"}, "hers\n"},
		"merged properly": {[]string{"merge", "-q", "-m", "Merge main", "FETCH_HEAD"}, "hers\n"},
		"reset to it":     {[]string{"reset", "-q", "--soft", "FETCH_HEAD"}, "hers\n"},
		"not at all":      {[]string{"status"}, "hers\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, repo := open(t), newRepo(t)
			p := start(t, m, repo, "01A")
			advance(t, repo, "hers.txt", "hers\n")
			advance(t, repo, "a.txt", "one\ntwo\nHERS\n")
			write(t, p.path("work.txt"), "work\n")
			git(t, p.w, "add", "-A")
			git(t, p.w, "commit", "-q", "-m", "Work")
			git(t, p.w, "fetch", "-q", repo.Path, "main")
			git(t, p.w, c.merge...)
			if name == "reset to it" {
				git(t, p.w, "commit", "-q", "-m", "All at once")
			}
			s := p.snapshot()
			preview, err := m.Preview(context.Background(), repo, p.id, p.ws.BaseCommit, "main")
			must(t, err)
			if len(preview.Conflicts) > 0 {
				t.Fatalf("conflicts in %v", preview.Conflicts)
			}
			merged, err := m.Merge(context.Background(), p.input(s.Commit))
			must(t, err)
			files := p.files(merged.Commit)
			equal(t, "hers.txt", files["hers.txt"], "100644 "+c.hers)
			equal(t, "a.txt", files["a.txt"], "100644 one\ntwo\nHERS\n")
			equal(t, "work.txt", files["work.txt"], "100644 work\n")
			again, err := m.Merge(context.Background(), p.input(s.Commit))
			must(t, err)
			equal(t, "the same input", again.Commit, merged.Commit)
		})
	}
}

// A conflict that was resolved in the plan's work is none any more, and what else
// the target has stays. One that was resolved by taking something else back is
// refused, with the files.
func TestAResolvedConflictIsApplied(t *testing.T) {
	for name, c := range map[string]struct {
		also    func(p *plan)
		refused string
	}{
		"properly":            {func(*plan) {}, ""},
		"and something taken": {func(p *plan) { must(p.t, os.Remove(p.path("hers.txt"))) }, "hers.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, repo := open(t), newRepo(t)
			p := start(t, m, repo, "01A")
			advance(t, repo, "hers.txt", "hers\n")
			advance(t, repo, "a.txt", "HERS\ntwo\nthree\n")
			write(t, p.path("a.txt"), "MINE\ntwo\nthree\n")
			s := p.snapshot()
			preview, err := m.Preview(context.Background(), repo, p.id, p.ws.BaseCommit, "main")
			must(t, err)
			equal(t, "conflicts", strings.Join(preview.Conflicts, " "), "a.txt")
			git(t, p.w, "fetch", "-q", repo.Path, "main")
			git(t, p.w, "add", "-A")
			git(t, p.w, "commit", "-q", "-m", "Mine")
			_, _ = tryGit(p.w, "merge", "-q", "FETCH_HEAD")
			write(t, p.path("a.txt"), "BOTH\ntwo\nthree\n")
			c.also(p)
			git(t, p.w, "add", "-A")
			git(t, p.w, "commit", "-q", "-m", "Resolved")
			s = p.snapshot()
			merged, err := m.Merge(context.Background(), p.input(s.Commit))
			if c.refused != "" {
				var refused *Refused
				if !errors.As(err, &refused) || refused.Code != CodeConflict || strings.Join(refused.Files, " ") != c.refused {
					t.Fatalf("merged as %+v: %v", merged, err)
				}
				return
			}
			must(t, err)
			files := p.files(merged.Commit)
			equal(t, "a.txt", files["a.txt"], "100644 BOTH\ntwo\nthree\n")
			equal(t, "hers.txt", files["hers.txt"], "100644 hers\n")
		})
	}
}

// What was taken out of the target by resetting it does not come back with the plan.
func TestATargetThatWasResetStaysReset(t *testing.T) {
	m, repo := open(t), newRepo(t)
	advance(t, repo, "secret.txt", "secret\n")
	p := start(t, m, repo, "01A")
	write(t, p.path("work.txt"), "work\n")
	s := p.snapshot()
	git(t, repo.Path, "reset", "-q", "--hard", "HEAD^")
	merged, err := m.Merge(context.Background(), p.input(s.Commit))
	must(t, err)
	files := p.files(merged.Commit)
	equal(t, "secret.txt", files["secret.txt"], "")
	equal(t, "work.txt", files["work.txt"], "100644 work\n")
}

// An agent that makes another plan's work part of its own history, without its
// files, does not take that work back once it is applied.
func TestHistoryOfAnotherPlanTakesNothingBack(t *testing.T) {
	m, repo := open(t), newRepo(t)
	a, b := start(t, m, repo, "01A"), start(t, m, repo, "01B")
	write(t, b.path("other.txt"), "other\n")
	other := b.snapshot().Commit
	git(t, repo.Path, "fetch", "-q", m.mirror(repo), other)
	git(t, repo.Path, "merge", "-q", "--no-ff", "-m", "Apply b", other)
	write(t, a.path("work.txt"), "work\n")
	write(t, a.path(".git/HEAD"), other+"\n")
	s := a.snapshot()
	equal(t, "it is in the history", a.reachable(other, s.Commit), true)
	merged, err := m.Merge(context.Background(), a.input(s.Commit))
	must(t, err)
	files := a.files(merged.Commit)
	equal(t, "other.txt", files["other.txt"], "100644 other\n")
	equal(t, "work.txt", files["work.txt"], "100644 work\n")
}
