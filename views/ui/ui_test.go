package ui_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/a-h/templ"

	"donewhen/internal/browsertest"
	"donewhen/views/ui"
)

func render(t *testing.T, c templ.Component) *goquery.Document {
	t.Helper()
	var buf bytes.Buffer
	if err := c.Render(context.Background(), &buf); err != nil {
		t.Fatal(err)
	}
	doc, err := goquery.NewDocumentFromReader(&buf)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

var now = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// ages are distances into the past (negative: the future) with what is said.
var ages = []struct {
	age  time.Duration
	want string
}{
	{0, "just now"}, {9 * time.Second, "just now"}, {-5 * time.Second, "just now"},
	{10 * time.Second, "10 s ago"}, {59999 * time.Millisecond, "59 s ago"},
	{time.Minute, "1 min ago"}, {59*time.Minute + 59*time.Second, "59 min ago"},
	{time.Hour, "1 h ago"}, {24*time.Hour - time.Second, "23 h ago"},
	{24 * time.Hour, "1 day ago"}, {48*time.Hour - time.Second, "1 day ago"},
	{48 * time.Hour, "2 days ago"}, {30*24*time.Hour - time.Second, "29 days ago"},
	{30 * 24 * time.Hour, "12 Feb 2026"}, {400 * 24 * time.Hour, "7 Feb 2025"},
	{-2 * time.Hour, "in 2 h"}, {-36 * time.Hour, "in 1 day"},
	{-3*time.Hour + time.Second, "in 3 h"}, {-2*time.Hour - time.Second, "in 3 h"}, {-5*time.Minute + time.Second, "in 5 min"},
	{-7 * 24 * time.Hour, "in 7 days"}, {-7*24*time.Hour + time.Second, "in 7 days"}, {-6 * 24 * time.Hour, "in 6 days"}, {-6*24*time.Hour - time.Second, "in 7 days"},
}

func TestRelative(t *testing.T) {
	for _, a := range ages {
		if got := ui.Relative(now.Add(-a.age), now); got != a.want {
			t.Errorf("%v: %q, want %q", a.age, got, a.want)
		}
	}
}

// TestRelativeInTheBrowserSaysTheSame runs the browser's function over the same table.
func TestRelativeInTheBrowserSaysTheSame(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		browsertest.Missing(t, "node is not installed")
	}
	var pairs [][2]int64
	for _, a := range ages {
		pairs = append(pairs, [2]int64{now.Add(-a.age).UnixMilli(), now.UnixMilli()})
	}
	in, _ := json.Marshal(pairs)
	module, err := filepath.Abs("../../static/src/relative.js")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(node, "--input-type=module", "-e",
		fmt.Sprintf("import { relative } from %q; console.log(JSON.stringify(%s.map(([a, b]) => relative(a, b))))", module, in)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var said []string
	if err := json.Unmarshal(out, &said); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	for i, a := range ages {
		if said[i] != a.want {
			t.Errorf("%v: %q, want %q", a.age, said[i], a.want)
		}
	}
}

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", 400 * time.Millisecond: "0.4 s", 9940 * time.Millisecond: "9.9 s", 9960 * time.Millisecond: "10 s", 59700 * time.Millisecond: "1 min 00 s",
		12 * time.Second: "12 s", 185 * time.Second: "3 min 05 s", 130 * time.Minute: "2 h 10 min", 76 * time.Hour: "3 d 4 h",
	} {
		if got := ui.Duration(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for id, want := range map[string]string{
		"01JPA5ZK8Q3V7X2M4N6R8T0WYB":               "8T0WYB",
		"4f1c9e7a2b3d5f60718293a4b5c6d7e8f9012345": "4f1c9e7a",
		strings.Repeat("ab", 32):                   "abababab",
		strings.Repeat("z", 40):                    strings.Repeat("z", 40),
		"12":                                       "12",
		"":                                         "",
	} {
		if got := ui.Short(id); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

func TestTimeShowsTheExactMomentOnHover(t *testing.T) {
	el := render(t, ui.Time(now.Add(-3*time.Minute).In(time.FixedZone("", 7200)), now)).Find("time")
	if el.Text() != "3 min ago" || el.AttrOr("title", "") != "2026-03-14 15:06:26 UTC" || el.AttrOr("datetime", "") != "2026-03-14T15:06:26Z" {
		t.Errorf("%s %v", el.Text(), el.Nodes[0].Attr)
	}
	if got := render(t, ui.Time(time.Time{}, now)).Find("time").Length(); got != 0 {
		t.Error("the zero time must be a dash")
	}
}

func TestButton(t *testing.T) {
	for _, tc := range []struct {
		name, selector string
		props          ui.ButtonProps
	}{
		{"submits by default", `button.btn[type=submit][data-variant=outline]:not([disabled])`, ui.ButtonProps{Label: "Go"}},
		{"carries its name", `button[name=do][value=create][data-variant=primary]`, ui.ButtonProps{Label: "Go", Kind: ui.Primary, Name: "do", Value: "create"}},
		{"is a link", `a.btn[href="/plans"]`, ui.ButtonProps{Label: "Go", Href: "/plans"}},
		{"a disabled link cannot be followed", `button[type=button][disabled]`, ui.ButtonProps{Label: "Go", Href: "/plans", Disabled: true}},
		{"a disabled button says why", `span[title="not yet"] > button[disabled]`, ui.ButtonProps{Label: "Go", Disabled: true, Title: "not yet"}},
		{"opens a dialog", `button[type=button][command=show-modal][commandfor=dlg]`, ui.ButtonProps{Label: "Go", Command: "show-modal", CommandFor: "dlg"}},
		{"no script URLs", `a:not([href^="javascript"])`, ui.ButtonProps{Label: "Go", Href: "/x"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			doc := render(t, ui.Button(tc.props))
			if doc.Find(tc.selector).Length() != 1 {
				html, _ := doc.Html()
				t.Errorf("no %s in %s", tc.selector, html)
			}
		})
	}
}

func TestFieldsTieTheirMessagesToTheInput(t *testing.T) {
	p := ui.FieldProps{Name: "phases[0].task", Label: "Task", Hint: "What to do.", Error: "Say what to do.", Value: "<b>&\"", Options: []ui.Option{{"a", "A"}, {"<b>&\"", "B"}}}
	for name, c := range map[string]templ.Component{"input": ui.Input(p), "textarea": ui.Textarea(p), "select": ui.Select(p)} {
		t.Run(name, func(t *testing.T) {
			doc := render(t, c)
			in := doc.Find(name)
			id := in.AttrOr("id", "")
			if id != "field-phases-0-task" || doc.Find("label").AttrOr("for", "") != id {
				t.Errorf("id %q, label for %q", id, doc.Find("label").AttrOr("for", ""))
			}
			if in.AttrOr("aria-invalid", "") != "true" {
				t.Error("not marked invalid")
			}
			for _, about := range strings.Fields(in.AttrOr("aria-describedby", "")) {
				if doc.Find("#"+about).Length() != 1 {
					t.Errorf("aria-describedby names %s, which is not there", about)
				}
			}
			if got := doc.Find("[role=alert]").Text(); got != p.Error {
				t.Errorf("error %q", got)
			}
			kept := map[string]string{"input": in.AttrOr("value", ""), "textarea": in.Text(), "select": doc.Find("option[selected]").AttrOr("value", "")}[name]
			if kept != p.Value {
				t.Errorf("what was typed came back as %q", kept)
			}
		})
	}
	if v, given := render(t, ui.Input(ui.FieldProps{Name: "p", Type: "password", Value: "secret"})).Find("input").Attr("value"); given {
		t.Errorf("a password came back: %q", v)
	}
}

// TestConfirmDialogWorksWithoutScripts: the same form, once in the dialog and
// once in a fold for readers without scripts.
func TestConfirmDialogWorksWithoutScripts(t *testing.T) {
	doc := render(t, ui.ConfirmDialog(ui.ConfirmProps{
		ID: "dlg", Trigger: ui.ButtonProps{Label: "Cancel plan"}, Title: "Sure?", Action: "/plans/1/cancel", Hidden: [][2]string{{"seen", "abc"}},
	}))
	if doc.Find(`button.js-only[commandfor=dlg]`).Length() != 1 || doc.Find(`dialog#dlg form[method=post][action="/plans/1/cancel"] input[name=seen][value=abc]`).Length() != 1 {
		t.Error("no dialog with the form")
	}
	plain, err := goquery.NewDocumentFromReader(strings.NewReader(doc.Find("noscript").Text()))
	if err != nil {
		t.Fatal(err)
	}
	if plain.Find(`details form[method=post][action="/plans/1/cancel"] button[type=submit]`).Length() != 1 || plain.Find(`input[name=seen][value=abc]`).Length() != 1 {
		t.Errorf("no plain form in %q", doc.Find("noscript").Text())
	}
}

func TestStatusesDifferByMoreThanColour(t *testing.T) {
	shapes := map[string]ui.Tone{}
	for _, tone := range []ui.Tone{ui.ToneIdle, ui.ToneBusy, ui.ToneOK, ui.ToneWarn, ui.ToneBad} {
		doc := render(t, ui.StatusBadge("Word", tone, ""))
		if !strings.Contains(doc.Text(), "Word") {
			t.Errorf("%s: the word is missing", tone)
		}
		shape := doc.Find("use").AttrOr("href", "")
		if other, taken := shapes[shape]; taken || shape == "" {
			t.Errorf("%s has the shape %q of %s", tone, shape, other)
		}
		shapes[shape] = tone
	}
}

// TestPagesKeepTheHouseRules reads all page sources: icons are in the sprite,
// and nothing is inline that the content security policy forbids.
func TestPagesKeepTheHouseRules(t *testing.T) {
	list, err := os.ReadFile("../../static/src/icons.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Split(string(list), "\n")
	icons := regexp.MustCompile(`(?:Icon(?:With)?\(|Icon(?:End)?:\s+|, ui\.Tone\w+, |, Tone\w+, )"([a-z0-9-]+)"`)
	inline := regexp.MustCompile(`(?i)\sstyle=|\son[a-z]+=|<script>|<style|hx-on|hx-vals="js:|javascript:|hx-swap="morph:\{`)
	var files []string
	for _, pattern := range []string{"../*.templ", "../*/*.templ"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 10 {
		t.Fatalf("only %d pages found", len(files))
	}
	seen := 0
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range icons.FindAllSubmatch(src, -1) {
			seen++
			if !slices.Contains(known, string(m[1])) {
				t.Errorf("%s uses the icon %s: add it to static/src/icons.txt", file, m[1])
			}
		}
		for n, line := range strings.Split(string(src), "\n") {
			if strings.HasPrefix(strings.TrimSpace(line), "//") {
				continue
			}
			if m := inline.FindString(line); m != "" {
				t.Errorf("%s:%d: %q is forbidden by the content security policy", file, n+1, strings.TrimSpace(m))
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d icons found in the pages: the pattern no longer fits", seen)
	}
}
