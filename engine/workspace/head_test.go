package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// The agents' commits are read without their configuration: one that would never
// come to its end costs nothing, not even their history.
func TestSnapshotReadsNoConfigurationOfTheAgents(t *testing.T) {
	for name, config := range map[string]string{
		"a pipe":  "[include]\n\tpath = pipe\n",
		"no text": "\x00\x01 [ not a configuration",
		"hidden":  "[transfer]\n\thideRefs = HEAD\n\thideRefs = refs\n[uploadpack]\n\thideRefs = refs\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, open(t), newRepo(t), "01A")
			write(t, p.path("work.txt"), "work\n")
			git(t, p.path(""), "add", "-A")
			git(t, p.path(""), "commit", "-q", "-m", "By the agent")
			made := git(t, p.path(""), "rev-parse", "HEAD")
			must(t, syscall.Mkfifo(p.path(".git/pipe"), 0o644))
			write(t, p.path(".git/config"), config)
			s := p.snapshot()
			equal(t, "warnings", strings.Join(s.Warnings, " "), "")
			equal(t, "commit", s.Commit, made)
		})
	}
}

func TestReadHead(t *testing.T) {
	oid, packed := strings.Repeat("a", 40), strings.Repeat("b", 40)
	for name, c := range map[string]struct {
		files    map[string]string
		oid, why string
	}{
		"detached":       {map[string]string{"HEAD": oid + "\n"}, oid, ""},
		"a branch":       {map[string]string{"HEAD": "ref: refs/heads/x/y\n", "refs/heads/x/y": oid + "\n"}, oid, ""},
		"packed":         {map[string]string{"HEAD": "ref: refs/heads/x", "packed-refs": "# pack-refs with: peeled\n" + packed + " refs/heads/x\n^" + oid + "\n" + oid + " refs/heads/xy\n"}, packed, ""},
		"loose is newer": {map[string]string{"HEAD": "ref: refs/heads/x", "refs/heads/x": oid, "packed-refs": packed + " refs/heads/x\n"}, oid, ""},
		"symbolic":       {map[string]string{"HEAD": "ref: refs/heads/a", "refs/heads/a": "ref: refs/heads/b", "refs/heads/b": oid}, oid, ""},
		"unborn":         {map[string]string{"HEAD": "ref: refs/heads/x"}, "", "refs/heads/x has no commit yet"},
		"no HEAD":        {nil, "", "HEAD has no commit yet"},
		"a loop":         {map[string]string{"HEAD": "ref: refs/heads/a", "refs/heads/a": "ref: refs/heads/a"}, "", "without end"},
		"outside":        {map[string]string{"HEAD": "ref: refs/../../secret", "../secret": oid}, "", "names no commit"},
		"elsewhere":      {map[string]string{"HEAD": "ref: /etc/passwd"}, "", "names no commit"},
		"no name at all": {map[string]string{"HEAD": "hello"}, "", "names no commit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			git := filepath.Join(t.TempDir(), "git")
			must(t, os.MkdirAll(git, 0o755))
			for path, text := range c.files {
				must(t, os.MkdirAll(filepath.Dir(filepath.Join(git, path)), 0o755))
				write(t, filepath.Join(git, path), text)
			}
			got, why := readHead(git)
			if got != c.oid || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
				t.Errorf("%q, %q", got, why)
			}
		})
	}
}
