package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// asked is one request to a modelServer, the same for each of its protocols.
type asked struct {
	path, key string
	model     string
	system    string
	prompt    string // all text of the user's turns
	tools     bool   // an agent asks, no judge
	results   int    // tool results so far in the conversation
}

// part is what stands in a question between the fences of this name.
func (a asked) part(name string) string {
	_, rest, _ := strings.Cut(a.prompt, "BEGIN "+name+" ")
	text, _, _ := strings.Cut(rest, "\nEND "+name+" ")
	return text
}

// said is what the model answers: a text, a call of a tool, or a status that is
// no answer.
type said struct {
	text   string
	tool   string
	input  map[string]any
	status int
}

// modelServer is a model on loopback that speaks Anthropic's Messages, streamed
// and whole, and OpenAI's Chat Completions. It keeps what it was asked.
type modelServer struct {
	*httptest.Server
	answer func(asked) said
	mu     sync.Mutex
	asked  []asked
}

// serveModel starts a model and points the settings of all providers to it.
func serveModel(t *testing.T, answer func(asked) said) *modelServer {
	t.Helper()
	m := &modelServer{answer: answer}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	t.Setenv("ANTHROPIC_API_KEY", "sk-ant-api03-stub")
	t.Setenv("ANTHROPIC_BASE_URL", m.URL)
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "")
	t.Setenv("OPENAI_API_KEY", "sk-proj-stub")
	t.Setenv("OPENAI_BASE_URL", m.URL+"/v1")
	return m
}

// questions are what judges were asked; agents' requests are left out.
func (m *modelServer) questions() []asked {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []asked
	for _, a := range m.asked {
		if !a.tools {
			out = append(out, a)
		}
	}
	return out
}

func (m *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	openai := strings.HasSuffix(r.URL.Path, "/chat/completions")
	if r.Method != http.MethodPost || !openai && r.URL.Path != "/v1/messages" {
		return // as the CLI looks whether anybody is there
	}
	body, _ := io.ReadAll(r.Body)
	a, stream := readAsked(body)
	a.path, a.key = r.URL.Path, r.Header.Get("X-Api-Key")+r.Header.Get("Authorization")
	m.mu.Lock()
	m.asked = append(m.asked, a)
	m.mu.Unlock()
	s := m.answer(a)
	switch {
	case s.status != 0:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(s.status)
		_, _ = fmt.Fprintf(w, `{"type":"error","error":{"type":"stub_error","message":%s}}`, jsonOf(s.text))
	case stream:
		streamMessage(w, s)
	case openai:
		writeJSON(w, map[string]any{"id": "c", "object": "chat.completion", "model": a.model,
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": s.text}}},
			"usage":   map[string]any{"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}})
	default:
		writeJSON(w, map[string]any{"id": "m", "type": "message", "role": "assistant", "model": a.model, "stop_reason": "end_turn",
			"content": []any{map[string]any{"type": "text", "text": s.text}}, "usage": map[string]any{"input_tokens": 120, "output_tokens": 30}})
	}
}

func readAsked(body []byte) (a asked, stream bool) {
	var req struct {
		Model    string
		Stream   bool
		System   json.RawMessage
		Tools    []any
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.Unmarshal(body, &req)
	a.model, a.tools = req.Model, len(req.Tools) > 0
	a.system, _ = textOf(req.System)
	for _, m := range req.Messages {
		text, results := textOf(m.Content)
		a.results += results
		switch m.Role {
		case "system", "developer":
			a.system += text
		case "user":
			a.prompt += text + "\n"
		}
	}
	return a, req.Stream
}

// textOf is the text of a content that is a string or a list of blocks.
func textOf(raw json.RawMessage) (text string, results int) {
	if json.Unmarshal(raw, &text) == nil {
		return text, 0
	}
	var blocks []struct{ Type, Text string }
	_ = json.Unmarshal(raw, &blocks)
	for _, b := range blocks {
		text += b.Text
		if b.Type == "tool_result" {
			results++
		}
	}
	return text, results
}

func streamMessage(w http.ResponseWriter, s said) {
	w.Header().Set("Content-Type", "text/event-stream")
	block, delta, stop := `{"type":"text","text":""}`, `{"type":"text_delta","text":`+jsonOf(s.text)+`}`, "end_turn"
	if s.tool != "" {
		block = `{"type":"tool_use","id":"toolu_1","name":` + jsonOf(s.tool) + `,"input":{}}`
		delta, stop = `{"type":"input_json_delta","partial_json":`+jsonOf(jsonOf(s.input))+`}`, "tool_use"
	}
	for _, e := range [][2]string{
		{"message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-stub","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":120,"output_tokens":1}}}`},
		{"content_block_start", `{"type":"content_block_start","index":0,"content_block":` + block + `}`},
		{"content_block_delta", `{"type":"content_block_delta","index":0,"delta":` + delta + `}`},
		{"content_block_stop", `{"type":"content_block_stop","index":0}`},
		{"message_delta", `{"type":"message_delta","delta":{"stop_reason":"` + stop + `","stop_sequence":null},"usage":{"output_tokens":30}}`},
		{"message_stop", `{"type":"message_stop"}`},
	} {
		_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e[0], e[1])
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, jsonOf(v))
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
