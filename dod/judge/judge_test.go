package judge

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"donewhen/dod"
)

func TestExactRequest(t *testing.T) {
	schema := map[string]any{
		"type": "object",
		"properties": map[string]any{
			"met":    map[string]any{"type": "boolean"},
			"reason": map[string]any{"type": "string", "description": "one or two sentences: what shows it, or what is missing"},
		},
		"required":             []any{"met", "reason"},
		"additionalProperties": false,
	}
	q := dod.BuildQuestion(dod.ParseCriteria("4 checks ran")[0], "", "checks: 4", "NONCE7NONCE7NONCE7")
	want := map[string]map[string]any{
		"anthropic": {
			"model": "test-model", "max_tokens": 8192.0,
			"system":        []any{map[string]any{"type": "text", "text": q.System}},
			"messages":      []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": q.Prompt}}}},
			"output_config": map[string]any{"format": map[string]any{"type": "json_schema", "schema": schema}},
		},
		"openai": {
			"model": "test-model", "max_completion_tokens": 8192.0,
			"messages": []any{
				map[string]any{"role": "system", "content": q.System},
				map[string]any{"role": "user", "content": q.Prompt},
			},
			"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "verdict", "strict": true, "schema": schema}},
		},
	}
	eachProvider(t, func(t *testing.T, p provider) {
		m := serve(t, answered(200, p.message(goodVerdict, p.goodEnd)))
		a, _ := judgeAt(t, p, m.URL, nil)
		reply, v, err := ask(t, a)
		if err != nil || v != (dod.Verdict{Met: true, Kind: dod.KindVerdict, Reason: "the log shows 4 checks"}) {
			t.Fatalf("%+v, %v", v, err)
		}
		all := m.requests()
		if len(all) != 1 || all[0].method != "POST" || all[0].path != p.path {
			t.Fatalf("requests %+v", all)
		}
		if !reflect.DeepEqual(all[0].body, want[p.name]) {
			t.Errorf("body %s\nwant %s", toJSON(all[0].body), toJSON(want[p.name]))
		}
		if got := all[0].header.Get("X-Api-Key") + all[0].header.Get("Authorization"); got != testKey && got != "Bearer "+testKey {
			t.Errorf("key %q", got)
		}
		if reply.Raw != goodVerdict || reply.InputTokens != 1600 || reply.OutputTokens != 20 || a.Evaluator() != p.name+":test-model" {
			t.Errorf("%+v", reply)
		}
		wantCost := map[string]float64{
			"anthropic": (1000*1 + 500*0.1 + 100*1.25 + 20*5) / 1e6,
			"openai":    (1100*0.25 + 500*0.025 + 20*2) / 1e6,
		}[p.name]
		if math.Abs(reply.CostUSD-wantCost) > 1e-12 || !strings.Contains(reply.Model, "-20") {
			t.Errorf("cost %v of %s, want %v", reply.CostUSD, reply.Model, wantCost)
		}
	})
}

// TestReplies: what came back whole is a reply, whatever it says; the parser alone
// makes a verdict of it.
func TestReplies(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		kind dod.VerdictKind
		met  bool
	}{
		"met":                       {goodVerdict, dod.KindVerdict, true},
		"A4-14 not met":             {`{"met":false,"reason":"x"}`, dod.KindVerdict, false},
		"A4-14 empty":               {"", dod.KindInvalidReply, false},
		"A4-01 met as text":         {`{"met":"false","reason":"no checks were run"}`, dod.KindInvalidReply, false},
		"A4-02 fence":               {"```json\n" + goodVerdict + "\n```", dod.KindVerdict, true},
		"A4-02 word before fence":   {"Here:\n```json\n" + goodVerdict + "\n```", dod.KindInvalidReply, false},
		"A4-03 quoted object":       {`The log says {"met":true,"reason":"ok"}. My view: {"met":false,"reason":"file is missing"}`, dod.KindInvalidReply, false},
		"A4-04 case":                {`{"met":false,"MET":true,"reason":"x"}`, dod.KindInvalidReply, false},
		"A4-04 twice":               {`{"met":false,"met":true,"reason":"x"}`, dod.KindInvalidReply, false},
		"A4-05 no met":              {`{"reason":"looks fine"}`, dod.KindInvalidReply, false},
		"A4-05 null":                {"null", dod.KindInvalidReply, false},
		"A4-05 no reason":           {`{"met":true}`, dod.KindInvalidReply, false},
		"A4-06 prose after":         {goodVerdict + " Note: one check was flaky.", dod.KindInvalidReply, false},
		"A4-06 object after":        {goodVerdict + "\n" + goodVerdict, dod.KindInvalidReply, false},
		"not JSON":                  {"Yes, all four checks ran.", dod.KindInvalidReply, false},
		"thinking before the reply": {"<think>hm</think>" + goodVerdict, dod.KindInvalidReply, false},
	} {
		t.Run(name, func(t *testing.T) {
			eachProvider(t, func(t *testing.T, p provider) {
				m := serve(t, answered(200, p.message(c.text, p.goodEnd)))
				a, _ := judgeAt(t, p, m.URL, nil)
				reply, v, err := ask(t, a)
				if err != nil || v.Kind != c.kind || v.Met != c.met || reply.Raw != c.text {
					t.Errorf("%+v, raw %q, error %v", v, reply.Raw, err)
				}
			})
		})
	}
}

// TestNotAWholeReply: an end that is not the normal one is an error that names it;
// the text is kept, although it would be a verdict.
func TestNotAWholeReply(t *testing.T) {
	choice := func(rest string) string {
		return `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,` + rest + `}]}`
	}
	message := func(rest string) string {
		return `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":` + toJSON(goodVerdict) + `}` + rest + `}`
	}
	said := `"message":{"role":"assistant","content":` + toJSON(goodVerdict)
	for _, c := range []struct {
		name     string
		provider int
		body     string
		fault    string
	}{
		{"A4-14 cut off", 0, providers[0].message(goodVerdict, "max_tokens"), "cut off (stop reason max_tokens, the limit is 8192)"},
		{"A4-14 refusal", 0, message(`],"stop_reason":"refusal","stop_details":{"type":"refusal","category":"cyber","explanation":"about attacks"}`), "refuses to answer (stop reason refusal): about attacks"},
		{"refusal without details", 0, message(`],"stop_reason":"refusal"`), "refuses to answer (stop reason refusal)"},
		{"tool use", 0, message(`,{"type":"tool_use","id":"t","name":"x","input":{}}],"stop_reason":"tool_use"`), `stopped with "tool_use"`},
		{"tool use that ends its turn", 0, message(`,{"type":"tool_use","id":"t","name":"x","input":{}}],"stop_reason":"end_turn"`), `has a "tool_use" part`},
		{"pause", 0, message(`],"stop_reason":"pause_turn"`), `stopped with "pause_turn"`},
		{"context window", 0, message(`],"stop_reason":"model_context_window_exceeded"`), `"model_context_window_exceeded"`},
		{"stop sequence", 0, message(`],"stop_reason":"stop_sequence"`), `"stop_sequence"`},
		{"no reason", 0, message(`],"stop_reason":null`), "has no stop reason"},
		{"other object", 0, `{}`, "has no stop reason"},

		{"A4-14 cut off", 1, providers[1].message(goodVerdict, "length"), "cut off (finish reason length, the limit is 8192 tokens)"},
		{"A4-14 refusal", 1, choice(`"finish_reason":"stop","message":{"role":"assistant","content":null,"refusal":"I cannot help with that."}`), "refuses to answer (refusal): I cannot help with that."},
		{"filter", 1, providers[1].message(goodVerdict, "content_filter"), `stopped with "content_filter"`},
		{"tool calls", 1, providers[1].message(goodVerdict, "tool_calls"), `stopped with "tool_calls"`},
		{"tool call that stops", 1, choice(`"finish_reason":"stop",` + said + `,"tool_calls":[{"id":"t","type":"function","function":{"name":"x","arguments":"{}"}}]}`), "has a tool call"},
		{"no reason", 1, choice(`"finish_reason":null,` + said + `}`), "has no finish reason"},
		{"no choices", 1, `{"id":"c","object":"chat.completion","model":"m","choices":[]}`, "0 choices"},
		{"two choices", 1, `{"model":"m","choices":[{"index":0,"finish_reason":"stop",` + said + `}},{"index":1,"finish_reason":"stop",` + said + `}}]}`, "2 choices"},
		{"other object", 1, `{}`, "0 choices"},
	} {
		p := providers[c.provider]
		t.Run(p.name+" "+c.name, func(t *testing.T) {
			m := serve(t, answered(200, c.body))
			a, _ := judgeAt(t, p, m.URL, nil)
			reply, v, err := ask(t, a)
			if err == nil || !strings.Contains(err.Error(), c.fault) || v.Kind != dod.KindEvaluatorError || v.Met {
				t.Errorf("error %v, want %q", err, c.fault)
			}
			if strings.Contains(c.body, "checks") && !strings.Contains(c.name, "choices") && reply.Raw != goodVerdict {
				t.Errorf("raw %q is lost", reply.Raw)
			}
			if n := len(m.requests()); n != 1 {
				t.Errorf("asked %d times", n)
			}
			if strings.Contains(c.name, "cut off") && (reply.OutputTokens != 20 || reply.CostUSD == 0) {
				t.Errorf("what it cost is lost: %+v", reply)
			}
		})
	}
}

func TestThinkingIsNoPartOfTheReply(t *testing.T) {
	p := providers[0]
	body := strings.Replace(p.message(goodVerdict, "end_turn"), `"content":[`, `"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"x"},`, 1)
	m := serve(t, answered(200, body))
	a, _ := judgeAt(t, p, m.URL, nil)
	if reply, v, err := ask(t, a); err != nil || !v.Met || reply.Raw != goodVerdict {
		t.Errorf("%+v, %v", reply, err)
	}
}

// TestRefusedByTheServer: errors say what happened and what to do, and are asked
// again only where that helps.
func TestRefusedByTheServer(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		kind   string
		text   string
		times  int // requests
		parts  []string
	}{
		{"401", 401, "authentication_error", "invalid x-api-key " + testKey, 1, []string{"refused the key (401: invalid x-api-key [redacted]); set KEYENV to a valid one"}},
		{"403", 403, "permission_error", "not for this model", 1, []string{"refused the key (403: not for this model)", "may use test-model"}},
		{"402", 402, "billing_error", "pay first", 1, []string{"cannot pay (402: pay first)"}},
		{"404", 404, "not_found_error", "model: test-model", 1, []string{"does not know the model test-model", "(404: model: test-model)", "check the model's name and URLENV"}},
		{"413", 413, "request_too_large", "too large", 1, []string{"refused the question (413: too large)"}},
		{"no credit", 400, "invalid_request_error", "Your credit balance is too low", 1, []string{"refused the question (400: Your credit balance is too low)"}},
		{"529", 529, "overloaded_error", "Overloaded", 3, []string{"is overloaded or broken (529: Overloaded), after 3 tries"}},
		{"500", 500, "api_error", "oops", 3, []string{"(500: oops), after 3 tries"}},
		{"503", 503, "api_error", "later", 3, []string{"(503: later), after 3 tries"}},
		{"501", 501, "api_error", "never", 1, []string{"(501: never)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachProvider(t, func(t *testing.T, p provider) {
				m := serve(t, answered(c.status, p.errors(c.kind, c.text)))
				a, waits := judgeAt(t, p, m.URL, nil)
				reply, v, err := ask(t, a)
				if err == nil || v.Met || v.Kind != dod.KindEvaluatorError {
					t.Fatalf("%+v, %v", v, err)
				}
				for _, part := range c.parts {
					part = strings.NewReplacer("KEYENV", p.keyEnv, "URLENV", p.urlEnv).Replace(part)
					if !strings.Contains(err.Error(), part) {
						t.Errorf("error %q lacks %q", err, part)
					}
				}
				if _, quota := errors.AsType[*dod.QuotaError](err); quota {
					t.Error("a quota error")
				}
				if strings.Contains(err.Error()+reply.Raw, testKey) {
					t.Errorf("the key is in %q or %q", err, reply.Raw)
				}
				if n := len(m.requests()); n != c.times || len(waits.all) != c.times-1 {
					t.Errorf("asked %d times with pauses %v, want %d", n, waits.all, c.times)
				}
				if !strings.Contains(reply.Raw, strings.Fields(c.text)[0]) {
					t.Errorf("raw %q", reply.Raw)
				}
			})
		})
	}
}

func TestOverloadPasses(t *testing.T) {
	eachProvider(t, func(t *testing.T, p provider) {
		m := serve(t, answered(529, p.errors("overloaded_error", "Overloaded")),
			answered(503, p.errors("api_error", "soon"), "Retry-After", "7"), answered(200, p.message(goodVerdict, p.goodEnd)))
		a, waits := judgeAt(t, p, m.URL, nil)
		if _, v, err := ask(t, a); err != nil || !v.Met {
			t.Errorf("%+v, %v", v, err)
		}
		if len(waits.all) != 2 || waits.all[0] < 750*time.Millisecond || waits.all[0] > 1250*time.Millisecond || waits.all[1] != 7*time.Second {
			t.Errorf("pauses %v", waits.all)
		}
	})
}

// TestNoPauseBeyondTheTimeLimit: a pause that the question has no time for is not
// begun, and a server cannot ask for a long one.
func TestNoPauseBeyondTheTimeLimit(t *testing.T) {
	for name, c := range map[string]struct {
		after string
		limit time.Duration
	}{"longer than the limit": {"", 300 * time.Millisecond}, "a server that asks for a minute": {"60", time.Hour}} {
		t.Run(name, func(t *testing.T) {
			eachProvider(t, func(t *testing.T, p provider) {
				m := serve(t, answered(529, p.errors("overloaded_error", "Overloaded"), "Retry-After", c.after))
				a, waits := judgeAt(t, p, m.URL, func(_ map[string]string, o *Options) { o.Timeout = c.limit })
				_, _, err := ask(t, a)
				if err == nil || !strings.Contains(err.Error(), "529") || len(m.requests()) != 1 || len(waits.all) != 0 {
					t.Errorf("%v after %d requests, pauses %v", err, len(m.requests()), waits.all)
				}
			})
		})
	}
}

func TestQuota(t *testing.T) {
	now := time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		headers []string
		until   time.Time
	}{
		{"seconds", []string{"Retry-After", "1800"}, now.Add(30 * time.Minute)},
		{"milliseconds", []string{"Retry-After-Ms", "90500"}, now.Add(90500 * time.Millisecond)},
		{"date", []string{"Retry-After", "Sun, 01 Mar 2026 14:30:00 GMT"}, now.Add(30 * time.Minute)},
		{"Anthropic reset of the limit that is used up", []string{
			"anthropic-ratelimit-requests-remaining", "3", "anthropic-ratelimit-requests-reset", "2026-03-01T15:00:00Z",
			"anthropic-ratelimit-tokens-remaining", "0", "anthropic-ratelimit-tokens-reset", "2026-03-01T14:20:00Z"}, now.Add(20 * time.Minute)},
		{"Anthropic resets, none marked", []string{
			"anthropic-ratelimit-requests-reset", "2026-03-01T15:00:00Z", "anthropic-ratelimit-tokens-reset", "2026-03-01T14:20:00Z"}, now.Add(time.Hour)},
		{"Anthropic subscription", []string{"anthropic-ratelimit-unified-reset", strconv.FormatInt(now.Add(5*time.Hour).Unix(), 10)}, now.Add(5 * time.Hour)},
		{"OpenAI durations", []string{
			"x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "6m30s",
			"x-ratelimit-remaining-tokens", "100", "x-ratelimit-reset-tokens", "20m"}, now.Add(390 * time.Second)},
		{"no time", nil, time.Time{}},
		{"nonsense", []string{"Retry-After", "soon", "x-ratelimit-reset-tokens", "?"}, time.Time{}},
		{"a year", []string{"Retry-After", "31536000"}, time.Time{}},
		{"endless", []string{"Retry-After", "Inf"}, time.Time{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachProvider(t, func(t *testing.T, p provider) {
				m := serve(t, answered(429, p.errors("rate_limit_error", "limit of 50 a minute"), c.headers...))
				a, waits := judgeAt(t, p, m.URL, func(_ map[string]string, o *Options) { o.Timeout = time.Hour })
				a.now = func() time.Time { return now }
				_, v, err := ask(t, a)
				quota, ok := errors.AsType[*dod.QuotaError](err)
				if !ok || !quota.Until.Equal(c.until) || v.Met || v.Kind != dod.KindEvaluatorError {
					t.Fatalf("%+v, want until %v", err, c.until)
				}
				if !strings.Contains(err.Error(), "refused for now (429: limit of 50 a minute)") ||
					strings.Contains(err.Error(), "quota again at "+c.until.UTC().Format("15:04 UTC on 2 January")) == c.until.IsZero() {
					t.Errorf("%v", err)
				}
				if len(m.requests()) != 1 || len(waits.all) != 0 {
					t.Errorf("asked %d times", len(m.requests()))
				}
			})
		})
	}
}

// TestShortQuota: a limit that is reset within seconds is waited for, but not for
// ever.
func TestShortQuota(t *testing.T) {
	eachProvider(t, func(t *testing.T, p provider) {
		busy := answered(429, p.errors("rate_limit_error", "limit"), "Retry-After", "3")
		m := serve(t, busy, answered(200, p.message(goodVerdict, p.goodEnd)))
		a, waits := judgeAt(t, p, m.URL, nil)
		if _, v, err := ask(t, a); err != nil || !v.Met || len(waits.all) != 1 || waits.all[0] < 2900*time.Millisecond || waits.all[0] > 3*time.Second {
			t.Errorf("%+v, %v, pauses %v", v, err, waits.all)
		}
		m = serve(t, busy)
		a, _ = judgeAt(t, p, m.URL, nil)
		_, _, err := ask(t, a)
		if quota, ok := errors.AsType[*dod.QuotaError](err); !ok || quota.Until.IsZero() || len(m.requests()) != 3 || !strings.Contains(err.Error(), "after 3 tries") {
			t.Errorf("%v after %d requests", err, len(m.requests()))
		}
	})
}

func TestNoCreditIsNoQuota(t *testing.T) {
	p := providers[1]
	m := serve(t, answered(429, p.errors("insufficient_quota", "You exceeded your current quota"), "Retry-After", "2"))
	a, _ := judgeAt(t, p, m.URL, nil)
	_, _, err := ask(t, a)
	if _, quota := errors.AsType[*dod.QuotaError](err); quota || err == nil || !strings.Contains(err.Error(), "no credit left") || len(m.requests()) != 1 {
		t.Errorf("%v", err)
	}
}

// TestTheSuiteKeepsTheQuota: the time gets to whoever settles the judging.
func TestTheSuiteKeepsTheQuota(t *testing.T) {
	p := providers[0]
	at := time.Now().Add(time.Hour).Truncate(time.Second)
	m := serve(t, answered(429, p.errors("rate_limit_error", "limit"), "anthropic-ratelimit-unified-reset", strconv.FormatInt(at.Unix(), 10)))
	a, _ := judgeAt(t, p, m.URL, nil)
	out := dod.Suite{Asker: a, Evidence: "x"}.Evaluate(context.Background(), dod.ParseCriteria("it works -> judge"), map[string]string{"k": "v"})
	if until, ok := out.QuotaUntil(); !ok || !until.Equal(at) || out.Met() {
		t.Errorf("%v, %v", until, ok)
	}
}

func TestSlowServers(t *testing.T) {
	eachProvider(t, func(t *testing.T, p provider) {
		good := p.message(goodVerdict, p.goodEnd)
		for name, c := range map[string]struct {
			answer http.HandlerFunc
			fault  string
			raw    string
		}{
			"A4-14 no answer": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "no whole reply within 300ms from http://127.0.0.1:", ""},
			"trickle": {func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				for i := 0; r.Context().Err() == nil && i < len(good); i++ {
					_, _ = io.WriteString(w, good[i:i+1])
					_ = http.NewResponseController(w).Flush()
					select {
					case <-r.Context().Done():
					case <-time.After(20 * time.Millisecond):
					}
				}
			}, "bytes of one", good[:1]},
		} {
			t.Run(name, func(t *testing.T) {
				m := serve(t, c.answer)
				a, waits := judgeAt(t, p, m.URL, func(_ map[string]string, o *Options) { o.Timeout = 300 * time.Millisecond })
				began := time.Now()
				reply, v, err := ask(t, a)
				if err == nil || !strings.Contains(err.Error(), c.fault) || !errors.Is(err, context.DeadlineExceeded) || v.Met {
					t.Errorf("error %v, want %q", err, c.fault)
				}
				if took := time.Since(began); took > 10*time.Second || len(m.requests()) != 1 || len(waits.all) != 0 {
					t.Errorf("took %v, asked %d times", took, len(m.requests()))
				}
				if !strings.HasPrefix(reply.Raw, c.raw) {
					t.Errorf("raw %q", reply.Raw)
				}
			})
		}
	})
}

func TestCutConnections(t *testing.T) {
	eachProvider(t, func(t *testing.T, p provider) {
		good := p.message(goodVerdict, p.goodEnd)
		for name, c := range map[string]struct {
			answer http.HandlerFunc
			fault  string
		}{
			"before the answer": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "cannot be reached"},
			"in the middle": {func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Length", strconv.Itoa(len(good)))
				_, _ = io.WriteString(w, good[:len(good)/2])
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}, "cut in the middle of the reply"},
			"half a body that ends well": {answered(200, good[:len(good)/2]), "instead of a JSON object"},
			"text after the answer":      {answered(200, good+`{"again":1}`), "instead of a JSON object"},
		} {
			t.Run(name, func(t *testing.T) {
				m := serve(t, c.answer)
				a, _ := judgeAt(t, p, m.URL, nil)
				reply, v, err := ask(t, a)
				if err == nil || !strings.Contains(err.Error(), c.fault) || v.Kind != dod.KindEvaluatorError {
					t.Errorf("error %v, want %q", err, c.fault)
				}
				if len(m.requests()) != 1 {
					t.Errorf("asked %d times: it may have been paid for", len(m.requests()))
				}
				if name != "before the answer" && !strings.HasPrefix(reply.Raw, good[:20]) {
					t.Errorf("raw %q", reply.Raw)
				}
			})
		}
	})
}

func TestWrongServers(t *testing.T) {
	eachProvider(t, func(t *testing.T, p provider) {
		for name, c := range map[string]struct {
			answer http.HandlerFunc
			fault  string
		}{
			"a web page":    {answered(200, "<html><body>Welcome</body></html>", "Content-Type", "text/html; charset=utf-8"), "answered with text/html instead of a JSON object: <html><body>Welcome</body></html>; is URLENV right?"},
			"JSON as text":  {answered(200, p.message(goodVerdict, p.goodEnd), "Content-Type", "text/plain"), "answered with text/plain instead of a JSON object"},
			"a redirect":    {answered(307, "", "Location", "http://127.0.0.1:1/elsewhere"), "redirects elsewhere, which is not followed; set URLENV"},
			"other path":    {answered(404, "404 page not found", "Content-Type", "text/plain"), "(404: 404 page not found); check the model's name and URLENV"},
			"a list":        {answered(200, "[]"), "instead of a JSON object: []"},
			"an empty body": {answered(200, ""), "instead of a JSON object"},
			"an endless one": {func(w http.ResponseWriter, _ *http.Request) {
				for range 6 << 10 {
					_, _ = w.Write(make([]byte, 1<<10))
				}
			}, "sent more than 4 MB"},
		} {
			t.Run(name, func(t *testing.T) {
				m := serve(t, c.answer)
				a, _ := judgeAt(t, p, m.URL, nil)
				_, v, err := ask(t, a)
				if fault := strings.ReplaceAll(c.fault, "URLENV", p.urlEnv); err == nil || !strings.Contains(err.Error(), fault) || v.Kind != dod.KindEvaluatorError {
					t.Errorf("error %v, want %q", err, fault)
				}
			})
		}
		t.Run("nobody there", func(t *testing.T) {
			a, _ := judgeAt(t, p, "http://user:pa55word@127.0.0.1:1/?key=topsecret", func(env map[string]string, _ *Options) {
				env[p.urlEnv] = "http://user:pa55word@127.0.0.1:1/?key=topsecret"
			})
			_, _, err := ask(t, a)
			if err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:1/ cannot be reached") || !strings.Contains(err.Error(), "refused; is "+p.urlEnv+" right") {
				t.Errorf("%v", err)
			} else if strings.Contains(err.Error(), "pa55word") || strings.Contains(err.Error(), "topsecret") {
				t.Errorf("a secret in %v", err)
			}
		})
	})
}

func TestStoppedByTheCaller(t *testing.T) {
	eachProvider(t, func(t *testing.T, p provider) {
		arrived := make(chan struct{}, 1)
		m := serve(t, func(_ http.ResponseWriter, r *http.Request) { arrived <- struct{}{}; <-r.Context().Done() })
		a, _ := judgeAt(t, p, m.URL, nil)
		why := errors.New("the plan was cancelled")
		ctx, cancel := context.WithCancelCause(context.Background())
		go func() { <-arrived; cancel(why) }()
		if _, err := a.Ask(ctx, dod.Question{Prompt: "x"}); !errors.Is(err, why) || !strings.Contains(err.Error(), "was stopped: the plan was cancelled") {
			t.Errorf("%v", err)
		}
	})
}

// TestCompatibleServers: optional parts that a server refuses are left out, once,
// and remembered.
func TestCompatibleServers(t *testing.T) {
	eachProvider(t, func(t *testing.T, p provider) {
		schemaName := map[string]string{"anthropic": "output_config", "openai": "response_format"}[p.name]
		for _, status := range []int{400, 422} {
			m := serve(t, answered(status, p.errors("invalid_request_error", "unknown field")), answered(200, p.message(goodVerdict, p.goodEnd)))
			a, waits := judgeAt(t, p, m.URL, nil)
			for range 2 {
				if _, v, err := ask(t, a); err != nil || !v.Met {
					t.Fatalf("%+v, %v", v, err)
				}
			}
			var with []bool
			for _, s := range m.requests() {
				_, has := s.body[schemaName]
				with = append(with, has)
			}
			if !reflect.DeepEqual(with, []bool{true, false, false}) || len(waits.all) != 0 {
				t.Errorf("%s in the requests: %v", schemaName, with)
			}
		}
		m := serve(t, answered(400, p.errors("invalid_request_error", "prompt is too long")))
		a, _ := judgeAt(t, p, m.URL, nil)
		if _, _, err := ask(t, a); err == nil || !strings.Contains(err.Error(), "(400: prompt is too long)") || len(m.requests()) != 2 {
			t.Errorf("%v after %d requests", err, len(m.requests()))
		}
		// What did not help is not remembered.
		_, _, _ = ask(t, a)
		if _, has := m.requests()[2].body[schemaName]; !has {
			t.Errorf("%s was left out for good", schemaName)
		}
	})
}

func TestCompatibleServerWithoutTheLimit(t *testing.T) {
	p := providers[1]
	m := serve(t, answered(422, `{"detail":[{"loc":["body","max_completion_tokens"],"msg":"Extra inputs are not permitted"}]}`),
		answered(400, `{"error":"response_format is not supported"}`), answered(200, p.message(goodVerdict, "stop")))
	a, _ := judgeAt(t, p, m.URL, nil)
	if _, v, err := ask(t, a); err != nil || !v.Met {
		t.Fatalf("%+v, %v", v, err)
	}
	last := m.requests()[2].body
	if _, has := last["max_completion_tokens"]; has || last["response_format"] != nil || len(last) != 2 {
		t.Errorf("%v", last)
	}
}

func TestLocalServerWithoutKey(t *testing.T) {
	eachProvider(t, func(t *testing.T, p provider) {
		m := serve(t, answered(200, p.message(goodVerdict, p.goodEnd)), answered(401, p.errors("x", "no key")))
		a, _ := judgeAt(t, p, m.URL, func(env map[string]string, _ *Options) { delete(env, p.keyEnv) })
		if _, v, err := ask(t, a); err != nil || !v.Met {
			t.Fatalf("%+v, %v", v, err)
		}
		if h := m.requests()[0].header; h.Get("Authorization")+h.Get("X-Api-Key") != "" {
			t.Errorf("a key is sent: %v", h)
		}
		if _, _, err := ask(t, a); err == nil || !strings.Contains(err.Error(), "wants a key (401: no key); set "+p.keyEnv) {
			t.Errorf("%v", err)
		}
	})
}

// TestOnlyItsOwnSettings: the process's environment is not read behind the back of
// Options.Environ.
func TestOnlyItsOwnSettings(t *testing.T) {
	eachProvider(t, func(t *testing.T, p provider) {
		m := serve(t, answered(200, p.message(goodVerdict, p.goodEnd)))
		for _, name := range []string{"OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"} {
			t.Setenv(name, "planted-value")
		}
		t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Planted: planted-value")
		t.Setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Planted: planted-value")
		t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
		t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
		a, _ := judgeAt(t, p, m.URL, func(env map[string]string, _ *Options) { delete(env, p.keyEnv) })
		if _, v, err := ask(t, a); err != nil || !v.Met {
			t.Fatalf("%+v, %v", v, err)
		}
		for name, values := range m.requests()[0].header {
			if strings.Contains(strings.Join(values, " "), "planted") {
				t.Errorf("%s: %v", name, values)
			}
		}
	})
}

func TestFurtherSettings(t *testing.T) {
	m := serve(t, answered(200, providers[1].message(goodVerdict, "stop")))
	a, _ := judgeAt(t, providers[1], m.URL, func(env map[string]string, o *Options) {
		env["OPENAI_ORG_ID"], env["OPENAI_PROJECT_ID"] = "org-1", "proj-1"
		o.MaxTokens, o.Prices = 100, map[string]Price{"gpt-5-mini": {Input: 1000, Output: 0}}
	})
	reply, _, err := ask(t, a)
	r := m.requests()[0]
	if err != nil || r.header.Get("OpenAI-Organization") != "org-1" || r.header.Get("OpenAI-Project") != "proj-1" || r.body["max_completion_tokens"] != 100.0 || math.Abs(reply.CostUSD-1.6) > 1e-9 {
		t.Errorf("%+v, %+v, %v", reply, r, err)
	}
	m = serve(t, answered(200, providers[0].message(goodVerdict, "end_turn")))
	a, _ = judgeAt(t, providers[0], m.URL, func(env map[string]string, _ *Options) {
		delete(env, "ANTHROPIC_API_KEY")
		env["ANTHROPIC_AUTH_TOKEN"] = "token-1234"
	})
	if _, _, err := ask(t, a); err != nil || m.requests()[0].header.Get("Authorization") != "Bearer token-1234" {
		t.Errorf("%v, %+v", err, m.requests())
	}
}

func TestUnknownModelCostsNothing(t *testing.T) {
	m := serve(t, answered(200, strings.Replace(providers[1].message(goodVerdict, "stop"), "gpt-5-mini-2025-08-07", "llama-local", 1)))
	a, _ := judgeAt(t, providers[1], m.URL, nil)
	if reply, _, err := ask(t, a); err != nil || reply.CostUSD != 0 || reply.Model != "llama-local" || reply.InputTokens != 1600 {
		t.Errorf("%+v, %v", reply, err)
	}
}

func TestQuestionsAtOnce(t *testing.T) {
	eachProvider(t, func(t *testing.T, p provider) {
		m := serve(t, answered(200, p.message(goodVerdict, p.goodEnd)))
		a, _ := judgeAt(t, p, m.URL, nil)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if reply, err := a.Ask(context.Background(), dod.Question{Prompt: "x"}); err != nil || reply.Raw != goodVerdict {
					t.Errorf("%+v, %v", reply, err)
				}
			})
		}
		wg.Wait()
		if _, has := m.requests()[0].body["system"]; has || len(m.requests()) != 8 {
			t.Errorf("%d requests", len(m.requests()))
		}
	})
}

func TestWhatNewRefuses(t *testing.T) {
	for _, c := range []struct {
		spec string
		env  map[string]string
		part string
	}{
		{"runtime:claude", nil, "write anthropic:<model> or openai:<model>"},
		{"text", nil, "write anthropic:<model> or openai:<model>"},
		{"anthropic", nil, "write anthropic:<model>"},
		{"anthropic:", nil, "names no model"},
		{"openai:gpt 5", nil, "without blanks"},
		{"anthropic:m", nil, "set ANTHROPIC_API_KEY, or ANTHROPIC_BASE_URL"},
		{"openai:m", nil, "set OPENAI_API_KEY, or OPENAI_BASE_URL"},
		{"openai:m", map[string]string{"OPENAI_BASE_URL": "localhost:11434"}, "OPENAI_BASE_URL is no address"},
		{"anthropic:m", map[string]string{"ANTHROPIC_BASE_URL": "ftp://x"}, "ANTHROPIC_BASE_URL is no address"},
	} {
		if _, err := New(c.spec, Options{Environ: func(n string) string { return c.env[n] }}); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("%s: %v, want %q", c.spec, err, c.part)
		}
	}
	if Handles("text") || Handles("runtime:claude") || !Handles("openai:x") || !Handles("anthropic:x") {
		t.Error("Handles")
	}
	// A model's name may have a colon of its own, as local servers write it.
	a, err := New("openai:llama3:8b", Options{Environ: func(n string) string { return map[string]string{"OPENAI_BASE_URL": " http://127.0.0.1:1/v1 "}[n] }})
	if err != nil || a.Evaluator() != "openai:llama3:8b" || a.(*client).model != "llama3:8b" {
		t.Errorf("%v, %v", a, err)
	}
}
