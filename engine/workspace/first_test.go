package workspace

import (
	"context"
	"testing"
)

func TestSmoke(t *testing.T) {
	m, repo := open(t), newRepo(t)
	p := start(t, m, repo, "01A")
	write(t, p.path("a.txt"), "ONE\ntwo\nthree\n")
	write(t, p.path("new.txt"), "new\n")
	s := p.snapshot()
	t.Logf("%+v", s)
	in := p.input(s.Commit)
	merged, err := m.Merge(context.Background(), in)
	must(t, err)
	must(t, m.Deliver(context.Background(), in, merged))
	t.Log(git(t, repo.Path, "log", "--graph", "--oneline"), git(t, repo.Path, "status", "--short"))
}
