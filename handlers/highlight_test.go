package handlers

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
	"donewhen/views"
)

func hunkOf(lines ...string) []views.DiffHunk {
	var h views.DiffHunk
	for _, l := range lines {
		h.Lines = append(h.Lines, views.DiffLine{Op: l[0], Text: l[1:]})
	}
	return []views.DiffHunk{h}
}

func TestHighlight(t *testing.T) {
	hunks := hunkOf(" package x", "-/* opened", "-and closed */", "+func f() string { return \"<b>\" } // \tü 日本", "\\No line break at the end of the file")
	(&highlighter{left: 1000}).colour("a/x.go", hunks)
	classes := func(l views.DiffLine) string {
		var text strings.Builder
		var out []string
		for _, p := range l.Parts {
			text.WriteString(p.Text)
			if p.Class != "" {
				out = append(out, p.Class)
			}
		}
		if l.Parts != nil && text.String() != l.Text {
			t.Errorf("%q became %q", l.Text, text.String())
		}
		return strings.Join(out, " ")
	}
	for i, want := range []string{"hl-k", "hl-c", "hl-c", "hl-k hl-f hl-t hl-k hl-s hl-c", ""} {
		if got := classes(hunks[0].Lines[i]); got != want {
			t.Errorf("line %d: %q, want %q", i, got, want)
		}
	}

	for name, tc := range map[string]struct {
		path string
		left int
		line string
	}{
		"no such language": {"a.unknown", 1000, "+func f() {}"},
		"too much":         {"a.go", 5, "+func f() {}"},
		"carriage returns": {"a.go", 1000, "+func f() {}\r"}, // coloured or not, the text stays
		"nonsense":         {"a.go", 1000, "+\x00`\"'\uFFFD"},
	} {
		hunks := hunkOf(tc.line)
		(&highlighter{left: tc.left}).colour(tc.path, hunks)
		l := hunks[0].Lines[0]
		if got := classes(l); (tc.left == 5 || tc.path == "a.unknown") && got != "" || l.Text != tc.line[1:] {
			t.Errorf("%s: %q, text %q", name, got, l.Text)
		}
	}
}

func TestDiffInColoursInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	w.write(t, "main.go", "package main\n\n// main says hello.\nfunc main() {\n\tprintln(\"hello\")\n}\n")
	w.git(t, "-C", w.repo, "add", "-A")
	w.git(t, "-C", w.repo, "commit", "-q", "-m", "go")
	id := w.done(engine.NewPlan{Title: "Say more", Phases: []engine.NewPhase{sh("one", `sed -i 's/"hello"/"hello <b>there<\/b>", 42/' main.go; seq 1 30 > package-lock.json; seq 1 900 > long.txt`)}})
	page := w.vic.get("/plans/" + id + "/diff")
	want(t, page, http.StatusOK)
	d := doc(t, page)
	file := d.Find(`[data-file]`).FilterFunction(func(_ int, s *goquery.Selection) bool {
		return strings.Contains(s.Find("caption").Text(), "main.go")
	})
	added := file.Find("tr").FilterFunction(func(_ int, s *goquery.Selection) bool { return s.Find("td:nth-child(3)").Text() == "+" })
	if got := added.Find("td:nth-child(4)").Text(); got != "\tprintln(\"hello <b>there</b>\", 42)" {
		t.Errorf("the added line is %q", got)
	}
	if added.Find(".hl-s").Text() != `"hello <b>there</b>"` || added.Find(".hl-n").Text() != "42" || file.Find(".hl-c").Text() != "// main says hello." {
		t.Error("the line is not coloured")
	}
	if file.Find("tr[data-context]").Length() == 0 || file.Find("[data-changed-only]").Length() != 1 {
		t.Error("unchanged lines cannot be folded")
	}
	shows(t, page, "Looks like a generated file: 30 lines", "900 lines are too many", "+900 −0")

	b := w.browser(t)
	b.Do(chromedp.Navigate(w.http.URL+"/plans/"+id+"/diff"), chromedp.WaitVisible(chromedp.CSS("tr[data-context]")))
	look(t, b, "diff-colours")
	b.Do(chromedp.Click(chromedp.CSS("[data-changed-only]")))
	if n := browsertest.Get(b, chromedp.Evaluate[int](`[...document.querySelectorAll("tr[data-context]")].filter(r => r.checkVisibility()).length`)); n != 0 {
		t.Errorf("%d unchanged lines are seen", n)
	}
}
