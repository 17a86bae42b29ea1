package handlers

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"donewhen/views"
)

// Times of the event streams.
const (
	streamRest  = 500 * time.Millisecond // between two "changed" events: what comes meanwhile is one
	streamAlive = 20 * time.Second       // keeps proxies from closing a quiet stream, and tells its reader that it is there
	logRest     = 60 * time.Millisecond  // between two looks at a log that grows
)

// noDeadline takes the server's write deadline off this answer. Writers that
// have none, such as those of tests, need none taken off.
func noDeadline(c echo.Context) {
	_ = http.NewResponseController(c.Response()).SetWriteDeadline(time.Time{})
}

// stream is an open event stream. Its context ends with the request, the
// reader's session, and the server.
type stream struct {
	c   echo.Context
	ctx context.Context
	buf bytes.Buffer
}

// openStream begins an event stream; stop must be called at its end.
func (s *Server) openStream(c echo.Context, done <-chan struct{}) (st *stream, stop func(), err error) {
	ctx, cancel := context.WithCancel(c.Request().Context())
	go func() {
		select {
		case <-done:
			cancel()
		case <-ctx.Done():
		}
	}()
	noDeadline(c)
	h := c.Response().Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // nginx would hold events back
	c.Response().WriteHeader(http.StatusOK)
	st = &stream{c: c, ctx: ctx}
	return st, cancel, nil
}

// event adds an event to what the next flush sends. Every line of data gets a
// field of its own; id "" leaves the reader's last one as it is.
func (st *stream) event(name, id, data string) {
	if id != "" {
		fmt.Fprintf(&st.buf, "id: %s\n", id)
	}
	fmt.Fprintf(&st.buf, "event: %s\n", name)
	for _, line := range strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(data), "\n") {
		fmt.Fprintf(&st.buf, "data: %s\n", line)
	}
	st.buf.WriteByte('\n')
}

func (st *stream) alive() { st.buf.WriteString(": still here\n\n") }

// flush sends what was added. An error means that nobody listens any more.
func (st *stream) flush() error {
	if st.buf.Len() == 0 {
		return nil
	}
	_, err := st.c.Response().Write(st.buf.Bytes())
	st.buf.Reset()
	if err == nil {
		err = http.NewResponseController(st.c.Response()).Flush()
	}
	return err
}

// rest waits; false when the stream is over.
func (st *stream) rest(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-st.ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// GET /events: "changed" events that say what changed, never the change. At
// first everything counts as changed, so that a reconnect heals what was missed.
// "alive" says in how many milliseconds at most the next event comes.
func (s *Server) streamEvents(c echo.Context) error {
	sub := s.Engine.Hub().Subscribe()
	defer sub.Close()
	st, stop, err := s.openStream(c, sub.Done)
	if err != nil {
		return err
	}
	defer stop()
	alive := strconv.FormatInt(streamAlive.Milliseconds(), 10)
	st.event("alive", "", alive)
	st.event("changed", "", "*")
	for {
		if err := st.flush(); err != nil || !st.rest(streamRest) {
			return nil // the reader has gone, or the server stops
		}
		select {
		case <-st.ctx.Done():
			return nil
		case <-sub.Kick:
			if topics := sub.Take(); len(topics) > 0 {
				st.event("changed", "", strings.Join(topics, " "))
			}
		case <-time.After(streamAlive):
			st.event("alive", "", alive)
		}
	}
}

// GET /runs/:id/log/events: the lines of a log after one, as they are printed.
// A "line" event has the line's number as its id, so that a reconnect goes on
// after the last one that arrived; "partial" is the last line while it has no
// line break, and has no id; "end" says that nothing will follow.
func (s *Server) streamLog(c echo.Context) error {
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	if _, err := s.Reader.Run(c.Request().Context(), id); err != nil {
		return err
	}
	after, _ := strconv.ParseInt(c.QueryParam("after"), 10, 64) // what is no number is the beginning
	if last := c.Request().Header.Get("Last-Event-ID"); last != "" {
		if n, err := strconv.ParseInt(last, 10, 64); err == nil {
			after = n
		}
	}
	sub := s.Engine.Hub().Subscribe()
	defer sub.Close()
	st, stop, err := s.openStream(c, sub.Done)
	if err != nil {
		return err
	}
	defer stop()
	st.buf.WriteString("retry: 2000\n\n")
	f := logFollower{s: s, st: st, run: id, after: max(after, 0), rows: logRows{find: logWordsOf(c)}}
	for {
		over, err := f.step()
		if err != nil {
			if st.ctx.Err() == nil {
				s.Log.Error("log stream", "run", id, "err", err)
			}
			return nil // the answer has begun: the browser comes again by itself
		}
		if over {
			return nil
		}
	}
}

// logFollower sends a log's lines as they come.
type logFollower struct {
	s       *Server
	st      *stream
	run     int64
	after   int64 // the last line sent whole
	size    int64 // of the log as it was last said
	partial int   // bytes of the partial line that were sent
	rows    logRows
}

// step sends what is new and waits for more. over says that the stream has ended.
func (f *logFollower) step() (over bool, err error) {
	ctx := f.st.ctx
	// The state is read before the lines: what it says has ended is in them.
	run, err := f.s.Reader.Run(ctx, f.run)
	if err != nil {
		return false, err
	}
	info, err := f.s.Logs.Info(ctx, f.run)
	if err != nil {
		return false, err
	}
	if err := f.send(ctx); err != nil {
		return false, err
	}
	if info.Bytes != f.size {
		f.st.event("size", "", logSize(info))
		f.size = info.Bytes
	}
	if run.Status.Ended() && !info.Open {
		f.st.event("end", "", views.Word(run.Status))
		return true, f.st.flush()
	}
	if err := f.st.flush(); err != nil {
		return true, nil // the reader has gone
	}
	wait, stop := context.WithTimeout(ctx, streamAlive)
	defer stop()
	if !info.Open {
		// Not started yet, or about to be settled: neither is told by the log.
		stop()
		wait, stop = context.WithTimeout(ctx, 5*logRest)
		defer stop()
		<-wait.Done()
		return ctx.Err() != nil, nil
	}
	switch err := f.s.Logs.Wait(wait, f.run, info.Bytes); {
	case ctx.Err() != nil:
		return true, nil
	case wait.Err() != nil:
		f.st.alive()
		return false, nil
	case err != nil:
		return false, err
	}
	return !f.st.rest(logRest), nil
}

// send adds all lines after the last one, a flush for each bite.
func (f *logFollower) send(ctx context.Context) error {
	const bite = 500
	for {
		lines, err := f.s.Logs.Lines(ctx, f.run, f.after+1, bite)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if l.Partial {
				if l.Size != f.partial {
					now := f.rows // the line comes again, whole
					if err := f.add(ctx, "partial", "", now.line(l)); err != nil {
						return err
					}
					f.partial = l.Size
				}
				return nil
			}
			if err := f.add(ctx, "line", strconv.FormatInt(l.N, 10), f.rows.line(l)); err != nil {
				return err
			}
			f.after, f.partial = l.N, 0
		}
		if len(lines) < bite {
			return nil
		}
		if err := f.st.flush(); err != nil {
			return err
		}
	}
}

func (f *logFollower) add(ctx context.Context, name, id string, l views.LogLine) error {
	var row bytes.Buffer
	if err := views.LogStreamRow(l).Render(ctx, &row); err != nil {
		return err
	}
	f.st.event(name, id, row.String())
	return nil
}
