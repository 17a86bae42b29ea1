package dod_test

import (
	"strings"
	"testing"

	"donewhen/dod"
)

// A pattern that reads as meant and can match nothing is refused with what to
// write instead: in absent: it would always pass.
func TestTwoPatternsInOneAreRefused(t *testing.T) {
	for check, want := range map[string]string{
		"absent: /TODO/, /FIXME/":        "absent: /TODO|FIXME/ for either",
		"absent: /TODO/,/FIXME/":         "absent: /TODO|FIXME/",
		"absent: /TODO/ or /FIXME/":      "absent: /TODO|FIXME/",
		"absent: /TODO/, or /FIXME/":     "absent: /TODO|FIXME/",
		"absent: /TODO/; /FIXME/":        "absent: /TODO|FIXME/",
		"absent: /TODO/ and not /FIXME/": "absent: /TODO|FIXME/",
		"absent: /TODO/ /FIXME/":         "absent: /TODO|FIXME/",
		"absent: /TODO/|/FIXME/":         "absent: /TODO|FIXME/",
		"absent: /TODO/ || /FIXME/":      "absent: /TODO|FIXME/",
		"match: /(a)/ and /b+/":          "match: /(a)|b+/",
		"match: /(a, /b)/, /c/":          "match: /(a, /b)|c/",
		"absent: /" + strings.Repeat("a", 50) + "/, /" + strings.Repeat("b", 50) + "/": "absent: /TODO|FIXME/", // too long to be shown
		"absent: /TODO/ AND /FIXME/":            "absent: /TODO|FIXME/",
		"absent: /TODO/ Or /FIXME/":             "absent: /TODO|FIXME/",
		"absent: /TODO/ + /FIXME/":              "absent: /TODO|FIXME/",
		"absent: /TODO/ and also /FIXME/":       "absent: /TODO|FIXME/",
		"absent: /TODO/ and no /FIXME/":         "absent: /TODO|FIXME/",
		"absent: /TODO/ as well as /FIXME/":     "absent: /TODO|FIXME/",
		"absent: /TODO/ (or /FIXME)/":           "absent: /TODO|FIXME/",
		"absent: /TODO/ und `/FIXME/":           "absent: /TODO|FIXME/",
		"absent: /TODO/or /FIXME/":              "absent: /TODO|FIXME/",
		"absent: /TODO/i /FIXME/":               "absent: /TODO|FIXME/",
		"absent: /TODO/gi, /FIXME/":             "absent: /TODO|FIXME/",
		"absent: /TODO/. /FIXME/":               "absent: /TODO|FIXME/",
		"absent: /TODO/\u00a0/FIXME/":           "absent: /TODO|FIXME/",
		"absent: // or /FIXME/":                 "absent: /TODO|FIXME/",
		"absent: /a/, /b/, /c/":                 "absent: /TODO|FIXME/",
		`absent: /TODO\\/ or /FIXME/`:           `absent: /TODO\\|FIXME/`,
		"absent: /TODO/ and absent: /FIXME/":    "one line for each check",
		"absent: /TODO/, absent: /FIXME/":       "one line for each check",
		"absent: /TODO/; absent: /FIXME/":       "one line for each check",
		"absent: /TODO/absent:/FIXME/":          "one line for each check",
		"absent: /TODO/->absent:/FIXME/":        "one line for each check",
		"absent: /TODO/ → absent: /FIXME/":      "one line for each check",
		"absent: /TODO/ and run: ls src/":       "one line for each check",
		"absent: /TODO/ & match: /x/":           "one line for each check",
		"absent: /TODO/ -> match: /x/":          "one line for each check",
		"absent: /TODO/ -> absent: /FIXME/":     "one line for each check",
		"match: /TODO/->file: a/":               "one line for each check",
		"absent: /TODO/ -> run: grep -r x src/": "one line for each check",
	} {
		text := "- fine\n- none -> " + check
		problems := dod.ValidateDoD(text)
		if len(problems) != 1 || problems[0].Line != 2 || !strings.Contains(problems[0].Message, want) || !strings.Contains(problems[0].Message, `\/`) {
			t.Errorf("%s: %+v, want %q", check, problems, want)
		}
		// Stored before it was refused: nothing is shown to be absent by it.
		c := dod.ParseCriteria(text)[1]
		if r := evaluate([]dod.Criterion{c}, map[string]string{"k": "TODO FIXME"})[0]; r.Status != dod.Failed || c.Check.Kind == dod.CheckAbsent && !strings.Contains(r.Reasoning, want) && !strings.Contains(r.Reasoning, "empty text") {
			t.Errorf("%s: %s (%s)", check, r.Status, r.Reasoning)
		}
	}
}

// A value that is filled in is one text, whatever slashes and blanks it holds.
func TestAValueMakesNoSecondPattern(t *testing.T) {
	c := dod.FillCriteria(dod.ParseCriteria("a -> absent: /{words}/"), map[string]string{"words": "cp a/, /b/ run: x/"})
	for text, want := range map[string]dod.Status{"cp a/, /b/ run: x/": dod.Failed, "cp a": dod.Passed} {
		if r := evaluate(c, map[string]string{"k": text})[0]; r.Status != want {
			t.Errorf("%q: %s (%s)", text, r.Status, r.Reasoning)
		}
	}
}

// What is refused can be written: slashes of the pattern itself are escaped.
func TestSlashesInsideAPatternAreFine(t *testing.T) {
	for pattern, value := range map[string]string{
		"/src/old/":                "a/src/old/b",
		"src/old":                  "src/old",
		"https?://[a-z]+/":         "http://x/",
		`TODO\/, \/FIXME`:          "TODO/, /FIXME",
		"[/] [^]/] [[:space:]/]a/": "/ x /a/",
		`a\/ \/b`:                  "a/ /b",
		"/usr, /etc":               "/usr, /etc",
		"a/b, c/d":                 "a/b, c/d",
		"one or two/three":         "one or two/three",
		"a/b c/d":                  "a/b c/d",
		"src/file:12":              "src/file:12",
		"https?://judge:80/":       "http://judge:80/",
		"https?://x/ y":            "http://x/ y",
		`\s/\s+/b`:                 " / /b",
		"x -> match: y":            "x -> match: y",
		`//\s*TODO`:                "// TODO",
		`/\* eslint-disable \*/`:   "/* eslint-disable */",
	} {
		p := dod.Parse("- a -> match: /" + pattern + "/")
		if len(p.Warnings) != 0 {
			t.Errorf("/%s/: %+v", pattern, p.Warnings)
			continue
		}
		if r := evaluate(p.Criteria, map[string]string{"k": value})[0]; r.Status != dod.Passed {
			t.Errorf("/%s/ in %q: %s", pattern, value, r.Reasoning)
		}
	}
}

// match: keeps the meaning of Go: that ^ and $ are not a line's ends is said.
func TestAnchorsOfAMatchAreExplained(t *testing.T) {
	for check, warned := range map[string]bool{
		"match: /^done$/":        true,
		"match: /^done/":         true,
		"match: /done$/":         true,
		"match: /(?i)x|(a$)/":    true,
		"match: /(?m)^done$/":    false,
		"match: /(?m:^done$)/":   false,
		`match: /\Adone\z/`:      false,
		`match: /a\$b\^/`:        false,
		"match: /[^a]b[$]/":      false,
		"absent: /^done$/":       false, // there they are
		"match: /{name}: [0-9]/": false,
	} {
		p := dod.Parse("- a -> " + check)
		if warned != (len(p.Warnings) == 1) || warned && (p.Warnings[0].Refused || !strings.Contains(p.Warnings[0].Message, "write (?m) for lines")) {
			t.Errorf("%s: %+v", check, p.Warnings)
		}
	}
}

func TestABlankAtThePatternsEndIsSaid(t *testing.T) {
	for check, warned := range map[string]bool{"absent: / TODO/": true, "absent: /todo/i /": true, "match: /a b/": false} {
		p := dod.Parse("- a -> " + check)
		if warned != (len(p.Warnings) == 1) || warned && (p.Warnings[0].Refused || !strings.Contains(p.Warnings[0].Message, "must be there too")) {
			t.Errorf("%s: %+v", check, p.Warnings)
		}
	}
}
