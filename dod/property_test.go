package dod_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"donewhen/dod"
)

// pieces are what the parsers look at, so that random texts hit their branches.
var pieces = rapid.SampledFrom([]string{
	"- ", "* ", "1. ", "2) ", "• ", "[ ] ", "[x]", "☑ ", "(info) ", "(must) ", "# ", "```", "~~~", "---", "|", "\n", "\n", "\r\n", "  ", "\t",
	" -> ", "run: ", "match: /", "/", "absent: /", "file: ", "judge", "human: ", "{a}", "{b}", "{", "}", "$", "a", "b", "\u200b", "\ufeff", "\xff", "é", "(", "x*",
})

func text(t *rapid.T, label string) string {
	return strings.Join(rapid.SliceOfN(pieces, 0, 40).Draw(t, label), "")
}

func TestRenderingNeverExpandsAValue(t *testing.T) {
	placeholder := regexp.MustCompile(`\{(a|b)\}`)
	rapid.Check(t, func(t *rapid.T) {
		template := text(t, "template")
		args := map[string]string{"a": text(t, "a"), "b": text(t, "b")}
		want := placeholder.ReplaceAllStringFunc(template, func(m string) string { return args[m[1:2]] })
		if got := dod.RenderTemplate(template, args); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		if got := dod.RenderTemplate(template, nil); got != template {
			t.Fatalf("without arguments: %q", got)
		}
	})
}

func checkParsed(t fataler, input string) {
	p := dod.Parse(input)
	if p.Criteria == nil || len(p.Lines) != len(p.Criteria) {
		t.Fatalf("%q: %+v", input, p)
	}
	last := 0
	for i, c := range p.Criteria {
		if c.Index != i+1 || c.Text == "" || strings.TrimSpace(c.Text) != c.Text || strings.ContainsAny(c.Text+c.Check.Arg, "\r\n") || p.Lines[i] <= last {
			t.Fatalf("%q: line %d, %+v", input, p.Lines[i], c)
		}
		last = p.Lines[i]
	}
	for _, w := range p.Warnings {
		if w.Line < 1 || w.Message == "" {
			t.Fatalf("%q: %+v", input, w)
		}
	}
}

func TestFillingAddsAndDropsNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		input := text(rt, "text")
		checkParsed(rt, input)
		criteria := dod.ParseCriteria(input)
		filled := dod.FillCriteria(criteria, map[string]string{"a": text(rt, "a"), "b": text(rt, "b")})
		if len(filled) != len(criteria) {
			rt.Fatalf("%d became %d", len(criteria), len(filled))
		}
		for i, c := range filled {
			was := criteria[i]
			if c.Index != was.Index || c.Level != was.Level || c.Check.Kind != was.Check.Kind || strings.ContainsAny(c.Text, "\r\n") ||
				c.Check.Kind == dod.CheckRun && c.Check != was.Check {
				rt.Fatalf("%+v became %+v", was, c)
			}
		}
		checkStored(t, filled)
	})
}

func TestOnlyTheExactObjectIsMet(t *testing.T) {
	parts := rapid.SampledFrom([]string{"{", "}", `"met"`, `"Met"`, `"reason"`, ":", ",", "true", "false", "null", `"x"`, `""`, "1", "```json\n", "\n```", " ", "\n", "ok", "[", "]"})
	rapid.Check(t, func(t *rapid.T) {
		raw := strings.Join(rapid.SliceOfN(parts, 0, 14).Draw(t, "reply"), "")
		checkVerdict(t, raw)
		// Random joins are rarely good, so a good one with something put in is tried too.
		good := []string{"{", `"met"`, ":", "true", ",", `"reason"`, ":", `"x"`, "}"}
		at := rapid.IntRange(0, len(good)).Draw(t, "at")
		checkVerdict(t, strings.Join(good[:at], "")+parts.Draw(t, "extra")+strings.Join(good[at:], ""))
	})
}

// An open gate means: the plan is finished, and every criterion that counts
// passed or was waived for what is there now, a (must) never.
func TestOpenGateMeansEverythingRequiredPassed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Mostly the good value, so that open gates are drawn often enough.
		mostly := func(label, good string, others ...string) string {
			if rapid.IntRange(0, 9).Draw(t, label+"?") > 0 {
				return good
			}
			return rapid.SampledFrom(others).Draw(t, label)
		}
		f := openFacts()
		f.PlanStatus = mostly("status", "finished", "running", "applying", "applied", "", "waiting")
		f.Evaluation = dod.EvaluationState(mostly("evaluation", "done", "none", "queued", "errored", ""))
		f.EvaluatedFingerprint = mostly("fingerprint", "f1", "f0", "")
		f.HasDoD = mostly("dod", "yes", "no") == "yes"
		f.ProjectRequiresDoD = rapid.Bool().Draw(t, "demanded")
		f.ApprovalsNeeded = rapid.IntRange(0, 1).Draw(t, "needed")
		f.Summary.Results = nil
		for i := range rapid.IntRange(0, 4).Draw(t, "criteria") {
			level := dod.Level(mostly("level", "required", "must", "info", "odd"))
			f.Summary.Results = append(f.Summary.Results, result(i+1, level, dod.Status(mostly("result", "passed", "failed", "skipped", ""))))
			if rapid.Bool().Draw(t, "waived") {
				f.Waivers = append(f.Waivers, dod.Waiver{Criterion: i + 1, Fingerprint: mostly("waiver", "f1", "f0", "")})
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "time") == 0 {
			f.Summary.EvaluatedAt = time.Time{}
		}
		g := dod.Gate(f)
		if g.Open != (len(g.Reasons) == 0) || g.Sentence == "" {
			t.Fatalf("%+v", g)
		}
		if !g.Open {
			return
		}
		if f.PlanStatus != "finished" || !f.HasDoD && f.ProjectRequiresDoD {
			t.Fatalf("open: %+v", f)
		}
		if !f.HasDoD {
			return
		}
		if f.Evaluation != dod.EvaluationDone || f.EvaluatedFingerprint != "f1" || f.Summary.EvaluatedAt.IsZero() {
			t.Fatalf("open: %+v", f)
		}
		required := 0
		for _, r := range f.Summary.Results {
			if r.Criterion.Level == dod.Info {
				continue
			}
			required++
			waived := false
			for _, w := range f.Waivers {
				waived = waived || w.Criterion == r.Criterion.Index && w.Fingerprint == "f1" && r.Criterion.Level == dod.Required
			}
			if r.Status != dod.Passed && !waived {
				t.Fatalf("open with %+v", r)
			}
		}
		if required == 0 || len(f.Waivers) == 0 && !f.Summary.AllPassed() {
			t.Fatalf("open: %+v", f)
		}
	})
}

func FuzzParseCriteria(f *testing.F) {
	for _, seed := range []string{"", "- a\n  b\n```\n- c\n```\n", "1) [x] (must) a -> run: go vet ./...", "- a -> match: /x{2}/\r\n- \r\n", "☑ a -> human: b\n~~~"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) { checkParsed(t, input) })
}
