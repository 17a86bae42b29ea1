package handlers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sort"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// Bounds of the part of a log that one page shows.
const (
	logLines    = 400      // lines
	logBytes    = 72 << 10 // bytes of them
	logLineSeen = 2 << 10  // bytes of one line
)

// GET /runs/:id?from=&before=, its live part with ?part=facts, and the search
// in its log: ?q=&on=&back= for a page of what was found, ?q=&step=&at= for the
// way to the next or the previous line
func (s *Server) showRun(c echo.Context) error {
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	before, from := numberParam(c, "before"), numberParam(c, "from") // what is no number is the end of the log
	find := logWordsOf(c)
	if wantsFragment(c) {
		switch {
		case c.QueryParam("part") == "facts":
			return s.runFactsPart(c, id)
		case before > 0:
			l, err := s.logBefore(ctx, id, before, find)
			if err != nil {
				return err
			}
			return s.fragment(c, http.StatusOK, views.LogEarlierPart(l))
		}
	}
	d, err := s.Reader.RunDetail(ctx, id)
	if err != nil {
		return err
	}
	if step := c.QueryParam("step"); find != nil && step != "" {
		return s.stepInLog(c, id, find, step, numberParam(c, "at"))
	}
	v := views.RunView{ID: id, Label: d.Run.Agent.Label(), Plan: d.Plan.Title, PlanID: d.Plan.ID, Phase: d.Phase.Name, PhaseID: d.Phase.ID,
		PassID: d.Pass.ID, Pass: passTitle(d.Phase, d.Pass), Facts: s.runFacts(c, d)}
	var search *views.LogSearch
	if find != nil {
		show := int64(0)
		if search, show, err = s.searchInLog(c, id, find, from, before); err != nil {
			return err
		}
		from = max(from, show)
	}
	switch {
	case before > 0:
		v.Log, err = s.logBefore(ctx, id, before, find)
	case from > 0:
		v.Log, err = s.logFrom(ctx, id, from, find)
	default:
		v.Log, err = s.logTail(ctx, id, find)
	}
	if err != nil {
		return err
	}
	v.Log.Search = search
	v.Log.Follow = !v.Log.Later && !d.Run.Status.Ended()
	if v.Log.Total == 0 {
		v.Log.Empty = silence(d.Run)
	}
	if v.PageMeta, err = s.meta(c, v.Label+", "+v.Pass+" of "+d.Phase.Name, views.NavPlans); err != nil {
		return err
	}
	return s.page(c, http.StatusOK, views.RunPage(v))
}

// silence is what is said of a run that has printed nothing.
func silence(r models.Run) string {
	switch {
	case r.Status == models.RunQueued:
		return "It has not begun yet."
	case r.Status == models.RunRunning:
		return "It has printed nothing yet."
	case r.StartedAt == nil:
		return "It never began."
	default:
		return "It has printed nothing."
	}
}

func passTitle(ph models.Phase, p models.Pass) string {
	if ph.Attempt > 1 {
		return fmt.Sprintf("Attempt %d, pass %d", p.Attempt, p.Number())
	}
	return fmt.Sprintf("Pass %d", p.Number())
}

func (s *Server) runFactsPart(c echo.Context, id int64) error {
	ctx := c.Request().Context()
	run, err := s.Reader.Run(ctx, id)
	if err != nil {
		return err
	}
	version, err := s.Reader.PlanVersion(ctx, run.PlanID)
	if err != nil {
		return err
	}
	return s.versioned(c, fmt.Sprintf("run-%d-%d", id, version), func() (templ.Component, error) {
		d, err := s.Reader.RunDetail(ctx, id)
		return views.RunFactsPart(s.runFacts(c, d)), err
	})
}

func (s *Server) runFacts(c echo.Context, d models.RunDetail) views.RunFacts {
	r := d.Run
	f := views.RunFacts{
		ID: r.ID, PlanID: r.PlanID, Status: r.Status, Runtime: r.Agent.Runtime, Program: r.Agent.Runtime, Command: r.Agent.Command, Try: r.Try,
		Exit: r.ExitCode, Reason: r.Reason, Final: plainOutput(r.FinalMessage), Activity: r.Activity, Started: r.StartedAt, Ended: r.EndedAt,
		Took: between(r.StartedAt, r.EndedAt), Tokens: tokens(r.InputTokens, r.OutputTokens), Cost: cost(r.CostUSD), Commit: r.Commit, Now: s.Now(),
	}
	if r.Status == models.RunQueued {
		f.Reason = "It waits for its turn: the agents of a pass work one after the other."
	}
	if r.Status == models.RunRunning && d.Pass.ID == deref(d.Phase.PassID) && s.actor(c).Role.Can(lead) {
		f.Verbs = []views.Verb{stopVerb(d.Plan, d.Phase, r)}
	}
	known := slices.IndexFunc(s.Engine.RuntimeList(), func(i engine.RuntimeInfo) bool { return i.Alias == r.Agent.Runtime })
	if known >= 0 {
		f.Program = s.Engine.RuntimeList()[known].Shown
	}
	return f
}

// logTail is the end of a log.
func (s *Server) logTail(ctx context.Context, id int64, find *logFind) (views.LogView, error) {
	lines, err := s.Logs.Lines(ctx, id, -1, logLines)
	if err != nil {
		return views.LogView{}, err
	}
	return s.logView(ctx, id, lastOf(lines), find)
}

// logFrom is a log from a line on; one that does not exist gives the end.
func (s *Server) logFrom(ctx context.Context, id, from int64, find *logFind) (views.LogView, error) {
	lines, err := s.Logs.Lines(ctx, id, from, logLines)
	if err != nil {
		return views.LogView{}, err
	}
	if len(lines) == 0 {
		return s.logTail(ctx, id, find)
	}
	return s.logView(ctx, id, firstOf(lines), find)
}

// logBefore is the lines just before one. Where the middle of the log was
// dropped, those before the gap follow on those after it.
func (s *Server) logBefore(ctx context.Context, id, before int64, find *logFind) (views.LogView, error) {
	first := max(1, before-logLines)
	lines, err := s.linesBetween(ctx, id, first, before)
	if err == nil && len(lines) == 0 && first > 1 {
		// first is in the gap: look for the last line before it.
		var failed error
		n := sort.Search(int(first), func(i int) bool {
			at, err := s.Logs.Lines(ctx, id, int64(i)+1, 1)
			if err != nil {
				failed = err
			}
			return len(at) == 0 || at[0].N != int64(i)+1
		})
		if err = failed; err == nil {
			lines, err = s.linesBetween(ctx, id, max(1, int64(n)-logLines+1), int64(n)+1)
		}
	}
	if err != nil {
		return views.LogView{}, err
	}
	return s.logView(ctx, id, lastOf(lines), find)
}

// linesBetween reads the lines from first to the one before end.
func (s *Server) linesBetween(ctx context.Context, id, first, end int64) ([]engine.LogLine, error) {
	lines, err := s.Logs.Lines(ctx, id, first, int(end-first))
	if n := slices.IndexFunc(lines, func(l engine.LogLine) bool { return l.N >= end }); n >= 0 {
		lines = lines[:n]
	}
	return lines, err
}

// lastOf keeps as many of the last lines as fit on a page, firstOf of the first.
func lastOf(lines []engine.LogLine) []engine.LogLine {
	room := logBytes
	for i := len(lines) - 1; i >= 0; i-- {
		if room -= min(len(lines[i].Data), logLineSeen); room < 0 {
			return lines[i+1:]
		}
	}
	return lines
}

func firstOf(lines []engine.LogLine) []engine.LogLine {
	room := logBytes
	for i := range lines {
		if room -= min(len(lines[i].Data), logLineSeen); room < 0 {
			return lines[:i]
		}
	}
	return lines
}

// logView is a window of a log made of the given lines.
func (s *Server) logView(ctx context.Context, id int64, lines []engine.LogLine, find *logFind) (views.LogView, error) {
	info, err := s.Logs.Info(ctx, id)
	if err != nil {
		return views.LogView{}, err
	}
	v := views.LogView{RunID: id, Total: info.Lines, Size: logSize(info)}
	if find != nil {
		v.Words = find.words
	}
	rows := logRows{find: find}
	for _, l := range lines {
		v.Lines = append(v.Lines, rows.line(l))
		if !l.Partial {
			v.Last = l.N
		}
	}
	if len(lines) > 0 {
		v.First = lines[0].N
		v.Earlier = v.First > 1
		if end := lines[len(lines)-1].N; end < info.Lines {
			v.Later, v.LaterAt = true, end+1
		}
	}
	if info.Cut {
		v.Cut = fmt.Sprintf("The run printed more than is kept: %s of its middle were dropped. Its beginning and its end are whole.", views.ByteSize(info.CutBytes))
	}
	return v, nil
}

func logSize(info engine.LogInfo) string {
	if info.Lines == 1 {
		return "1 line, " + views.ByteSize(info.Bytes)
	}
	return fmt.Sprintf("%s lines, %s", thousands(info.Lines), views.ByteSize(info.Bytes))
}

// GET /runs/:id/log.txt
func (s *Server) rawLog(c echo.Context) error {
	id, err := idParam(c, "id")
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	if _, err := s.Reader.Run(ctx, id); err != nil {
		return err
	}
	noDeadline(c)
	h := c.Response().Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="run-%d.txt"`, id))
	h.Set("Cache-Control", "no-store")
	c.Response().WriteHeader(http.StatusOK)
	if c.Request().Method == http.MethodHead {
		return nil
	}
	return s.Logs.Raw(ctx, id, c.Response())
}
