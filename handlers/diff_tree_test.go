package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
	"donewhen/views"
)

// drawn is a tree in one line.
func drawn(nodes []views.DiffNode) string {
	var parts []string
	for _, n := range nodes {
		s := n.Name
		if n.Folder {
			s += fmt.Sprintf("/%d+%d", n.Files, n.Added)
			if n.Href != "" {
				s += "→" + n.Href
			} else {
				s += "(" + drawn(n.Nodes) + ")"
			}
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func TestDiffTree(t *testing.T) {
	var files []engine.ChangedFile
	for _, name := range []string{"a.txt", "a/b/c/one.go", "a/b/c/two.go", "a/b/d.go", "b-dir/x/y/z.go", "go.mod"} {
		files = append(files, engine.ChangedFile{Path: name, Added: 2})
	}
	file := func(i int) string { return fmt.Sprint(i) }
	folder := func(dir string) string { return dir }
	for _, tc := range []struct {
		dir, want string
		rows      int
	}{
		{"", "a.txt a/b/3+6(c/2+4(one.go two.go) d.go) b-dir/x/y/1+2(z.go) go.mod", 99},
		{"", "a.txt a/b/3+6(c/2+4→a/b/c/ d.go) b-dir/x/y/1+2(z.go) go.mod", 7},
		{"", "a.txt a/b/3+6→a/b/ b-dir/x/y/1+2→b-dir/x/y/ go.mod", 4},
		{"", "a.txt a/b/3+6→a/b/", 2},
	} {
		if got := drawn(diffTree(files, tc.dir, tc.rows, file, folder)); got != tc.want {
			t.Errorf("%d rows:\n%s\nwant\n%s", tc.rows, got, tc.want)
		}
	}
	if got := drawn(diffTree(files[1:4], "a/b/", 99, file, folder)); got != "c/2+4(one.go two.go) d.go" {
		t.Errorf("of a folder: %s", got)
	}
}

// Two thousand changed files: every one can be reached, no page is heavy.
func TestDiffOfManyFiles(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Title: "Move everything", Phases: []engine.NewPhase{sh("one", `for d in $(seq 1 40); do mkdir -p "src/a long name of a folder/module-$d/internal"; for f in $(seq 1 50); do printf 'package internal\n\n// One says so.\nfunc One() int { return 1 }\n' > "src/a long name of a folder/module-$d/internal/file-with-a-name-$f.go"; done; done; echo x >> a.txt`)}})
	at := func(path string) (*goquery.Document, int) {
		t.Helper()
		a := w.vic.get(path)
		want(t, a, http.StatusOK)
		if len(a.body) > 200_000 {
			t.Errorf("%s has %d bytes", path, len(a.body))
		}
		return doc(t, a), len(a.body)
	}
	base := "/plans/" + id + "/diff"
	// Pages of sixty follow on one another and end with the last file.
	d, size := at(base)
	t.Logf("%d bytes, %d rows in the tree", size, d.Find("[data-diff-tree] li").Length())
	for i, tc := range []struct {
		from, next string
		files      int
	}{{base, "?at=60", 60}, {base + "?at=60", "?at=120", 60}, {base + "?at=1980", "", 21}} {
		page, _ := at(tc.from)
		next := page.Find(`nav[aria-label="Pages of files"] a[rel="next"]`).AttrOr("href", base)
		if n := page.Find("[data-file]").Length(); n != tc.files || next != base+tc.next {
			t.Errorf("page %d: %d files, then %q", i, n, next)
		}
	}
	if !strings.Contains(d.Find("header").Text(), "2001 files") {
		t.Error("the page does not count all files")
	}
	// A folder without room in the tree is a page of its own.
	link := d.Find(`[data-diff-tree] a[href*="dir="]`).First()
	of, _ := at(link.AttrOr("href", ""))
	if of.Find("[data-file]").Length() != 50 || !strings.Contains(of.Find("header").Text(), "50 files, +200") || of.Find(`[data-diff-tree] a[href^="#file-"]`).Length() != 50 {
		t.Errorf("%s: %d files, %q", link.AttrOr("href", ""), of.Find("[data-file]").Length(), of.Find("header").Text())
	}
	of.Find(`[data-diff-tree] a[href^="#"]`).Each(func(_ int, s *goquery.Selection) {
		id := strings.TrimPrefix(s.AttrOr("href", ""), "#")
		if of.Find("[data-file]").FilterFunction(func(_ int, f *goquery.Selection) bool { return f.AttrOr("id", "") == id }).Length() != 1 {
			t.Errorf("%s leads nowhere", id)
		}
	})
	for _, odd := range []string{"?at=-5", "?at=999999"} {
		at(base + odd)
	}
	want(t, w.vic.get(base+"?dir=nope"), http.StatusNotFound)
	// The plan's own page stays light.
	if _, size := at("/plans/" + id); size > 150_000 {
		t.Errorf("the plan's page has %d bytes", size)
	}
	// Each pass has the same view.
	pass := w.detail(id).Phases[0].Passes[0].Pass.ID
	if d, _ := at(fmt.Sprintf("%s?pass=%d", base, pass)); d.Find("[data-diff-tree]").Length() != 1 || !strings.Contains(d.Find(`[data-diff-tree] a[href*="dir="]`).AttrOr("href", ""), fmt.Sprintf("pass=%d", pass)) {
		t.Error("the pass has no tree, or it leaves the pass")
	}
}

func TestDiffTreeInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Title: "Move the export", Phases: []engine.NewPhase{sh("one", `mkdir -p src/export/ledger docs "src/`+strings.Repeat("unverwechselbarerlangesWort", 3)+` 日本語"; for f in book entry export; do printf 'package ledger\n' > src/export/ledger/$f.go; done; seq 1 700 > src/export/long.txt; echo '`+hostile+`' > "docs/<img src=x>.md"; echo x > "src/`+strings.Repeat("unverwechselbarerlangesWort", 3)+` 日本語/datei.txt"; seq 1 9 > package-lock.json; rm a.txt`)}})
	b := w.browser(t)
	b.Do(chromedp.Navigate(w.http.URL+"/plans/"+id+"/diff"), chromedp.WaitVisible(chromedp.CSS("[data-diff-tree] a")))
	look(t, b, "diff-tree")
	if n := browsertest.Get(b, chromedp.Evaluate[int](`document.querySelectorAll("main img").length`)); n != 0 {
		t.Error("A8-04: a file's name made elements")
	}
	// By keyboard: down to a folder, close it, open it, and into a file that is folded.
	focused := func() string {
		return strings.Join(strings.Fields(browsertest.Get(b, chromedp.Evaluate[string](`document.activeElement.innerText`))), " ")
	}
	b.Do(chromedp.Focus(chromedp.CSS("[data-diff-tree] a")))
	for _, step := range []struct{ key, want string }{
		{"\u0301", "docs/ +1 −0"}, // arrow down
	} {
		b.Do(chromedp.KeyEvent(step.key))
		if got := focused(); got != step.want {
			t.Errorf("on %q", got)
		}
	}
	folderIsOpen := func() bool {
		return browsertest.Get(b, chromedp.Evaluate[bool](`document.activeElement.parentElement.open`))
	}
	b.Do(chromedp.KeyEvent("\u0302")) // arrow left
	if folderIsOpen() {
		t.Error("the folder is not closed")
	}
	b.Do(chromedp.KeyEvent("\u0303"), chromedp.KeyEvent("\u0303")) // arrow right: opens, then goes in
	if got := focused(); got != "A <img src=x>.md +1 −0" {
		t.Errorf("on %q", got)
	}
	b.Do(chromedp.Focus(chromedp.CSS(`[data-diff-tree] a[href="#file-src%2Fexport%2Flong.txt"]`)), chromedp.KeyEvent("\r"), chromedp.WaitVisible(chromedp.CSS(`[id="file-src%2Fexport%2Flong.txt"][open] > p`)))
}
