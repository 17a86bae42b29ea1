package dod_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"donewhen/dod"
)

func TestParseLines(t *testing.T) {
	for name, tc := range map[string]struct {
		input string
		want  []string
	}{
		"empty":                            {"", []string{}},
		"only headings and rules":          {"# A\n\n---\n***\n* * *\n===\n#\n", []string{}},
		"seven hashes are no heading":      {"####### seven", []string{"####### seven"}},
		"table":                            {"| a | b |\n|---|:-:|\n| c | d |", []string{"| a | b |", "| c | d |"}},
		"BOM and zero-width signs":         {"\ufeff- one\u200b\n\u200b- two\n-\u200b\n", []string{"one", "two"}},
		"a joiner inside a word stays":     {"- a\u200db", []string{"a\u200db"}},
		"bare CR line ends":                {"- one\r- two\r", []string{"one", "two"}},
		"no-break blank behind the bullet": {"-\u00a0one", []string{"one"}},
		"nested items are flattened":       {"- a\n  - b\n    1. c\n- d", []string{"a", "b", "c", "d"}},
		"one marker only":                  {"- - a", []string{"- a"}},
		"box signs":                        {"☑ a\n- ☐ b\n- [] c\n- [✔️] d\n[x] e", []string{"a", "b", "c", "d", "e"}},
		"a link is no box":                 {"- [x](http://a) b\n- [WIP] c", []string{"[x](http://a) b", "[WIP] c"}},
		"only a box":                       {"- [ ]\n- [x] ", []string{}},
		"blank line ends an item":          {"- a\n\n  b", []string{"a", "b"}},
		"plain lines are not continued":    {"a\n  b", []string{"a", "b"}},
		"a heading ends an item":           {"- a\n## H\n  b", []string{"a", "b"}},
		"unclosed fence is no fence":       {"- a\n```\n- b", []string{"a", "b"}},
		"tilde fence":                      {"~~~\n- x\n```\n~~~~\n- a", []string{"a"}},
		"a short line closes no fence":     {"````\n- x\n```\n````\n- a", []string{"a"}},
		"fence in an item":                 {"- ```go\n  x\n  ```\n- a", []string{"a"}},
		"unclosed, then another closed":    {"~~~\n- a\n```\n- x\n```\n- b", []string{"a", "b"}},
		"inline code is no fence":          {"```x``` works", []string{"```x``` works"}},
		"invalid UTF-8":                    {"- a\xffb", []string{"a\ufffdb"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := textsOf(dod.ParseCriteria(tc.input))
			if !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestParseLevelAndCheck(t *testing.T) {
	for _, tc := range []struct {
		line string
		want dod.Criterion
	}{
		{"- plain", dod.Criterion{Text: "plain", Level: dod.Required, Check: dod.Check{Kind: dod.CheckText}}},
		{"- [x] (info) nice", dod.Criterion{Text: "nice", Level: dod.Info, Check: dod.Check{Kind: dod.CheckText}}},
		{"- (MUST) safe -> run: go vet ./...", dod.Criterion{Text: "safe", Level: dod.Must, Check: dod.Check{Kind: dod.CheckRun, Arg: "go vet ./..."}}},
		{"(info)x", dod.Criterion{Text: "(info)x", Level: dod.Required, Check: dod.Check{Kind: dod.CheckText}}},
		{"(info)", dod.Criterion{Text: "(info)", Level: dod.Required, Check: dod.Check{Kind: dod.CheckText}}},
		{"all ok -> match: /a\\/b -> c/", dod.Criterion{Text: "all ok", Pattern: `a\/b -> c`, Level: dod.Required, Check: dod.Check{Kind: dod.CheckMatch, Arg: `a\/b -> c`}}},
		{"none -> absent: /TODO/", dod.Criterion{Text: "none", Pattern: "TODO", Level: dod.Required, Check: dod.Check{Kind: dod.CheckAbsent, Arg: "TODO"}}},
		{"a -> b -> judge", dod.Criterion{Text: "a -> b", Level: dod.Required, Check: dod.Check{Kind: dod.CheckJudge}}},
		{"a -> judge: is it kind?", dod.Criterion{Text: "a", Level: dod.Required, Check: dod.Check{Kind: dod.CheckJudge, Arg: "is it kind?"}}},
		{"a -> human: owner", dod.Criterion{Text: "a", Level: dod.Required, Check: dod.Check{Kind: dod.CheckHuman, Arg: "owner"}}},
		{"a -> file: docs/x.md", dod.Criterion{Text: "a", Level: dod.Required, Check: dod.Check{Kind: dod.CheckFile, Arg: "docs/x.md"}}},
		{"- tests -> run: go test\n  ./...", dod.Criterion{Text: "tests", Level: dod.Required, Check: dod.Check{Kind: dod.CheckRun, Arg: "go test ./..."}}},
		{"- -> run: make", dod.Criterion{Text: "run: make", Level: dod.Required, Check: dod.Check{Kind: dod.CheckRun, Arg: "make"}}},
		{"a -> run: echo b -> judge", dod.Criterion{Text: "a", Level: dod.Required, Check: dod.Check{Kind: dod.CheckRun, Arg: "echo b -> judge"}}},
		{"a -> judges agree", dod.Criterion{Text: "a -> judges agree", Level: dod.Required, Check: dod.Check{Kind: dod.CheckText}}},
		{"a -> match: x", dod.Criterion{Text: "a -> match: x", Level: dod.Required, Check: dod.Check{Kind: dod.CheckText}}},
	} {
		t.Run(tc.line, func(t *testing.T) {
			got := dod.ParseCriteria(tc.line)
			tc.want.Index = 1
			if len(got) != 1 || got[0] != tc.want {
				t.Fatalf("got %+v\nwant %+v", got, tc.want)
			}
			data, err := json.Marshal(got[0])
			if err != nil {
				t.Fatal(err)
			}
			var back dod.Criterion
			if err := json.Unmarshal(data, &back); err != nil || back != got[0] {
				t.Errorf("through JSON %s: %+v, %v", data, back, err)
			}
		})
	}
}

func TestCriterionJSONShape(t *testing.T) {
	data, _ := json.Marshal(dod.ParseCriteria("(must) a -> match: /b/")[0])
	if want := `{"index":1,"text":"a","pattern":"b","level":"must","check":"match: /b/"}`; string(data) != want {
		t.Errorf("got %s, want %s", data, want)
	}
	for _, bad := range []string{`{"check":"guess: x"}`, `{"level":"soft"}`, `{"check":"match: x"}`, `[]`} {
		var c dod.Criterion
		if err := json.Unmarshal([]byte(bad), &c); err == nil {
			t.Errorf("%s was read as %+v", bad, c)
		}
	}
}

func TestWarningsAndRefusals(t *testing.T) {
	for _, tc := range []struct {
		line, want string
		refused    bool
	}{
		{"a -> runs: x", "is no check", false},
		{"a -> match: /(?=x)/", "does not compile", true},
		{"a -> match: /x*/", "matches the empty text", true},
		{"a -> match: //", "pattern is empty", true},
		{"a -> absent: /  /", "pattern is empty", true},
		{"a -> match: x", "between slashes", true},
		{"a -> match: /x/i", "between slashes", true},
		{"a -> run:", "needs a command", true},
		{"a -> file: ", "needs a path", true},
		{"a -> run: grep {term} f", "$ARG_TERM", true},
		{"```", "never closed", false},
		{"(must) (info) a", `one level, and this one is (must): "(info)" stays`, false},
		{"(must)a", "followed by a blank", false},
		{"[must] a", "a level is (must) or (info)", false},
		{"( Optional ) a", "the line is required", false},
		{"(required) a", "never waivable with (must)", false},
	} {
		t.Run(tc.line, func(t *testing.T) {
			text := "- fine\n" + tc.line + "\n"
			p := dod.Parse(text)
			if len(p.Warnings) != 1 || p.Warnings[0].Line != 2 || p.Warnings[0].Refused != tc.refused ||
				!strings.Contains(p.Warnings[0].Message, tc.want) {
				t.Fatalf("warnings %+v", p.Warnings)
			}
			problems := dod.ValidateDoD(text)
			if tc.refused != (len(problems) == 1) || tc.refused && (problems[0].Line != 2 || problems[0].Message == "") {
				t.Errorf("problems %+v", problems)
			}
		})
	}
}

func TestALinkIsNoLevel(t *testing.T) {
	if p := dod.Parse("- [info](docs/info.md) is linked"); len(p.Warnings) != 0 {
		t.Errorf("warnings %+v", p.Warnings)
	}
}

func TestRunKeepsTheShellsOwnBraces(t *testing.T) {
	for _, fine := range []string{"echo ${HOME}", "cp a.{x,y} b", "awk '{ print }' f", "awk '{print $1}'", "true"} {
		if p := dod.ValidateDoD("a -> run: " + fine); len(p) != 0 {
			t.Errorf("%q is refused: %+v", fine, p)
		}
	}
}

func TestHumanIsRefusedInADoneWhenOnly(t *testing.T) {
	text := "- a\n- b -> human: owner\n"
	if p := dod.ValidateDoD(text); len(p) != 0 {
		t.Errorf("refused in a definition of done: %+v", p)
	}
	p := dod.ValidateDoneWhen(text)
	if len(p) != 1 || p[0].Line != 2 || !strings.Contains(p[0].Message, "approval") {
		t.Errorf("problems %+v", p)
	}
}

// The parser meets whatever is pasted; each of these made a simple one quadratic.
// hugeTexts are shapes in which a parser that looks back, or ahead, for each line
// or brace would take hours; n is about their length in parts.
func hugeTexts(n int) map[string]string {
	return map[string]string{
		"openings":      strings.Repeat("```x\n", n),
		"arrows":        strings.Repeat(" -> ", n),
		"continuations": "- a\n" + strings.Repeat(" b\n", n),
		"braces":        "a -> run: " + strings.Repeat("{a", n),
		"levels":        strings.Repeat("(info) ", n),
	}
}

// Read to the end, whatever its shape: a quadratic parser would not come back
// within the time of the whole test run. BenchmarkParse has the figures.
func TestParseReadsHugeTexts(t *testing.T) {
	want := map[string]int{"openings": 0, "arrows": 1, "continuations": 1, "braces": 1, "levels": 1}
	for name, text := range hugeTexts(300_000) {
		t.Run(name, func(t *testing.T) {
			if n := len(dod.FillCriteria(dod.ParseCriteria(text), map[string]string{"a": "b"})); n != want[name] {
				t.Errorf("%d criteria, want %d", n, want[name])
			}
		})
	}
}

// BenchmarkParse shows how the cost grows with the text: "x16" is the time for a
// text sixteen times as long, in times of the short one's, 16 when it is linear and 256 when quadratic.
func BenchmarkParse(b *testing.B) {
	for name := range hugeTexts(1) {
		b.Run(name, func(b *testing.B) {
			short, long := hugeTexts(10_000)[name], hugeTexts(160_000)[name]
			var times [2]time.Duration
			for b.Loop() {
				for i, text := range []string{short, long} {
					began := time.Now()
					dod.FillCriteria(dod.ParseCriteria(text), map[string]string{"a": "b"})
					times[i] += time.Since(began)
				}
			}
			b.ReportMetric(float64(times[1])/float64(times[0]), "x16")
		})
	}
}
