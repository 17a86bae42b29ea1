package runner

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is one managed process, described before its start.
type process struct {
	Args   []string // program first; a name without slash is looked for on PATH of Env
	Dir    string
	Env    []string  // its whole environment, as NAME=VALUE
	Stdin  io.Reader // fed to its end, then closed; nil = nothing to read
	Stdout io.Writer // bytes as they come
	Stderr io.Writer // nil = the same pipe as stdout, so that the order is kept
	Limit  time.Duration
	Grace  time.Duration
	// Started is called once, right after the process exists.
	Started func(pid int, startTicks int64)
}

// cause is why a process came to its end.
type cause int

const (
	causeExit   cause = iota // by itself
	causeLimit               // stopped at its time limit
	causeCancel              // stopped because the context ended
	causeStart               // it never started; Err says why
)

// ending is how a process ended.
type ending struct {
	Cause cause
	// Exit is the exit code; 128 plus the signal's number when a signal ended it,
	// as shells say it; -1 when it never started.
	Exit   int
	Signal syscall.Signal // the signal that ended it, 0 for none
	Err    error          // why it did not start, or why its output is not complete
	Ended  int            // children that were still there and had to be ended
	Left   int            // processes that even KILL could not end
}

const (
	// pipeSize is asked for with F_SETPIPE_SZ, so that a chatty process rarely waits.
	pipeSize = 1 << 20
	// settle is how long children may go on writing once their leader has ended,
	// such as the last stage of a process substitution.
	settle = 250 * time.Millisecond
	// drainLimit is the time to read a pipe that somebody unknown still holds open
	// after all that could be found were ended.
	drainLimit = 500 * time.Millisecond
	// lastRead is the time for each read after that.
	lastRead = 50 * time.Millisecond
)

// processTag is the variable that marks one process and all its descendants.
const processTag = "DONEWHEN_PROCESS"

// run starts the process, waits until it and all that it left behind are gone
// and the last byte of output is written, and says how it ended.
func (p process) run(ctx context.Context) ending {
	if err := ctx.Err(); err != nil {
		return ending{Cause: causeCancel, Exit: -1, Err: context.Cause(ctx)}
	}
	tag := processTag + "=" + rand.Text()
	cmd := &exec.Cmd{
		Path:        p.Args[0],
		Args:        p.Args,
		Dir:         p.Dir,
		Env:         append(p.Env[:len(p.Env):len(p.Env)], tag),
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	streams, err := p.connect(cmd)
	if err == nil {
		err = cmd.Start()
	}
	streams.closeChild()
	if err != nil {
		streams.close()
		return ending{Cause: causeStart, Exit: -1, Err: err}
	}
	pid := cmd.Process.Pid
	streams.pump(p)
	if p.Started != nil {
		var ticks int64
		if st, err := readStat(pid); err == nil {
			ticks = st.start
		}
		p.Started(pid, ticks)
	}

	exited := make(chan struct{})
	go func() {
		defer close(exited)
		awaitExit(pid)
	}()
	var limit <-chan time.Time
	if p.Limit > 0 {
		timer := time.NewTimer(p.Limit)
		defer timer.Stop()
		limit = timer.C
	}
	e := ending{Cause: causeExit}
	select {
	case <-exited:
		// Whoever still holds the output gets a moment to write its last words.
		streams.wait(settle)
	case <-limit:
		e.Cause = causeLimit
	case <-ctx.Done():
		e.Cause = causeCancel
	}
	// Until cmd.Wait the leader's pid, and with it the group's number, cannot be
	// given to anybody else.
	var endErr error
	e.Ended, e.Left, endErr = (&quarry{pgrp: pid, held: true, env: []string{tag}}).end(p.grace())
	<-exited
	if !streams.wait(lastRead) {
		n, left, err := (&quarry{known: holders(streams.readers)}).end(p.grace())
		e.Ended, e.Left, endErr = e.Ended+n, e.Left+left, errors.Join(endErr, err)
	}
	e.Err = errors.Join(streams.finish(), endErr)
	_ = cmd.Wait() // the state says more than the error
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal = ws.Signal()
		e.Exit = 128 + int(e.Signal)
	} else {
		e.Exit = cmd.ProcessState.ExitCode()
	}
	return e
}

func (p process) grace() time.Duration {
	if p.Grace > 0 {
		return p.Grace
	}
	return DefaultGrace
}

// awaitExit waits for the end of a child without taking its status, so that
// its pid stays reserved.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// streams are the pipes of one process: the child's ends, ours, and who reads
// and writes them.
type streams struct {
	child   []*os.File
	stdin   *os.File // our end, nil when there is nothing to feed
	readers []*os.File
	done    chan struct{} // closed when all output has been read
	feeding sync.WaitGroup

	mu  sync.Mutex
	err error
}

// connect makes the pipes and hangs them on cmd. The streams it returns can be
// closed also when there is an error.
func (p process) connect(cmd *exec.Cmd) (*streams, error) {
	s := &streams{done: make(chan struct{})}
	if p.Stdin == nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return s, err
		}
		s.child = append(s.child, null)
		cmd.Stdin = null
	} else {
		r, w, err := os.Pipe()
		if err != nil {
			return s, err
		}
		s.child, s.stdin = append(s.child, r), w
		cmd.Stdin = r
	}
	out, err := s.output()
	if err != nil {
		return s, err
	}
	cmd.Stdout, cmd.Stderr = out, out
	if p.Stderr != nil {
		if cmd.Stderr, err = s.output(); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (s *streams) output() (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	// Best effort: above the user's limit for pipes the kernel refuses.
	_ = control(w, func(fd int) { _, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeSize) })
	s.child, s.readers = append(s.child, w), append(s.readers, r)
	return w, nil
}

// control calls f with the file's descriptor. Unlike Fd it leaves the file in
// non-blocking mode, so that deadlines go on working.
func control(file *os.File, f func(fd int)) error {
	c, err := file.SyscallConn()
	if err != nil {
		return err
	}
	return c.Control(func(fd uintptr) { f(int(fd)) })
}

// closeChild closes the child's ends in this process: as long as one of them is
// open here, no pipe ever ends.
func (s *streams) closeChild() {
	for _, f := range s.child {
		f.Close()
	}
}

// pump begins to feed stdin and to read the output.
func (s *streams) pump(p process) {
	if s.stdin != nil {
		s.feeding.Go(func() {
			_, _ = io.Copy(s.stdin, p.Stdin) // it need not read all: a closed pipe is no fault
			s.stdin.Close()
		})
	}
	var reading sync.WaitGroup
	writers := []io.Writer{p.Stdout, p.Stderr}
	for i, r := range s.readers {
		reading.Go(func() { s.read(r, writers[i]) })
	}
	go func() {
		reading.Wait()
		close(s.done)
	}()
}

// read copies a pipe to its end. A writer that fails is not asked again, but
// the pipe is read on: a full pipe would stop the process.
func (s *streams) read(r *os.File, w io.Writer) {
	buf := make([]byte, 64<<10)
	last := 0 // bytes that may still be read after the deadline, 0 before it
	for {
		n, err := r.Read(buf)
		if n > 0 && w != nil {
			if _, werr := w.Write(buf[:n]); werr != nil {
				s.fail(fmt.Errorf("its output could not be recorded: %w", werr))
				w = nil
			}
		}
		switch {
		case err == nil && last == 0:
		case err == nil:
			if last -= n; last <= 0 {
				s.fail(errHeldOpen)
				return
			}
			_ = r.SetReadDeadline(time.Now().Add(lastRead))
		case errors.Is(err, os.ErrDeadlineExceeded) && last == 0:
			// The deadline may have passed while w was slow, with output still in the
			// pipe: read what it can hold, and no more.
			last = pipeSize
			_ = r.SetReadDeadline(time.Now().Add(lastRead))
		case errors.Is(err, os.ErrDeadlineExceeded):
			s.fail(errHeldOpen)
			return
		default:
			return
		}
	}
}

var errHeldOpen = errors.New("a process that could not be found kept its output open; what it wrote later is not recorded")

func (s *streams) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = errors.Join(s.err, err)
}

// wait says whether all output has been read, waiting for at most limit.
func (s *streams) wait(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-s.done:
		return true
	case <-timer.C:
		return false
	}
}

// finish reads what is left after the process and its children are gone, closes
// all ends and says what was lost. However slow the writer is, nothing that is
// in the pipe is; only a writer that nobody could find is cut off.
func (s *streams) finish() error {
	for _, r := range s.readers {
		_ = r.SetReadDeadline(time.Now().Add(drainLimit))
	}
	<-s.done
	s.close()
	s.feeding.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// close closes our ends.
func (s *streams) close() {
	if s.stdin != nil {
		s.stdin.Close()
	}
	for _, r := range s.readers {
		r.Close()
	}
}
