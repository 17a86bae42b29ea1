package judge

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"donewhen/dod"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testKey     = "sk-test-0123456789abcdef"
	goodVerdict = `{"met":true,"reason":"the log shows 4 checks"}`
)

// seen is one request that reached the test's server.
type seen struct {
	method, path string
	header       http.Header
	body         map[string]any
}

// model is a server on loopback that answers with the given handlers in turn, the
// last one again and again.
type model struct {
	*httptest.Server
	mu   sync.Mutex
	seen []seen
}

func serve(t *testing.T, answers ...http.HandlerFunc) *model {
	t.Helper()
	m := &model{}
	m.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		s := seen{method: r.Method, path: r.URL.Path, header: r.Header.Clone()}
		if err := json.Unmarshal(raw, &s.body); err != nil {
			t.Errorf("the request is no JSON: %v", err)
		}
		m.mu.Lock()
		n := len(m.seen)
		m.seen = append(m.seen, s)
		m.mu.Unlock()
		answers[min(n, len(answers)-1)](w, r)
	}))
	t.Cleanup(func() {
		m.CloseClientConnections()
		m.Close()
	})
	return m
}

func (m *model) requests() []seen {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]seen(nil), m.seen...)
}

// provider is what the tests need to know of each of the two.
type provider struct {
	name    string
	urlEnv  string
	keyEnv  string
	path    string // below the server
	base    string // below the server, in the base URL
	message func(text, end string) string
	cutEnd  string // how it says that the length limit was reached
	goodEnd string
	errors  func(kind, message string) string
}

var providers = []provider{
	{
		name: "anthropic", urlEnv: "ANTHROPIC_BASE_URL", keyEnv: "ANTHROPIC_API_KEY", path: "/v1/messages",
		goodEnd: "end_turn", cutEnd: "max_tokens",
		message: func(text, end string) string {
			return toJSON(map[string]any{
				"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5-20251001",
				"content":     []any{map[string]any{"type": "text", "text": text}},
				"stop_reason": end, "stop_sequence": nil,
				"usage": map[string]any{"input_tokens": 1000, "cache_read_input_tokens": 500, "cache_creation_input_tokens": 100, "output_tokens": 20},
			})
		},
		errors: func(kind, message string) string {
			return toJSON(map[string]any{"type": "error", "error": map[string]any{"type": kind, "message": message}})
		},
	},
	{
		name: "openai", urlEnv: "OPENAI_BASE_URL", keyEnv: "OPENAI_API_KEY", path: "/v1/chat/completions", base: "/v1",
		goodEnd: "stop", cutEnd: "length",
		message: func(text, end string) string {
			return toJSON(map[string]any{
				"id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-5-mini-2025-08-07",
				"choices": []any{map[string]any{"index": 0, "finish_reason": end, "logprobs": nil,
					"message": map[string]any{"role": "assistant", "content": text, "refusal": nil}}},
				"usage": map[string]any{"prompt_tokens": 1600, "completion_tokens": 20, "total_tokens": 1620,
					"prompt_tokens_details": map[string]any{"cached_tokens": 500}},
			})
		},
		errors: func(kind, message string) string {
			return toJSON(map[string]any{"error": map[string]any{"type": kind, "code": kind, "message": message, "param": nil}})
		},
	},
}

func toJSON(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// answer is a handler with a fixed answer; headers are name, value, name, value.
func answered(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// pauses notes the waits of a judge instead of carrying them out.
type pauses struct {
	mu  sync.Mutex
	all []time.Duration
}

func (p *pauses) wait(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, d)
	return ctx.Err()
}

// judgeAt is a judge of p that asks the server at url, with the given settings
// over the usual ones.
func judgeAt(t *testing.T, p provider, url string, change func(env map[string]string, o *Options)) (*client, *pauses) {
	t.Helper()
	env := map[string]string{p.keyEnv: testKey, p.urlEnv: url + p.base}
	opts := Options{Environ: func(name string) string { return env[name] }, Timeout: 20 * time.Second}
	if change != nil {
		change(env, &opts)
	}
	a, err := New(p.name+":test-model", opts)
	if err != nil {
		t.Fatal(err)
	}
	c := a.(*client)
	p2 := &pauses{}
	c.wait = p2.wait
	t.Cleanup(c.http.CloseIdleConnections)
	return c, p2
}

func eachProvider(t *testing.T, f func(t *testing.T, p provider)) {
	for _, p := range providers {
		t.Run(p.name, func(t *testing.T) { f(t, p) })
	}
}

// ask puts the usual question and reads the reply as the suite does.
func ask(t *testing.T, a dod.Asker) (dod.Reply, dod.Verdict, error) {
	t.Helper()
	criterion := dod.ParseCriteria("4 checks ran")[0]
	reply, err := a.Ask(context.Background(), dod.BuildQuestion(criterion, "", "checks: 4", "NONCE7NONCE7NONCE7"))
	if err != nil {
		return reply, dod.ErrorVerdict(err), err
	}
	return reply, dod.ParseVerdict(reply.Raw), nil
}
