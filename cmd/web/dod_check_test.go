package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"donewhen/dod"
)

// writeFile puts content into a new file under dir and returns its path.
func writeFile(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

type ran struct {
	code     exitCode
	out, err string
}

func check(t *testing.T, text string, c DodCheckCmd) ran {
	t.Helper()
	if c.File == "" {
		c.File = writeFile(t, t.TempDir(), "dod.md", text)
	}
	if c.RunLimit == 0 {
		c.RunLimit = time.Minute
	}
	var out, errs bytes.Buffer
	s := streams{In: strings.NewReader(text), Out: &out, Err: &errs}
	now := func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	return ran{checkDod(context.Background(), s, c, bashCheck(c.RunLimit), now), out.String(), errs.String()}
}

func TestDodCheckJSON(t *testing.T) {
	dir := t.TempDir()
	log := writeFile(t, dir, "log.txt", "<all> 12 passed\n")
	got := check(t, "- <all> {n} passed\n- (info) b -> match: /\\d+ failed/\n- c -> file: x\n", DodCheckCmd{Evidence: []string{log}, Arg: []string{"n=12"}, JSON: true})
	want := `{"criteria":[{"index":1,"text":"<all> 12 passed","pattern":"","level":"required","check":""},` +
		`{"index":2,"text":"b","pattern":"\\d+ failed","level":"info","check":"match: /\\d+ failed/"},` +
		`{"index":3,"text":"c","pattern":"","level":"required","check":"file: x"}],` +
		`"results":[{"index":1,"status":"passed","reasoning":"found in log.txt, line 1"},` +
		`{"index":2,"status":"failed","reasoning":"the pattern matches nowhere in the evidence"},` +
		`{"index":3,"status":"skipped","reasoning":"there is no workspace to check in"}],` +
		`"validation_summary":{"dod_all_passed":false,"dod_evaluated":true,"informational_failed":1,"informational_passed":0,"required_failed":0,"required_passed":1,"total":3}}` + "\n"
	if got.code != exitNotDone || got.out != want || got.err != "" {
		t.Errorf("code %d, stderr %q\n got %s\nwant %s", got.code, got.err, got.out, want)
	}
}

func TestDodCheckDictionary(t *testing.T) {
	log := writeFile(t, t.TempDir(), "log", "tests pass")
	got := check(t, "tests pass", DodCheckCmd{File: "-", Evidence: []string{log}})
	var dict map[string]any
	if err := json.Unmarshal([]byte(got.out), &dict); err != nil {
		t.Fatal(err)
	}
	if got.code != exitDone || dict["all_passed"] != true || dict["passed"] != 1.0 || dict["evaluated_at"] != "2026-01-02T03:04:05Z" {
		t.Errorf("code %d: %v", got.code, dict)
	}
}

func TestDodCheckExitCodes(t *testing.T) {
	dir := t.TempDir()
	log := writeFile(t, dir, "log", "ok")
	other := writeFile(t, dir, "sub/log", "fine")
	for name, tc := range map[string]struct {
		text string
		cmd  DodCheckCmd
		code exitCode
		err  string
	}{
		"passed":                    {"ok", DodCheckCmd{Evidence: []string{log}}, exitDone, ""},
		"two files of one name":     {"ok\nfine", DodCheckCmd{Evidence: []string{log, other}}, exitDone, ""},
		"informational failed":      {"ok\n(info) no", DodCheckCmd{Evidence: []string{log}}, exitDone, ""},
		"failed":                    {"no", DodCheckCmd{Evidence: []string{log}}, exitNotDone, ""},
		"nothing to look at":        {"ok", DodCheckCmd{}, exitNotDone, ""},
		"empty":                     {"", DodCheckCmd{Evidence: []string{log}}, exitNotDone, ""},
		"only informational":        {"(info) ok", DodCheckCmd{Evidence: []string{log}}, exitNotDone, ""},
		"a judge is not asked here": {"ok\nok -> judge", DodCheckCmd{Evidence: []string{log}}, exitNotDone, ""},
		"pattern does not compile":  {"ok -> match: /(?=x)/", DodCheckCmd{Evidence: []string{log}}, exitNotDone, ""},
		"file is missing":           {"", DodCheckCmd{File: dir + "/none"}, exitBadUsage, "none"},
		"evidence is missing":       {"ok", DodCheckCmd{Evidence: []string{dir + "/none"}}, exitBadUsage, "none"},
		"evidence twice":            {"ok", DodCheckCmd{Evidence: []string{log, log, log}}, exitBadUsage, "twice"},
		"workspace is missing":      {"ok", DodCheckCmd{Workspace: dir + "/none"}, exitBadUsage, "--workspace"},
		"workspace is a file":       {"ok", DodCheckCmd{Workspace: log}, exitBadUsage, "--workspace"},
		"argument without value":    {"ok", DodCheckCmd{Arg: []string{"a"}}, exitBadUsage, "NAME=VALUE"},
		"argument without name":     {"ok", DodCheckCmd{Arg: []string{"=a"}}, exitBadUsage, "a name begins"},
		"argument twice":            {"ok", DodCheckCmd{Arg: []string{"a=1", "a=2"}}, exitBadUsage, "twice"},
		"invalid":                   {"ok\n\n- b -> match: /x*/\n- c -> run: echo {a}", DodCheckCmd{File: "-"}, exitBadUsage, "-:3: the pattern matches the empty text"},
		"invalid, second":           {"ok\n\n- b -> match: /x*/\n- c -> run: echo {a}", DodCheckCmd{File: "-"}, exitBadUsage, "-:4: {a} is not filled in"},
	} {
		t.Run(name, func(t *testing.T) {
			got := check(t, tc.text, tc.cmd)
			if got.code != tc.code || !strings.Contains(got.err, tc.err) || (got.code == exitBadUsage) != (got.out == "") {
				t.Errorf("code %d, stdout %q, stderr %q", got.code, got.out, got.err)
			}
		})
	}
}

// results runs text in a workspace and returns its statuses and reasonings.
func results(t *testing.T, text string, c DodCheckCmd) []checkResult {
	t.Helper()
	c.JSON = true
	got := check(t, text, c)
	var report checkReport
	if err := json.Unmarshal([]byte(got.out), &report); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	return report.Results
}

func TestDodCheckRunsInTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "a.txt", "x")
	t.Setenv("DONEWHEN_SECRET", "s3cret")
	got := results(t, strings.Join([]string{
		"- a -> run: test -f a.txt",
		"- b -> run: echo broken >&2; exit 3",
		"- c -> run: false | true",
		`- d -> run: test "$ARG_TERM" = 'x"; touch PWNED; echo "'`,
		"- e -> run: test -z \"$DONEWHEN_SECRET\" && test -d \"$HOME\" && test \"$HOME\" != " + os.Getenv("HOME"),
		"- f -> run: kill -9 $$",
		"- g -> run: cat",
	}, "\n"), DodCheckCmd{Workspace: dir, Arg: []string{`term=x"; touch PWNED; echo "`}})
	want := []checkResult{
		{1, dod.Passed, "exit code 0"}, {2, dod.Failed, "exit code 3: broken"}, {3, dod.Failed, "exit code 1, and it printed nothing."},
		{4, dod.Passed, "exit code 0"}, {5, dod.Passed, "exit code 0"}, {6, dod.Failed, "ended by signal 9 (killed), and it printed nothing."}, {7, dod.Passed, "exit code 0"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestA2_06_ArgumentIsNoProgramText(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "notes.txt", "x")
	args := []string{`term=x"; touch PWNED; echo "`}
	results(t, `a -> run: grep -c "$ARG_TERM" notes.txt || true`, DodCheckCmd{Workspace: dir, Arg: args})
	refused := check(t, `a -> run: grep -c "{term}" notes.txt || true`, DodCheckCmd{Workspace: dir, Arg: args})
	if refused.code != exitBadUsage || !strings.Contains(refused.err, "$ARG_TERM") {
		t.Errorf("%+v", refused)
	}
	if _, err := os.Stat(filepath.Join(dir, "PWNED")); !os.IsNotExist(err) {
		t.Error("the value ran as a program")
	}
}

func TestDodCheckFileStaysInTheWorkspace(t *testing.T) {
	outside := writeFile(t, t.TempDir(), "secret", "x")
	dir := t.TempDir()
	writeFile(t, dir, "docs/x.md", "1234")
	if err := os.Symlink(outside, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	got := results(t, "a -> file: docs/x.md\nb -> file: docs\nc -> file: none\nd -> file: link\ne -> file: "+outside+"\nf -> file: ../"+filepath.Base(filepath.Dir(outside))+"/secret", DodCheckCmd{Workspace: dir})
	for i, want := range []dod.Status{dod.Passed, dod.Passed, dod.Failed, dod.Failed, dod.Failed, dod.Failed} {
		if got[i].Status != want {
			t.Errorf("%+v, want %s", got[i], want)
		}
	}
	if !strings.Contains(got[0].Reasoning, "4 bytes") || !strings.Contains(got[3].Reasoning, "escapes") {
		t.Errorf("%+v", got)
	}
}

// waitGone waits for the process whose id is in the file to end.
func waitGone(t *testing.T, pidFile string) {
	t.Helper()
	data, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if syscall.Kill(pid, 0) != nil || err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d is left", pid)
		}
	}
}

func TestDodCheckLeavesNoProcess(t *testing.T) {
	dir := t.TempDir()
	got := results(t, "a -> run: sleep 1000 >/dev/null 2>&1 & echo $! >pid", DodCheckCmd{Workspace: dir})
	if got[0].Status != dod.Passed {
		t.Errorf("%+v", got)
	}
	waitGone(t, filepath.Join(dir, "pid"))

	got = results(t, "a -> run: sh -c 'echo $$ >slow; sleep 1000' & wait", DodCheckCmd{Workspace: dir, RunLimit: 500 * time.Millisecond})
	if got[0].Status != dod.Failed || !strings.Contains(got[0].Reasoning, "time limit of 500ms") {
		t.Errorf("%+v", got)
	}
	waitGone(t, filepath.Join(dir, "slow"))
}

func TestDodCheckThatIsStoppedIsNotDone(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	dir := t.TempDir()
	var out, errs bytes.Buffer
	run := func(ctx context.Context, dir, command string, env []string) dod.CheckOutcome {
		cancel()
		return bashCheck(time.Minute)(ctx, dir, command, env)
	}
	file := writeFile(t, t.TempDir(), "dod.md", "a -> run: true\n")
	code := checkDod(ctx, streams{Out: &out, Err: &errs}, DodCheckCmd{File: file, Workspace: dir, JSON: true}, run, time.Now)
	if code != exitNotDone || !strings.Contains(out.String(), `"dod_evaluated":false`) {
		t.Errorf("code %d: %s", code, out.String())
	}
}

func TestDodRender(t *testing.T) {
	file := writeFile(t, t.TempDir(), "dod.md", "- {a} and {b} <\r\n")
	var out, errs bytes.Buffer
	s := streams{Out: &out, Err: &errs}
	if code := renderDod(s, file, []string{"a={b}=1"}); code != exitDone || out.String() != "- {b}=1 and {b} <\r\n" {
		t.Errorf("code %d: %q", code, out.String())
	}
	for _, bad := range [][]string{{"a"}, {"1=2"}} {
		if code := renderDod(s, file, bad); code != exitBadUsage {
			t.Errorf("%q: code %d", bad, code)
		}
	}
	if code := renderDod(s, file+".none", nil); code != exitBadUsage || errs.Len() == 0 {
		t.Errorf("code %d", code)
	}
}

func TestVerdictParse(t *testing.T) {
	for raw, want := range map[string]struct {
		code exitCode
		out  string
	}{
		`{"met":true,"reason":"a < b"}`: {exitDone, `{"met":true,"kind":"verdict","reason":"a < b"}`},
		`{"met":false,"reason":"x"}`:    {exitNotDone, `{"met":false,"kind":"verdict","reason":"x"}`},
		"":                              {exitNotDone, `{"met":false,"kind":"invalid_reply","reason":"the reply is empty"}`},
		`{"met":"true","reason":"x"}`:   {exitNotDone, `{"met":false,"kind":"invalid_reply","reason":"\"met\" is not a JSON boolean"}`},
	} {
		for _, name := range []string{"-", writeFile(t, t.TempDir(), "reply", raw)} {
			var out, errs bytes.Buffer
			code := parseVerdict(streams{In: strings.NewReader(raw), Out: &out, Err: &errs}, name)
			if code != want.code || out.String() != want.out+"\n" || errs.Len() != 0 {
				t.Errorf("%q from %s: code %d, %q, %q", raw, name, code, out.String(), errs.String())
			}
		}
	}
	var out, errs bytes.Buffer
	if code := parseVerdict(streams{Out: &out, Err: &errs}, t.TempDir()+"/none"); code != exitBadUsage || out.Len() != 0 || errs.Len() == 0 {
		t.Errorf("code %d, %q", code, out.String())
	}
}

// What can never pass is told with its line and what to write; it is evaluated all
// the same, and nothing of it reaches outside of the workspace.
func TestDodCheckTellsWhatCanNeverPass(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "outside.txt", "x")
	work := filepath.Join(dir, "work")
	writeFile(t, work, "in.txt", "x")
	for _, path := range []string{"../outside.txt", "a/../../outside.txt", filepath.Join(dir, "outside.txt"), filepath.Join(work, "in.txt")} {
		got := check(t, "- fine -> run: true\n- up -> file: "+path+"\n", DodCheckCmd{Workspace: work, JSON: true})
		if got.code != exitNotDone || !strings.Contains(got.err, ":2: the path "+path+" leads out of the workspace") || !strings.Contains(got.err, `"file: docs/notes.md"`) ||
			!strings.Contains(got.out, `"status":"failed","reasoning":"the path `+path+` leads out`) {
			t.Errorf("%s: %+v", path, got)
		}
	}
	got := check(t, "- k -> human: king\n", DodCheckCmd{})
	if got.code != exitNotDone || !strings.Contains(got.err, "write human, human: lead or human: admin") {
		t.Errorf("an unknown role: %+v", got)
	}
	if got := check(t, "- k -> human: lead\n", DodCheckCmd{}); got.err != "" {
		t.Errorf("a known role: %+v", got)
	}
}

// Evidence is read as the dashboard reads it: colours and UTF-16 hide no word from
// absent:, and keep no line from being found.
func TestDodCheckReadsEvidenceLikeTheDashboard(t *testing.T) {
	wide := "\xff\xfe"
	for _, r := range "fmt.Println größer\r\n" {
		wide += string([]byte{byte(r), byte(r >> 8)})
	}
	for name, content := range map[string]string{
		"colours": "fmt.\x1b[1mPrintln\x1b[0m größer\n", "UTF-16": wide, "a soft hyphen": "fmt.Print\u00adln fmt.Print\u200bln größer",
	} {
		file := writeFile(t, t.TempDir(), "log.txt", content)
		got := results(t, "- a -> absent: /fmt\\.Println/\n- größer\n- c -> match: /fmt\\.Println/\n- d -> absent: /[^\\x00-\\x7f]/\n", DodCheckCmd{Evidence: []string{file}})
		for i, want := range []dod.Status{dod.Failed, dod.Passed, dod.Passed, dod.Failed} {
			if got[i].Status != want {
				t.Errorf("%s: %+v, want %s", name, got[i], want)
			}
		}
	}
	file := writeFile(t, t.TempDir(), "log.txt", "a\r\n")
	if got := results(t, "- a -> absent: /\\r/\n", DodCheckCmd{Evidence: []string{file}}); got[0].Status != dod.Failed {
		t.Errorf("a carriage return: %+v", got)
	}
}
