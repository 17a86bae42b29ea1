package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"donewhen/engine"
)

// Reap is an engine.Reaper for processes started with other Options than a
// Set's: without Instance, grace DefaultGrace.
func Reap(ctx context.Context, left []engine.Leftover) (int, error) {
	return reap(ctx, Options{}.withDefaults(), left)
}

// Reap ends what a crashed server with the same Options left behind, and waits
// until it is gone: the runs in left, by pid with start time (and then their
// whole group) and by the exact run id in their environment; where Instance is
// set, also all else of that instance: checks, judges, and agents whose run was
// cancelled just before the crash. Of the processes themselves it touches no
// others. It is for the time before this server has started any process of its
// own, also with left empty. Where TempDir is set, it removes the task files and
// judges' folders in it.
//
// It returns how many processes it ended, and an error when some are still
// there or could not be looked for; the context cuts the wait short.
func (s *Set) Reap(ctx context.Context, left []engine.Leftover) (int, error) {
	return reap(ctx, s.opts, left)
}

// reapGrace is the time between TERM and KILL for left-overs: nobody waits for
// their result any more, and the pages wait for them to be gone.
const reapGrace = 300 * time.Millisecond

func reap(ctx context.Context, opts Options, left []engine.Leftover) (int, error) {
	grace := min(opts.Grace, reapGrace)
	ended := 0
	var faults []error
	spare := lineage()
	add := func(n, still int, err error) {
		ended += n
		if err != nil {
			faults = append(faults, err)
		}
		if still > 0 {
			faults = append(faults, fmt.Errorf("%d processes could not be ended; see to them on the server", still))
		}
	}
	for _, l := range left {
		if err := ctx.Err(); err != nil {
			return ended, errors.Join(append(faults, err)...)
		}
		q := &quarry{env: runTags(l.RunID, opts.Instance), spare: spare}
		if st, err := readStat(l.Pid); l.Pid > 1 && err == nil && st.start == l.PidStart {
			q.known = []procStat{st}
			if st.pgrp == l.Pid {
				q.pgrp = l.Pid
			}
		}
		add(q.end(grace))
	}
	if opts.Instance != "" {
		add((&quarry{env: []string{envInstance + "=" + opts.Instance}, spare: spare}).end(grace))
	}
	if opts.TempDir != "" {
		if err := clearTemp(opts.TempDir); err != nil {
			faults = append(faults, err)
		}
	}
	return ended, errors.Join(faults...)
}

// lineage is this process and its ancestors, which are never ended: a server
// may itself have been started by an agent.
func lineage() map[int]bool {
	out := map[int]bool{}
	for pid := os.Getpid(); pid > 1 && !out[pid]; {
		out[pid] = true
		st, err := readStat(pid)
		if err != nil {
			break
		}
		pid = st.ppid
	}
	return out
}

// clearTemp removes folders that a crash left in the server's own folder for
// temporary files; nothing of this server is running yet.
func clearTemp(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var faults []error
	for _, e := range entries {
		if e.IsDir() && (strings.HasPrefix(e.Name(), "run-") || strings.HasPrefix(e.Name(), judgeFolder)) {
			faults = append(faults, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return errors.Join(append(faults, err)...)
}
