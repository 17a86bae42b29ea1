package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"donewhen/dod"
	"donewhen/engine/runner"
)

func noEnviron(string) string { return "" }

func TestAWrongModelSpecIsNamedAtStart(t *testing.T) {
	set, err := runner.Open("", runner.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		spec string
		env  map[string]string
		says string
	}{
		{"gpt", nil, "write text, runtime:ALIAS"},
		{"antropic:claude", nil, "write text, runtime:ALIAS"},
		{"runtime:nobody", nil, "nobody"},
		{"anthropic:", nil, "names no model"},
		{"anthropic:claude-x", nil, "ANTHROPIC_API_KEY"},
		{"openai:gpt-x", nil, "OPENAI_API_KEY"},
		{"openai:gpt-x", map[string]string{"OPENAI_BASE_URL": "localhost:11434"}, "OPENAI_BASE_URL"},
	} {
		asker, err := askerFor("DONEWHEN_JUDGE_MODEL", c.spec, set, func(name string) string { return c.env[name] })
		if asker != nil || err == nil || !strings.Contains(err.Error(), "DONEWHEN_JUDGE_MODEL="+c.spec) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want it to name the setting and say %q", c.spec, err, c.says)
		}
	}
	for _, spec := range []string{"", "text", " text "} {
		if asker, err := askerFor("DONEWHEN_JUDGE_MODEL", spec, set, noEnviron); asker != nil || err != nil {
			t.Errorf("%q: %v %v", spec, asker, err)
		}
	}
}

func TestMoreJudgesAreResolvedAtStart(t *testing.T) {
	set, err := runner.Open("", runner.Options{TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	keys := func(name string) string {
		return map[string]string{"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}[name]
	}
	got, err := moreJudges([]string{" openai:gpt-x", "", "anthropic:claude-x "}, set, keys)
	if err != nil || len(got) != 2 || got[0].Evaluator() != "openai:gpt-x" || got[1].Evaluator() != "anthropic:claude-x" {
		t.Errorf("%v %v", got, err)
	}
	for _, c := range []struct {
		specs []string
		says  string
	}{{[]string{"text"}, "asks nobody"}, {[]string{"gpt"}, "DONEWHEN_MORE_JUDGES=gpt"}, {[]string{"openai:a", "openai:a"}, "twice"}} {
		if got, err := moreJudges(c.specs, set, keys); got != nil || err == nil || !strings.Contains(err.Error(), "DONEWHEN_MORE_JUDGES") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v %v", c.specs, got, err)
		}
	}
}

// The specs of models over HTTP reach their servers, with the address and the
// key of the environment.
func TestModelSpecsOverHTTP(t *testing.T) {
	const verdict = `{"met":true,"reason":"the table is there"}`
	var path, key string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		path, key = r.URL.Path, r.Header.Get("X-Api-Key")+r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		answer := map[string]any{"id": "m", "type": "message", "role": "assistant", "model": "claude-x", "stop_reason": "end_turn",
			"content": []any{map[string]any{"type": "text", "text": verdict}}, "usage": map[string]any{"input_tokens": 12, "output_tokens": 3}}
		if strings.HasSuffix(path, "/chat/completions") {
			answer = map[string]any{"id": "c", "object": "chat.completion", "model": "gpt-x",
				"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": verdict}}},
				"usage":   map[string]any{"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	for _, c := range []struct{ spec, path, key string }{
		{"anthropic:claude-x", "/v1/messages", "Bearer key-a"},
		{"openai:gpt-x", "/v1/chat/completions", "Bearer key-o"},
	} {
		asker, err := askerFor("DONEWHEN_EVALUATOR_MODEL", c.spec, nil, func(name string) string {
			return map[string]string{"ANTHROPIC_API_KEY": "key-a", "ANTHROPIC_BASE_URL": server.URL,
				"OPENAI_API_KEY": "key-o", "OPENAI_BASE_URL": server.URL + "/v1"}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := asker.Ask(context.Background(), dod.BuildQuestion(dod.Criterion{Index: 1, Text: "there is a table"}, "", "a table", ""))
		if err != nil || !dod.ParseVerdict(reply.Raw).Met || reply.InputTokens != 12 || reply.OutputTokens != 3 {
			t.Errorf("%s: %+v %v", c.spec, reply, err)
		}
		if path != c.path || key != c.key || asker.Evaluator() != c.spec {
			t.Errorf("%s: asked at %s with %q as %s", c.spec, path, key, asker.Evaluator())
		}
	}
}
