package handlers

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"donewhen/engine"
	"donewhen/internal/browsertest"
	"donewhen/models"
)

// pictureLimit keeps the pictures of the documentation small.
const pictureLimit = 300 << 10

const ledgerGo = `package ledger

import "errors"

// ErrKnown says that an entry with this key was written before.
var ErrKnown = errors.New("ledger: this entry is known")

// Write puts an entry into the ledger.
func (l *Ledger) Write(e Entry) error {
	l.entries = append(l.entries, e)
	return nil
}
`

// The pictures of the documentation, from a team's day: each page with what it
// is there for in sight. With DONEWHEN_SHOTS they are written there as
// docs-NAME.png.
func TestPicturesInABrowser(t *testing.T) {
	w := newDesk(t)
	w.git(t, "-C", w.repo, "checkout", "-q", "-b", "trunk")
	w.write(t, "ledger/ledger.go", ledgerGo)
	w.write(t, "README.md", "# Invoices\n")
	w.git(t, "-C", w.repo, "add", "-A")
	w.git(t, "-C", w.repo, "commit", "-q", "-m", "The ledger")
	repo := filepath.Join(w.dir, "invoices")
	w.git(t, "clone", "-q", w.repo, repo)
	var err error
	if w.project, err = w.eng.AddProject(t.Context(), engine.ActorOf(w.people[models.RoleAdmin]), "invoices", repo, "trunk", false); err != nil {
		t.Fatal(err)
	}
	b := w.browser(t)
	b.View(1440, 900, false)
	picture := func(name, path, selector string, steps ...chromedp.Action[chromedp.Void]) {
		t.Helper()
		b.Do(append([]chromedp.Action[chromedp.Void]{chromedp.Navigate(w.http.URL + path), chromedp.WaitVisible(chromedp.CSS(selector))}, steps...)...)
		_ = browsertest.Get(b, chromedp.Evaluate[int](`Promise.all(document.getAnimations().map(a => a.finished.catch(() => 0))).then(a => a.length)`, chromedp.EvalAwaitPromise))
		// The folder of this test is no address that anybody would have.
		b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => { const w = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); while (w.nextNode()) w.currentNode.data = w.currentNode.data.replaceAll(%q, "/srv/donewhen") })()`, w.dir)))
		png := browsertest.Get(b, chromedp.CaptureScreenshot())
		if len(png) > pictureLimit || len(png) < 10_000 {
			t.Errorf("%s: the picture has %d bytes", name, len(png))
		}
		if dir := os.Getenv("DONEWHEN_SHOTS"); dir != "" {
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "docs-"+name+".png"), png, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range b.Complaints() {
			t.Errorf("%s: %s", name, c)
		}
	}

	look := sh("Find every writer", "echo 'ledger/ledger.go is the only writer.'")
	look.Task = "List each place that writes to the ledger, with the file and the reason."
	write := sh("Make the export idempotent", `if [ "$DONEWHEN_PASS" = 1 ]; then
  sed -i 's|l.entries = append|if _, known := l.keys[e.Key]; known {\n\t\treturn ErrKnown\n\t}\n\tl.entries = append|' ledger/ledger.go
  printf 'Reading ledger/ledger.go\nWrite refuses an entry whose key it knows.\n\033[33mThe keys are not kept yet.\033[0m\n'
else
  sed -i 's|\treturn nil|\tl.keys[e.Key] = struct{}{}\n\treturn nil|' ledger/ledger.go
  printf '# Export\n\nAn export may be run again at any time: what the ledger knows is not written twice.\n' > docs-export.md
  printf 'Reading the reason of the pass before\n\033[1mWrite\033[0m keeps the key of each entry.\n\033[32mPASS\033[0m  ledger/TestWriteTwice (0.01s)\n\033[32mPASS\033[0m  ledger/TestExportAgain (0.12s)\nThe export may be run twice.\n'
fi`)
	write.Task = "An export that is run twice must not write an invoice twice."
	write.DoneWhen = "- Known entries are refused -> run: grep -q ErrKnown ledger/ledger.go\n- Their keys are kept -> run: grep -q 'l.keys.e.Key. = struct' ledger/ledger.go\n- The export may be run twice"
	write.MaxIterations = 4
	notes := sh("Write the notes", "printf '\\n## 2.4\\n\\nThe export may be run again.\\n' >> README.md; echo 'The notes name version 2.4.'")
	notes.NeedsApproval = true
	plan := w.done(engine.NewPlan{Title: "Move the invoice export to the new ledger", Goal: "The export writes each invoice to the new ledger, once.", Phases: []engine.NewPhase{look, write, notes},
		Dod: "- The export may be run twice\n- Known entries are refused -> run: grep -q ErrKnown ledger/ledger.go\n- (must) Finance has seen the notes -> human: lead\n- (info) No debug output -> absent: /Println/"})
	w.pass(12 * time.Minute)
	second := w.detail(plan).Phases[1]
	if n := len(second.Passes); n != 2 {
		t.Fatalf("the second phase took %d passes", n)
	}
	b.View(1440, 1180, false)
	picture("plan", "/plans/"+plan, "#gate", chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details[open]").forEach(d => d.open = false)`))
	b.View(1440, 900, false)
	picture("run", fmt.Sprintf("/runs/%d", second.Passes[1].Runs[0].ID), "#run")
	picture("diff", fmt.Sprintf("/plans/%s/diff", plan), "tr[data-context]")

	stuck := sh("Bring the build below five minutes", `printf 'The build takes %s minutes.\n' $((9 - DONEWHEN_PASS)); echo "cache $DONEWHEN_PASS" > cache.txt; [ "$DONEWHEN_PASS" != 2 ] || echo 'All tests pass.'; [ "$DONEWHEN_PASS" -lt 3 ] || echo 'The cache is shared.'`)
	stuck.DoneWhen, stuck.MaxIterations = "- The build takes 4 minutes\n- All tests pass\n- The cache is shared\n- The cache is there -> file: cache.txt", 4
	slow := w.done(engine.NewPlan{Title: "Bring the build below five minutes", Phases: []engine.NewPhase{stuck}, Dod: "- The build takes 4 minutes"})
	w.pass(8 * time.Minute)
	picture("criteria", "/plans/"+slow, ".grid-table", chromedp.Click(chromedp.CSS(".grid-table tbody tr:nth-child(2) td:nth-of-type(3) button")))

	w.done(engine.NewPlan{Title: "Raise the parser to version 5", Phases: []engine.NewPhase{sh("Raise it", "echo 5 > version.txt")}, Dod: "- The version is there -> file: version.txt"})
	w.pass(25 * time.Minute)
	asked := sh("Rewrite the start page", "echo '# Start' > start.md")
	asked.NeedsApproval = true
	w.done(engine.NewPlan{Title: "Rewrite the start page of the handbook", Phases: []engine.NewPhase{asked}})
	w.pass(3 * time.Minute)
	w.done(engine.NewPlan{Title: "Tidy the flaky upload tests", Phases: []engine.NewPhase{sh("Run them a hundred times", "echo 'TestUpload: 3 of 100 runs failed' >&2; exit 1")}})
	w.pass(7 * time.Minute)
	picture("inbox", "/", "#waiting")

	if err := w.eng.SeedTemplates(t.Context()); err != nil {
		t.Fatal(err)
	}
	picture("template", "/templates/1/edit", "#template-preview")
}
