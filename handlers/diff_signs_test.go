package handlers

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
)

// Source that does not look like what a compiler reads: every sign that cannot be
// seen or that turns the direction of text is shown as a mark, in lines and names.
func TestDiffShowsHiddenSignsInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Title: "Check who is admin", Phases: []engine.NewPhase{sh("one", `
printf 'package main\n\nfunc main() {\n\tisAdmin := false\n\t/*\u202e } \u2066if isAdmin\u2069 \u2066 begin admins only */\n\tprintln("pass\u200bword", "\033[31mred", "\uFEFFx")\n}\n' > trojan.go
printf 'plain\n' > "$(printf 'invoice\u202egnp.exe')"
printf 'seen\U000E0069\U000E0067\U000E006E\U000E006F\U000E0072\U000E0065\n' > tags.txt
printf 'a\r\nb\r\n' > windows.txt
for i in $(seq 1 140); do for j in $(seq 1 90); do printf 'a\u200b'; done; echo; done > zz.txt
mkdir -p "$(printf 'src/\u2067x')"; echo x > "$(printf 'src/\u2067x/y.txt')"
`)}})
	page := w.vic.get("/plans/" + id + "/diff")
	want(t, page, http.StatusOK)
	if len(page.body) > maxPage {
		t.Errorf("%d bytes", len(page.body))
	}
	for _, r := range "\u202e\u2066\u2067\u2069\u200b\ufeff\x1b\r\U000e0069" {
		if strings.ContainsRune(page.body, r) {
			t.Errorf("the page holds a bare %U", r)
		}
	}
	d := doc(t, page)
	file := func(name string) *goquery.Selection {
		t.Helper()
		s := d.Find("[data-file]").FilterFunction(func(_ int, s *goquery.Selection) bool { return strings.Contains(s.Find("caption").Text(), name) })
		if s.Length() != 1 {
			t.Fatalf("%d files %q", s.Length(), name)
		}
		return s
	}
	lines := func(name string) string {
		return strings.Join(file(name).Find("td:nth-child(4)").Map(func(_ int, s *goquery.Selection) string { return s.Text() }), "\n")
	}
	for name, text := range map[string]string{
		"trojan.go":   "/*U+202E } U+2066if isAdminU+2069 U+2066 begin admins only */",
		"tags.txt":    "seenU+E0069 … ×6, tags: “ignore”",
		"windows.txt": "a\nb",
		"zz.txt":      "a▯a▯",
	} {
		if got := lines(name); !strings.Contains(got, text) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := lines("trojan.go"); !strings.Contains(got, `"passU+200Bword", "U+001B[31mred", "U+FEFFx"`) {
		t.Errorf("%q", got)
	}
	if title := file("trojan.go").Find("b.sign").First().AttrOr("title", ""); title != "right-to-left override" {
		t.Errorf("its mark is a %q", title)
	}
	if got := file("invoice").Find("summary").Text(); !strings.Contains(got, "invoiceU+202Egnp.exe") {
		t.Errorf("the name is %q", got)
	}
	if got := d.Find("[data-diff-tree]").Text(); !strings.Contains(got, "invoiceU+202Egnp.exe") || !strings.Contains(got, "src/U+2067x/") {
		t.Errorf("the tree is %q", got)
	}
	notes := strings.Join(d.Find("[data-file]").Map(func(_ int, s *goquery.Selection) string { return s.Prev().Not("[data-file]").Text() }), "|")
	for _, text := range []string{"trojan.go holds characters that turn the direction of text (U+202E, U+2066, U+2069), first near line 5.", "invoice‹U+202E›gnp.exe holds characters that turn the direction of text (U+202E), in its name."} {
		if !strings.Contains(notes, text) {
			t.Errorf("no note %q in %q", text, notes)
		}
	}
	if strings.Contains(notes, "tags.txt") || strings.Contains(notes, "windows.txt") {
		t.Errorf("a note too many: %q", notes)
	}

	b := w.browser(t)
	b.Do(chromedp.Navigate(w.http.URL+"/plans/"+id+"/diff"), chromedp.WaitVisible(chromedp.CSS("[data-diff-tree] a")))
	look(t, b, "diff-signs")
	copied := browsertest.Get(b, chromedp.Evaluate[string](`(() => {
		const line = [...document.querySelectorAll("[data-file] td:nth-child(4)")].find(td => td.textContent.includes("begin admins"))
		getSelection().selectAllChildren(line)
		return getSelection().toString()
	})()`))
	if copied != "\t/* } if isAdmin  begin admins only */" {
		t.Errorf("copied is %q", copied)
	}
}
