package views

import (
	"strconv"
	"strings"
)

// LogView is a window of a run's log.
type LogView struct {
	RunID   int64
	Lines   []LogLine
	First   int64 // number of the first line shown, 0 when there is none
	Last    int64 // of the last complete one
	Total   int64
	Size    string
	Earlier bool // there are lines before
	Later   bool // there are lines after, which this window does not follow
	LaterAt int64
	Follow  bool   // the end is in view and grows
	Cut     string // what was dropped from the middle
	Empty   string
	Words   string     // what is looked for, "" for nothing
	Search  *LogSearch // nil when nothing is looked for
}

// LogLine is one line of a log.
type LogLine struct {
	N        int64
	Spans    []LogSpan
	Short    string // how much of a long line is left out
	Dropped  string // what is missing after it
	Partial  bool   // it may grow
	Hit      bool   // it has the words that are looked for
	Same     bool   // it says what the line before says
	Group    string // it begins a group of this name
	GroupEnd bool   // it ends one
}

func (l LogLine) number() string { return strconv.FormatInt(l.N, 10) }

// LogSearch is a page of the lines that have the words.
type LogSearch struct {
	RunID     int64
	Words     string
	Exact     bool   // capitals count
	Note      string // what was found and how far was looked
	Step      string // what a step to the next or previous line came to
	Hits      []LogHit
	Long      int    // lines of which only the beginning was looked at
	OnNow     int64  // the line this page begins at, 0 for the first page
	BackNow   int64  // the line it ends before, 0 when that was not asked for
	Above     int64  // lines shown above one that is followed into the log
	On        int64  // where the next page begins, 0 = there is none
	OnLabel   string // "" is "Later results"
	Back      int64  // the page before ends before this line, 0 = there is none
	BackLabel string // "" is "Earlier results"
}

// LogHit is a line that was found: the first place with the words around it.
type LogHit struct {
	N                   int64
	Before, Text, After string
	Places              int  // how many times the line has the words
	Far                 bool // they are in the part of a long line that the log leaves out
}

// LogGroup says whether a line begins a group (its name) or ends one, as
// programs mark them for build pages: ::group::NAME and ::endgroup::, or
// ##[group]NAME and ##[endgroup]. Marks that also occur in diffs and Markdown
// are none.
func LogGroup(said string) (name string, end bool) {
	switch {
	case strings.HasPrefix(said, "::group::"), strings.HasPrefix(said, "##[group]"):
		if name = strings.TrimSpace(said[len("::group::"):]); name == "" {
			name = "Group"
		}
		return name, false
	case strings.HasPrefix(said, "::endgroup::"), strings.HasPrefix(said, "##[endgroup]"):
		return "", true
	}
	return "", false
}

// LogSaid is what a line says when it is compared with its neighbours: steps of
// a progress ("12 % of 3.1 MB") are the same whatever their figures.
func LogSaid(text string) string {
	if !strings.Contains(text, "%") {
		return text
	}
	var b strings.Builder
	figures := false
	for _, r := range text {
		if r >= '0' && r <= '9' {
			if !figures {
				b.WriteByte('0')
			}
			figures = true
			continue
		}
		figures = false
		b.WriteRune(r)
	}
	return b.String()
}

// logRepeats is how many neighbours must say the same to be folded; log.js does
// the same to lines that come later.
const logRepeats = 5

// logPart is a line, or a fold with lines and folds in it.
type logPart struct {
	Line *LogLine
	Fold *logFold
}

// logFold is lines that are folded: a group, or repeats of the line before.
type logFold struct {
	ID     string
	Name   string // of the group, "" for repeats
	Count  int    // lines in it
	Open   bool
	Ended  bool // a group whose end is in it
	Parts  []logPart
	Repeat bool
}

// foldLog folds groups and repeats. A group that has ended is closed; one that
// has not is where the work stands, and open. So is every fold that has what is
// looked for.
func foldLog(lines []LogLine) []logPart {
	var out []logPart
	for i := 0; i < len(lines); {
		if lines[i].Group == "" {
			j := i + 1
			for j < len(lines) && lines[j].Group == "" {
				j++
			}
			out = append(out, foldRepeats(lines[i:j])...)
			i = j
			continue
		}
		j, ended := i+1, false
		for j < len(lines) && lines[j].Group == "" && !ended {
			ended = lines[j].GroupEnd
			j++
		}
		closed := ended || j < len(lines)
		out = append(out, logPart{Fold: &logFold{ID: "G" + lines[i].number(), Name: lines[i].Group, Count: j - i,
			Ended: closed, Open: !closed || anyHit(lines[i:j]), Parts: foldRepeats(lines[i:j])}})
		i = j
	}
	return out
}

// foldRepeats folds what says the same again and again, but the first and the
// last of them.
func foldRepeats(lines []LogLine) []logPart {
	var out []logPart
	for i := 0; i < len(lines); {
		j := i + 1
		for j < len(lines) && lines[j].Same {
			j++
		}
		if j-i < logRepeats {
			for ; i < j; i++ {
				out = append(out, logPart{Line: &lines[i]})
			}
			continue
		}
		fold := &logFold{ID: "R" + lines[i+1].number(), Repeat: true, Count: j - i - 2, Open: anyHit(lines[i+1 : j-1])}
		for k := i + 1; k < j-1; k++ {
			fold.Parts = append(fold.Parts, logPart{Line: &lines[k]})
		}
		out = append(out, logPart{Line: &lines[i]}, logPart{Fold: fold}, logPart{Line: &lines[j-1]})
		i = j
	}
	return out
}

func anyHit(lines []LogLine) bool {
	for _, l := range lines {
		if l.Hit {
			return true
		}
	}
	return false
}

// orText is text, or what stands for it when it is empty.
func orText(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}
