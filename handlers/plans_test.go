package handlers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/models/store"
)

func plansOf(d *goquery.Document) []string {
	return d.Find("tr[data-plan] td a").Map(func(_ int, s *goquery.Selection) string { return s.Text() })
}

func TestPlansList(t *testing.T) {
	w := newWorks(t, nil)
	empty := w.lea.get("/plans")
	want(t, empty, http.StatusOK)
	shows(t, empty, "No plans yet", `href="/plans/new"`)
	if body := w.vic.get("/plans").body; strings.Contains(body, "/plans/new") {
		t.Error("a viewer is offered a new plan")
	}

	draft := w.create(engine.NewPlan{Title: "Draft plan", Goal: "nothing of note", Phases: []engine.NewPhase{sh("one", "true")}})
	failed := w.done(engine.NewPlan{Title: "Failing plan", Goal: "the needle", Phases: []engine.NewPhase{sh("first", "true"), sh("broken", "exit 3")}})
	all := w.lea.get("/plans")
	if got := plansOf(doc(t, all)); strings.Join(got, "|") != "Failing plan|Draft plan" {
		t.Errorf("list: %q", got)
	}
	row := doc(t, all).Find("#plan-" + failed)
	for _, text := range []string{"failed", "1/2", "broken: Run 1 (shell): Exit code 3", "demo"} {
		if !strings.Contains(row.Text(), text) {
			t.Errorf("the row lacks %q: %s", text, row.Text())
		}
	}
	for path, titles := range map[string]string{
		"/plans?status=draft":                          "Draft plan",
		"/plans?status=failed":                         "Failing plan",
		"/plans?q=NEEDLE":                              "Failing plan",
		"/plans?q=plan&status=draft":                   "Draft plan",
		fmt.Sprintf("/plans?project=%d", w.project.ID): "Failing plan|Draft plan",
	} {
		if got := strings.Join(plansOf(doc(t, w.vic.get(path))), "|"); got != titles {
			t.Errorf("%s: %q, want %q", path, got, titles)
		}
	}
	none := w.lea.get("/plans?q=%3Cb%3Enothing")
	shows(t, none, "No plan fits", "Clear the filter", `value="&lt;b&gt;nothing"`)
	for _, odd := range []string{"/plans?status=made_up", "/plans?project=99", "/plans?project=x"} {
		a := w.lea.get(odd)
		want(t, a, http.StatusOK)
		if len(plansOf(doc(t, a))) != 2 || doc(t, a).Find("[data-message]").Length() != 1 {
			t.Errorf("%s: no message, or plans are missing", odd)
		}
	}
	_ = draft
}

func TestA8_07_PlansPagesByCursor(t *testing.T) {
	w := newWorks(t, nil)
	ctx := t.Context()
	phase := []models.Phase{{Position: 1, Name: "one", Status: models.PhasePending, Attempt: 1, MaxIterations: 1, Agents: []models.AgentSpec{{Runtime: "shell"}}}}
	const n = 2*plansPage + 7
	for i := range n {
		err := w.st.InTx(ctx, func(tx *store.Tx) error {
			p := models.Plan{ID: fmt.Sprintf("01JPA5ZK8Q3V7X2M4N6R8T%04d", i), ProjectID: w.project.ID, Title: fmt.Sprintf("Plan %d", i), Status: models.PlanDraft, TargetBranch: "main"}
			return tx.InsertPlan(ctx, &p, append([]models.Phase(nil), phase...))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	path, pages := "/plans", 0
	for path != "" {
		a := w.vic.get(path)
		want(t, a, http.StatusOK)
		if len(a.body) > 200_000 {
			t.Errorf("%s sends %d bytes", path, len(a.body))
		}
		d := doc(t, a)
		for _, title := range plansOf(d) {
			if seen[title] {
				t.Errorf("%s stands on two pages", title)
			}
			seen[title] = true
		}
		if back := d.Find(`nav[aria-label="Pages"] a:contains("Newest")`).Length(); (back == 1) != (pages > 0) {
			t.Errorf("page %d: %d ways back", pages+1, back)
		}
		path, _ = d.Find(`nav[aria-label="Pages"] a[rel="next"]`).Attr("href")
		pages++
	}
	if len(seen) != n || pages != 3 {
		t.Errorf("%d plans on %d pages, want %d on 3", len(seen), pages, n)
	}
	for _, odd := range []string{"2", "0", "-1", "99999", "abc", "00000000000000000000000000", "%00", "'%22%3E"} {
		a := w.vic.get("/plans?before=" + odd)
		want(t, a, http.StatusOK)
		d := doc(t, a)
		if got := plansOf(d); len(got) != plansPage || got[0] != fmt.Sprintf("Plan %d", n-1) || d.Find("[data-message]").Length() != 1 {
			t.Errorf("before=%s: not the first page with a message: %d rows", odd, len(got))
		}
	}
	// The filter stays in the links.
	d := doc(t, w.vic.get("/plans?status=draft&q=Plan"))
	next, _ := d.Find(`a[rel="next"]`).Attr("href")
	if !strings.Contains(next, "status=draft") || !strings.Contains(next, "q=Plan") {
		t.Errorf("the filter is lost in %q", next)
	}
}

func TestA8_02_FragmentsAndPages(t *testing.T) {
	w := newWorks(t, nil)
	id := w.done(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "echo hello > b.txt")}, Dod: "- b.txt"})
	run := w.detail(id).Phases[0].Passes[0].Runs[0].ID
	for _, path := range []string{
		"/plans", "/plans/" + id + "?part=head", "/plans/" + id + "?part=facts", "/plans/" + id + "?part=gate", "/plans/" + id + "?part=dod", "/plans/" + id + "?part=phases",
		"/plans/" + id + "?part=diff", "/plans/" + id + "?part=activity", fmt.Sprintf("/runs/%d?part=facts", run),
	} {
		plain := w.lea.get(path)
		fragment := w.lea.get(path, "HX-Request", "true")
		history := w.lea.get(path, "HX-Request", "true", "HX-History-Restore-Request", "true")
		for name, a := range map[string]answer{"plain": plain, "history": history} {
			want(t, a, http.StatusOK)
			if !strings.Contains(a.body, "<html") {
				t.Errorf("%s, %s: no whole page", path, name)
			}
		}
		want(t, fragment, http.StatusOK)
		if strings.Contains(fragment.body, "<html") || len(fragment.body) < 20 {
			t.Errorf("%s: no fragment: %.200s", path, fragment.body)
		}
		for _, a := range []answer{plain, fragment, history} {
			if !strings.Contains(strings.Join(a.Header.Values("Vary"), ","), "HX-Request") {
				t.Errorf("%s: Vary %q", path, a.Header.Values("Vary"))
			}
		}
		if cc := fragment.Header.Get("Cache-Control"); cc != "no-store" && cc != "private, no-cache" {
			t.Errorf("%s: a fragment may be kept: %q", path, cc)
		}
		tag := fragment.Header.Get("ETag")
		if path == "/plans" {
			continue
		}
		if tag == "" {
			t.Errorf("%s: no ETag", path)
		}
		again := w.lea.get(path, "HX-Request", "true", "If-None-Match", tag)
		if want(t, again, http.StatusNotModified); again.body != "" {
			t.Errorf("%s: 304 with a body", path)
		}
		if other := w.vic.get(path, "HX-Request", "true", "If-None-Match", tag); other.StatusCode != http.StatusOK {
			t.Errorf("%s: another role gets %d for the same tag", path, other.StatusCode)
		}
	}
	// What changed has another version.
	path := "/plans/" + id + "?part=phases"
	tag := w.lea.get(path, "HX-Request", "true").Header.Get("ETag")
	d := w.detail(id)
	if err := w.eng.AnotherPass(t.Context(), w.lead(), d.Phases[0].Phase.ID, *d.Phases[0].Phase.PassID, "again"); err != nil {
		t.Fatal(err)
	}
	want(t, w.lea.get(path, "HX-Request", "true", "If-None-Match", tag), http.StatusOK)
	want(t, w.lea.get("/plans/"+id+"?part=nothing", "HX-Request", "true"), http.StatusNotFound)
}

func TestAddressesThatDoNotExist(t *testing.T) {
	w := newWorks(t, nil)
	id := w.create(engine.NewPlan{Phases: []engine.NewPhase{sh("one", "true")}})
	for _, path := range []string{"/plans/x", "/plans/01JPA5ZK8Q3V7X2M4N6R8T0WYB", "/plans/" + id + "/diff?pass=99", "/plans/" + id + "/diff?pass=x",
		"/plans/" + id + "/diff?file=nope", "/runs/99", "/runs/x", "/runs/99/log.txt", "/passes/99", "/verdicts/99", "/verdicts/0", "/evaluations/99", "/evaluations/x"} {
		want(t, w.lea.get(path), http.StatusNotFound)
	}
	for _, path := range []string{"/phases/99/approve", "/phases/x/approve", "/plans/x/start", "/plans/" + id + "/criteria/x/waive"} {
		want(t, w.lea.post(path, "pass", "1"), http.StatusNotFound)
	}
}
