package handlers

import (
	"slices"
	"strings"
	"testing"

	"donewhen/models"
)

func TestPreviewOfCriteria(t *testing.T) {
	done := func(spec string) previewOptions { return previewOptions{DoneWhen: true, Spec: spec} }
	plan := func(spec string) previewOptions { return previewOptions{Spec: spec} }
	tpl := previewOptions{Spec: "text", Template: true, Declared: []models.TemplateArg{{Name: "a"}, {Name: "b"}, {Name: "in-command"}}}
	for _, row := range []struct {
		name, text string
		o          previewOptions
		how        string // of the first line
		hints      []string
		refused    bool
	}{
		{"a word of output", "exit code 0", done("text"), "Matched literally", nil, false},
		{"output in quotes", `"ok" is printed at the end`, done("text"), "Matched literally", nil, false},
		{"a sentence without a model", "All tests pass", done("text"), "Matched literally", []string{"no model is configured"}, false},
		{"a sentence with a model", "All tests pass", done("runtime:claude"), "Asked of runtime:claude.", nil, false},
		{"a plan's sentence is literal even with a model", "All tests pass", plan("runtime:claude"), "Matched literally", []string{"-> judge to ask runtime:claude"}, false},
		{"a plan's sentence for the judge", "All tests pass -> judge", plan("runtime:claude"), "Asked of runtime:claude.", nil, false},
		{"a question of its own", "Fit -> judge: is it fit?", plan("runtime:claude"), "Asked of runtime:claude: is it fit?", nil, false},
		{"nobody to ask", "Fit -> judge", plan("text"), "none is configured", []string{"could never pass"}, true},
		{"nobody to ask for information", "(info) Fit -> judge", plan("text"), "none is configured", []string{"apply stays closed"}, false},
		{"nobody to ask yet", "Fit -> judge", tpl, "none is configured", []string{"could never pass"}, false},
		{"command", "x -> run: make", plan("text"), "Run as a command", nil, false},
		{"file", "x -> file: a.md", plan("text"), "must be there", nil, false},
		{"pattern", "x -> match: /a+/", plan("text"), "must match", nil, false},
		{"absence", "x -> absent: /a+/", plan("text"), "must match nothing", nil, false},
		{"ends of the whole value", "x -> match: /^a+$/", plan("text"), "must match", []string{"^ and $ are the ends of the whole value"}, false},
		{"two patterns", "x -> absent: /a/, /b/", plan("text"), "must match nothing", []string{"absent: /a|b/ for either"}, true},
		{"person", "x -> human: owner", plan("text"), "A person answers it: owner.", nil, false},
		{"person in a done_when", "x -> human", done("text"), "A person", []string{"let the phase ask for an approval"}, true},
		{"matches the empty text", "x -> match: /a*/", plan("text"), "must match", []string{"empty text"}, true},
		{"does not compile", "x -> match: /(/", plan("text"), "must match", []string{"does not compile"}, true},
		{"unknown word", "x -> rum: make", plan("text"), "Matched literally", []string{"is no check"}, false},
		{"placeholder in a command", "x -> run: echo {a}", plan("text"), "Run as", []string{"$ARG_A"}, true},
		{"placeholder in a done_when", "{a}.md", done("text"), "Matched", []string{"stays as it is written"}, false},
		{"two end states", "the tests are green and the notes are written -> judge", plan("openai:x"), "Asked", []string{"names two things"}, false},
		{"one name with an and in it", "Search and replace -> human", plan("text"), "A person", nil, false},
		{"only information", "(info) x", done("text"), "Matched", []string{"nothing could ever be met"}, true},
		{"only information in a plan", "(info) x", plan("text"), "Matched", []string{"apply stays closed"}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := previewCriteria("- "+row.text, row.o)
			if len(p.Lines) != 1 {
				t.Fatalf("%d lines", len(p.Lines))
			}
			if !strings.Contains(p.Lines[0].How, row.how) {
				t.Errorf("judged: %q, want %q in it", p.Lines[0].How, row.how)
			}
			all := slices.Concat(p.Lines[0].Warnings, p.Warnings)
			refused := false
			for _, w := range all {
				refused = refused || w.Refused
			}
			if refused != row.refused || len(all) != len(row.hints) {
				t.Errorf("refused %v, warnings %+v, want %v and %q", refused, all, row.refused, row.hints)
			}
			for i, hint := range row.hints {
				if i < len(all) && !strings.Contains(all[i].Text, hint) {
					t.Errorf("warning %q, want %q in it", all[i].Text, hint)
				}
			}
		})
	}
}

func TestPreviewOfPlaceholders(t *testing.T) {
	args := []models.TemplateArg{{Name: "a"}, {Name: "b"}, {Name: "term"}, {Name: "te"}, {Name: ""}}
	p := previewCriteria("# {heading}\n- {a} {x} -> file: {y}\n- c -> run: grep \"$ARG_TERM\"", previewOptions{Template: true, Declared: args, Spec: "text"})
	if !slices.Equal(p.Open, []string{"x", "y"}) || !slices.Equal(p.Unused, []string{"b", "te"}) {
		t.Errorf("open %v, unused %v", p.Open, p.Unused)
	}
	if len(p.Ignored) != 1 || p.Ignored[0].Line != 1 {
		t.Errorf("ignored %+v", p.Ignored)
	}
	// A plan's values are filled in after the lines are known (A2-07).
	p = previewCriteria("- {a} is there", previewOptions{Args: map[string]string{"a": "one\n- two"}, Spec: "text"})
	if len(p.Lines) != 1 || p.Lines[0].Text != "one - two is there" || len(p.Open) != 0 {
		t.Errorf("filled: %+v", p)
	}
	if p := previewCriteria(" \n", previewOptions{Empty: "none"}); !p.Blank || len(p.Lines)+len(p.Warnings) != 0 {
		t.Errorf("blank: %+v", p)
	}
}

func TestDiffLines(t *testing.T) {
	for _, row := range []struct{ old, new, want string }{
		{"", "", ""},
		{"a", "a", " a"},
		{"", "a\nb", "+a +b"},
		{"a\nb", "", "-a -b"},
		{"a\nb\nc", "a\nx\nc", " a -b +x  c"},
		{"a\nb\nc\nd", "b\nc\nd\ne", "-a  b  c  d +e"},
		{"a\nb\na\nb", "b\na\nb\na", "-a  b  a  b +a"},
		{"x\r\ny\r\n", "x\ny", " x  y"},
	} {
		var got []string
		for _, l := range diffLines(row.old, row.new) {
			got = append(got, l.Kind+l.Text)
			if (l.Old == 0) != (l.Kind == "+") || (l.New == 0) != (l.Kind == "-") {
				t.Errorf("%q -> %q: numbers of %+v", row.old, row.new, l)
			}
		}
		if s := strings.Join(got, " "); s != row.want {
			t.Errorf("%q -> %q: %q, want %q", row.old, row.new, s, row.want)
		}
	}
	// Whatever the texts, the lines of each come back in order.
	long := strings.Repeat("same\n", 300) + strings.Repeat("old\n", 3000)
	other := strings.Repeat("same\n", 300) + strings.Repeat("new\n", 3000)
	var a, b []string
	for _, l := range diffLines(long, other) {
		if l.Kind != "+" {
			a = append(a, l.Text)
		}
		if l.Kind != "-" {
			b = append(b, l.Text)
		}
	}
	if strings.Join(a, "\n")+"\n" != long || strings.Join(b, "\n")+"\n" != other {
		t.Error("a long difference loses lines")
	}
}

func TestTimeLimitsAsTyped(t *testing.T) {
	for typed, want := range map[string]int{"": 0, " ": 0, "90s": 90, "15m": 900, "2h": 7200, "1h30m": 5400, "5": 300, "1 h": 3600} {
		got, problem := parseLimit(typed)
		if got != want || problem != "" {
			t.Errorf("%q: %d %q, want %d", typed, got, problem, want)
		}
		if again, _ := parseLimit(limitText(got)); again != got {
			t.Errorf("%d is shown as %q, which is read as %d", got, limitText(got), again)
		}
	}
	for _, typed := range []string{"soon", "-5", "0", "0s", "1ms", "900h", "1d", "99999999999999999999"} {
		if got, problem := parseLimit(typed); problem == "" {
			t.Errorf("%q is taken as %d", typed, got)
		}
	}
	for seconds, text := range map[int]string{0: "", 90: "1m30s", 900: "15m", 7200: "2h", 5400: "1h30m"} {
		if got := limitText(seconds); got != text {
			t.Errorf("%d is %q, want %q", seconds, got, text)
		}
	}
}
