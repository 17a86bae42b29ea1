package runner

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"donewhen/models"
)

func TestA6_04_ErrorWithExitCodeZero(t *testing.T) {
	fake := agent(t, testOptions(t), `cat >/dev/null
echo '{"type":"result","subtype":"success","is_error":true,"result":"API Error: limit"}'`, "    output: claude-stream-json\n")
	job, _ := newJob(t, "")
	o := fake.Run(bg, job)
	want(t, o, models.RunErrored)
	if o.Reason != "API Error: limit" {
		t.Errorf("reason %q", o.Reason)
	}
}

func TestA6_05_StdinIsClosed(t *testing.T) {
	for _, task := range []string{"stdin", "file"} {
		fake := agent(t, testOptions(t), `cat >/dev/null; echo done`, "    task: "+task+"\n")
		job, out := newJob(t, "")
		job.Task = "the task"
		begin := time.Now()
		o := fake.Run(bg, job)
		want(t, o, models.RunSucceeded)
		if took := time.Since(begin); took > 2*time.Second || out.String() != "done\n" || o.FinalMessage != "done" {
			t.Errorf("%s: %s, output %q, message %q", task, took, out, o.FinalMessage)
		}
	}
}

// bigTask is a text of 200 KB that a wrong quoting or encoding would change.
func bigTask() string {
	var b strings.Builder
	for i := 0; b.Len() < 200<<10; i++ {
		fmt.Fprintf(&b, "line %d: $HOME `id` \"ü\" '…' \\ {task_file} %%s\n", i)
	}
	return b.String()
}

func TestA6_06_LongTask(t *testing.T) {
	text := bigTask()
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
	for name, c := range map[string]struct{ body, settings string }{
		"stdin":         {`cat > got.txt`, "    task: stdin\n"},
		"file":          {`cat "$DONEWHEN_TASK_FILE" > got.txt`, "    task: file\n"},
		"file argument": {`cat "$2" > got.txt`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			opts := testOptions(t)
			rt := agent(t, opts, c.body, c.settings)
			if name == "file argument" {
				rt = open(t, opts, fmt.Sprintf("runtimes: {f: {args: [%q, --file, '{task_file}'], task: file}}", script(t, c.body))).Runtimes()[0]
			}
			job, _ := newJob(t, "")
			job.Task = text
			want(t, rt.Run(bg, job), models.RunSucceeded)
			got, err := os.ReadFile(filepath.Join(job.Dir, "got.txt"))
			if err != nil || fmt.Sprintf("%x", sha256.Sum256(got)) != sum {
				t.Errorf("%d bytes arrived, %v", len(got), err)
			}
		})
	}
	t.Run("argument", func(t *testing.T) {
		rt := open(t, testOptions(t), fmt.Sprintf("runtimes: {f: {args: [%q, --prompt, '{task}'], task: arg}}",
			script(t, `printf %s "$2" > got.txt`))).Runtimes()[0]
		job, _ := newJob(t, "")
		job.Task = text
		job.Started = func(int, int64) { t.Error("it was started") }
		want(t, rt.Run(bg, job), models.RunErrored, "the task text has 201 KB", "at most 120 KB", "task: stdin")

		job.Started = nil
		job.Task = text[:maxArg]
		want(t, rt.Run(bg, job), models.RunSucceeded)
		if got, err := os.ReadFile(filepath.Join(job.Dir, "got.txt")); err != nil || string(got) != job.Task {
			t.Errorf("%d bytes arrived, %v", len(got), err)
		}
	})
}

func TestA6_07_FailureBeforeAPipe(t *testing.T) {
	rt := shell(t, testOptions(t))
	job, _ := newJob(t, "false | tee out.log")
	o := rt.Run(bg, job)
	want(t, o, models.RunFailed, "Exit code 1")
	if *o.ExitCode != 1 {
		t.Errorf("exit code %d", *o.ExitCode)
	}
	info := rt.Info()
	if info.Shown != "bash -o pipefail -c" || !info.Shell || !info.Available || info.Alias != "shell" {
		t.Errorf("info %+v", info)
	}
}

// claudeGood is a shortened real stream.
const claudeGood = `{"type":"system","subtype":"init","model":"claude-x","tools":["Bash"]}
{"type":"assistant","message":{"content":[{"type":"text","text":"I look first."},{"type":"tool_use","name":"Bash","input":{"command":"go test ./...\nls"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","content":"ok"}]}}
{"type":"assistant","parent_tool_use_id":"t1","message":{"content":[{"type":"text","text":"A helper's words."}]}}
a warning that is no JSON
{"type":"something_new","message":42}
{"type":"result","subtype":"success","is_error":false,"api_error_status":null,"result":"All done.","stop_reason":"end_turn","total_cost_usd":0.25,"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":7},"modelUsage":{"claude-small":{"outputTokens":1},"claude-x":{"outputTokens":6}}}
`

func TestClaudeStream(t *testing.T) {
	opts := testOptions(t)
	stream := filepath.Join(t.TempDir(), "stream")
	if err := os.WriteFile(stream, []byte(claudeGood), 0o600); err != nil {
		t.Fatal(err)
	}
	fake := agent(t, opts, "echo noise >&2; cat "+stream, "    output: claude-stream-json\n")
	job, out := newJob(t, "")
	var doing []string
	job.Activity = func(s string) { doing = append(doing, s) }
	o := fake.Run(bg, job)
	want(t, o, models.RunSucceeded)
	if o.FinalMessage != "All done." || o.InputTokens != 60 || o.OutputTokens != 7 || o.CostUSD != 0.25 {
		t.Errorf("%+v", o)
	}
	if got := strings.Join(doing, "|"); got != "I look first.|Bash: go test ./...|A helper's words." {
		t.Errorf("activity %q", got)
	}
	if s := strings.Replace(out.String(), "noise\n", "", 1); s != claudeGood {
		t.Errorf("the raw output was changed: %q", s)
	}
}

// TestWeighing has exit codes and last lines that contradict each other.
func TestWeighing(t *testing.T) {
	const result = `{"type":"result","subtype":"success","is_error":false,"result":"fine"}`
	for _, c := range []struct {
		name, print string
		exit        int
		status      models.RunStatus
		reason      string
	}{
		{"both good", result, 0, models.RunSucceeded, ""},
		{"no last line break", `\c` + result, 0, models.RunSucceeded, ""},
		{"result, then a bad exit", result, 1, models.RunFailed, "Exit code 1"},
		{"no result, good exit", `{"type":"assistant"}`, 0, models.RunErrored, "no result in the form claude-stream-json"},
		{"nothing, good exit", ``, 0, models.RunErrored, "no result"},
		{"no result, bad exit", `no login`, 1, models.RunFailed, "Exit code 1: no login"},
		{"api_error_status alone", `{"type":"result","subtype":"success","is_error":false,"api_error_status":529,"result":"overloaded"}`, 0, models.RunErrored, "overloaded"},
		{"is_error, bad exit", `{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"login"}`, 1, models.RunErrored, "login"},
		{"error in the middle of it", `{"type":"result","subtype":"error_during_execution","is_error":false,"errors":["it broke"]}`, 0, models.RunErrored, "it broke"},
		{"error without a text", `{"type":"result","subtype":"success","is_error":true}`, 0, models.RunErrored, "without a text"},
		{"too many turns", `{"type":"result","subtype":"error_max_turns","is_error":true}`, 1, models.RunFailed, "did not finish: error_max_turns"},
		{"interpreter missing", `env: node: No such file`, 127, models.RunErrored, "could not run (exit code 127): env: node"},
		{"cut in the middle of the line", result[:40], 0, models.RunErrored, "no result"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := fmt.Sprintf("cat <<'END'\n%s\nEND\nexit %d", c.print, c.exit)
			if rest, found := strings.CutPrefix(c.print, `\c`); found {
				body = fmt.Sprintf("printf '%%s' '%s'", rest)
			}
			fake := agent(t, testOptions(t), body, "    output: claude-stream-json\n")
			job, _ := newJob(t, "")
			want(t, fake.Run(bg, job), c.status, c.reason)
		})
	}
}

func TestProgramThatIsNotThere(t *testing.T) {
	opts := testOptions(t)
	set := open(t, opts, `
runtimes:
  gone: {args: [no-such-program-here]}
  away: {args: [./agents/missing]}
  odd: {args: [`+script(t, "#!/no/such/interpreter\n")+`]}
  text: {args: [`+script(t, "exec no-such-program-here")+`]}
`)
	for i, part := range []string{`"no-such-program-here" was not found on the server's PATH; install it`, "agents/missing cannot be run (no such file", "could not be started", "could not run (exit code 127)"} {
		rt := set.Runtimes()[i]
		job, _ := newJob(t, "")
		want(t, rt.Run(bg, job), models.RunErrored, part)
		if info := rt.Info(); info.Available == (i < 2) || (i < 2 && !strings.Contains(info.Unavailable, part)) {
			t.Errorf("info %+v", info)
		}
	}
}

func TestLimitIsWithinBounds(t *testing.T) {
	spec := &runtimeSpec{Limit: duration(time.Minute), MaxLimit: duration(time.Hour)}
	for asked, want := range map[time.Duration]time.Duration{0: time.Minute, -1: time.Minute, time.Second: time.Second, 2 * time.Hour: time.Hour} {
		if got := limitOf(spec, asked); got != want {
			t.Errorf("asked %s, got %s, want %s", asked, got, want)
		}
	}
}

func TestModelArguments(t *testing.T) {
	spec := &runtimeSpec{ModelArgs: []string{"--model", "{model}"}}
	for _, c := range []struct {
		args  []string
		model string
		want  string
	}{
		{[]string{"a", "b"}, "", "a b"},
		{[]string{"a", "b"}, "m", "a b --model m"},
		{[]string{"a", "exec", "-"}, "m", "a exec --model m -"},
		{[]string{"a", "{x}"}, "{x}", "a {model} --model {x}"}, // a value is not looked through again
	} {
		got := strings.Join(spec.vector(c.args, c.model, map[string]string{"{x}": "{model}"}), " ")
		if got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
