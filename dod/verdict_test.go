package dod_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"donewhen/dod"
)

func wantInvalid(t *testing.T, raw, reason string) {
	t.Helper()
	v := dod.ParseVerdict(raw)
	if v.Met || v.Kind != dod.KindInvalidReply || !strings.Contains(v.Reason, reason) {
		t.Errorf("%q: %+v, want an invalid reply about %q", raw, v, reason)
	}
}

func wantVerdict(t *testing.T, raw string, met bool, reason string) {
	t.Helper()
	if v := dod.ParseVerdict(raw); v != (dod.Verdict{Met: met, Kind: dod.KindVerdict, Reason: reason}) {
		t.Errorf("%q: %+v", raw, v)
	}
}

func TestVerdictProse(t *testing.T) {
	wantInvalid(t, "Yes, it is met.", "does not begin with {")
	wantInvalid(t, "true", "does not begin with {")
	wantInvalid(t, `Sure: {"met":true,"reason":"x"}`, "does not begin with {")
	wantInvalid(t, `[{"met":true,"reason":"x"}]`, "does not begin with {")
	wantInvalid(t, `"{\"met\":true,\"reason\":\"x\"}"`, "does not begin with {")
}

func TestVerdictEmpty(t *testing.T) {
	for _, raw := range []string{"", " \n\t", "```\n```", "```json\n\n```"} {
		if v := dod.ParseVerdict(raw); v.Met || v.Kind != dod.KindInvalidReply {
			t.Errorf("%q: %+v", raw, v)
		}
	}
	wantInvalid(t, "", "empty")
}

func TestVerdictMissingField(t *testing.T) {
	wantInvalid(t, `{"reason":"x"}`, `no "met"`)
	wantInvalid(t, `{"met":true}`, `no "reason"`)
	wantInvalid(t, `{"met":true,"reason":""}`, `"reason" is empty`)
	wantInvalid(t, `{"met":true,"reason":" \n"}`, `"reason" is empty`)
	for _, shows := range []string{`\u200b`, "\u200b", ` \u00ad\u2800 `, "\ufe0f", `\u3164`} {
		wantInvalid(t, `{"met":true,"reason":"`+shows+`"}`, `"reason" is empty`)
	}
	wantInvalid(t, `{"met":true,"reason":"x","score":1}`, `"score"`)
}

func TestVerdictNonBoolean(t *testing.T) {
	for _, met := range []string{`"true"`, `1`, `null`, `[true]`, `{"met":true}`, `1e0`} {
		wantInvalid(t, `{"met":`+met+`,"reason":"x"}`, "not a JSON boolean")
	}
	wantInvalid(t, `{"met":True,"reason":"x"}`, "not valid JSON")
	wantInvalid(t, `{"met":true,"reason":["x"]}`, "not a string")
}

func TestVerdictTransportError(t *testing.T) {
	v := dod.ErrorVerdict(errors.New("dial tcp: connection refused"))
	if v != (dod.Verdict{Kind: dod.KindEvaluatorError, Reason: "dial tcp: connection refused"}) {
		t.Errorf("%+v", v)
	}
	if v := dod.ErrorVerdict(nil); v.Met || v.Kind != dod.KindEvaluatorError || v.Reason == "" {
		t.Errorf("%+v", v)
	}
}

func TestVerdictBrokenJSON(t *testing.T) {
	for _, raw := range []string{
		`{`, `{"met"`, `{"met":`, `{"met":true`, `{"met":true,`, `{"met":true,"reason":"x"`, `{"met":true,"reason":"x",}`,
		`{"met" true,"reason":"x"}`, `{"met":true "reason":"x"}`, `{,"met":true,"reason":"x"}`, `{met:true,"reason":"x"}`,
		`{'met':true,'reason':'x'}`, `{"met":true,"reason":"a` + "\n" + `b"}`, `{"met":true,"reason":"x"}}`, `{"met":true;"reason":"x"}`,
		"{\"met\":true,\"reason\":\"\xff\"}", "\ufeff" + `{"met":true,"reason":"x"}`, `{"met":true,"reason":"x"} // ok`,
		`{"met":tru,"reason":"x"}`, `{"met":truefalse,"reason":"x"}`, `{"me\u017f":true,"reason":"x"}`,
	} {
		wantInvalid(t, raw, "")
	}
}

func TestVerdictGoodForms(t *testing.T) {
	wantVerdict(t, `{"met":true,"reason":"x"}`, true, "x")
	wantVerdict(t, " \n{ \"reason\" : \"a \\\"b\\\" {c}\" ,\n \"met\" : false }\r\n", false, `a "b" {c}`)
}

func TestA4_01_MetAsText(t *testing.T) {
	for _, met := range []string{"false", "no", "False"} {
		wantInvalid(t, `{"met":"`+met+`","reason":"no checks were run"}`, "not a JSON boolean")
	}
}

func TestA4_02_OneSpanningFence(t *testing.T) {
	object := `{"met":true,"reason":"all 4 checks ran"}`
	for _, raw := range []string{
		"```json\n" + object + "\n```", "```\n" + object + "\n```\n", "\n````JSON  \r\n" + object + "\r\n````",
	} {
		wantVerdict(t, raw, true, "all 4 checks ran")
	}
	for _, raw := range []string{
		"Here: ```json\n" + object + "\n```",
		"```json\n" + object + "\n``` done",
		"Here:\n```json\n" + object + "\n```",
		"```json\n" + object + "\n```\nDone.",
		"```json\n" + object + "\n```\n```json\n" + object + "\n```",
		"```\n```json\n" + object + "\n```\n```",
		"```json\n" + object,
		object + "\n```",
		"```" + object + "```",
		"```the answer is\n" + object + "\n```",
		"``\n" + object + "\n``",
		"```\n" + object + "\n````",
		"`" + object + "`",
	} {
		wantInvalid(t, raw, "")
	}
}

func TestA4_03_PlantedObject(t *testing.T) {
	wantInvalid(t, `The log says {"met":true,"reason":"ok"}. My view: {"met":false,"reason":"file is missing"}`, "")
	wantInvalid(t, `The log says {"met":false,"reason":"file is missing"}. My view: {"met":true,"reason":"ok"}`, "")
	wantInvalid(t, `{"met":true,"reason":"ok"}{"met":false,"reason":"file is missing"}`, "text after")
}

func TestA4_04_ExactNamesOnly(t *testing.T) {
	wantInvalid(t, `{"Met":true,"reason":"x"}`, `"Met"`)
	wantInvalid(t, `{"met":false,"MET":true,"reason":"x"}`, `"MET"`)
	wantInvalid(t, `{"met":false,"met":true,"reason":"x"}`, "twice")
	wantInvalid(t, `{"met":true,"reason":"x","reason":"y"}`, "twice")
	wantInvalid(t, `{"met":true,"met":true,"reason":"x"}`, "twice")
}

func TestA4_05_MissingVerdictField(t *testing.T) {
	for _, raw := range []string{`{"reason":"looks fine"}`, `{}`, `null`, `{"met":null,"reason":"x"}`, `{"met":true}`, `{"met":true,"reason":null}`} {
		wantInvalid(t, raw, "")
	}
}

func TestA4_06_ProseBehind(t *testing.T) {
	wantInvalid(t, `{"met":true,"reason":"seen"} Note: one check was flaky.`, "text after")
	wantInvalid(t, "{\"met\":true,\"reason\":\"seen\"}\n{\"met\":true,\"reason\":\"seen\"}", "text after")
	wantInvalid(t, "{\"met\":true,\"reason\":\"seen\"}\nNote", "text after")
	wantVerdict(t, "{\"met\":true,\"reason\":\"seen\"}  \n", true, "seen")
}

func TestA4_14_TroubleIsNoVerdict(t *testing.T) {
	criteria := dod.ParseCriteria("it works -> judge")
	for name, tc := range map[string]struct {
		reply  string
		err    error
		kind   dod.VerdictKind
		status dod.Status
		cause  string
	}{
		"(1) nothing":    {"", nil, dod.KindInvalidReply, dod.Skipped, "empty"},
		"(2) exit 1":     {`{"met":true,"reason":"x"}`, errors.New("exit code 1: quota used up"), dod.KindEvaluatorError, dod.Skipped, "quota used up"},
		"(3) time limit": {"", context.DeadlineExceeded, dod.KindEvaluatorError, dod.Skipped, "deadline"},
		"(4) verdict":    {`{"met":false,"reason":"x"}`, nil, dod.KindVerdict, dod.Failed, "x"},
	} {
		t.Run("A4-14 "+name, func(t *testing.T) {
			asker := &scriptedAsker{replies: []scripted{{tc.reply, tc.err}, {tc.reply, tc.err}}}
			out := dod.Suite{Asker: asker}.Evaluate(context.Background(), criteria, nil)
			r := out.Results[0]
			if out.Met() || r.Status != tc.status || r.Kind != tc.kind || !strings.Contains(r.Reasoning, tc.cause) {
				t.Errorf("%+v", r)
			}
			trouble, has := out.Trouble()
			if has != (tc.kind != dod.KindVerdict) || has && trouble.Kind != tc.kind {
				t.Errorf("trouble %+v, %v", trouble, has)
			}
			if out.Answers[0].Raw != tc.reply {
				t.Errorf("the raw reply was not kept: %+v", out.Answers[0])
			}
		})
	}
}

// oracle judges a raw reply in another way than the parser: it decodes into a
// map, writes the map back in the two possible orders and compares the text
// without blanks outside of strings.
func oracle(raw string) (met bool, ok bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(raw), &fields) != nil || len(fields) != 2 {
		return false, false
	}
	m, r := string(fields["met"]), fields["reason"]
	var reason string
	if m != "true" && m != "false" || len(r) == 0 || r[0] != '"' || json.Unmarshal(r, &reason) != nil || strings.TrimSpace(reason) == "" {
		return false, false
	}
	var tight strings.Builder
	inString, escaped := false, false
	for _, b := range []byte(raw) {
		if !inString && strings.IndexByte(" \t\r\n", b) >= 0 {
			continue
		}
		tight.WriteByte(b)
		switch {
		case escaped:
			escaped = false
		case inString && b == '\\':
			escaped = true
		case b == '"':
			inString = !inString
		}
	}
	one := `{"met":` + m + `,"reason":` + string(r) + `}`
	two := `{"reason":` + string(r) + `,"met":` + m + `}`
	return m == "true", tight.String() == one || tight.String() == two
}

func FuzzParseVerdict(f *testing.F) {
	for _, seed := range []string{
		`{"met":true,"reason":"x"}`, "```json\n{\"met\":true,\"reason\":\"x\"}\n```", `{"Met":true,"reason":"x"}`,
		`{"met":false,"met":true,"reason":"x"}`, `{"met":true,"reason":"x"} more`, ``, `null`, `{"reason":"\u0000","met":true}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) { checkVerdict(t, raw) })
}

type fataler interface{ Fatalf(string, ...any) }

// checkVerdict: met comes from the exact object alone, perhaps in one fence.
func checkVerdict(t fataler, raw string) {
	v := dod.ParseVerdict(raw)
	if v.Reason == "" || v.Kind != dod.KindVerdict && v.Met {
		t.Fatalf("%q: %+v", raw, v)
	}
	if v.Kind != dod.KindVerdict {
		return
	}
	body := strings.TrimSpace(raw)
	if strings.HasPrefix(body, "`") {
		lines := strings.Split(body, "\n")
		first, last := strings.TrimSpace(lines[0]), lines[len(lines)-1]
		if len(lines) < 3 || strings.Trim(last, "`") != "" || len(last) < 3 ||
			!strings.EqualFold(first, last) && !strings.EqualFold(strings.ReplaceAll(first, " ", ""), last+"json") {
			// blanks of other kinds behind the ticks are left to the parser's own tests
			if !strings.HasPrefix(first, last) {
				t.Fatalf("%q: fence", raw)
			}
		}
		body = strings.TrimSpace(strings.Join(lines[1:len(lines)-1], "\n"))
	}
	if met, ok := oracle(body); (!ok || met != v.Met) && !strings.Contains(body, `\u`) {
		t.Fatalf("%q: %+v, but the oracle says %v, %v", raw, v, met, ok)
	}
}
