package runner

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// procStat is what /proc/<pid>/stat says about a process.
type procStat struct {
	pid, ppid, pgrp int
	state           byte
	start           int64 // clock ticks since boot: with the pid it names one process for good
}

// alive says that it still runs: a zombie waits for its parent and does nothing.
func (p procStat) alive() bool { return p.state != 'Z' && p.state != 'X' && p.state != 'x' }

// readStat reads one process. The name in the second field may hold blanks and
// brackets, so counting begins after the last bracket.
func readStat(pid int) (procStat, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procStat{}, err
	}
	end := bytes.LastIndexByte(data, ')')
	f := strings.Fields(string(data[end+1:]))
	if end < 0 || len(f) < 20 {
		return procStat{}, fmt.Errorf("/proc/%d/stat has an unknown form", pid)
	}
	st := procStat{pid: pid, state: f[0][0]}
	if st.ppid, err = strconv.Atoi(f[1]); err != nil {
		return procStat{}, err
	}
	if st.pgrp, err = strconv.Atoi(f[2]); err != nil {
		return procStat{}, err
	}
	if st.start, err = strconv.ParseInt(f[19], 10, 64); err != nil {
		return procStat{}, err
	}
	return st, nil
}

// eachProcess calls f for every process that runs now, the calling one left
// out. One that ends meanwhile is passed over.
func eachProcess(f func(procStat)) error {
	dir, err := os.Open("/proc")
	if err != nil {
		return fmt.Errorf("look for processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("look for processes: %w", err)
	}
	self := os.Getpid()
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == self {
			continue
		}
		if st, err := readStat(pid); err == nil && st.alive() {
			f(st)
		}
	}
	return nil
}

// hasEnv says whether a process was started with all of the given NAME=VALUE
// pairs, each compared whole. A process of another user cannot be read and has none.
func hasEnv(pid int, pairs []string) bool {
	if len(pairs) == 0 {
		return false
	}
	data, err := readEnviron(pid)
	if err != nil {
		return false
	}
	have := map[string]bool{}
	for pair := range strings.SplitSeq(string(data), "\x00") {
		have[pair] = true
	}
	for _, want := range pairs {
		if !have[want] {
			return false
		}
	}
	return true
}

// readEnviron reads a process's environment. In the middle of an exec it looks
// empty for a moment, so an empty one is looked at again.
func readEnviron(pid int) ([]byte, error) {
	for range 3 {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil || len(data) > 0 {
			return data, err
		}
		time.Sleep(time.Millisecond)
	}
	return nil, nil
}

// holders finds the processes that have one of the given pipes open: children
// that left their group and their environment behind, but write on. Children of
// this process itself are left out, since between fork and exec each of them
// holds all that is open here.
func holders(pipes []*os.File) []procStat {
	names := map[string]bool{}
	for _, f := range pipes {
		var st unix.Stat_t
		if control(f, func(fd int) { _ = unix.Fstat(fd, &st) }) == nil && st.Ino != 0 {
			names[fmt.Sprintf("pipe:[%d]", st.Ino)] = true
		}
	}
	self := os.Getpid()
	var out []procStat
	_ = eachProcess(func(st procStat) {
		if st.ppid == self {
			return
		}
		dir := "/proc/" + strconv.Itoa(st.pid) + "/fd"
		fds, err := os.ReadDir(dir)
		if err != nil {
			return // another user's
		}
		for _, fd := range fds {
			if to, err := os.Readlink(dir + "/" + fd.Name()); err == nil && names[to] {
				out = append(out, st)
				return
			}
		}
	})
	return out
}
