package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"donewhen/engine"
	"donewhen/models"
)

// filled is a new-plan form that can be taken, with changes as pairs.
func (w *desk) filled(pairs ...string) url.Values {
	f := url.Values{
		"form_key": {"key-1"}, "project": {strconv.FormatInt(w.project.ID, 10)}, "title": {"Mend the greeter"}, "goal": {"It greets."},
		"phase": {"0"}, "phases.0.name": {"Mend"}, "phases.0.task": {"Do it"}, "phases.0.passes": {"2"}, "phases.0.done_when": {"- done -> run: test -f done"},
		"phases.0.agent": {"0"}, "phases.0.agents.0.runtime": {"shell"}, "phases.0.agents.0.command": {"touch done"}, "phases.0.agents.0.limit": {"15m"},
		"dod": {"- All is well -> run: true"}, "op": {"create"},
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			f.Del(pairs[i])
		} else {
			f[pairs[i]] = strings.Split(pairs[i+1], "|")
		}
	}
	return f
}

// create posts the form and returns the plan it made.
func (w *desk) createPlan(f url.Values) (models.Plan, []models.Phase) {
	w.t.Helper()
	a := w.lea.do(post, "/plans", f)
	want(w.t, a, http.StatusSeeOther)
	id := strings.TrimPrefix(a.location(), "/plans/")
	p, err := w.st.Plan(w.t.Context(), id)
	if err != nil {
		w.t.Fatalf("%q: %v", a.location(), err)
	}
	phases, err := w.st.PhasesOf(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return p, phases
}

func (w *desk) plans() []models.PlanRow {
	w.t.Helper()
	rows, _, err := w.st.Plans(w.t.Context(), models.PlanFilter{})
	if err != nil {
		w.t.Fatal(err)
	}
	return rows
}

func TestNewPlanBeginsWithSensibleValues(t *testing.T) {
	w := newDesk(t)
	want(t, w.vic.get("/plans/new"), http.StatusForbidden)
	a := w.lea.get("/plans/new")
	want(t, a, http.StatusOK)
	d := doc(t, a)
	for name, v := range map[string]string{
		"project": strconv.FormatInt(w.project.ID, 10), "phases.0.agents.0.runtime": "shell", "phases.0.passes": "3", "template": "", "target_branch": "",
	} {
		if got := value(d, name); got != v {
			t.Errorf("%s is %q, want %q", name, got, v)
		}
	}
	if len(value(d, "form_key")) != 26 {
		t.Errorf("the form's key is %q", value(d, "form_key"))
	}
	if d.Find(`[name="target_branch"]`).AttrOr("placeholder", "") != "main" {
		t.Error("the project's branch is not said")
	}
}

func TestCreatePlan(t *testing.T) {
	w := newDesk(t)
	p, phases := w.createPlan(w.filled(
		"phase", "b|a", "phases.a.name", "Second", "phases.a.agent", "x|y", "phases.a.agents.x.runtime", "shell", "phases.a.agents.x.command", "true",
		"phases.a.agents.y.runtime", "shell", "phases.a.agents.y.name", "checker", "phases.a.agents.y.command", "ls\nls -l", "phases.a.agents.y.limit", "2",
		"phases.a.approval", "on", "phases.a.passes", "1",
		"phases.b.name", "First", "phases.b.agent", "0", "phases.b.agents.0.runtime", "shell", "phases.b.agents.0.command", "true",
	))
	if p.Title != "Mend the greeter" || p.Goal != "It greets." || p.TargetBranch != "main" || p.Status != models.PlanDraft || p.CreatedBy != w.leaUser.ID {
		t.Errorf("plan: %+v", p)
	}
	if len(phases) != 2 || phases[0].Name != "First" || phases[1].Name != "Second" {
		t.Fatalf("phases: %+v", phases)
	}
	second := phases[1]
	if !second.NeedsApproval || second.MaxIterations != 1 || len(second.Agents) != 2 {
		t.Errorf("second phase: %+v", second)
	}
	if got, want := second.Agents[1], (models.AgentSpec{Runtime: "shell", Name: "checker", Command: "ls\nls -l", Limit: 120}); got != want {
		t.Errorf("agent %+v, want %+v", got, want)
	}
}

func TestA8_01_TheSameFormMakesOnePlan(t *testing.T) {
	w := newDesk(t)
	f := w.filled()
	var wg sync.WaitGroup
	places := make([]string, 6)
	for i := range places {
		wg.Go(func() {
			a := w.as(w.leaUser).do(post, "/plans", f)
			want(t, a, http.StatusSeeOther)
			places[i] = a.location()
		})
	}
	wg.Wait()
	for _, p := range places {
		if p != places[0] || !strings.HasPrefix(p, "/plans/") {
			t.Errorf("the answers lead to %v", places)
			break
		}
	}
	want(t, w.lea.do(post, "/plans", f), http.StatusSeeOther, places[0])
	if n := len(w.plans()); n != 1 {
		t.Errorf("%d plans", n)
	}

	// Somebody goes back, goes on writing and sends it: nothing typed is lost.
	f.Set("phases.0.task", "Do it better")
	a := w.lea.do(post, "/plans", f)
	want(t, a, http.StatusConflict)
	d := doc(t, a)
	if value(d, "phases.0.task") != "Do it better" || value(d, "form_key") == "key-1" || value(d, "form_key") == "" {
		t.Errorf("task %q, key %q", value(d, "phases.0.task"), value(d, "form_key"))
	}
	f.Set("form_key", value(d, "form_key"))
	want(t, w.lea.do(post, "/plans", f), http.StatusSeeOther)
	if n := len(w.plans()); n != 2 {
		t.Errorf("%d plans", n)
	}
}

func TestA5_05_PassesAsTyped(t *testing.T) {
	w := newDesk(t)
	for i, row := range []struct {
		typed string
		want  int // 0 = refused
	}{
		{"0", 1}, {"-3", 1}, {"", 1}, {" ", 1}, {"1", 1}, {"2", 2}, {"20", 20}, {"21", 20}, {"1000000", 20}, {"99999999999999999999", 20}, {"-99999999999999999999", 1},
		{" 7 ", 7}, {"2.5", 0}, {"abc", 0}, {"1e3", 0}, {"0x10", 0}, {"3 passes", 0}, {"٣", 0},
	} {
		f := w.filled("form_key", fmt.Sprint("passes-", i))
		f.Set("phases.0.passes", row.typed)
		a := w.lea.do(post, "/plans", f)
		if row.want == 0 {
			want(t, a, http.StatusUnprocessableEntity)
			d := doc(t, a)
			if marked(d, "phases.0.passes") != "Write a whole number from 1 to 20." || value(d, "phases.0.passes") != row.typed || value(d, "phases.0.task") != "Do it" {
				t.Errorf("%q: message %q, shown again as %q", row.typed, marked(d, "phases.0.passes"), value(d, "phases.0.passes"))
			}
			continue
		}
		want(t, a, http.StatusSeeOther)
		phases, err := w.st.PhasesOf(t.Context(), strings.TrimPrefix(a.location(), "/plans/"))
		if err != nil || len(phases) != 1 || phases[0].MaxIterations != row.want {
			t.Errorf("%q: %+v, %v; want %d passes", row.typed, phases, err, row.want)
		}
	}
	if n := len(w.plans()); n != 12 {
		t.Errorf("%d plans: a refused form made one", n)
	}
}

// Everything that can be wrong at once: each message at its field, everything
// typed still there, nothing stored.
func TestBadPlanIsMarkedAndKept(t *testing.T) {
	w := newDesk(t)
	f := url.Values{
		"form_key": {"bad"}, "project": {"999"}, "title": {""}, "goal": {"  kept goal\nof two lines"}, "target_branch": {"nowhere"},
		"phase": {"p", "q"}, "phases.p.name": {strings.Repeat("x", 201)}, "phases.p.task": {""}, "phases.p.passes": {"2.5"},
		"phases.p.done_when": {"- asked -> human"}, "phases.p.approval": {"on"},
		"phases.p.agent": {"0", "1"}, "phases.p.agents.0.runtime": {"ghost"}, "phases.p.agents.0.limit": {"soon"}, "phases.p.agents.0.name": {"a/b"},
		"phases.p.agents.1.runtime": {"none"}, "phases.p.agents.1.command": {"kept"},
		"phases.q.name": {"kept"}, "phases.q.task": {"kept task"}, "phases.q.done_when": {"# only a heading"}, "phases.q.passes": {"4"},
		"phases.q.agent": {"0"}, "phases.q.agents.0.runtime": {"shell"}, "phases.q.agents.0.command": {""}, "phases.q.agents.0.limit": {"10h"},
		"dod": {"- x -> run: echo {name}\n- y -> match: //"}, "dod_args.kept": {"kept value"}, "op": {"create"},
	}
	a := w.lea.do(post, "/plans", f)
	want(t, a, http.StatusUnprocessableEntity)
	d := doc(t, a)
	for name, part := range map[string]string{
		"project": "Choose a project", "title": "title", "phases.p.name": "too long", "phases.p.task": "Write the task",
		"phases.p.passes": "whole number", "phases.p.done_when": "human", "phases.p.agents.0.limit": "15m", "phases.p.agents.0.name": "slashes",
		"phases.p.agents.1.runtime": "no runtime", "phases.q.done_when": "no criterion", "phases.q.agents.0.command": "Write the command",
		"phases.q.agents.0.limit": "time limit", "dod": "Line 1",
	} {
		if got := marked(d, name); !strings.Contains(got, part) {
			t.Errorf("%s is marked %q, want %q in it", name, got, part)
		}
	}
	for name, values := range f {
		if name == "op" || name == "phase" || strings.HasSuffix(name, ".agent") {
			continue
		}
		if got := value(d, name); got != values[0] && name != "project" {
			t.Errorf("%s is shown as %q, typed was %q", name, got, values[0])
		}
	}
	// The list above the form leads to each field.
	d.Find("#plan-form-errors a").Each(func(_ int, link *goquery.Selection) {
		if target := link.AttrOr("href", ""); d.Find(target).Length() != 1 {
			t.Errorf("%q leads to %d places", target, d.Find(target).Length())
		}
	})
	if n := d.Find("#plan-form-errors a").Length(); n < 13 {
		t.Errorf("%d problems are listed", n)
	}
	if n := len(w.plans()); n != 0 {
		t.Errorf("%d plans", n)
	}
	// With a real project the branch is looked up.
	a = w.lea.do(post, "/plans", w.filled("target_branch", "nowhere"))
	want(t, a, http.StatusUnprocessableEntity)
	if got := marked(doc(t, a), "target_branch"); !strings.Contains(got, "nowhere") {
		t.Errorf("target branch is marked %q", got)
	}
	// No phase at all.
	a = w.lea.do(post, "/plans", url.Values{"form_key": {"none"}, "title": {"T"}, "project": {fmt.Sprint(w.project.ID)}})
	want(t, a, http.StatusUnprocessableEntity)
	if got := doc(t, a).Find("#phases-error").Text(); !strings.Contains(got, "at least one phase") {
		t.Errorf("phases are marked %q", got)
	}
}

// The form's buttons work by plain posts and keep everything typed.
func TestPartsOfThePlanForm(t *testing.T) {
	w := newDesk(t)
	f := w.filled("phase", "0|7", "phases.7.name", "Seven", "phases.7.task", "Task <7>", "phases.7.done_when", "- a\n- b", "phases.7.passes", "abc",
		"phases.7.agent", "0|3", "phases.7.agents.0.runtime", "shell", "phases.7.agents.0.command", "zero", "phases.7.agents.3.runtime", "ghost", "phases.7.agents.3.name", "three")
	keys := func(d *goquery.Document, name string) string {
		var out []string
		d.Find(`[name="` + name + `"]`).Each(func(_ int, s *goquery.Selection) { out = append(out, s.AttrOr("value", "")) })
		return strings.Join(out, " ")
	}
	for _, row := range []struct{ op, phases, agents string }{
		{"update", "0 7", "0 3"},
		{"phase.add", "0 7 8", "0 3"},
		{"phase.up:7", "7 0", "0 3"},
		{"phase.up:0", "0 7", "0 3"},
		{"phase.down:0", "7 0", "0 3"},
		{"phase.down:7", "0 7", "0 3"},
		{"phase.remove:0", "7", "0 3"},
		{"phase.agent:7", "0 7", "0 3 4"},
		{"agent.up:7:3", "0 7", "3 0"},
		{"agent.down:7:0", "0 7", "3 0"},
		{"agent.remove:7:0", "0 7", "3"},
		{"phase.up:none", "0 7", "0 3"},
		{"agent.up:7:none", "0 7", "0 3"},
		{"nonsense", "0 7", "0 3"},
		{":::", "0 7", "0 3"},
	} {
		f.Set("op", row.op)
		for _, fragment := range []bool{false, true} {
			var headers []string
			if fragment {
				headers = []string{"HX-Request", "true"}
			}
			a := w.lea.do(post, "/plans", f, headers...)
			want(t, a, http.StatusOK)
			if strings.Contains(a.body, "<html") == fragment || a.Header.Get("Vary") != "HX-Request" {
				t.Errorf("%s: a whole page %v, Vary %q", row.op, !fragment, a.Header.Get("Vary"))
			}
			d := doc(t, a)
			if got := keys(d, "phase"); got != row.phases {
				t.Errorf("%s: phases %s, want %s", row.op, got, row.phases)
			}
			if got := keys(d, "phases.7.agent"); got != row.agents {
				t.Errorf("%s: agents %s, want %s", row.op, got, row.agents)
			}
			if value(d, "phases.7.task") != "Task <7>" || value(d, "phases.7.passes") != "abc" || value(d, "phases.7.agents.3.name") != "three" ||
				value(d, "phases.7.done_when") != "- a\n- b" || value(d, "title") != "Mend the greeter" || value(d, "form_key") != "key-1" || value(d, "dod") != "- All is well -> run: true" {
				t.Errorf("%s: something typed is lost", row.op)
			}
			if strings.Contains(a.body, "aria-invalid") {
				t.Errorf("%s: marked before it was sent", row.op)
			}
		}
	}
	// The last phase stays.
	a := w.lea.do(post, "/plans", w.filled("op", "phase.remove:0"))
	if got := keys(doc(t, a), "phase"); got != "0" {
		t.Errorf("phases after removing the last: %q", got)
	}
	if n := len(w.plans()); n != 0 {
		t.Errorf("%d plans", n)
	}
}

func TestPlanPreviewsSayHowEachLineIsJudged(t *testing.T) {
	w := newDesk(t)
	f := w.filled("phases.0.done_when", "All tests pass\n(info) notes -> file: NOTES.md\n- green -> run: make test\n- ok -> human")
	a := w.lea.do(post, "/plans/new/preview?phase=0", f, "HX-Request", "true")
	want(t, a, http.StatusOK)
	if strings.Contains(a.body, "<html") || doc(t, a).Find("#phase-0-preview").Length() != 1 {
		t.Error("the preview is not the fragment alone")
	}
	shows(t, a, "matched letter by letter", "Run as a command", "make test", "This file must be there", "informational", "let the phase ask for an approval instead", "cannot be saved like this")
	a = w.lea.do(post, "/plans/new/preview", f, "HX-Request", "true")
	shows(t, a, `id="dod-preview"`, "All is well")
	want(t, w.lea.do(post, "/plans/new/preview?phase=9", f, "HX-Request", "true"), http.StatusNotFound)
	want(t, w.vic.do(post, "/plans/new/preview", f), http.StatusForbidden)
	// Without the script the same stands in the form.
	f.Set("op", "update")
	shows(t, w.lea.do(post, "/plans", f), "matched letter by letter", "let the phase ask for an approval instead")
}

// publish makes a template and returns its newest version.
func (w *desk) publish(name, text string, args ...models.TemplateArg) models.TemplateVersion {
	w.t.Helper()
	v, err := w.eng.PublishTemplate(w.t.Context(), engine.ActorOf(w.leaUser), engine.TemplateDraft{Name: name, Text: text, Args: args})
	if err != nil {
		w.t.Fatal(err)
	}
	return v
}

func TestPlanFromTemplate(t *testing.T) {
	w := newDesk(t)
	v := w.publish("Release", "- {title} is announced in {place} -> file: {place}\n- Tests -> run: grep -c \"$ARG_TERM\" a.txt || true",
		models.TemplateArg{Name: "title", Required: true, Description: "Of the release."}, models.TemplateArg{Name: "place", Default: "NEWS.md"}, models.TemplateArg{Name: "term"})
	a := w.lea.get(fmt.Sprintf("/plans/new?template=%d", v.TemplateID))
	want(t, a, http.StatusOK)
	d := doc(t, a)
	if value(d, "template") != fmt.Sprint(v.ID) || d.Find(`[name="dod_args.title"]`).Length() != 1 || d.Find(`[name="dod_args.place"]`).AttrOr("placeholder", "") != "NEWS.md" {
		t.Errorf("template %q, arguments %v", value(d, "template"), d.Find(`[name^="dod_args."]`).Length())
	}
	shows(t, a, "Of the release.", "Still open: {title}.", "is announced in NEWS.md")

	version := fmt.Sprint(v.ID)
	a = w.lea.do(post, "/plans", w.filled("template", version, "dod_args.title", " "))
	want(t, a, http.StatusUnprocessableEntity)
	if got := marked(doc(t, a), "dod_args.title"); !strings.Contains(got, "title") {
		t.Errorf("a missing argument is marked %q", got)
	}
	unnamed := w.publish("A page", "- The page is there -> file: docs/{page}", models.TemplateArg{Name: "page"})
	for path, optional := range map[string]bool{fmt.Sprintf("/plans/new?template=%d", unnamed.TemplateID): false, fmt.Sprintf("/plans/new?template=%d", v.TemplateID): true} {
		name := map[bool]string{false: "page", true: "term"}[optional] // a criterion needs the one, a command may read the other
		d := doc(t, w.lea.get(path))
		id, _ := d.Find(`[name="dod_args.` + name + `"]`).Attr("id")
		if got := d.Find(`label[for="` + id + `"]`).Text(); id == "" || strings.Contains(got, "(optional)") != optional {
			t.Errorf("the label of %s is %q", name, got)
		}
	}
	blank := w.lea.do(post, "/plans", w.filled("template", fmt.Sprint(unnamed.ID), "dod_args.page", " ", "title", "Kept as typed"))
	want(t, blank, http.StatusUnprocessableEntity)
	if d := doc(t, blank); !strings.Contains(marked(d, "dod_args.page"), "Give {page} a value") || value(d, "title") != "Kept as typed" {
		t.Errorf("a blank value is marked %q", marked(d, "dod_args.page"))
	}
	if value(doc(t, a), "dod") != "- All is well -> run: true" {
		t.Error("the text written by hand is lost while a template is chosen")
	}

	t.Run("A2-07 a line break in a value adds no criterion", func(t *testing.T) {
		p, _ := w.createPlan(w.filled("form_key", "a2-07", "template", version, "dod_args.title", "Alpha\n- Budget approved\n# Big", "dod_args.place", "N.md"))
		got := engine.Criteria(p)
		if len(got) != 2 || !strings.Contains(got[0].Text, "Alpha") || !strings.Contains(got[0].Text, "Budget approved") || got[1].Text != "Tests" {
			t.Errorf("criteria %+v", got)
		}
	})
	t.Run("A2-06 a value is no program text", func(t *testing.T) {
		evil := `x"; touch PWNED; echo "`
		p, _ := w.createPlan(w.filled("form_key", "a2-06", "template", version, "dod_args.title", "T", "dod_args.term", evil))
		criteria := engine.Criteria(p)
		if criteria[1].Check.Arg != `grep -c "$ARG_TERM" a.txt || true` || p.DodArgs["term"] != evil {
			t.Errorf("command %q, argument %q", criteria[1].Check.Arg, p.DodArgs["term"])
		}
		if err := w.eng.StartPlan(t.Context(), engine.ActorOf(w.leaUser), p.ID); err != nil {
			t.Fatal(err)
		}
		w.settle()
		ev, err := w.st.LatestEvaluation(t.Context(), p.ID)
		if err != nil || ev == nil || ev.Status != models.EvaluationDone {
			t.Fatalf("evaluation %+v, %v", ev, err)
		}
		if r := engine.SummaryOf(ev).Results; len(r) != 2 || r[1].Status != "passed" {
			t.Errorf("results %+v", r)
		}
		_ = filepath.Walk(filepath.Dir(filepath.Dir(w.repo)), func(path string, _ os.FileInfo, _ error) error {
			if filepath.Base(path) == "PWNED" {
				t.Errorf("the value ran: %s", path)
			}
			return nil
		})
	})
	t.Run("A2-06 a placeholder in a command is refused by the form", func(t *testing.T) {
		a := w.lea.do(post, "/plans", w.filled("form_key", "refused", "dod", `- x -> run: grep -c "{term}" notes.txt`, "dod_args.term", `x"; touch PWNED; echo "`))
		want(t, a, http.StatusUnprocessableEntity)
		if got := marked(doc(t, a), "dod"); !strings.Contains(got, "$ARG_TERM") {
			t.Errorf("marked %q", got)
		}
	})
	t.Run("a placeholder written by hand takes a value, or stays", func(t *testing.T) {
		p, _ := w.createPlan(w.filled("form_key", "hand", "dod", "- {who} signed {what} -> human", "dod_args.who", "Ada", "dod_args.what", ""))
		if c := engine.Criteria(p); len(c) != 1 || c[0].Text != "Ada signed {what}" {
			t.Errorf("criteria %+v", c)
		}
	})
}

func TestCopyAsNewPlan(t *testing.T) {
	w := newDesk(t)
	v := w.publish("Old", "- {a} is there -> file: {a}", models.TemplateArg{Name: "a", Required: true})
	p, phases := w.createPlan(w.filled("template", fmt.Sprint(v.ID), "dod_args.a", "x.md", "phases.0.approval", "on"))
	if _, err := w.eng.PublishTemplate(t.Context(), engine.ActorOf(w.leaUser), engine.TemplateDraft{TemplateID: v.TemplateID, Base: 1, Text: "- other -> file: other", Why: "newer"}); err != nil {
		t.Fatal(err)
	}
	if n := doc(t, w.lea.get("/plans/"+p.ID)).Find(`a[href="/plans/new?from=` + p.ID + `"]`).Length(); n == 0 {
		t.Error("the plan's page does not lead to its copy")
	}
	if n := doc(t, w.vic.get("/plans/"+p.ID)).Find(`a[href^="/plans/new"]`).Length(); n != 0 {
		t.Error("a viewer is offered a copy")
	}
	a := w.lea.get("/plans/new?from=" + p.ID)
	want(t, a, http.StatusOK)
	d := doc(t, a)
	for name, v := range map[string]string{
		"title": p.Title, "goal": p.Goal, "target_branch": "", "template": fmt.Sprint(v.ID), "dod_args.a": "x.md", "phases.0.task": "Do it", "phases.0.passes": "2",
		"phases.0.approval": "on", "phases.0.done_when": phases[0].DoneWhen, "phases.0.agents.0.command": "touch done", "phases.0.agents.0.limit": "15m",
	} {
		if got := value(d, name); got != v {
			t.Errorf("%s is %q, want %q", name, got, v)
		}
	}
	shows(t, a, "version 1 (the newest is 2)")
	// Sent as it is, it makes a second plan that pins the same version.
	f := url.Values{}
	d.Find("#plan-form [name]").Each(func(_ int, s *goquery.Selection) {
		if name := s.AttrOr("name", ""); name != "op" {
			if v := value(d, name); v != "" || f.Has(name) {
				f.Set(name, v)
			}
		}
	})
	copied, again := w.createPlan(f)
	if copied.ID == p.ID || *copied.TemplateVersionID != v.ID || copied.CriteriaJSON != p.CriteriaJSON || len(again) != 1 || again[0].DoneWhen != phases[0].DoneWhen {
		t.Errorf("the copy differs: %+v", copied)
	}
	want(t, w.lea.get("/plans/new?from=nothing"), http.StatusNotFound)
	want(t, w.lea.get("/plans/new?template=999"), http.StatusNotFound)
}

func TestA8_04_PlanFormShowsSignsAsText(t *testing.T) {
	w := newDesk(t)
	const evil = `<img src=x onerror=alert(1)><b>hi</b>"'&`
	f := w.filled("title", evil, "goal", "</textarea>"+evil, "phases.0.name", evil, "phases.0.done_when", evil, "dod", evil+" {"+"x} -> nonsense", "dod_args.x", evil, "op", "update")
	a := w.lea.do(post, "/plans", f)
	want(t, a, http.StatusOK)
	d := doc(t, a)
	if n := d.Find("main img, main b").Length(); n != 0 {
		t.Errorf("%d elements were made of what was typed", n)
	}
	if value(d, "title") != evil || value(d, "goal") != "</textarea>"+evil || !strings.Contains(d.Find("#dod-preview").Text(), evil) {
		t.Errorf("title %q", value(d, "title"))
	}
}

func TestOnlyAdminsMayWriteCommandsWhereThatIsSet(t *testing.T) {
	w := newDesk(t)
	w.eng.CommandsBy = models.RoleAdmin
	a := w.lea.get("/plans/new")
	want(t, a, http.StatusOK)
	a = w.lea.do(post, "/plans", w.filled())
	want(t, a, http.StatusUnprocessableEntity)
	d := doc(t, a)
	for _, name := range []string{"phases.0.agents.0.command", "phases.0.done_when", "dod"} {
		if got := marked(d, name); !strings.Contains(got, "Only the role admin") {
			t.Errorf("%s is marked %q", name, got)
		}
	}
	want(t, w.ada.do(post, "/plans", w.filled()), http.StatusSeeOther)
}
