package engine

import (
	"strings"

	"donewhen/models"
)

// objectionMark begins the line with which an agent says that a criterion is
// wrong or cannot be met.
const objectionMark = "DONEWHEN OBJECTION:"

// maxObjection bounds what is kept of an objection, in bytes.
const maxObjection = 2 << 10

// howToObject is the line of the task text that tells an agent how to object. It
// stands in the composed part, so that repeating it objects to nothing.
const howToObject = "If one of them is wrong or cannot be met, do not work around it: write one line that begins with " +
	objectionMark + " and says why into your final message. The phase then pauses and the lead decides."

// objection finds what the agents of a pass object to: the lines that begin with
// the mark in the final messages of runs (all of which succeeded), by position, or
// "". What stands in the pass's own task text is an echo and no objection,
// however it is wrapped.
func (e *Engine) objection(pass models.Pass, runs []models.Run) string {
	task := strings.Join(strings.Fields(cleanText(pass.TaskText)), " ")
	ec := newEcho(pass.TaskText)
	var said []string
	for _, r := range latestTries(runs) {
		for line := range strings.Lines(ec.blank(cleanText(r.FinalMessage))) {
			text, marked := strings.CutPrefix(bareLine(line), objectionMark)
			text = bareLine(text)
			if !marked || strings.Trim(text, gap+" ") == "" || strings.Contains(task, strings.Join(strings.Fields(objectionMark+" "+text), " ")) {
				continue
			}
			if len(latestTries(runs)) > 1 {
				text = r.Agent.Label() + ": " + text
			}
			said = append(said, text)
		}
	}
	return headTail(e.redact(strings.Join(said, "\n")), maxObjection)
}

// bareLine is a line without the blanks and the emphasis that agents put around it.
func bareLine(line string) string { return strings.Trim(line, " \t\n*_`") }
