// Package browsertest drives a headless Chromium in tests: it finds the
// browser, collects everything the page complains about (script errors,
// security policy violations, failed loads), runs axe and takes screenshots.
//
// Environment: DONEWHEN_TEST_CHROMIUM names the browser's program (otherwise it
// is looked for in PATH), DONEWHEN_REQUIRE_ALL=1 makes a missing one a failure,
// DONEWHEN_SHOTS is a folder for the screenshots (otherwise none are kept).
package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Browser is one tab of a browser that lives as long as the test.
type Browser struct {
	t   testing.TB
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

// New starts a browser. Without one on the machine the test is skipped, or
// fails when everything must run.
func New(t testing.TB) *Browser {
	t.Helper()
	program := find()
	if program == "" {
		Missing(t, "no Chromium found: install it (Debian: apt-get install chromium) or name it in DONEWHEN_TEST_CHROMIUM")
	}
	b := &Browser{t: t}
	// A profile of its own below /tmp: t.TempDir would fail the test when a
	// dying browser process still writes while it is removed.
	profile, err := os.MkdirTemp("", "donewhen-browser-")
	if err != nil {
		t.Fatal(err)
	}
	alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile),
		chromedp.WindowSize(1440, 900), // the default differs from machine to machine
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("hide-scrollbars", true),
		chromedp.WSURLReadTimeout(60*time.Second))...)
	ctx, stop := chromedp.NewContext(alloc, chromedp.WithListener(b.listen))
	t.Cleanup(func() {
		stop()
		stopAlloc()
		_ = os.RemoveAll(profile) // what is left lies in the system's temporary folder
	})
	b.ctx = ctx
	// The browser's life is bound to the first call's context: that one has no time limit.
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("%s does not start: %v", program, err)
	}
	return b
}

// Missing skips the test with the reason, or fails it when DONEWHEN_REQUIRE_ALL=1.
func Missing(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("DONEWHEN_REQUIRE_ALL") == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

func find() string {
	if named := os.Getenv("DONEWHEN_TEST_CHROMIUM"); named != "" {
		if _, err := exec.LookPath(named); err == nil {
			return named
		}
		return ""
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	return ""
}

// Context is the tab's context, for chromedp.Run and what has no method here.
func (b *Browser) Context() context.Context { return b.ctx }

// Do runs the steps with a limit of a minute and fails the test when one fails.
func (b *Browser) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, time.Minute)
	defer stop()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatalf("browser: %v", err)
	}
}

// Get runs an action that gives a value, with the same limit. A page that goes
// elsewhere while it is read is read again: only reading may be repeated.
func Get[T any](b *Browser, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, stop := context.WithTimeout(b.ctx, time.Minute)
	defer stop()
	for {
		v, err := chromedp.Run(ctx, action)
		if err == nil {
			return v
		}
		if ctx.Err() != nil || !leaving(err) {
			b.t.Fatalf("browser: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// leaving says whether a read failed because its page was being left.
func leaving(err error) bool {
	for _, said := range []string{"Inspected target navigated", "Execution context was destroyed", "Cannot find context", "Cannot find default execution context"} {
		if strings.Contains(err.Error(), said) {
			return true
		}
	}
	return false
}

// View sets the size of the window and the system's colour scheme. Motion is
// reduced, so that nothing is looked at halfway between two colours.
func (b *Browser) View(width, height int, dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.Do(chromedp.EmulateViewport(int64(width), int64(height)))
	if _, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	}); err != nil {
		b.t.Fatalf("browser: %v", err)
	}
}

// Shot saves the whole page as NAME.png in DONEWHEN_SHOTS; without it, nothing happens.
func (b *Browser) Shot(name string) {
	b.t.Helper()
	dir := os.Getenv("DONEWHEN_SHOTS")
	if dir == "" {
		return
	}
	png := Get(b, chromedp.FullScreenshot(100))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// Complaints is what the pages complained about since the last call: errors and warnings on
// the console, uncaught exceptions, policy violations, files that did not load.
func (b *Browser) Complaints() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.complaints
	b.complaints = nil
	return all
}

func (b *Browser) listen(ev any) {
	var text string
	switch e := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type != "error" && e.Type != "assert" && e.Type != "warning" {
			return
		}
		var parts []string
		for _, a := range e.Args {
			parts = append(parts, strings.TrimSpace(string(a.Value)+" "+a.Description))
			if a.Preview != nil {
				for _, p := range a.Preview.Properties {
					parts = append(parts, p.Value)
				}
			}
		}
		text = "console: " + strings.Join(parts, " ")
	case *runtime.EventExceptionThrown:
		text = "exception: " + e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
	case *log.EventEntryAdded:
		if e.Entry.Level != "error" {
			return
		}
		text = fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
	default:
		return
	}
	b.mu.Lock()
	b.complaints = append(b.complaints, text)
	b.mu.Unlock()
}

// Axe runs the accessibility checks of axe-core (WCAG 2.2 A and AA, best
// practices) on the page as it is now and returns one line per finding.
func (b *Browser) Axe() []string {
	b.t.Helper()
	source, err := os.ReadFile(filepath.Join(root(b.t), "node_modules/axe-core/axe.min.js"))
	if err != nil {
		Missing(b.t, "axe-core is not installed: run npm ci")
	}
	b.Do(chromedp.Evaluate[chromedp.Void](string(source) + "\n;undefined"))
	raw := Get(b, chromedp.Evaluate[string](`axe.run(document, {resultTypes: ["violations"]}).then(r => JSON.stringify(
		r.violations.flatMap(v => v.nodes.map(n => v.id + ": " + n.html.slice(0, 160) + " | " + (n.any[0] || n.all[0] || n.none[0] || {message: v.help}).message))))`,
		chromedp.EvalAwaitPromise))
	var found []string
	if err := json.Unmarshal([]byte(raw), &found); err != nil {
		b.t.Fatalf("axe: %v in %s", err, raw)
	}
	return found
}

// root is the module's folder: the nearest one above with a go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test's folder")
		}
		dir = parent
	}
}
