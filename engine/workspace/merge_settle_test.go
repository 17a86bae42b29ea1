package workspace

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
)

// merges lets the agent take main into its branch, in the given way.
func (p *plan) merges(how ...string) {
	p.t.Helper()
	git(p.t, p.w, "add", "-A")
	git(p.t, p.w, "commit", "-q", "--allow-empty", "-m", "Work")
	git(p.t, p.w, "fetch", "-q", p.repo.Path, "main")
	git(p.t, p.w, append(append([]string{"merge", "-q", "-m", "Merge main"}, how...), "FETCH_HEAD")...)
}

func (p *plan) refusedIn() string {
	p.t.Helper()
	var refused *Refused
	merged, err := p.m.Merge(context.Background(), p.input(p.snapshot().Commit))
	if !errors.As(err, &refused) || refused.Code != CodeConflict {
		p.t.Fatalf("merged as %+v: %v", merged, err)
	}
	return strings.Join(refused.Files, " ")
}

// What the target reverted after the plan had merged it does not come back with the
// plan. Where the plan has changed the same file itself, nobody knows: it is refused,
// and goes once the plan has merged the target again.
func TestWhatTheTargetRevertedStaysAway(t *testing.T) {
	for name, own := range map[string]bool{"other files": false, "the same file": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, repo := open(t), newRepo(t)
			long := "one\ntwo\nthree\n4\n5\n6\n7\n8\n9\nten\n"
			advance(t, repo, "long.txt", long)
			p := start(t, m, repo, "01A")
			advance(t, repo, "bad.txt", "bad\n")
			advance(t, repo, "long.txt", strings.Replace(long, "two", "BAD", 1))
			write(t, p.path("work.txt"), "work\n")
			p.merges()
			if own {
				write(t, p.path("long.txt"), strings.Replace(strings.Replace(long, "two", "BAD", 1), "ten", "MINE", 1))
			}
			git(t, repo.Path, "revert", "--no-edit", "HEAD", "HEAD~1")
			want := long
			if own {
				want = strings.Replace(long, "ten", "MINE", 1)
				equal(t, "refused in", p.refusedIn(), "long.txt")
				p.merges()
			}
			merged, err := m.Merge(context.Background(), p.input(p.snapshot().Commit))
			must(t, err)
			files := p.files(merged.Commit)
			equal(t, "bad.txt", files["bad.txt"], "")
			equal(t, "long.txt", files["long.txt"], "100644 "+want)
			equal(t, "work.txt", files["work.txt"], "100644 work\n")
		})
	}
}

// A revert of one file and another one that the plan's history takes back: each is
// as the target has it.
func TestRevertedAndTakenBackFilesAreTheTargets(t *testing.T) {
	m, repo := open(t), newRepo(t)
	p := start(t, m, repo, "01A")
	advance(t, repo, "hers.txt", "hers\n")
	advance(t, repo, "bad/file.txt", "bad\n")
	write(t, p.path("work.txt"), "work\n")
	p.merges()
	must(t, os.Remove(p.path("hers.txt")))
	git(t, repo.Path, "revert", "--no-edit", "HEAD")
	merged, err := m.Merge(context.Background(), p.input(p.snapshot().Commit))
	must(t, err)
	files := p.files(merged.Commit)
	equal(t, "bad/file.txt", files["bad/file.txt"], "")
	equal(t, "hers.txt", files["hers.txt"], "100644 hers\n")
	equal(t, "work.txt", files["work.txt"], "100644 work\n")
}

// A new file of the target in a folder that the plan has renamed is not lost: the
// plan has it under its new name, or is refused until it has.
func TestANewFileInARenamedFolderIsNotLost(t *testing.T) {
	for name, c := range map[string]struct {
		how     []string
		refused string
	}{
		"merged properly": {nil, ""},
		"merged by ours":  {[]string{"-s", "ours"}, "dir/hers.txt dir/new/empty.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, repo := open(t), newRepo(t)
			for _, f := range []string{"x", "y", "z"} {
				advance(t, repo, "dir/"+f+".txt", f+" line one\n"+f+" line two\n"+f+" line three\n")
			}
			advance(t, repo, "dir/empty.txt", "")
			p := start(t, m, repo, "01A")
			advance(t, repo, "dir/hers.txt", "hers\n")
			advance(t, repo, "dir/new/empty.txt", "")
			git(t, p.w, "mv", "dir", "dir2")
			git(t, p.w, "config", "merge.directoryRenames", "true")
			p.merges(c.how...)
			if c.refused != "" {
				equal(t, "refused in", p.refusedIn(), c.refused)
				write(t, p.path("dir2/hers.txt"), "hers\n")
				write(t, p.path("dir2/new/empty.txt"), "")
			}
			merged, err := m.Merge(context.Background(), p.input(p.snapshot().Commit))
			must(t, err)
			files := p.files(merged.Commit)
			equal(t, "dir2/hers.txt", files["dir2/hers.txt"], "100644 hers\n")
			equal(t, "dir2/new/empty.txt", files["dir2/new/empty.txt"], "100644 ")
			equal(t, "dir2/x.txt", strings.HasPrefix(files["dir2/x.txt"], "100644 x line one"), true)
		})
	}
}

// A file that both changed, and the target again after the plan had merged it, is refused
// until the plan merges the target again: then, however it merged, it has what both changed.
func TestMergingTheTargetAgainIsAWayOut(t *testing.T) {
	m, repo := open(t), newRepo(t)
	long := "one\ntwo\nthree\n4\n5\n6\n7\n8\n9\nten\n"
	advance(t, repo, "long.txt", long)
	p := start(t, m, repo, "01A")
	hers := strings.Replace(long, "two", "HERS", 1)
	advance(t, repo, "long.txt", hers)
	write(t, p.path("long.txt"), strings.Replace(long, "ten", "MINE", 1))
	p.merges("-s", "ours")
	advance(t, repo, "long.txt", strings.Replace(hers, "HERS", "HERS TOO", 1))
	equal(t, "refused in", p.refusedIn(), "long.txt")
	p.merges("-s", "ours")
	merged, err := m.Merge(context.Background(), p.input(p.snapshot().Commit))
	must(t, err)
	equal(t, "long.txt", p.files(merged.Commit)["long.txt"], "100644 "+strings.Replace(strings.Replace(long, "two", "HERS TOO", 1), "ten", "MINE", 1))
}

// What the target changed or added in a folder that the plan renamed may be changed
// where the plan has it: settling a conflict properly is never refused.
func TestASettledRenameMayChangeItsFiles(t *testing.T) {
	for name, to := range map[string]string{"moved along": "dir2/hers.txt", "left where it is": "dir/hers.txt", "moved elsewhere": "dir3/hers.txt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, repo := open(t), newRepo(t)
			lines := "one\ntwo\nthree\n4\n5\n6\n7\n8\n9\nten\n"
			advance(t, repo, "dir/x.txt", lines)
			advance(t, repo, "dir/y.txt", "y "+lines)
			p := start(t, m, repo, "01A")
			advance(t, repo, "a.txt", "HERS\ntwo\nthree\n")
			advance(t, repo, "dir/x.txt", strings.Replace(lines, "one", "HERS", 1))
			advance(t, repo, "dir/hers.txt", "hers in dir\n")
			git(t, p.w, "mv", "dir", "dir2")
			write(t, p.path("dir2/x.txt"), strings.Replace(lines, "ten", "MINE", 1))
			write(t, p.path("a.txt"), "MINE\ntwo\nthree\n")
			git(t, p.w, "add", "-A")
			git(t, p.w, "commit", "-q", "-m", "Work")
			git(t, p.w, "fetch", "-q", repo.Path, "main")
			_, _ = tryGit(p.w, "merge", "-q", "FETCH_HEAD")
			write(t, p.path("a.txt"), "BOTH\ntwo\nthree\n")
			text := "hers in dir\n"
			if to == "dir2/hers.txt" {
				text = "hers in dir2\n"
			}
			must(t, os.Remove(p.path("dir2/hers.txt")))
			write(t, p.path(to), text)
			git(t, p.w, "add", "-A")
			git(t, p.w, "commit", "-q", "-m", "Settled")
			merged, err := m.Merge(context.Background(), p.input(p.snapshot().Commit))
			must(t, err)
			files := p.files(merged.Commit)
			equal(t, to, files[to], "100644 "+text)
			equal(t, "dir2/x.txt", files["dir2/x.txt"], "100644 "+strings.Replace(strings.Replace(lines, "one", "HERS", 1), "ten", "MINE", 1))
		})
	}
}

// What the target reverted does not come back under a name that only the target has,
// and a folder of the plan does not take the place of a file that came back: both are
// refused.
func TestWhatTheTargetRevertedStaysAwayUnderAnyName(t *testing.T) {
	long := "one\ntwo\nthree\n4\n5\n6\n7\n8\n9\nten\n"
	for name, c := range map[string]struct {
		first, then func(t *testing.T, repo Repo, p *plan)
		refused     string
	}{
		"renamed": {
			func(t *testing.T, repo Repo, _ *plan) {
				advance(t, repo, "thing", strings.Replace(long, "two", "BAD", 1))
			},
			func(t *testing.T, repo Repo, _ *plan) {
				git(t, repo.Path, "mv", "thing", "new.txt")
				git(t, repo.Path, "commit", "-q", "-m", "Rename")
			}, "new.txt",
		},
		"a folder": {
			func(t *testing.T, repo Repo, _ *plan) {
				git(t, repo.Path, "rm", "-q", "thing")
				advance(t, repo, "thing/x", "x\n")
			},
			func(t *testing.T, _ Repo, p *plan) { write(t, p.path("thing/y"), "y of the plan\n") }, "thing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, repo := open(t), newRepo(t)
			advance(t, repo, "thing", long)
			p := start(t, m, repo, "01A")
			c.first(t, repo, p)
			p.merges()
			git(t, repo.Path, "revert", "--no-edit", "HEAD")
			c.then(t, repo, p)
			if got := p.refusedIn(); !strings.Contains(got, c.refused) {
				t.Errorf("refused in %q", got)
			}
		})
	}
}
