package workspace

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// keptFiles are all files in KeptDir: path below a time's folder -> contents, once for each copy.
func (p *plan) keptFiles() map[string][]string {
	p.t.Helper()
	out := map[string][]string{}
	times, _ := filepath.Glob(filepath.Join(p.m.KeptDir(p.repo, p.id), "*"))
	for _, dir := range times {
		must(p.t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				rel, _ := filepath.Rel(dir, path)
				out[rel] = append(out[rel], read(p.t, path))
			}
			return err
		}))
	}
	return out
}

func (p *plan) putBack() Returned {
	p.t.Helper()
	back, err := p.m.PutBack(context.Background(), p.repo, p.id)
	must(p.t, err)
	return back
}

// Nothing is lost: what stood in the workspace beside a check is kept before it is
// overwritten or taken out, by every later check too.
func TestPutBackKeepsWhatItOverwrites(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	write(t, p.path("work.txt"), "the agents'\n")
	p.snapshot()

	write(t, p.path("work.txt"), "a person's hour\n")
	write(t, p.path("new.txt"), "a person's new file\n")
	must(t, os.Remove(p.path("a.txt")))
	must(t, os.Symlink("elsewhere", p.path("a.txt")))
	must(t, os.Chmod(p.path("b.txt"), 0o755)) // the same contents: nothing to keep
	back := p.putBack()
	sameList(t, "changed", back.Changed, []string{"a.txt", "b.txt", "work.txt"})
	sameList(t, "kept", back.Kept, []string{"a.txt", "new.txt", "work.txt"})
	equal(t, "work.txt", read(t, p.path("work.txt")), "the agents'\n")
	equal(t, "kept work.txt", read(t, filepath.Join(back.Folder, "work.txt")), "a person's hour\n")
	equal(t, "kept new.txt", read(t, filepath.Join(back.Folder, "new.txt")), "a person's new file\n")
	to, err := os.Readlink(filepath.Join(back.Folder, "a.txt"))
	must(t, err)
	equal(t, "kept a.txt", to, "elsewhere")

	equal(t, "nothing changed", len(p.putBack().Kept), 0)
	equal(t, "the first copy is still there", read(t, filepath.Join(back.Folder, "new.txt")), "a person's new file\n")

	// A check that leaves the same file each time fills no disk; another content is kept.
	write(t, p.path("new.txt"), "a person's new file\n")
	again := p.putBack()
	sameList(t, "kept once more", again.Kept, nil)
	equal(t, "an empty folder is there", lexists(again.Folder), false)
	write(t, p.path("new.txt"), "another\n")
	sameList(t, "kept anew", p.putBack().Kept, []string{"new.txt"})
	equal(t, "copies of new.txt", len(p.keptFiles()["new.txt"]), 2)
}

// Ignored files are left alone, unless they stand where a recorded file belongs:
// then they are kept.
func TestPutBackKeepsIgnoredFilesInTheWay(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	p.snapshot()
	must(t, os.Remove(p.path("a.txt")))
	write(t, p.path("a.txt/new.txt"), "new\n")
	write(t, p.path("a.txt/x.log"), "ignored\n")
	must(t, os.RemoveAll(p.path("sub")))
	write(t, p.path("sub"), "a file now\n")
	write(t, p.path("build/cache"), "ignored, out of the way\n")
	back := p.putBack()
	sameList(t, "kept", back.Kept, []string{"a.txt/new.txt", "a.txt/x.log", "sub"})
	equal(t, "a.txt", read(t, p.path("a.txt")), "one\ntwo\nthree\n")
	equal(t, "sub/c.txt", read(t, p.path("sub/c.txt")), "c\n")
	equal(t, "kept a.txt/x.log", read(t, filepath.Join(back.Folder, "a.txt/x.log")), "ignored\n")
	equal(t, "build/cache", read(t, p.path("build/cache")), "ignored, out of the way\n")
}

// What is ignored today and was tracked at the phase's start is kept when the
// workspace is set back.
func TestRestoreKeepsIgnoredFilesInTheWay(t *testing.T) {
	p := start(t, open(t), newRepo(t), "01A")
	must(t, os.Remove(p.path("b.txt")))
	p.snapshot()
	write(t, p.path(".gitignore"), "b.txt\n")
	write(t, p.path("b.txt"), "written since, never recorded\n")
	must(t, p.m.Restore(context.Background(), p.repo, p.id, p.ws.BaseCommit))
	equal(t, "b.txt", read(t, p.path("b.txt")), "b\n")
	sameList(t, "kept b.txt", p.keptFiles()["b.txt"], []string{"written since, never recorded\n"})
}

// A check that hides its own files behind an ignore rule of its own leaves nothing
// that is recorded once that rule is put back.
func TestPutBackSeesBehindTheChecksOwnIgnoreRules(t *testing.T) {
	for name, rule := range map[string]string{"a new rule": "lib/.gitignore", "a changed rule": ".gitignore"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, repo := open(t), newRepo(t)
			p := start(t, m, repo, "01A")
			write(t, p.path(".gitignore"), "*.o\n")
			before := p.snapshot()
			must(t, m.BeginCheck(context.Background(), repo, p.id))
			write(t, p.path(rule), "fix.txt\n")
			write(t, p.path("lib/fix.txt"), "fix\n")
			back, err := m.EndCheck(context.Background(), repo, p.id)
			must(t, err)
			if !slices.Contains(back.Kept, "lib/fix.txt") || lexists(p.path("lib/fix.txt")) {
				t.Errorf("kept %q", back.Kept)
			}
			equal(t, "tree", p.snapshot().Tree, before.Tree)
		})
	}
}
