package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"donewhen/dod"
)

// judge is a script as runtime:fake.
func judge(t *testing.T, opts Options, body, settings string) dod.Asker {
	t.Helper()
	a, err := open(t, opts, fmt.Sprintf("runtimes:\n  fake:\n    judge_args: [%q]\n%s", script(t, body), settings)).Judge("fake")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var question = dod.Question{System: "You judge.", Prompt: "Is it done?", Nonce: "n"}

func TestJudgeReplies(t *testing.T) {
	const good = `{"met":true,"reason":"shown"}`
	const result = `{"type":"result","subtype":"success","is_error":false,"result":"{\"met\":true,\"reason\":\"shown\"}","stop_reason":"%s","total_cost_usd":0.5,"usage":{"input_tokens":3,"output_tokens":2},"modelUsage":{"claude-x":{"outputTokens":2}}}`
	claude := func(stop string) string { return "echo '" + fmt.Sprintf(result, stop) + "'" }
	const asClaude = "    judge_output: claude-stream-json\n"
	for _, c := range []struct {
		name, body, settings string
		raw                  string
		fault                string // part of the error, "" for none
		kind                 dod.VerdictKind
	}{
		{"verdict", "echo '" + good + "'", "", good + "\n", "", dod.KindVerdict},
		{"verdict after reading all", "cat >/dev/null; echo '" + good + "'", "", good + "\n", "", dod.KindVerdict},
		{"empty", "exit 0", "", "", "", dod.KindInvalidReply},
		{"prose", "echo 'Yes, it is done.'", "", "Yes, it is done.\n", "", dod.KindInvalidReply},
		{"truthy", `echo '{"met":"true"}'`, "", `{"met":"true"}` + "\n", "", dod.KindInvalidReply},
		{"two objects", "echo '" + good + good + "'", "", good + good + "\n", "", dod.KindInvalidReply},
		{"verdict and exit 1", "echo '" + good + "'; echo no login >&2; exit 1", "", good + "\n", "exit code 1: no login", dod.KindEvaluatorError},
		{"time limit", "echo '" + good + "'; sleep 60", "    judge_limit: 300ms\n", good + "\n", "no reply within 300ms", dod.KindEvaluatorError},
		{"signal", "kill -9 $$", "", "", "signal 9", dod.KindEvaluatorError},
		{"stderr is no reply", "echo '" + good + "' >&2", "", "", "", dod.KindInvalidReply},
		{"endless", "yes", "    judge_limit: 400ms\n", "y", "no reply within", dod.KindEvaluatorError},
		{"much too long", "head -c 2000000 /dev/zero", "", "\x00", "more than 1024 KB", dod.KindEvaluatorError},

		{"claude", claude("end_turn"), asClaude, good, "", dod.KindVerdict},
		{"A4-14 claude cut off", claude("max_tokens"), asClaude, "result", `stopped with "max_tokens"`, dod.KindEvaluatorError},
		{"A4-14 claude refuses", claude("refusal"), asClaude, "result", `stopped with "refusal"`, dod.KindEvaluatorError},
		{"A6-04 claude error", `echo '{"type":"result","subtype":"success","is_error":true,"result":"{\"met\":true,\"reason\":\"x\"}"}'`, asClaude, "is_error", "met", dod.KindEvaluatorError},
		{"claude says nothing", `echo '{"type":"assistant","message":{"content":[{"type":"text","text":"{\"met\":true,\"reason\":\"x\"}"}]}}'; echo '{"type":"result","subtype":"success","result":""}'`, asClaude, "", "", dod.KindInvalidReply},
		{"claude without a result", "echo '" + good + "'", asClaude, good, "no result in the form", dod.KindEvaluatorError},
		{"claude turns", `echo '{"type":"result","subtype":"error_max_turns"}'`, asClaude, "turns", "error_max_turns", dod.KindEvaluatorError},
	} {
		t.Run(c.name, func(t *testing.T) {
			opts := testOptions(t)
			reply, err := judge(t, opts, c.body, c.settings).Ask(bg, question)
			v := dod.ParseVerdict(reply.Raw)
			if err != nil {
				v = dod.ErrorVerdict(err)
			}
			if v.Kind != c.kind || v.Met != (c.kind == dod.KindVerdict) {
				t.Errorf("verdict %+v, want %s; raw %q", v, c.kind, reply.Raw)
			}
			if (err == nil) != (c.fault == "") || (err != nil && !strings.Contains(err.Error(), c.fault)) {
				t.Errorf("error %v, want %q", err, c.fault)
			}
			if err == nil && reply.Raw != c.raw || !strings.Contains(reply.Raw, c.raw) {
				t.Errorf("raw %.100q, want %q", reply.Raw, c.raw)
			}
			if c.name == "claude" && (reply.Model != "claude-x" || reply.InputTokens != 3 || reply.OutputTokens != 2 || reply.CostUSD != 0.5) {
				t.Errorf("%+v", reply)
			}
			nobodyLeft(t, opts)
			if left, _ := os.ReadDir(opts.TempDir); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestJudgeIsIsolated(t *testing.T) {
	opts := testOptions(t)
	opts.Environ = secretServer
	a := judge(t, opts, `echo "files: $(ls -A . | wc -l), home: $(ls -A "$HOME" | wc -l)"; pwd; echo "$HOME"; ps -o pgid= -p $$; echo $$; env; touch planted`, "")
	seen := map[string]bool{}
	for range 2 {
		reply, err := a.Ask(bg, question)
		if err != nil {
			t.Fatal(err)
		}
		f := strings.SplitN(reply.Raw, "\n", 6)
		if f[0] != "files: 0, home: 0" || seen[f[1]] || f[1] == f[2] || strings.HasPrefix(f[2], "/home/operator") {
			t.Errorf("not a fresh, empty folder: %q", f[:3])
		}
		if strings.TrimSpace(f[3]) != f[4] {
			t.Errorf("group %s, process %s", f[3], f[4])
		}
		if strings.Contains(reply.Raw, "secret") {
			t.Errorf("a secret came through:\n%s", reply.Raw)
		}
		seen[f[1]] = true
	}
}

func TestJudgeGetsTheWholeQuestion(t *testing.T) {
	q := dod.Question{System: "sys", Prompt: bigTask() + "{system} {model}"}
	reply, err := judge(t, testOptions(t), "cat", "").Ask(bg, q)
	if err != nil || reply.Raw != q.System+"\n\n"+q.Prompt {
		t.Errorf("%d bytes, %v", len(reply.Raw), err)
	}
	set := open(t, testOptions(t), fmt.Sprintf("runtimes: {fake: {judge_args: [%q, --system, '{system}'], judge_model: m, model_args: [--model, '{model}']}}", script(t, `printf '%s|' "$@"; cat`)))
	a, err := set.Judge("fake")
	if err != nil {
		t.Fatal(err)
	}
	reply, err = a.Ask(bg, q)
	if err != nil || reply.Raw != "--system|sys|--model|m|"+q.Prompt || reply.Model != "m" {
		t.Errorf("%.60q, model %q, %v", reply.Raw, reply.Model, err)
	}
	if a.Evaluator() != "runtime:fake" {
		t.Errorf("evaluator %q", a.Evaluator())
	}
}

func TestJudgeIsStopped(t *testing.T) {
	opts := testOptions(t)
	why := errors.New("the plan was cancelled")
	ctx, cancel := context.WithCancelCause(bg)
	time.AfterFunc(200*time.Millisecond, func() { cancel(why) })
	_, err := judge(t, opts, `setsid sleep 60 & sleep 60`, "").Ask(ctx, question)
	if !errors.Is(err, why) {
		t.Errorf("error %v", err)
	}
	nobodyLeft(t, opts)
}

func TestJudgesAtOnce(t *testing.T) {
	a := judge(t, testOptions(t), "cat", "")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			q := dod.Question{Prompt: fmt.Sprintf("question %d", i)}
			if reply, err := a.Ask(bg, q); err != nil || reply.Raw != q.Prompt {
				t.Errorf("%q, %v", reply.Raw, err)
			}
		})
	}
	wg.Wait()
}

func TestWhoCannotJudge(t *testing.T) {
	set := open(t, testOptions(t), "runtimes:\n  shell: {preset: shell}\n  agent: {args: [cat]}\n  gone: {judge_args: [no-such-judge]}\n")
	for alias, part := range map[string]string{
		"shell": "is a shell and cannot judge", "agent": "has no judge_args", "other": `no runtime "other"; it has shell, agent, gone`,
	} {
		if _, err := set.Judge(alias); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v", alias, err)
		}
	}
	a, err := set.Judge("gone")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Ask(bg, question); err == nil || !strings.Contains(err.Error(), `"no-such-judge" was not found`) {
		t.Errorf("error %v", err)
	}
}
