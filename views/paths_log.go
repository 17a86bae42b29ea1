package views

import "net/url"

// logPath is a run's page with what its log is asked for; words are those that
// are looked for in it, "" for none. Empty values are left out.
func logPath(path, words string, more ...string) string {
	q := url.Values{}
	if words != "" {
		q.Set("q", words)
	}
	for i := 0; i+1 < len(more); i += 2 {
		if v := more[i+1]; v != "" && v != "0" {
			q.Set(more[i], v)
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// RunLinesPath is a run's log around a line: the page begins there.
func RunLinesPath(id, from int64, words string) string {
	return logPath(RunPath(id), words, "from", itoa(from))
}

// RunEarlierPath is the fragment with the lines before a line of a run's log.
func RunEarlierPath(id, before int64, words string) string {
	return logPath(RunPath(id), words, "before", itoa(before))
}

// RunEventsPath is the stream of a run's log after a line.
func RunEventsPath(id, after int64, words string) string {
	path := RunPath(id) + "/log/events?after=" + itoa(after)
	if words != "" {
		path += "&q=" + url.QueryEscape(words)
	}
	return path
}

// RunSearchPath is a page of the lines of a log that have the words: those from
// line on, or the last ones before line back; 0 for neither is the first page.
func RunSearchPath(id int64, words string, on, back int64) string {
	return logPath(RunPath(id), words, "on", itoa(on), "back", itoa(back))
}

// RunFoundPath is a line that was found, in its log, with so many lines above;
// on or back is the page of the results it was on.
func RunFoundPath(id int64, words string, line, above, on, back int64) string {
	return logPath(RunPath(id), words, "from", itoa(max(1, line-above)), "on", itoa(on), "back", itoa(back)) + "#L" + itoa(line)
}

// RunStepPath leads to the line with the words that is next after a line, or
// the previous one; step is "next" or "prev".
func RunStepPath(id int64, words, step string, at int64) string {
	return logPath(RunPath(id), words, "step", step, "at", itoa(at))
}

// RunNoMorePath is where a step leads that finds nothing: back to line at.
func RunNoMorePath(id int64, words string, at, above int64, step string) string {
	return logPath(RunPath(id), words, "from", itoa(max(1, at-above)), "none", step) + "#L" + itoa(at)
}
