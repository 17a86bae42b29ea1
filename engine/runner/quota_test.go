package runner

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"donewhen/dod"
)

func TestQuotaOfWhatACLISays(t *testing.T) {
	now := time.Date(2026, 3, 1, 14, 0, 0, 0, time.UTC)
	plain := errors.New("as it was said")
	for said, want := range map[string]string{
		"Claude AI usage limit reached|1772380800":               "2026-03-01T16:00:00Z",
		"5-hour limit reached ∙ resets 3:30pm (UTC)":             "2026-03-01T15:30:00Z",
		"You've hit your limit · resets 3pm (Europe/Berlin)":     "2026-03-02T14:00:00Z", // 15:00 there is now
		"You've hit your session limit · resets 12am (UTC)":      "2026-03-02T00:00:00Z",
		"Weekly limit reached, resets at 14:00 (UTC)":            "2026-03-02T14:00:00Z",
		"Claude AI usage limit reached":                          "",
		"Claude AI usage limit reached|1000000000":               "", // long ago
		"Claude AI usage limit reached|9999999999":               "", // a mistake
		"usage limit reached, resets 25:00 (UTC)":                "",
		"usage limit reached, resets 3 times":                    "",
		"usage limit reached, resets 3pm (Nowhere/Never)":        "",
		"API Error: 401 invalid x-api-key":                       "no quota",
		"the agent reports an error: the time limit was reached": "no quota",
		"": "no quota",
	} {
		err := quotaOf(plain, said, now)
		var quota *dod.QuotaError
		switch is := errors.As(err, &quota); {
		case want == "no quota":
			if is || err != plain {
				t.Errorf("%q: %v", said, err)
			}
		case !is || !errors.Is(err, plain):
			t.Errorf("%q: %v is no quota error", said, err)
		case want == "" && !quota.Until.IsZero() || want != "" && quota.Until.UTC().Format(time.RFC3339) != want:
			t.Errorf("%q: until %s, want %s", said, quota.Until, want)
		}
	}
	if quotaOf(nil, "usage limit reached", now) != nil {
		t.Error("no error became one")
	}
}

// A reply is never read for it: only what the program reports as its error.
func TestACLIJudgeWithoutQuota(t *testing.T) {
	for name, c := range map[string]struct {
		line  string
		quota bool
	}{
		"reported": {`{"type":"result","subtype":"success","is_error":true,"result":"Claude AI usage limit reached|4102444800"}`, true},
		"written":  {`{"type":"result","subtype":"success","is_error":false,"result":"Claude AI usage limit reached|4102444800"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			script := filepath.Join(t.TempDir(), "judge.sh")
			if err := os.WriteFile(script, []byte("#!/bin/sh\ncat >/dev/null\necho '"+c.line+"'\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			set := open(t, testOptions(t), "runtimes:\n  j:\n    judge_args: ["+script+"]\n    judge_output: claude-stream-json\n")
			judge, err := set.Judge("j")
			if err != nil {
				t.Fatal(err)
			}
			_, err = judge.Ask(bg, dod.BuildQuestion(dod.ParseCriteria("it is there")[0], "", "x", ""))
			var quota *dod.QuotaError
			if errors.As(err, &quota) != c.quota || (err != nil) != c.quota {
				t.Errorf("%v", err)
			}
		})
	}
}
