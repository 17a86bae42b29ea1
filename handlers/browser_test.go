package handlers

import (
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"donewhen/internal/browsertest"
	"donewhen/models"
	"donewhen/static"
)

// The pages of this file in a real browser: set-up, inviting, logging in and
// out with real clicks under the strict policy; looked at in both widths and
// colour schemes.
func TestAccountsInABrowser(t *testing.T) {
	if err := static.Check(); err != nil {
		browsertest.Missing(t, err.Error())
	}
	s := newSite(t, nil)
	b := browsertest.New(t)
	look := func(name string) {
		t.Helper()
		for _, width := range []int{1440, 390} {
			for _, dark := range []bool{false, true} {
				if os.Getenv("DONEWHEN_SHOTS") == "" && (width == 390) != dark {
					continue // the other two differ only to the eye
				}
				shot := fmt.Sprintf("accounts-%s-%d-%s", name, width, map[bool]string{false: "light", true: "dark"}[dark])
				b.View(width, 900, dark)
				if wide := browsertest.Get(b, chromedp.Evaluate[int]("document.documentElement.scrollWidth - innerWidth")); wide > 0 {
					t.Errorf("%s: the page is %d px wider than the screen", shot, wide)
				}
				// Colours glide to the other scheme: look when they have arrived.
				_ = browsertest.Get(b, chromedp.Evaluate[int](`Promise.all(document.getAnimations().map(a => a.finished.catch(() => 0))).then(a => a.length)`, chromedp.EvalAwaitPromise))
				b.Shot(shot)
				for _, found := range b.Axe() {
					t.Errorf("%s: axe: %s", shot, found)
				}
			}
		}
		b.View(1440, 900, false)
	}
	at := func(path string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
			u, err := url.Parse(browsertest.Get(b, chromedp.Location()))
			if err == nil && u.Path == path {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("at %s, want %s", u, path)
			}
		}
	}
	see := func(selector string) chromedp.Action[chromedp.Void] {
		return chromedp.WaitVisible(chromedp.CSS(selector))
	}

	token, _, err := s.accounts.SetupToken(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.Do(chromedp.Navigate(s.http.URL+"/setup/"+token), see("#field-name"))
	look("setup")
	b.Do(chromedp.SendKeys(chromedp.CSS("#field-name"), "ada"), chromedp.SendKeys(chromedp.CSS("#field-password"), "short"),
		chromedp.Click(chromedp.CSS("main button.btn")), see("#field-password-error"))
	look("setup-refused")
	_ = b.Complaints() // the 422 itself
	b.Do(chromedp.SendKeys(chromedp.CSS("#field-password"), password), chromedp.Click(chromedp.CSS("main button.btn")))
	at("/")

	b.Do(chromedp.Navigate(s.http.URL+"/users"), see("#users"))
	_ = b.Complaints() // the start page is not of this file
	b.Do(chromedp.Click(chromedp.CSS("#invite button.btn")), see("main .alert code"))
	link := browsertest.Get(b, chromedp.Text(chromedp.CSS("main .alert code")))
	for name, role := range map[string]models.Role{"Lea Lindt": models.RoleLead, "vic": models.RoleViewer} {
		token, err := s.accounts.Invite(t.Context(), models.Actor{ID: 1, Name: "ada", Role: models.RoleAdmin}, role)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.accounts.AcceptInvite(t.Context(), token, name, password); err != nil {
			t.Fatal(err)
		}
	}
	look("users-link")
	b.Do(chromedp.Navigate(s.http.URL+"/users"), see("#users"))
	b.Do(chromedp.Click(chromedp.CSS("button[commandfor=disable-1]")), see("#disable-1[open]"))
	look("users-disable")
	b.Do(chromedp.Click(chromedp.CSS("#disable-1 footer button[data-variant=destructive]")), see(`main .alert[data-tone="bad"]`)) // the last admin
	look("users-refused")
	_ = b.Complaints() // the 409 itself

	b.Do(chromedp.Navigate(s.http.URL+"/account"), see("#password"))
	look("account")
	b.Do(chromedp.SendKeys(chromedp.CSS("#field-old"), "wrong password"), chromedp.SendKeys(chromedp.CSS("#field-password"), "another good one"),
		chromedp.Click(chromedp.CSS("#password button.btn")), see("#field-old-error"))
	_ = b.Complaints()
	b.Do(chromedp.SendKeys(chromedp.CSS("#field-old"), password), chromedp.SendKeys(chromedp.CSS("#field-password"), "another good one"),
		chromedp.Click(chromedp.CSS("#password button.btn")), see(`#flash .alert[data-tone="ok"]`))
	b.Do(chromedp.Click(chromedp.CSS("#logins button.btn")), see("#login"))
	at("/login")
	look("login")
	b.Do(chromedp.SendKeys(chromedp.CSS("#field-name"), "ada"), chromedp.SendKeys(chromedp.CSS("#field-password"), password),
		chromedp.Click(chromedp.CSS("#login button.btn")), see("#login .alert[role=alert]"))
	look("login-wrong")
	_ = b.Complaints()
	b.Do(chromedp.Navigate(link), see("#join"))
	look("invite")
	b.Do(chromedp.SendKeys(chromedp.CSS("#field-name"), "luc"), chromedp.SendKeys(chromedp.CSS("#field-password"), password), chromedp.Click(chromedp.CSS("main button.btn")))
	at("/")
	_ = b.Complaints()
	b.Do(chromedp.Navigate(s.http.URL+"/users"), see("h1")) // a lead may not
	look("forbidden")
	_ = b.Complaints()
	b.Do(chromedp.Navigate(s.http.URL+"/account"), see("#password"))
	for _, c := range b.Complaints() {
		t.Error(c)
	}
}
