package runner

import (
	"strings"
	"testing"
)

// read gives a parser a text, as its program would print it.
func read(format, text string) (report, []string) {
	var doing []string
	p := outputFormats[format](func(s string) { doing = append(doing, s) })
	l := &lineSplitter{f: p.line}
	_, _ = l.Write([]byte(text))
	l.flush()
	return p.report(), doing
}

func TestCodexEvents(t *testing.T) {
	const begin = `{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"0","type":"reasoning","text":"hm"}}
{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"I look."}}
{"type":"item.started","item":{"id":"2","type":"command_execution","command":"bash -lc ls"}}
{"type":"item.completed","item":{"id":"2","type":"command_execution","command":"bash -lc ls","aggregated_output":"x","exit_code":0}}
{"type":"item.completed","item":{"id":"3","type":"file_change","changes":[{"path":"a.go","kind":"update"}]}}
{"type":"error","message":"Reconnecting... 1/5"}
not json
{"type":"item.completed","item":{"id":"4","type":"agent_message","text":"Done."}}
`
	const end = `{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":80,"output_tokens":5}}`
	rep, doing := read(outputCodex, begin+end)
	if rep != (report{Message: "Done.", InputTokens: 100, OutputTokens: 5, Ended: true}) {
		t.Errorf("%+v", rep)
	}
	if got := strings.Join(doing, "|"); got != "I look.|command: bash -lc ls|edit: a.go|Reconnecting... 1/5|Done." {
		t.Errorf("activity %q", got)
	}
	if rep, _ := read(outputCodex, begin); rep.Ended || rep.Trouble != "Reconnecting... 1/5" {
		t.Errorf("cut off: %+v", rep)
	}
	if rep, _ := read(outputCodex, begin+`{"type":"turn.failed","error":{"message":"usage limit"}}`); rep.Trouble != "usage limit" {
		t.Errorf("failed: %+v", rep)
	}
}

func TestOpencodeEvents(t *testing.T) {
	const first = `{"type":"step_start","part":{"type":"step-start"}}
{"type":"tool_use","part":{"tool":"bash","state":{"status":"completed","title":"List files","input":{"command":"ls"}}}}
{"type":"tool_use","part":{"tool":"read","state":{"status":"completed","input":{"filePath":"/w/a.go"}}}}
{"type":"step_finish","part":{"type":"step-finish","reason":"tool-calls","cost":0.5,"tokens":{"input":10,"output":2,"reasoning":0,"cache":{"read":3,"write":4}}}}
{"type":"step_start","part":{"type":"step-start"}}
{"type":"text","part":{"type":"text","text":"Done."}}
`
	rep, doing := read(outputOpencode, first+`{"type":"step_finish","part":{"reason":"stop","cost":0.25,"tokens":{"input":1,"output":1}}}`)
	if rep != (report{Message: "Done.", InputTokens: 18, OutputTokens: 3, CostUSD: 0.75, Ended: true, StopReason: "stop"}) {
		t.Errorf("%+v", rep)
	}
	if got := strings.Join(doing, "|"); got != "bash: List files|read: /w/a.go|Done." {
		t.Errorf("activity %q", got)
	}
	if rep, _ := read(outputOpencode, first); rep.Ended {
		t.Error("a step that did not finish counts as the end")
	}
	for text, want := range map[string]string{
		`{"type":"error","error":{"name":"APIError","data":{"message":"no credit"}}}`: "no credit",
		`{"type":"error","error":{"name":"UnknownError"}}`:                            "UnknownError",
		`{"type":"error","error":"plain"}`:                                            "plain",
		`{"type":"error"}`:                                                            "the agent reports an error without a text",
	} {
		if rep, _ := read(outputOpencode, text); rep.Trouble != want {
			t.Errorf("%s: %q", text, rep.Trouble)
		}
	}
}

func TestGeminiEvents(t *testing.T) {
	const begin = `{"type":"init","session_id":"s","model":"gemini-x"}
{"type":"message","role":"user","content":"the task"}
{"type":"message","role":"assistant","content":"I look.","delta":true}
{"type":"tool_use","tool_name":"read_file","tool_id":"1","parameters":{"file_path":"a.go"}}
{"type":"tool_result","tool_id":"1","status":"success","output":"x"}
{"type":"message","role":"assistant","content":"All ","delta":true}
{"type":"message","role":"assistant","content":"done.","delta":true}
`
	rep, doing := read(outputGemini, begin+`{"type":"result","status":"success","stats":{"total_tokens":12,"input_tokens":9,"output_tokens":3}}`)
	if rep != (report{Message: "All done.", Model: "gemini-x", InputTokens: 9, OutputTokens: 3, Ended: true}) {
		t.Errorf("%+v", rep)
	}
	if got := strings.Join(doing, "|"); got != "I look.|read_file: a.go|All|All done." {
		t.Errorf("activity %q", got)
	}
	if rep, _ := read(outputGemini, begin+`{"type":"result","status":"error","error":{"type":"E","message":"quota"}}`); rep.Trouble != "quota" {
		t.Errorf("%+v", rep)
	}
	if rep, _ := read(outputGemini, begin); rep.Ended {
		t.Error("a stream that was cut off counts as ended")
	}
}

// TestOddLines: no parser may fall over what a program prints.
func TestOddLines(t *testing.T) {
	odd := strings.Join([]string{"", "{", "{}", "[]", "null", `{"type":null}`, `{"type":7}`, `{"type":"result","usage":"x"}`,
		`{"type":"assistant","message":"x"}`, `{"type":"item.completed","item":null}`, `{"type":"text","part":null}`,
		`{"type":"message","role":"assistant","content":[1]}`, "\x00\xff\xfe", `{"type":"error","error":null}x`, strings.Repeat("{", 100_000)}, "\r\n")
	for format := range outputFormats {
		if rep, _ := read(format, odd); rep.Ended && rep.Trouble == "" && format != outputText {
			t.Errorf("%s: %+v", format, rep)
		}
	}
}
