package handlers

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"

	"donewhen/engine"
)

// Who approves by the page sees what a file became, not only its lines.
func TestDiffSaysWhatAFileBecameInABrowser(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Title: "Link things", Phases: []engine.NewPhase{sh("one", `
printf 'one\ntwo\n' > test.sh; printf 'run\n' > run.sh; printf 'off\n' > off.sh; chmod +x off.sh
ln -s old moves; ln -s gone gone; ln -s a back; printf 'a\000b' > bin; : > empty; printf 'ex\n' > ex.sh; chmod +x ex.sh`), sh("two", `
ln -s /etc/passwd passwd; ln -s "$(printf 'a\342\200\256b')" turned
rm test.sh bin empty ex.sh; for f in test.sh bin empty ex.sh; do ln -s /etc/hosts $f; done
chmod +x run.sh; chmod -x off.sh
printf 'new\n' > new.sh; chmod +x new.sh
ln -sfn new moves; rm gone back; printf 'text\n' > back
printf 'plain\n' > plain.txt; : > blank.txt`)}})
	plan := w.detail(id)
	second := plan.Phases[1].Passes[0].Pass
	path := "/plans/" + id + "/diff?pass=" + itoa(second.ID)
	page := w.vic.get(path)
	want(t, page, http.StatusOK)
	if strings.ContainsRune(page.body, '\u202e') {
		t.Error("a link's target turns the page's text")
	}
	d := doc(t, page)
	file := func(name string) *goquery.Selection {
		t.Helper()
		s := d.Find(`[data-file][id="file-` + name + `"]`)
		if s.Length() != 1 {
			t.Fatalf("%d files %q", s.Length(), name)
		}
		return s
	}
	for name, text := range map[string]string{
		"passwd":    "symbolic link to /etc/passwd",
		"turned":    "symbolic link to aU+202Eb",
		"test.sh":   "became a symbolic link to /etc/hosts",
		"bin":       "became a symbolic link to /etc/hosts",
		"empty":     "became a symbolic link to /etc/hosts",
		"ex.sh":     "became a symbolic link to /etc/hosts",
		"run.sh":    "became executable",
		"off.sh":    "is not executable any more",
		"new.sh":    "executable",
		"moves":     "symbolic link, now to new",
		"gone":      "was a symbolic link",
		"back":      "was a symbolic link, became a file",
		"plain.txt": "",
		"blank.txt": "",
	} {
		if got := strings.Join(strings.Fields(file(name).Find("summary [data-became]").Text()), " "); got != text {
			t.Errorf("%s: %q, want %q", name, got, text)
		}
	}
	lines := func(name string) string {
		return strings.Join(file(name).Find("tbody tr:has(td)").Map(func(_ int, s *goquery.Selection) string {
			return s.Find("td:nth-child(3)").Text() + s.Find("td:nth-child(4)").Text()
		}), "|")
	}
	for name, text := range map[string]string{
		"test.sh": `-one|-two|+/etc/hosts|\No line break at the end of the file`,
		"bin":     `+/etc/hosts|\No line break at the end of the file`,
		"back":    `-a|\No line break at the end of the file|+text`,
	} {
		if got := lines(name); got != text {
			t.Errorf("%s: the lines are %q", name, got)
		}
	}
	for name, text := range map[string]string{"run.sh": "No line was changed.", "blank.txt": "An empty file."} {
		if got := strings.TrimSpace(file(name).Find("summary + p").Text()); got != text {
			t.Errorf("%s: %q", name, got)
		}
	}
	// The plan's own page says the same.
	if got := doc(t, w.vic.get("/plans/"+id)).Find("#changes [data-became]").Text(); !strings.Contains(got, "/etc/passwd") {
		t.Errorf("the plan's page says %q", got)
	}
	b := w.browser(t)
	b.Do(chromedp.Navigate(w.http.URL+path), chromedp.WaitVisible(chromedp.CSS("[data-became]")))
	look(t, b, "diff-became")
}

// A patch that is cut behind a file's head says nothing of its lines.
func TestDiffOfACutPatch(t *testing.T) {
	changed := engine.ChangedFile{Status: "type_changed", Path: "a", Added: 1, Deleted: 1}
	removed := "diff --git a/a b/a\ndeleted file mode 100644\nindex 5626abf0f72e58d7a153368ba57db4c673c0e171..0000000000000000000000000000000000000000\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"
	head := "diff --git a/a b/a\nnew file mode 120000\nindex 0000000000000000000000000000000000000000..5626abf0f72e58d7a153368ba57db4c673c0e171\n"
	for _, tc := range []struct {
		name, patch string
		file        engine.ChangedFile
	}{
		{"one half", removed, changed},
		{"a head alone", head, engine.ChangedFile{Status: "added", Path: "a", Added: 1}},
		{"nothing", "", changed},
	} {
		left := 100
		got := diffFile(tc.file, readPatch([]byte(tc.patch))["a"], diffOnPage, &left)
		if !strings.HasPrefix(got.Folded, "Its lines, and whether it is a link") || len(got.Hunks) != 0 {
			t.Errorf("%s: %q, %d hunks", tc.name, got.Folded, len(got.Hunks))
		}
	}
}
