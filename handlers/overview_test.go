package handlers

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

func TestProjects(t *testing.T) {
	w := newDesk(t)
	a := w.vic.get("/projects")
	want(t, a, http.StatusOK)
	shows(t, a, "demo", w.repo, "main", fmt.Sprintf(`href="/plans?project=%d"`, w.project.ID))
	if strings.Contains(a.body, "/projects/new") || strings.Contains(a.body, "/plans/new?") {
		t.Error("a viewer is offered what a viewer may not do")
	}
	for _, c := range []*client{w.vic, w.lea} {
		want(t, c.get("/projects/new"), http.StatusForbidden)
		want(t, c.post("/projects/new", "name", "x", "path", w.repo), http.StatusForbidden)
	}
	want(t, w.ada.get("/projects/new"), http.StatusOK)

	plain, second := t.TempDir(), filepath.Join(t.TempDir(), "second")
	w.git(t, "clone", "-q", w.repo, second)
	for _, row := range []struct{ name, path, branch, field, message string }{
		{"", w.repo, "", "name", "name"},
		{"demo", filepath.Join(t.TempDir(), "none"), "", "path", ""},
		{"x", plain, "", "path", ""},
		{"x", "", "", "path", ""},
		{"x", "relative/path", "", "path", ""},
		{"x", w.repo, "nowhere", "target_branch", "no branch nowhere"},
		{"x", w.repo, "", "path", "already"},
		{"demo", second, "", "name", "already"},
	} {
		a := w.ada.post("/projects/new", "name", row.name, "path", row.path, "target_branch", row.branch, "require_dod", "on")
		want(t, a, http.StatusUnprocessableEntity)
		d := doc(t, a)
		if got := marked(d, row.field); got == "" || !strings.Contains(got, row.message) {
			t.Errorf("%+v: %s is marked %q", row, row.field, got)
		}
		if value(d, "name") != row.name || value(d, "path") != row.path || value(d, "target_branch") != row.branch || value(d, "require_dod") != "on" {
			t.Errorf("%+v: something typed is lost", row)
		}
	}
	other := filepath.Join(t.TempDir(), "other")
	w.git(t, "clone", "-q", w.repo, other)
	if err := os.MkdirAll(filepath.Join(other, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	want(t, w.ada.post("/projects/new", "name", "other", "path", filepath.Join(other, "sub"), "require_dod", "on"), http.StatusSeeOther, "/projects")
	shows(t, w.vic.get("/projects"), "other", other, "demanded")
}

// waiting makes a plan and carries it out as far as it goes.
func (w *desk) waiting(title, dod string, phases ...engine.NewPhase) string {
	w.t.Helper()
	id, err := w.eng.CreatePlan(w.t.Context(), w.lead(), engine.NewPlan{ProjectID: w.project.ID, Title: title, Dod: dod, Phases: phases})
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.eng.StartPlan(w.t.Context(), w.lead(), id); err != nil {
		w.t.Fatal(err)
	}
	w.settle()
	return id
}

func TestInboxSaysWhatWaits(t *testing.T) {
	w := newDesk(t)
	approval := sh("Look", "echo 1 > b.txt")
	approval.NeedsApproval = true
	exhausted := sh("Try", "echo $RANDOM > c.txt")
	exhausted.DoneWhen, exhausted.MaxIterations = "- never -> run: false", 1
	ready := w.waiting("Ready plan", "- fine -> run: true", sh("Do", "echo 2 > d.txt"))
	closed := w.waiting("Closed plan", "- bad -> run: false", sh("Do", "echo 3 > e.txt"))
	approve := w.waiting("Approval plan", "", approval)
	spent := w.waiting("Spent plan", "", exhausted)
	failed := w.waiting("Failed <b>plan</b>", "", sh("Fall", "echo broken; exit 3"))
	if _, err := w.eng.CreatePlan(t.Context(), w.lead(), engine.NewPlan{ProjectID: w.project.ID, Title: "A draft", Phases: []engine.NewPhase{sh("Do", "true")}}); err != nil {
		t.Fatal(err)
	}

	a := w.lea.get("/")
	want(t, a, http.StatusOK)
	d := doc(t, a)
	if got := d.Find("title").First().Text(); strings.TrimSpace(got) != "(5) Inbox · donewhen" {
		t.Errorf("the title is %q", got)
	}
	if d.Find(`#inbox[data-live="plans"][hx-get="/"]`).Length() != 1 {
		t.Error("the inbox is not live")
	}
	for id, row := range map[string][]string{
		ready:   {"Ready plan", "ready to apply", "/plans/" + ready + "#gate", "Apply"},
		closed:  {"Closed plan", "gate closed", "/plans/" + closed + "#gate", "1 of 1 required criterion failed"},
		approve: {"Approval plan", "awaiting approval", "Phase 1 of 1: Look", "#phase-", "Approve"},
		spent:   {"Spent plan", "exhausted", "Decide"},
		failed:  {"Failed &lt;b&gt;plan&lt;/b&gt;", "failed", "Exit code 3"},
	} {
		html, err := d.Find(`[data-plan="` + id + `"]`).Html()
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range append(row, "you or another lead can act", "demo") {
			if !strings.Contains(html, text) {
				t.Errorf("%s: %q is not in\n%s", row[0], text, html)
			}
		}
	}
	if strings.Contains(a.body, "A draft") {
		t.Error("a draft waits for nobody")
	}

	// The live part: the same rows and the title, without the frame.
	a = w.lea.get("/", "HX-Request", "true")
	if strings.Contains(a.body, "<html") || !strings.Contains(a.body, "<title>(5) Inbox") || doc(t, a).Find("[data-plan]").Length() != 5 {
		t.Errorf("the live part:\n%.600s", a.body)
	}
	shows(t, w.lea.get("/", "HX-Request", "true", "HX-History-Restore-Request", "true"), "<html")

	// A viewer sees the same and can do none of it.
	a = w.vic.get("/")
	d = doc(t, a)
	if d.Find("[data-plan]").Length() != 5 || d.Find("main form").Length() != 0 {
		t.Errorf("a viewer gets %d rows and %d forms", d.Find("[data-plan]").Length(), d.Find("main form").Length())
	}
	shows(t, a, "Waiting on a lead", "a lead can act")

	// Approve from the row, as it was seen; the second press is told.
	form := doc(t, w.lea.get("/")).Find(`[data-plan="` + approve + `"] form`)
	action, pass := form.AttrOr("action", ""), form.Find(`[name="pass"]`).AttrOr("value", "")
	want(t, w.lea.post(action, "pass", pass), http.StatusSeeOther)
	want(t, w.lea.post(action, "pass", pass), http.StatusConflict)
	w.settle()
	shows(t, w.lea.get("/"), "Approval plan", "ready to apply")
}

func TestInboxBesidesWhatRuns(t *testing.T) {
	w := newDesk(t)
	id, err := w.eng.CreatePlan(t.Context(), w.lead(), engine.NewPlan{ProjectID: w.project.ID, Title: "At work", Phases: []engine.NewPhase{sh("One", "true"), sh("Two", "true")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.eng.StartPlan(t.Context(), w.lead(), id); err != nil {
		t.Fatal(err)
	}
	a := w.lea.get("/")
	shows(t, a, "Running now", "At work", "phase 1 of 2", "Nothing waits for a person.")
	if got := strings.TrimSpace(doc(t, a).Find("title").First().Text()); got != "Inbox · donewhen" {
		t.Errorf("the title is %q", got)
	}
}

func TestFirstStart(t *testing.T) {
	w := newDesk(t)
	shows(t, w.lea.get("/"), "Write the first plan", `href="/plans/new"`)
	shows(t, w.vic.get("/"), "Nothing waits, nothing runs")
	other := filepath.Join(t.TempDir(), "greeter")
	w.git(t, "clone", "-q", w.repo, other)
	example := models.Project{Name: "Example", Path: other, TargetBranch: "main", Example: true}
	if err := w.st.InTx(t.Context(), func(tx *store.Tx) error { return tx.InsertProject(t.Context(), &example) }); err != nil {
		t.Fatal(err)
	}
	id, err := w.eng.CreatePlan(t.Context(), w.lead(), engine.NewPlan{ProjectID: example.ID, Title: "Mend the greeter", Phases: []engine.NewPhase{sh("Do", "true")}})
	if err != nil {
		t.Fatal(err)
	}
	shows(t, w.lea.get("/"), "Open the example plan", `href="/plans/`+id+`"`)

	empty := newSiteWithoutProjects(t)
	shows(t, empty.ada.get("/"), "Register a repository", `href="/projects/new"`)
	shows(t, empty.lea.get("/"), "An admin registers the git repository")
	shows(t, empty.lea.get("/plans/new"), "No project yet")
	shows(t, empty.ada.get("/projects"), "No project yet", `href="/projects/new"`)
}

func newSiteWithoutProjects(t *testing.T) *desk {
	t.Helper()
	w := newDesk(t)
	// The reader of a server on which nothing is registered yet.
	w.srv.Reader = noProjects{w.st}
	return w
}

// noProjects is a store in which no project was registered.
type noProjects struct{ *store.Store }

func (noProjects) Projects(context.Context) ([]models.Project, error) { return nil, nil }

func TestAuditIsPagedByCursor(t *testing.T) {
	w := newDesk(t)
	err := w.st.InTx(t.Context(), func(tx *store.Tx) error {
		for i := range 250 {
			if err := tx.InsertEvent(t.Context(), models.Event{Kind: "test.event", ActorID: 1, Actor: "ada", Reason: fmt.Sprintf("<i>number %d</i>", i)}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	path, pages := "/audit", 0
	for path != "" && pages < 10 {
		a := w.vic.get(path)
		want(t, a, http.StatusOK)
		d := doc(t, a)
		if d.Find("main i").Length() != 0 {
			t.Error("A8-04 a reason became an element")
		}
		d.Find("tbody tr").Each(func(_ int, s *goquery.Selection) {
			if id := s.AttrOr("id", ""); seen[id] {
				t.Errorf("%s stands on two pages", id)
			} else {
				seen[id] = true
			}
		})
		path = d.Find(`a[rel="next"]`).AttrOr("href", "")
		pages++
	}
	if all := w.events(t); len(seen) != all || pages != (all+99)/100 {
		t.Errorf("%d of %d events on %d pages", len(seen), all, pages)
	}
	for _, odd := range []string{"0", "-1", "abc", "99999999", "1"} {
		a := w.vic.get("/audit?before=" + odd)
		want(t, a, http.StatusOK)
		if d := doc(t, a); d.Find("tbody tr").Length() == 0 && d.Find(`main a[href="/audit"]`).Length() == 0 {
			t.Errorf("before=%s is an empty page without a way back", odd)
		}
	}
}

// The audit log says what an evaluation came to, and can be narrowed: the filter
// stays while one goes back.
func TestAuditIsNarrowed(t *testing.T) {
	w := newDesk(t)
	w.waiting("Closed plan", "- bad -> run: false\n- fine -> run: true\n- (info) nice -> run: false", sh("Do", "echo 3 > e.txt"))
	rows := func(path string) []string {
		t.Helper()
		a := w.vic.get(path)
		want(t, a, http.StatusOK)
		return doc(t, a).Find("tbody tr td:nth-child(3)").Map(func(_ int, s *goquery.Selection) string { return strings.Join(strings.Fields(s.Text()), " ") })
	}
	got := rows("/audit?about=evaluation")
	if len(got) != 3 || !strings.Contains(got[0], "1 of 2 required criteria passed. 0 of 1 informational criterion passed.") {
		t.Errorf("about evaluations: %q", got)
	}
	for _, row := range rows("/audit?who=people") {
		if strings.Contains(row, "by server") {
			t.Errorf("by people: %q", row)
		}
	}
	if got := rows("/audit?q=nobody+ever+said+this"); len(got) != 0 {
		t.Errorf("words that nobody said: %q", got)
	}
	if all := rows("/audit"); len(rows("/audit?about=%3Cb%3E&who=x&before=y")) != len(all) || len(all) == 0 {
		t.Error("an odd address does not show all")
	}
	err := w.st.InTx(t.Context(), func(tx *store.Tx) error {
		for range 150 {
			if err := tx.InsertEvent(t.Context(), models.Event{Kind: "user.invited", ActorID: 1, Actor: "a&b"}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a := w.vic.get("/audit?about=user&who=people&q=a%26b")
	older := doc(t, a).Find(`a[rel="next"]`).AttrOr("href", "")
	if got := rows(older); len(got) != 50 || value(doc(t, w.vic.get(older)), "q") != "a&b" || value(doc(t, w.vic.get(older)), "about") != "user" {
		t.Errorf("%s has %d rows", older, len(got))
	}
}

func TestSettingsAreShown(t *testing.T) {
	w := newDesk(t)
	w.eng.MoreJudges = []dod.Asker{always("openai:further", "")}
	a := w.vic.get("/settings")
	want(t, a, http.StatusOK)
	shows(t, a, "openai:further", "shell", "ghost", "DONEWHEN_JUDGE_MODEL", "matched literally", "the role lead and above", "1 to 20")
	for _, r := range w.eng.RuntimeList() {
		if !r.Available {
			shows(t, a, "not found")
		}
	}
}
