package handlers

import (
	"os"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/engine"
)

// Projects, settings and users at their beginnings and when something is missing.
func TestOperatorsPagesInABrowser(t *testing.T) {
	w := newDesk(t)
	a := w.album(t)
	a.in(w.ada)
	a.page("project-form", "/projects/new", "#field-path")
	a.b.Do(chromedp.SendKeys(css("#field-path"), "/srv/git/nowhere"), chromedp.SendKeys(css("#field-name"), "demo"), chromedp.Click(css("main form button.btn")), chromedp.WaitVisible(css(`[aria-invalid="true"]`)))
	a.forgive("422")
	a.look("project-form-refused")
	a.page("users-list", "/users", "#users")
	every := w.eng.Runtimes
	w.eng.Runtimes = slices.DeleteFunc(slices.Clone(every), func(r engine.Runtime) bool { return r.Info().Available })
	a.page("settings-no-agent", "/settings", "[data-no-runtime]")
	a.page("plan-form-no-agent", "/plans/new", "#plan-form")
	w.eng.Runtimes = every
	plan := w.done(engine.NewPlan{Title: "Its repository goes", Dod: "- It is there -> file: b.txt", Phases: []engine.NewPhase{sh("Do", "echo 1 > b.txt")}})
	if err := os.RemoveAll(w.repo); err != nil {
		t.Fatal(err)
	}
	a.page("projects-missing", "/projects", "[data-missing]")
	a.page("plan-repository-missing", "/plans/"+plan, "#gate")
	w.srv.Reader = noProjects{w.st}
	a.page("projects-empty", "/projects", "main")
	a.page("plan-form-without-project", "/plans/new", "main")
	a.page("inbox-without-project", "/", "#inbox")
	a.in(w.lea)
	a.page("projects-empty-lead", "/projects", "main")
}
