package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"donewhen/internal/browsertest"
	"donewhen/static"
)

// The whole main job as a new lead does it, in a real browser against the real
// server: from the printed set-up link to the merged commit, with a try to
// apply too early.
func TestMainJobInABrowser(t *testing.T) {
	if err := static.Check(); err != nil {
		browsertest.Missing(t, err.Error())
	}
	b := browsertest.New(t)
	app := testApp(t, nil)
	var printed bytes.Buffer
	app.Announce(context.Background(), &printed)
	link := regexp.MustCompile(`http://\S+/setup/\S+`).FindString(printed.String())
	if link == "" {
		t.Fatalf("no set-up link in:\n%s", printed.String())
	}
	seen := func(selector string) chromedp.Action[chromedp.Void] {
		return chromedp.WaitVisible(chromedp.CSS(selector))
	}
	click := func(selector string) { t.Helper(); b.Do(chromedp.Click(chromedp.CSS(selector))) }
	// press works a control by keyboard: on a live page things may still move
	// under the mouse while a part comes.
	press := func(selector string) {
		t.Helper()
		b.Do(seen(selector), chromedp.SendKeys(chromedp.CSS(selector), "\r"))
	}
	until := func(what, js string) {
		t.Helper()
		ctx, stop := context.WithTimeout(b.Context(), 60*time.Second)
		defer stop()
		if _, err := chromedp.Run(ctx, chromedp.Poll[bool](js, chromedp.WithPollingTimeout(55*time.Second))); err != nil {
			text, _ := chromedp.Run(b.Context(), chromedp.Evaluate[string]("document.querySelector('main').innerText"))
			t.Fatalf("never: %s: %v\n%s", what, err, text)
		}
	}
	look := func(name string) {
		t.Helper()
		if os.Getenv("DONEWHEN_SHOTS") == "" {
			return
		}
		for _, width := range []int{1440, 390} {
			for _, dark := range []bool{false, true} {
				b.View(width, 900, dark)
				b.Shot(fmt.Sprintf("main-%s-%d-%s", name, width, map[bool]string{false: "light", true: "dark"}[dark]))
			}
		}
		b.View(1440, 900, false)
	}

	b.View(1440, 900, false)
	b.Do(chromedp.Navigate(link), seen("#field-name"),
		chromedp.SendKeys(chromedp.CSS("#field-name"), "lea"), chromedp.SendKeys(chromedp.CSS("#field-password"), "correct horse battery"))
	click("main button.btn")
	b.Do(seen(`main a[href^="/plans/01"]`))
	look("1-inbox")
	click(`main a[href^="/plans/01"]`)
	b.Do(seen(`[data-verb="plan-start"] button`))
	look("2-draft")

	plan := browsertest.Get(b, chromedp.Evaluate[string]("location.pathname"))
	// Too early: the button is disabled, and a forged post is refused with the gate's reasons.
	if !browsertest.Get(b, chromedp.Evaluate[bool](`document.querySelector('button[data-verb="apply"]').disabled`)) {
		t.Error("apply is not disabled on a draft")
	}
	refused := browsertest.Get(b, chromedp.Evaluate[string](`fetch(location.pathname + "/apply", {method: "POST", headers: {"Content-Type": "application/x-www-form-urlencoded"}, body: "commit=x&evaluation=0"}).then(async r => r.status + " " + await r.text())`, chromedp.EvalAwaitPromise))
	if !strings.HasPrefix(refused, "409 ") || !strings.Contains(refused, "The plan is a draft. Start it.") {
		t.Errorf("a forged apply: %.600s", refused)
	}
	_ = b.Complaints() // the 409 that was provoked

	press(`[data-verb="plan-start"] button`)
	until("phase 3 asks for approval, without a reload", `!!document.querySelector('[data-verb$="-approve"]')`)
	text := browsertest.Get(b, chromedp.Evaluate[string]("document.querySelector('main').textContent"))
	for _, want := range []string{"without a name", "Pass 2"} {
		if !strings.Contains(text, want) {
			t.Errorf("the plan's page does not show %q", want)
		}
	}
	look("3-waiting")
	press(`details[data-verb$="-approve"] > summary`)
	b.Do(seen(`details[data-verb$="-approve"][open] button[type="submit"]`))
	look("3-approve")
	press(`details[data-verb$="-approve"][open] button[type="submit"]`)
	until("the gate opens", `(() => { const a = document.querySelector('button[data-verb="apply"], [data-verb="apply"] button[type="submit"], button[commandfor="apply"]'); return !!a && !a.disabled })()`)
	look("4-open")
	press(`button[data-verb="apply"]`)
	until("the apply is asked for or done", `!!document.querySelector('dialog[open]') || /applied/i.test(document.querySelector('h1').closest('header, section, div').textContent)`)
	if browsertest.Get(b, chromedp.Evaluate[bool](`!!document.querySelector('dialog[open]')`)) {
		press(`dialog[open] button[type="submit"]`)
	}
	until("the plan is applied", `/The plan is applied/i.test(document.querySelector('main').textContent)`)
	look("5-applied")

	id := strings.TrimPrefix(plan, "/plans/")
	repo := filepath.Join(app.cfg.Data, "example", "greeter")
	out, err := exec.Command("git", "-C", repo, "log", "-1", "--format=%B", "main").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "Donewhen-Plan: "+id) {
		t.Fatalf("main does not have the commit: %v: %s", err, out)
	}
	for _, c := range b.Complaints() {
		t.Errorf("the browser complained: %s", c)
	}
}
