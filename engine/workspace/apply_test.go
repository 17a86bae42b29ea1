package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// applied makes a plan whose work changes, adds and deletes files, with its merge commit ready in M.
type applied struct {
	*plan
	in     ApplyInput
	merged Merged
}

// work is what the plan of these tests does; R's touched files are a.txt, gone.txt, new.txt, deep/er/x.txt.
func work(p *plan) {
	write(p.t, p.path("a.txt"), "ONE\ntwo\nthree\n")
	write(p.t, p.path("new.txt"), "new\n")
	write(p.t, p.path("deep/er/x.txt"), "x\n")
	must(p.t, os.Remove(p.path("gone.txt")))
}

func toApply(t *testing.T, repo Repo, do func(*plan)) *applied {
	t.Helper()
	m := open(t)
	p := start(t, m, repo, "01A")
	do(p)
	s := p.snapshot()
	a := &applied{plan: p, in: p.input(s.Commit)}
	var err error
	a.merged, err = m.Merge(context.Background(), a.in)
	must(t, err)
	return a
}

func (a *applied) deliver() error {
	return a.m.Deliver(context.Background(), a.in, a.merged)
}

func (a *applied) preview() Preview {
	a.t.Helper()
	p, err := a.m.Preview(context.Background(), a.repo, a.id, a.ws.BaseCommit, "main")
	must(a.t, err)
	return p
}

// arrived checks that main is the merge commit, that the engine sees it, and that the checkout in dir
// (empty: none) has its files.
func (a *applied) arrived(dir string) {
	t := a.t
	t.Helper()
	equal(t, "main", git(t, a.repo.Path, "rev-parse", "refs/heads/main"), a.merged.Commit)
	in, err := a.m.Contains(context.Background(), a.repo, "main", a.in.Commit)
	must(t, err)
	equal(t, "contains", in, true)
	if dir == "" {
		return
	}
	equal(t, "a.txt", read(t, filepath.Join(dir, "a.txt")), "ONE\ntwo\nthree\n")
	equal(t, "new.txt", read(t, filepath.Join(dir, "new.txt")), "new\n")
	equal(t, "x.txt", read(t, filepath.Join(dir, "deep/er/x.txt")), "x\n")
	equal(t, "gone.txt is there", lexists(filepath.Join(dir, "gone.txt")), false)
}

// refuses checks that both the preview and the delivery refuse with code, and that R keeps every byte.
func (a *applied) refuses(code string) *Refused {
	t := a.t
	t.Helper()
	before := fingerprint(t, filepath.Dir(a.repo.Path))
	preview := a.preview()
	r := refused(t, a.deliver(), code)
	sameFingerprint(t, before, fingerprint(t, filepath.Dir(a.repo.Path)))
	equal(t, "code of the preview", preview.BusyCode, code)
	sameList(t, "files of the preview", preview.BusyFiles, r.Files)
	in, err := a.m.Contains(context.Background(), a.repo, "main", a.in.Commit)
	must(t, err)
	equal(t, "contains", in, false)
	return r
}

// TestApplyStates is the table of states in which a registered repository can be met. Each either takes
// the work and keeps everything a person has there, or refuses and stays as it is to the byte.
func TestApplyStates(t *testing.T) {
	R := func(a *applied, name string) string { return filepath.Join(a.repo.Path, name) }
	cases := []struct {
		name  string
		state func(t *testing.T, a *applied) // brings R into the state after the merge commit was made
		check func(t *testing.T, a *applied)
	}{
		{"01 clean", func(t *testing.T, a *applied) {}, func(t *testing.T, a *applied) {
			before := fingerprint(t, a.repo.Path)
			p := a.preview()
			equal(t, "busy", p.Busy, "")
			equal(t, "nothing to do", p.NoOp, false)
			equal(t, "target", p.TargetTip, a.merged.Target)
			equal(t, "commit", p.Commit, a.in.Commit)
			sameFingerprint(t, before, fingerprint(t, a.repo.Path)) // asking changes nothing
			must(t, a.deliver())
			a.arrived(a.repo.Path)
			equal(t, "status", git(t, a.repo.Path, "status", "--porcelain"), "")
		}},
		{"02 another branch is checked out", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "switch", "-q", "-c", "other")
		}, func(t *testing.T, a *applied) {
			other := git(t, a.repo.Path, "rev-parse", "HEAD")
			must(t, a.deliver())
			a.arrived("")
			equal(t, "other", git(t, a.repo.Path, "rev-parse", "refs/heads/other"), other)
			equal(t, "HEAD", git(t, a.repo.Path, "symbolic-ref", "HEAD"), "refs/heads/other")
			equal(t, "a.txt", read(t, R(a, "a.txt")), "one\ntwo\nthree\n")
			equal(t, "status", git(t, a.repo.Path, "status", "--porcelain"), "")
		}},
		{"03 detached HEAD", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "checkout", "-q", "--detach")
		}, func(t *testing.T, a *applied) {
			head := git(t, a.repo.Path, "rev-parse", "HEAD")
			must(t, a.deliver())
			a.arrived("")
			equal(t, "HEAD", git(t, a.repo.Path, "rev-parse", "HEAD"), head)
			equal(t, "status", git(t, a.repo.Path, "status", "--porcelain"), "")
		}},
		{"04 unrelated file dirty", func(t *testing.T, a *applied) {
			write(t, R(a, "b.txt"), "b\nmine\n")
		}, func(t *testing.T, a *applied) {
			must(t, a.deliver())
			a.arrived(a.repo.Path)
			equal(t, "b.txt", read(t, R(a, "b.txt")), "b\nmine\n")
			equal(t, "status", git(t, a.repo.Path, "status", "--porcelain"), " M b.txt")
		}},
		{"05 unrelated files staged, and untracked ones", func(t *testing.T, a *applied) {
			write(t, R(a, "b.txt"), "b\nmine\n")
			write(t, R(a, "staged.txt"), "s\n")
			git(t, a.repo.Path, "add", "b.txt", "staged.txt")
			write(t, R(a, "loose.txt"), "l\n")
		}, func(t *testing.T, a *applied) {
			must(t, a.deliver())
			a.arrived(a.repo.Path)
			equal(t, "status", git(t, a.repo.Path, "status", "--porcelain"), "M  b.txt\nA  staged.txt\n?? loose.txt")
			equal(t, "b.txt", read(t, R(a, "b.txt")), "b\nmine\n")
			equal(t, "loose.txt", read(t, R(a, "loose.txt")), "l\n")
		}},
		{"06 touched file dirty", func(t *testing.T, a *applied) {
			write(t, R(a, "a.txt"), "mine\n")
		}, func(t *testing.T, a *applied) {
			sameList(t, "files", a.refuses(CodeDirty).Files, []string{"a.txt"})
		}},
		{"07 touched file staged", func(t *testing.T, a *applied) {
			write(t, R(a, "a.txt"), "mine\n")
			git(t, a.repo.Path, "add", "a.txt")
		}, func(t *testing.T, a *applied) {
			sameList(t, "files", a.refuses(CodeDirty).Files, []string{"a.txt"})
		}},
		{"08 touched file dirty, assume-unchanged", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "update-index", "--assume-unchanged", "a.txt")
			write(t, R(a, "a.txt"), "mine\n")
		}, func(t *testing.T, a *applied) {
			sameList(t, "files", a.refuses(CodeDirty).Files, []string{"a.txt"})
		}},
		{"09 touched file dirty, skip-worktree", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "update-index", "--skip-worktree", "a.txt")
			write(t, R(a, "a.txt"), "mine\n")
		}, func(t *testing.T, a *applied) {
			sameList(t, "files", a.refuses(CodeDirty).Files, []string{"a.txt"})
		}},
		{"10 touched file deleted by a person", func(t *testing.T, a *applied) {
			must(t, os.Remove(R(a, "a.txt")))
		}, func(t *testing.T, a *applied) {
			sameList(t, "files", a.refuses(CodeDirty).Files, []string{"a.txt"})
		}},
		{"11 untracked file in the way", func(t *testing.T, a *applied) {
			write(t, R(a, "new.txt"), "mine\n")
		}, func(t *testing.T, a *applied) {
			sameList(t, "files", a.refuses(CodeInTheWay).Files, []string{"new.txt"})
		}},
		{"12 ignored file in the way", func(t *testing.T, a *applied) {
			write(t, filepath.Join(a.repo.Path, ".git/info/exclude"), "new.txt\n")
			write(t, R(a, "new.txt"), "SECRET=1\n")
		}, func(t *testing.T, a *applied) {
			sameList(t, "files", a.refuses(CodeInTheWay).Files, []string{"new.txt"})
		}},
		{"13 merge in progress with conflicts", func(t *testing.T, a *applied) {
			conflictedMerge(t, a.repo.Path)
		}, func(t *testing.T, a *applied) {
			r := a.refuses(CodeBusy)
			if !strings.HasPrefix(r.Message, "A merge is in progress in "+a.repo.Path) {
				t.Fatal(r.Message)
			}
		}},
		{"14 merge in progress, index equals HEAD", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "branch", "side")
			git(t, a.repo.Path, "switch", "-q", "side")
			git(t, a.repo.Path, "commit", "-q", "--allow-empty", "-m", "empty")
			git(t, a.repo.Path, "switch", "-q", "main")
			git(t, a.repo.Path, "merge", "-q", "--no-ff", "--no-commit", "side")
			equal(t, "status", git(t, a.repo.Path, "status", "--porcelain"), "")
		}, func(t *testing.T, a *applied) { a.refuses(CodeBusy) }},
		{"15 main moved on", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "commit", "-q", "--allow-empty", "-m", "on")
		}, func(t *testing.T, a *applied) {
			before := fingerprint(t, a.repo.Path)
			refused(t, a.deliver(), CodeMoved)
			sameFingerprint(t, before, fingerprint(t, a.repo.Path))
			equal(t, "behind", a.preview().Behind, 1)
			// A new attempt merges with where main is now.
			var err error
			a.merged, err = a.m.Merge(context.Background(), a.in)
			must(t, err)
			must(t, a.deliver())
			a.arrived(a.repo.Path)
		}},
		{"16 main moved back", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "reset", "-q", "--hard", "HEAD~1")
		}, func(t *testing.T, a *applied) {
			before := fingerprint(t, a.repo.Path)
			refused(t, a.deliver(), CodeMoved)
			sameFingerprint(t, before, fingerprint(t, a.repo.Path))
		}},
		{"17 merge.autoStash, touched file dirty", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "config", "merge.autoStash", "true")
			git(t, a.repo.Path, "config", "rebase.autoStash", "true")
			write(t, R(a, "a.txt"), "mine\n")
		}, func(t *testing.T, a *applied) { a.refuses(CodeDirty) }},
		{"18 a linked worktree holds main", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "switch", "-q", "-c", "other")
			git(t, a.repo.Path, "worktree", "add", "-q", a.repo.Path+"-linked", "main")
		}, func(t *testing.T, a *applied) {
			linked := a.repo.Path + "-linked"
			write(t, filepath.Join(linked, "b.txt"), "mine\n")
			must(t, a.deliver())
			a.arrived(linked)
			equal(t, "status of the linked one", git(t, linked, "status", "--porcelain"), " M b.txt")
			equal(t, "status", git(t, a.repo.Path, "status", "--porcelain"), "")
			equal(t, "a.txt", read(t, R(a, "a.txt")), "one\ntwo\nthree\n")
		}},
		{"19 index.lock", func(t *testing.T, a *applied) {
			write(t, R(a, ".git/index.lock"), "")
		}, func(t *testing.T, a *applied) { a.refuses(CodeLocked) }},
		{"20 bare repository", func(t *testing.T, a *applied) {
			must(t, os.Rename(R(a, ".git"), a.repo.Path+".bare"))
			must(t, os.RemoveAll(a.repo.Path))
			must(t, os.Rename(a.repo.Path+".bare", a.repo.Path))
			git(t, a.repo.Path, "config", "core.bare", "true")
		}, func(t *testing.T, a *applied) {
			must(t, a.deliver())
			a.arrived("")
		}},
		{"21 rebase of main in progress", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "branch", "side", "HEAD~1")
			git(t, a.repo.Path, "switch", "-q", "side")
			write(t, R(a, "second.txt"), "conflict\n")
			git(t, a.repo.Path, "add", "second.txt")
			git(t, a.repo.Path, "commit", "-q", "-m", "side")
			git(t, a.repo.Path, "switch", "-q", "main")
			if _, err := tryGit(a.repo.Path, "rebase", "side"); err == nil {
				t.Fatal("the rebase was meant to stop")
			}
		}, func(t *testing.T, a *applied) {
			if r := a.refuses(CodeBusy); !strings.Contains(r.Message, "rebase of main is in progress") {
				t.Fatal(r.Message)
			}
		}},
		{"22 bisect from main in progress", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "bisect", "start", "HEAD", "HEAD~1")
			git(t, a.repo.Path, "checkout", "-q", "HEAD~1")
		}, func(t *testing.T, a *applied) {
			if r := a.refuses(CodeBusy); !strings.Contains(r.Message, "bisect of main is in progress") {
				t.Fatal(r.Message)
			}
		}},
		{"23 cherry-pick in progress", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "branch", "side", "HEAD~1")
			git(t, a.repo.Path, "switch", "-q", "side")
			write(t, R(a, "second.txt"), "conflict\n")
			git(t, a.repo.Path, "add", "second.txt")
			git(t, a.repo.Path, "commit", "-q", "-m", "side")
			git(t, a.repo.Path, "switch", "-q", "main")
			if _, err := tryGit(a.repo.Path, "cherry-pick", "side"); err == nil {
				t.Fatal("the cherry-pick was meant to stop")
			}
		}, func(t *testing.T, a *applied) { a.refuses(CodeBusy) }},
		{"24 ignored files in a folder where a file comes", func(t *testing.T, a *applied) {
			write(t, R(a, "new.txt/build/out"), "precious\n")
		}, func(t *testing.T, a *applied) {
			sameList(t, "files", a.refuses(CodeInTheWay).Files, []string{"new.txt/build/out"})
		}},
		{"25 an ignored file where a folder comes", func(t *testing.T, a *applied) {
			write(t, R(a, ".git/info/exclude"), "deep\n")
			write(t, R(a, "deep"), "precious\n")
		}, func(t *testing.T, a *applied) {
			sameList(t, "files", a.refuses(CodeInTheWay).Files, []string{"deep"})
		}},
		{"26 a link to elsewhere where a folder comes", func(t *testing.T, a *applied) {
			elsewhere := filepath.Join(filepath.Dir(a.repo.Path), "elsewhere")
			must(t, os.MkdirAll(elsewhere, 0o755))
			must(t, os.Symlink(elsewhere, R(a, "deep")))
		}, func(t *testing.T, a *applied) {
			sameList(t, "files", a.refuses(CodeInTheWay).Files, []string{"deep"})
		}},
		{"27 lock of the branch", func(t *testing.T, a *applied) {
			write(t, R(a, ".git/refs/heads/main.lock"), "")
		}, func(t *testing.T, a *applied) {
			tree := func() string {
				return fingerprint(t, filepath.Join(a.repo.Path, ".git/refs")) + read(t, R(a, ".git/index")) + git(t, a.repo.Path, "status", "--porcelain")
			}
			before := tree()
			refused(t, a.deliver(), CodeLocked)
			if tree() != before {
				t.Fatal("refs, index or files changed")
			}
			equal(t, "a.txt", read(t, R(a, "a.txt")), "one\ntwo\nthree\n")
			must(t, os.Remove(R(a, ".git/refs/heads/main.lock")))
			must(t, a.deliver())
			a.arrived(a.repo.Path)
		}},
		{"28 main is checked out twice", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "worktree", "add", "-q", "-f", a.repo.Path+"-linked", "main")
		}, func(t *testing.T, a *applied) { a.refuses(CodeWrongBranch) }},
		{"29 the checkout of main is missing", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "switch", "-q", "-c", "other")
			git(t, a.repo.Path, "worktree", "add", "-q", a.repo.Path+"-linked", "main")
			must(t, os.RemoveAll(a.repo.Path+"-linked"))
		}, func(t *testing.T, a *applied) {
			if r := a.refuses(CodeWrongBranch); !strings.Contains(r.Message, "git worktree prune") {
				t.Fatal(r.Message)
			}
		}},
		{"30 the same contents are there untracked", func(t *testing.T, a *applied) {
			write(t, R(a, "new.txt"), "new\n")
			write(t, R(a, "a.txt"), "ONE\ntwo\nthree\n")
		}, func(t *testing.T, a *applied) {
			must(t, a.deliver())
			a.arrived(a.repo.Path)
			equal(t, "status", git(t, a.repo.Path, "status", "--porcelain"), "")
		}},
		{"31 sparse checkout without the touched file", func(t *testing.T, a *applied) {
			git(t, a.repo.Path, "sparse-checkout", "set", "--no-cone", "/b.txt", "/.gitignore")
		}, func(t *testing.T, a *applied) {
			must(t, a.deliver())
			a.arrived("")
			equal(t, "status", git(t, a.repo.Path, "status", "--porcelain"), "")
			equal(t, "b.txt", read(t, R(a, "b.txt")), "b\n")
		}},
		{"32 hooks and fsmonitor in the registered repository", func(t *testing.T, a *applied) {
			plantHooks(t, filepath.Join(a.repo.Path, ".git"), filepath.Join(filepath.Dir(a.repo.Path), "ran"))
		}, func(t *testing.T, a *applied) {
			must(t, a.deliver())
			equal(t, "a hook ran", lexists(filepath.Join(filepath.Dir(a.repo.Path), "ran")), false)
			must(t, os.RemoveAll(R(a, ".git/hooks")))
			git(t, a.repo.Path, "config", "--unset", "core.fsmonitor")
			a.arrived(a.repo.Path)
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			repo := newRepo(t)
			write(t, filepath.Join(repo.Path, "second.txt"), "second\n")
			git(t, repo.Path, "add", "-A")
			git(t, repo.Path, "commit", "-q", "-m", "second")
			a := toApply(t, repo, work)
			c.state(t, a)
			c.check(t, a)
		})
	}
}

func conflictedMerge(t *testing.T, dir string) {
	t.Helper()
	git(t, dir, "branch", "side", "HEAD~1")
	git(t, dir, "switch", "-q", "side")
	write(t, filepath.Join(dir, "second.txt"), "conflict\n")
	write(t, filepath.Join(dir, "b.txt"), "side\n")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "side")
	git(t, dir, "switch", "-q", "main")
	if _, err := tryGit(dir, "merge", "side"); err == nil {
		t.Fatal("the merge was meant to stop")
	}
}

// plantHooks puts hooks of every kind and an fsmonitor into a git folder; each leaves the file ran.
func plantHooks(t *testing.T, gitDir, ran string) {
	t.Helper()
	script := "#!/bin/sh\ntouch '" + ran + "'\nexit 1\n"
	for _, h := range []string{"applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg", "commit-msg",
		"post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "pre-receive", "update", "proc-receive", "post-receive", "post-update",
		"reference-transaction", "push-to-checkout", "pre-auto-gc", "post-rewrite", "sendemail-validate", "fsmonitor-watchman", "post-index-change"} {
		write(t, filepath.Join(gitDir, "hooks", h), script)
		must(t, os.Chmod(filepath.Join(gitDir, "hooks", h), 0o755))
	}
	if out, err := tryGit(gitDir, "--git-dir="+gitDir, "config", "core.fsmonitor", filepath.Join(gitDir, "hooks/fsmonitor-watchman")); err != nil {
		t.Fatal(out)
	}
}

// TestDeliverAgainAfterCrash stops Deliver at each of its steps, as SIGKILL of the server would, and
// expects the same call to finish it.
func TestDeliverAgainAfterCrash(t *testing.T) {
	for _, at := range []string{"objects", "locked", "files", "ref"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			a := toApply(t, newRepo(t), work)
			write(t, filepath.Join(a.repo.Path, "b.txt"), "mine\n")
			a.m.step = func(s string) error {
				if s == at {
					return errStopped
				}
				return nil
			}
			if err := a.deliver(); !errors.Is(err, errStopped) {
				t.Fatalf("got %v", err)
			}
			equal(t, "main", git(t, a.repo.Path, "rev-parse", "main"), a.merged.Target)
			in, err := a.m.Contains(context.Background(), a.repo, "main", a.in.Commit)
			must(t, err)
			equal(t, "contains", in, false)
			if at != "ref" { // nothing was written yet
				equal(t, "status", git(t, a.repo.Path, "status", "--porcelain"), " M b.txt")
			}
			equal(t, "main is locked", lexists(filepath.Join(a.repo.Path, ".git/refs/heads/main.lock")), false)

			a.m.step = nil
			merged, err := a.m.Merge(context.Background(), a.in) // the engine may have lost even the merge commit
			must(t, err)
			equal(t, "merge commit made again", merged, a.merged)
			must(t, a.deliver())
			a.arrived(a.repo.Path)
			equal(t, "status", git(t, a.repo.Path, "status", "--porcelain"), " M b.txt")
			must(t, a.deliver()) // once more changes nothing
			a.arrived(a.repo.Path)
		})
	}
	t.Run("in the middle of the files", func(t *testing.T) {
		a := toApply(t, newRepo(t), work)
		// What a machine that stopped leaves: some files written, the index still the old one.
		write(t, filepath.Join(a.repo.Path, "a.txt"), "ONE\ntwo\nthree\n")
		write(t, filepath.Join(a.repo.Path, "new.txt"), "new\n")
		must(t, os.Remove(filepath.Join(a.repo.Path, "gone.txt")))
		must(t, a.deliver())
		a.arrived(a.repo.Path)
		equal(t, "status", git(t, a.repo.Path, "status", "--porcelain"), "")
	})
}

// TestDeliverLocksOutOthers: while files move, a person's commit on the branch fails instead of being
// mixed with them.
func TestDeliverLocksOutOthers(t *testing.T) {
	a := toApply(t, newRepo(t), work)
	tried := false
	a.m.step = func(s string) error {
		if s == "locked" {
			out, err := tryGit(a.repo.Path, "commit", "--allow-empty", "-m", "between")
			if err == nil {
				t.Errorf("a commit went through: %s", out)
			}
			tried = true
		}
		return nil
	}
	must(t, a.deliver())
	equal(t, "tried", tried, true)
	a.arrived(a.repo.Path)
}

// TestDeliverFindsLateChanges: what a person does between the first look and the lock is seen.
func TestDeliverFindsLateChanges(t *testing.T) {
	a := toApply(t, newRepo(t), work)
	a.m.step = func(s string) error {
		if s == "objects" {
			write(t, filepath.Join(a.repo.Path, "a.txt"), "mine\n")
		}
		return nil
	}
	refused(t, a.deliver(), CodeDirty)
	equal(t, "a.txt", read(t, filepath.Join(a.repo.Path, "a.txt")), "mine\n")
	equal(t, "main", git(t, a.repo.Path, "rev-parse", "main"), a.merged.Target)
}

// TestDeliverPutsBack: when git fails while it writes files, the files it wrote are taken back.
func TestDeliverPutsBack(t *testing.T) {
	if !unprivileged(t) {
		return
	}
	a := toApply(t, newRepo(t), func(p *plan) {
		write(t, p.path("a.txt"), "ONE\ntwo\nthree\n")
		write(t, p.path("aa/new.txt"), "new\n")
		write(t, p.path("sub/c.txt"), "C\n") // written last
		must(t, os.Remove(p.path("b.txt")))
	})
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(a.repo.Path, "sub"), 0o755) })
	files := func() string {
		return fingerprint(t, filepath.Join(a.repo.Path, "sub")) + read(t, filepath.Join(a.repo.Path, "a.txt")) + read(t, filepath.Join(a.repo.Path, "b.txt")) +
			git(t, a.repo.Path, "status", "--porcelain") + git(t, a.repo.Path, "rev-parse", "HEAD", "main")
	}
	sub := filepath.Join(a.repo.Path, "sub")
	must(t, os.Chmod(sub, 0o555))
	before := files()
	must(t, os.Chmod(sub, 0o755))
	a.m.step = func(s string) error {
		if s == "files" { // after the last check
			return os.Chmod(sub, 0o555)
		}
		return nil
	}
	err := a.deliver()
	equal(t, "files", files(), before)
	equal(t, "aa is there", lexists(filepath.Join(a.repo.Path, "aa")), false)
	refused(t, err, CodeReadOnly)
	must(t, os.Chmod(sub, 0o755))
	a.m.step = nil
	must(t, a.deliver())
	equal(t, "status", git(t, a.repo.Path, "status", "--porcelain"), "")
}

func TestMergeIsAFunctionOfItsInput(t *testing.T) {
	a := toApply(t, newRepo(t), work)
	again, err := a.m.Merge(context.Background(), a.in)
	must(t, err)
	equal(t, "again", again, a.merged)
	equal(t, "kept by", git(t, a.m.mirror(a.repo), "rev-parse", "refs/donewhen/01A/apply"), a.merged.Commit)
	body := git(t, a.m.mirror(a.repo), "log", "-1", "--format=%B|%an|%at|%ct|%P", a.merged.Commit)
	equal(t, "commit", body, "Apply the plan\n\nPlan: 01A\nDefinition-of-Done: 2 of 2 passed\n|donewhen|1714979289|1714979289|"+a.merged.Target+" "+a.in.Commit)

	in := a.in
	in.ExpectTarget = strings.Repeat("1", 40)
	_, err = a.m.Merge(context.Background(), in)
	refused(t, err, CodeMoved)
	in = a.in
	in.Branch = "nowhere"
	_, err = a.m.Merge(context.Background(), in)
	refused(t, err, CodeNoBranch)
	err = a.m.Deliver(context.Background(), a.in, Merged{Commit: a.in.Commit, Target: strings.Repeat("1", 40)})
	if err == nil {
		t.Fatal("delivered what is no merge on the target")
	}
}

func TestContainsOfUnknownCommit(t *testing.T) {
	m, repo := open(t), newRepo(t)
	in, err := m.Contains(context.Background(), repo, "main", strings.Repeat("1", 40))
	must(t, err)
	equal(t, "contains", in, false)
	_, err = m.Contains(context.Background(), repo, "nowhere", strings.Repeat("1", 40))
	refused(t, err, CodeNoBranch)
}
