package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxKept bounds the refs that one KeepHistory makes.
const maxKept = 200

// keptRefs is where the rest of the agents' history is kept in M.
func keptRefs(plan string) string { return "refs/donewhen/" + plan + "/kept/" }

// KeepHistory brings into M what W's git folder holds and the plan's branch does not reach: other
// branches, tags, stashes, and what HEAD and branches pointed to before. kept are the names of refs
// below refs/donewhen/<plan>/kept; lost is what could not be had, with nested repositories, whose files
// are recorded and whose history is not. Runs after a snapshot, which has read HEAD.
func (m *Manager) KeepHistory(ctx context.Context, repo Repo, planID string) (kept []string, lost []Unrecorded, err error) {
	unlock, err := m.lockPlan(ctx, repo, planID)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	if err := m.checkWorkDir(repo, planID); err != nil {
		return nil, nil, err
	}
	lost, err = m.nestedHistories(ctx, repo, planID)
	if err != nil {
		return nil, lost, err
	}
	git := filepath.Join(m.workDir(repo, planID), ".git")
	if oddGitDir(git) != "" {
		return nil, lost, nil // the snapshot has said so
	}
	found := readTips(git)
	lost = append(lost, found.odd...)
	if found.more {
		lost = append(lost, Unrecorded{".git/refs", fmt.Sprintf("more than %d refs and entries of their logs", maxTips)})
	}
	if len(found.list) == 0 {
		return nil, lost, nil
	}
	s, err := m.newStandIn(repo, planID, git, m.mirror(repo))
	if err != nil {
		return nil, lost, err
	}
	defer os.RemoveAll(s.dir)
	kept, more, err := s.keep(ctx, found.list)
	lost = append(lost, more...)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		// Made to be slow, or just large: a person decides.
		lost, err = append(lost, Unrecorded{".git", "commits besides HEAD: " + err.Error()}), nil
	}
	return kept, lost, err
}

func (s *standIn) keep(ctx context.Context, found []tip) (kept []string, lost []Unrecorded, err error) {
	list, missing, err := s.worthKeeping(ctx, found)
	if err != nil {
		return nil, nil, err
	}
	if len(missing) > 0 {
		lost = append(lost, Unrecorded{".git/objects", "these are named and not there: " + someTips(missing)})
	}
	if len(list) > maxKept {
		lost = append(lost, Unrecorded{".git/refs", fmt.Sprintf("of %d commits that the branch does not reach the first %d are kept, and these are not: %s", len(list), maxKept, someTips(list[maxKept:]))})
		list = list[:maxKept]
	}
	kept, failed, err := s.fetch(ctx, list)
	for _, f := range failed {
		lost = append(lost, Unrecorded{".git/" + f.tip.name + " " + f.tip.oid[:12], "git refused it: " + f.why})
	}
	return kept, lost, err
}

func someTips(list []tip) string {
	names := make([]string, len(list))
	for i, t := range list {
		names[i] = t.String()
	}
	return someFiles(names)
}

// standIn is a git folder of ours beside the plan's index. W's own is never used as one: its refs are
// read as files, and M fetches from a stand-in that has a configuration of ours and borrows W's objects,
// so that nothing planted is obeyed.
type standIn struct {
	m    *Manager
	repo Repo
	plan string
	dir  string
}

// newStandIn makes one that borrows the objects of these git folders.
func (m *Manager) newStandIn(repo Repo, planID string, gits ...string) (*standIn, error) {
	borrowed := ""
	for _, g := range gits {
		borrowed += filepath.Join(g, "objects") + "\n"
	}
	state := m.stateDir(repo, planID)
	if err := os.MkdirAll(state, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(state, ".history-")
	if err != nil {
		return nil, err
	}
	config, err := os.ReadFile(filepath.Join(m.mirror(repo), "config")) // the object format is in it
	// What agents could have written beside their objects to speed git up is not believed.
	text := string(config) + "\n[core]\n\tcommitGraph = false\n\tmultiPackIndex = false\n[pack]\n\tuseBitmaps = false\n"
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": text, "refs/none": "",
		"objects/info/alternates": borrowed} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err = errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o755))
		if text != "" {
			err = errors.Join(err, writeFileAtomic(path, text))
		}
	}
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, fmt.Errorf("prepare to read the agents' history: %w", err)
	}
	return &standIn{m, repo, planID, dir}, nil
}

// worthKeeping drops what the plan's branch or another tip reaches anyway.
func (s *standIn) worthKeeping(ctx context.Context, all []tip) (list, missing []tip, err error) {
	c := call{gitDir: s.dir, args: []string{"cat-file", "--batch-check=%(objecttype)"}}
	for _, t := range all {
		c.stdin += t.oid + "\n"
	}
	out, _, err := s.m.git(ctx, c)
	types := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if err != nil || len(types) != len(all) {
		return nil, nil, fmt.Errorf("read the agents' history: %w", cmp.Or(err, errOtherAnswer))
	}
	var walk []string
	for i, t := range all {
		switch {
		case strings.HasSuffix(types[i], " missing"):
			missing = append(missing, t)
		case types[i] == "commit" || types[i] == "tag":
			walk = append(walk, t.oid)
		}
	}
	isTip, err := s.tipsAmong(ctx, walk)
	if err != nil {
		return nil, nil, err
	}
	for i, t := range all {
		switch types[i] {
		case "commit":
			if isTip(t.oid) {
				list = append(list, t)
			}
		case "tag":
			list = append(list, t)
		case "tree", "blob":
			if !t.past() {
				list = append(list, t)
			}
		}
	}
	return list, missing, nil
}

// tipsAmong tells the commits that neither the plan's branch nor another one reaches.
func (s *standIn) tipsAmong(ctx context.Context, oids []string) (isTip func(string) bool, err error) {
	branch, err := s.m.resolve(ctx, s.repo, planRef(s.plan))
	if err != nil {
		return nil, err
	}
	c := call{gitDir: s.dir, long: true, args: []string{"rev-list", "--parents", "--stdin"}, stdin: strings.Join(oids, "\n") + "\n"}
	if branch != "" {
		c.stdin += "^" + branch + "\n"
	}
	out, _, err := s.m.git(ctx, c)
	if exitCode(err) < 0 {
		return nil, err
	}
	if err != nil { // something is missing further back: what the branch does not reach is tried
		reached := ""
		if branch != "" {
			if reached, _, err = s.m.git(ctx, s.m.inM(s.repo, "rev-list", branch)); err != nil {
				return nil, err
			}
		}
		known := setOf(strings.Fields(reached))
		return func(oid string) bool { return !known[oid] }, nil
	}
	apart, parent := map[string]bool{}, map[string]bool{}
	for l := range strings.Lines(out) {
		for i, oid := range strings.Fields(l) {
			if i == 0 {
				apart[oid] = true
			} else {
				parent[oid] = true
			}
		}
	}
	return func(oid string) bool { return apart[oid] && !parent[oid] }, nil
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

var errOtherAnswer = errors.New("git answered otherwise than it was asked")

type failedTip struct {
	tip tip
	why string
}

// fetch brings the tips into M, all at once or, if one of them is refused, one by one.
func (s *standIn) fetch(ctx context.Context, list []tip) (kept []string, failed []failedTip, err error) {
	if len(list) == 0 {
		return nil, nil, nil
	}
	packed := ""
	for _, t := range list {
		packed += t.oid + " refs/kept/" + t.keptName() + "\n"
	}
	if err := s.pack(packed); err != nil {
		return nil, nil, err
	}
	why := map[string]string{}
	if err := s.fetchOne(ctx, "*"); exitCode(err) < 0 {
		return nil, nil, err
	} else if err != nil {
		for _, t := range list {
			if err := s.fetchOne(ctx, t.keptName()); exitCode(err) < 0 {
				return nil, nil, err
			} else if err != nil {
				why[t.oid] = strings.ReplaceAll(firstLine(reason(err)), s.dir, ".git") // the same each time
			}
		}
	}
	// What counts is what is there: upload-pack leaves out what it cannot read.
	out, _, err := s.m.git(ctx, s.m.inM(s.repo, "for-each-ref", "--format=%(refname)", keptRefs(s.plan)))
	if err != nil {
		return nil, nil, err
	}
	there := strings.Fields(out)
	for _, t := range list {
		if slices.Contains(there, keptRefs(s.plan)+t.keptName()) {
			kept = append(kept, t.keptName())
			continue
		}
		if why[t.oid] == "" {
			why[t.oid] = "it cannot be read"
		}
		failed = append(failed, failedTip{t, why[t.oid]})
	}
	return kept, failed, nil
}

func (s *standIn) pack(refs string) error {
	return writeFileAtomic(filepath.Join(s.dir, "packed-refs"), refs)
}

func (s *standIn) fetchOne(ctx context.Context, name string) error {
	return s.fetchRef(ctx, "refs/kept/"+name+":"+keptRefs(s.plan)+name)
}

// fetchHead brings one commit into M, as the one that W's HEAD points to.
func (s *standIn) fetchHead(ctx context.Context, oid string) error {
	if err := s.pack(oid + " refs/kept/head\n"); err != nil {
		return err
	}
	return s.fetchRef(ctx, "+refs/kept/head:"+agentRef(s.plan))
}

func (s *standIn) fetchRef(ctx context.Context, refspec string) error {
	// fsck, because these objects come from a stranger.
	c := s.m.inM(s.repo, "-c", "protocol.version=2", "-c", "fetch.fsckObjects=true", "-c", "fetch.writeCommitGraph=false",
		"fetch", "-q", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance", "--no-prune",
		"--end-of-options", s.dir, refspec)
	c.long = true
	_, _, err := s.m.git(ctx, c)
	return err
}
