package engine_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
)

// record runs the phases below for real and writes testdata/feedback anew:
// go test ./engine -run TestFeedback -record
var record = flag.Bool("record", false, "record engine/testdata/feedback from real runs")

// feedback is a recorded pass: what its phase asked, what came of the pass, and
// the task text that the agents of the next one were really given.
type feedback struct {
	Task          string             `json:"task"`
	DoneWhen      string             `json:"done_when"`
	Note          string             `json:"note,omitempty"`
	Iteration     int                `json:"iteration"` // of the pass that got the text
	MaxIterations int                `json:"max_iterations"`
	Kind          models.VerdictKind `json:"kind"`
	Met           bool               `json:"met"`
	Reason        string             `json:"reason"`
	Results       []dod.Result       `json:"results"`
	TaskText      string             `json:"task_text"`
}

// long is a judge's reason of many lines, with its head and tail marked.
func long(n int) string { return "HEAD\n" + strings.Repeat("the table lacks a row\n", n) + "TAIL" }

// recordings are example-like agents whose first pass misses something, and what
// their judge says ("" where checks and matching decide).
var recordings = map[string]struct{ task, command, doneWhen, note, judge string }{
	"file-missing":    {"Write the report into report.md.", "echo I thought about it", "- the report is there -> file: report.md", "", ""},
	"command-fails":   {"Make the script run.", "printf 'exit 3\n' > run.sh; echo written", "- it runs -> run: echo checking; bash run.sh\n- it is written -> file: run.sh", "", ""},
	"one-of-three":    {"Greet by name.", "printf 'hello\n' > greet.txt; echo made greet.txt", "- greet.txt is there -> file: greet.txt\n- it greets Ada -> match: /hello, Ada/\n- nothing is left to do -> absent: /TODO/", "", ""},
	"left-a-todo":     {"Finish the parser.", "printf 'parse\nTODO: errors\n' > parser.txt", "- no TODO is left -> absent: /TODO/\n- the parser is there -> file: parser.txt", "", ""},
	"plain-lines":     {"Say what you tested.", "echo I tested the login", "I tested the login\nI tested the logout", "", ""},
	"with-a-note":     {"Document the flags.", "echo '# Flags' > FLAGS.md", "- every flag is listed -> run: grep -q -- --verbose FLAGS.md", "Begin with --verbose.\nThe others can wait.", ""},
	"info-only-open":  {"Write it short.", "seq 30 > essay.txt", "- essay.txt is there -> file: essay.txt\n- (info) it is one page -> run: test $(wc -l < essay.txt) -lt 25\n- it has a title -> run: grep -q '^#' essay.txt", "", ""},
	"run-failed":      {"Build it.", "echo 'make: no rule for all' >&2; exit 2", "- it builds -> run: true", "", ""},
	"timed-answer":    {"Measure it.", "echo took 12.5s", "- it is fast -> match: /took [0-9]ms/", "", ""},
	"judged":          {"Explain the design.", "echo 'It uses a queue.' > DESIGN.md; echo explained", "- it says why a queue was chosen\n- DESIGN.md is there -> file: DESIGN.md", "", "It says that a queue is used, not why."},
	"judged-long":     {"Fill the table.", "echo '| a |' > table.md", "- the table is complete", "", long(400)},
	"judged-many":     {"Answer all questions.", "echo I answered some", manyLines(14), "", long(100)},
	"foreign-letters": {"Übersetze die Begrüßung.", "printf 'Hallo\n' > gruss.txt", "- „Grüß Gott“ steht in der Datei -> run: grep -q 'Grüß Gott' gruss.txt", "Bitte höflich – 丁寧に.", ""},
}

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- question %d is answered\n", i+1)
	}
	return strings.TrimSpace(b.String())
}

// recordFeedback writes the recordings anew, from real passes.
func recordFeedback(t *testing.T) {
	must(t, os.MkdirAll("testdata/feedback", 0o755))
	for name, r := range recordings {
		t.Run(name, func(t *testing.T) {
			var judge dod.Asker
			if r.judge != "" {
				judge = judgeFunc(func(dod.Question) (string, error) {
					return `{"met":false,"reason":` + string(must1(json.Marshal(r.judge))) + `}`, nil
				})
			}
			h := newHouse(t, withJudge(judge))
			p := engine.NewPhase{Name: name, Task: r.task, DoneWhen: r.doneWhen, MaxIterations: 1, Agents: []models.AgentSpec{{Runtime: "shell", Name: "writer", Command: r.command}}}
			id := h.start(p)
			ph := h.wantPhase(id, 1, models.PhaseExhausted, 1).Phase
			must(t, h.engine.AnotherPass(h.ctx, lead, ph.ID, *ph.PassID, r.note))
			h.settle()
			d := h.phase(id, 1)
			v, next := d.Passes[0].Verdict, d.Passes[1].Pass
			f := feedback{Task: r.task, DoneWhen: d.Phase.DoneWhen, Note: next.Note, Iteration: next.Iteration, MaxIterations: d.Phase.MaxIterations,
				Kind: v.Kind, Met: v.Met, Reason: v.Reason, Results: engine.Results(*v), TaskText: next.TaskText}
			must(t, os.WriteFile(filepath.Join("testdata/feedback", name+".json"), append(must1(json.MarshalIndent(f, "", "  ")), '\n'), 0o644))
		})
	}
}

func must1[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Each part of what a pass missed reaches the next one's agents: in this order,
// none pushed out by another, each within its bounds.
func TestFeedbackReachesTheAgent(t *testing.T) {
	if *record {
		recordFeedback(t)
	}
	files, err := filepath.Glob("testdata/feedback/*.json")
	must(t, err)
	if len(files) < 10 {
		t.Fatalf("only %d recorded passes", len(files))
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			var f feedback
			raw, err := os.ReadFile(file)
			must(t, err)
			must(t, json.Unmarshal(raw, &f))
			ph := models.Phase{Task: f.Task, DoneWhen: f.DoneWhen, Note: f.Note, Iteration: f.Iteration, MaxIterations: f.MaxIterations}
			text := engine.ComposeTask(ph, &models.Verdict{Kind: f.Kind, Met: f.Met, Reason: f.Reason}, f.Results, nil)
			if text != f.TaskText {
				t.Errorf("the text differs from what the agents got when it was recorded; if that is meant, record anew with -record:\n%s\n--- recorded\n%s", text, f.TaskText)
			}
			rest := text
			next := func(what, part string) {
				t.Helper()
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Fatalf("%s (%.80q) is missing, or out of its place:\n%s", what, part, text)
				}
				rest = after
			}
			next("the task", f.Task)
			if f.Note != "" {
				next("the note", "=== Note from the lead ===\n"+f.Note)
			}
			next("the mark", "=== Done when (written by donewhen) ===")
			for _, c := range dod.ParseCriteria(f.DoneWhen) {
				next("a criterion", fmt.Sprintf("criterion %d: ", c.Index))
				next("its text", c.Text)
			}
			next("how to object", "DONEWHEN OBJECTION:")
			next("the pass", fmt.Sprintf("This is pass %d of at most %d.", f.Iteration+1, f.MaxIterations))
			next("what is missing", "What is missing")
			missing, told := 0, 0
			for _, r := range f.Results {
				if r.Status == dod.Passed || r.Criterion.Level == dod.Info {
					continue
				}
				missing++
				head := fmt.Sprintf("missing %d: %s", r.Criterion.Index, r.Criterion.Text)
				if !strings.Contains(rest, head) {
					continue
				}
				told++
				next("what is missing", head)
				reason, _, _ := strings.Cut(strings.TrimSpace(r.Reasoning), "\n")
				next("why", "why: "+reason)
			}
			switch {
			case len(f.Results) == 0:
				next("the reason", f.Reason[:min(len(f.Reason), 200)])
			case told == 0:
				t.Error("nothing is told to be missing")
			case told < missing:
				next("how many are left out", fmt.Sprintf("… and %d more", missing-told))
			}
			for _, r := range f.Results {
				if r.Status == dod.Passed {
					next("what is satisfied", fmt.Sprintf("satisfied %d: %s", r.Criterion.Index, r.Criterion.Text))
				}
			}
			if len(text) > 200<<10 {
				t.Errorf("the text has %d bytes", len(text))
			}
			if _, part, ok := strings.Cut(text, "What is missing"); ok && len(part) > 34<<10 {
				t.Errorf("what is missing has %d bytes", len(part))
			}
		})
	}
	for name, wants := range map[string]string{ // each recording stands for something
		"command-fails": "exit code 3", "run-failed": "make: no rule for all", "judged-long": "bytes left out", "judged-many": "… and ", "with-a-note": "Begin with --verbose.",
	} {
		var f feedback
		raw, err := os.ReadFile(filepath.Join("testdata/feedback", name+".json"))
		must(t, err)
		must(t, json.Unmarshal(raw, &f))
		if !strings.Contains(f.TaskText, wants) {
			t.Errorf("%s does not tell %q:\n%s", name, wants, f.TaskText)
		}
	}
}
