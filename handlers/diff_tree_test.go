package handlers

import (
	"fmt"
	"net/http"
	"slices"
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

// What a tree costs follows from how much there is to read, not from how deep
// it lies: each path is looked at once.
func TestDiffTreeOfDeepFolders(t *testing.T) {
	const deep = 1900
	var files []engine.ChangedFile
	for i := range deep { // a file and a folder at each level
		files = append(files, engine.ChangedFile{Path: strings.Repeat("a/", i) + "0", Added: 1})
	}
	slices.SortFunc(files, func(a, b engine.ChangedFile) int { return strings.Compare(a.Path, b.Path) })
	asked := 0
	nodes := diffTree(files, "", diffTreeRows, func(int) string { asked++; return "#" }, func(dir string) string { return dir })
	if asked > diffTreeRows {
		t.Errorf("%d addresses were made for %d rows", asked, diffTreeRows)
	}
	levels := 0
	for nodes[len(nodes)-1].Folder {
		folder := nodes[len(nodes)-1]
		levels++
		if folder.Name != "a" || folder.Files != deep-levels || folder.Added != deep-levels {
			t.Fatalf("level %d: %q with %d files, %d lines", levels, folder.Name, folder.Files, folder.Added)
		}
		if nodes = folder.Nodes; nodes == nil {
			if folder.Href != strings.Repeat("a/", levels) {
				t.Errorf("level %d leads to %s", levels, folder.Href)
			}
			break
		}
	}
	if levels != diffTreeDeep+1 {
		t.Errorf("%d levels are shown", levels)
	}
	// A page of the folder goes on from there.
	dir := strings.Repeat("a/", levels)
	below := diffPart{dir: dir}.of(files)
	if got := diffFolder(below, dir); got.Files != deep-levels || len(got.Nodes) != 2 || got.Nodes[1].Path != dir+"a/" {
		t.Errorf("in %s: %d files, %d rows", dir, got.Files, len(got.Nodes))
	}
	// Two files that part at the very end are one row and two.
	chain := strings.Repeat("b/", deep)
	two := diffFolder([]engine.ChangedFile{{Path: chain + "x/1"}, {Path: chain + "y/1"}}, "")
	if len(two.Nodes) != 1 || two.Nodes[0].Path != chain || len(two.Nodes[0].Nodes) != 2 || two.Nodes[0].Nodes[1].Name != "y" {
		t.Errorf("%d rows", len(two.Nodes))
	}
}

// The tree has every file once, in the list's order, in the folder it is in.
func FuzzDiffTree(f *testing.F) {
	f.Add("a/b/c a/b/d a/e/f/g a0 b", "")
	f.Add("a/b/c/1 a/b/2 a/b/c2/3", "a/b/")
	f.Fuzz(func(t *testing.T, names, dir string) {
		if dir != "" && !strings.HasSuffix(dir, "/") {
			dir += "/"
		}
		var files []engine.ChangedFile
		for name := range strings.FieldsSeq(names) {
			if name = dir + strings.Trim(name, "/"); name != dir && !strings.Contains(name, "//") {
				files = append(files, engine.ChangedFile{Path: name, Added: 1})
			}
		}
		slices.SortFunc(files, func(a, b engine.ChangedFile) int { return strings.Compare(a.Path, b.Path) })
		at := 0
		var walk func(n views.DiffNode)
		walk = func(n views.DiffNode) {
			sum := 0
			for _, sub := range n.Nodes {
				sum += sub.Files
				if sub.First != at {
					t.Fatalf("%s says that it begins with file %d, not %d", sub.Path, sub.First, at)
				}
				if sub.Folder {
					if sub.Path != n.Path+sub.Name+"/" || len(sub.Nodes) == 1 && sub.Nodes[0].Folder {
						t.Fatalf("folder %q, named %q, in %q", sub.Path, sub.Name, n.Path)
					}
					walk(sub)
					continue
				}
				if sub.Path != files[at].Path || sub.Path != n.Path+sub.Name {
					t.Fatalf("file %d, %q, is %q, named %q, in %q", at, files[at].Path, sub.Path, sub.Name, n.Path)
				}
				at++
			}
			if n.Files != sum || n.Added != sum {
				t.Fatalf("%q counts %d files and %d lines, not %d", n.Path, n.Files, n.Added, sum)
			}
		}
		walk(diffFolder(files, dir))
		if at != len(files) {
			t.Fatalf("%d of %d files", at, len(files))
		}
	})
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

// Paths as long as a file system takes, in lists and as names: no page is heavy,
// and every file's whole name is on a page of its own.
func TestDiffOfLongPaths(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Title: "Bury it", Phases: []engine.NewPhase{sh("one", `set -e
name=$(printf 'very-long-name-of-a-folder-%.0s' $(seq 1 9))
deep() { for i in $(seq 1 14); do mkdir -p "$name"; cd "$name"; done; }
top=$PWD
mkdir wide; cd wide; deep; for f in $(seq 1 150); do echo x > file-$f.txt; done; cd "$top"
for i in $(seq 1 80); do mkdir -p many-$i; cd many-$i; deep; echo x > f.txt; cd "$top"; done`)}})
	base := "/plans/" + id + "/diff"
	at := func(path string) *goquery.Document {
		t.Helper()
		a := w.vic.get(path)
		want(t, a, http.StatusOK)
		if len(a.body) > maxPage {
			t.Errorf("%.60s has %d bytes", path, len(a.body))
		}
		return doc(t, a)
	}
	d := at(base)
	last := d
	for next := `nav[aria-label="Pages of files"] a[rel="next"]`; last.Find(next).Length() > 0; {
		last = at(last.Find(next).AttrOr("href", ""))
	}
	if n := last.Find("[data-file]").Length(); n != 230%60 {
		t.Errorf("the last page has %d files", n)
	}
	folder := d.Find(`[data-diff-tree] a[href*="dir="]`).First()
	of := at(folder.AttrOr("href", ""))
	ids := of.Find("[data-file]").Map(func(_ int, s *goquery.Selection) string { return s.AttrOr("id", "") })
	of.Find(`[data-diff-tree] a[href^="#"]`).Each(func(_ int, s *goquery.Selection) {
		if !slices.Contains(ids, strings.TrimPrefix(s.AttrOr("href", ""), "#")) {
			t.Errorf("%s leads nowhere", s.AttrOr("href", ""))
		}
	})
	plan, name := w.detail(id).Plan, ""
	all, err := w.eng.Diff(t.Context(), id, plan.BaseCommit, plan.WorkCommit)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all.Files {
		if strings.HasSuffix(f.Path, "file-7.txt") {
			name = f.Path
		}
	}
	if own := at(views.PlanDiffPath(id, 0, name)); len(name) < 3000 || !strings.Contains(own.Find("[data-file] summary").Text(), name) {
		t.Errorf("its own page does not name the file whole (%d bytes)", len(name))
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
