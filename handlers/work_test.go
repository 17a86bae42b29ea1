package handlers

import (
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/engine/runner"
	"donewhen/engine/workspace"
	"donewhen/models"
	"donewhen/models/store"
)

// works is a site with an engine: real git repositories, real processes, a log
// store. Nothing happens by itself: settle carries out what is due.
type works struct {
	*site
	eng     *engine.Engine
	logdb   *store.Logs
	dir     string
	repo    string
	project models.Project
	people  map[models.Role]models.User
	lea     *client // the lead
	vic     *client // the viewer
}

func newWorks(t testing.TB, judge dod.Asker) *works {
	t.Helper()
	return newWorksOver(t, filepath.Join(t.TempDir(), "main.db"), judge)
}

// newWorksOver is newWorks over the database at path, which is made when it is
// not there.
func newWorksOver(t testing.TB, path string, judge dod.Asker) *works {
	t.Helper()
	w := &works{dir: t.TempDir()}
	w.repo = filepath.Join(w.dir, "repo")
	w.git(t, "init", "-q", "-b", "main", w.repo)
	w.write(t, "a.txt", "one\n")
	w.git(t, "-C", w.repo, "add", "-A")
	w.git(t, "-C", w.repo, "commit", "-q", "-m", "first")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	w.site = newSiteOver(t, path, func(d *Deps) {
		var err error
		w.logdb, err = store.OpenLogs(t.Context(), filepath.Join(w.dir, "logs.db"), store.LogOptions{})
		must(err)
		spaces, err := workspace.Open(workspace.Config{Dir: filepath.Join(w.dir, "git")})
		must(err)
		temp := filepath.Join(w.dir, "tmp")
		must(os.MkdirAll(temp, 0o700))
		runtimes := filepath.Join(w.dir, "runtimes.yaml") // ghost is a program that is not there
		must(os.WriteFile(runtimes, []byte("runtimes:\n  shell: {preset: shell}\n  ghost: {title: Ghost, args: [/nonexistent/agent]}\n"), 0o600))
		set, err := runner.Open(runtimes, runner.Options{TempDir: temp, Instance: w.dir, Grace: 200 * time.Millisecond})
		must(err)
		w.eng = engine.New(engine.Config{
			Store: d.Reader.(*store.Store), Logs: w.logdb, Spaces: spaces, Runtimes: set.Runtimes(), Check: set.CheckRunner(), Reap: set.Reap,
			Judge: judge, Evaluator: judge, HomeDir: filepath.Join(w.dir, "homes"), Now: d.Now, Log: slog.New(slog.NewTextHandler(discard{}, nil)),
		})
		d.Engine, d.Logs = w.eng, w.logdb
	})
	t.Cleanup(func() { w.eng.Close(); _ = w.logdb.Close() }) // before the site's own
	w.people = w.site.people()
	w.lea, w.vic = w.as(w.people[models.RoleLead]), w.as(w.people[models.RoleViewer])
	var err error
	w.project, err = w.eng.AddProject(t.Context(), engine.ActorOf(w.people[models.RoleAdmin]), "demo", w.repo, "", false)
	must(err)
	return w
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func (w *works) git(t testing.TB, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *works) write(t testing.TB, name, text string) {
	t.Helper()
	file := filepath.Join(w.repo, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (w *works) lead() models.Actor { return engine.ActorOf(w.people[models.RoleLead]) }

// settle ticks until nothing is due any more.
func (w *works) settle() {
	w.t.Helper()
	for range 200 {
		s, err := w.eng.Once(w.t.Context())
		if err != nil {
			w.t.Logf("sweep: %v", err)
		}
		w.eng.Drain()
		due, err := w.st.DuePhases(w.t.Context(), w.now(), 10)
		if err != nil {
			w.t.Fatal(err)
		}
		if s.Due == 0 && s.Evaluations == 0 && len(due) == 0 {
			return
		}
	}
	w.t.Fatal("the sweep never comes to rest")
}

// sh is a phase with one shell agent.
func sh(name, command string) engine.NewPhase {
	return engine.NewPhase{Name: name, Task: "Do it.", Agents: []models.AgentSpec{{Runtime: "shell", Command: command}}, MaxIterations: 1}
}

func (w *works) create(in engine.NewPlan) string {
	w.t.Helper()
	in.ProjectID = w.project.ID
	if in.Title == "" {
		in.Title = "A plan"
	}
	id, err := w.eng.CreatePlan(w.t.Context(), w.lead(), in)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

// done creates a plan, starts it and lets it come to rest.
func (w *works) done(in engine.NewPlan) string {
	w.t.Helper()
	id := w.create(in)
	if err := w.eng.StartPlan(w.t.Context(), w.lead(), id); err != nil {
		w.t.Fatal(err)
	}
	w.settle()
	return id
}

func (w *works) detail(id string) models.PlanDetail {
	w.t.Helper()
	d, err := w.st.PlanDetail(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return d
}

func doc(t testing.TB, a answer) *goquery.Document {
	t.Helper()
	d, err := goquery.NewDocumentFromReader(strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// form returns the address and the values of the form that a verb's key names,
// as a browser without scripts would send it.
func form(t testing.TB, d *goquery.Document, key string) (string, url.Values) {
	t.Helper()
	f := d.Find(`form[data-verb="` + key + `"], details[data-verb="` + key + `"] form, dialog[id="` + key + `"] form`).First()
	if f.Length() == 0 {
		t.Fatalf("no form %s on the page", key)
	}
	action, _ := f.Attr("action")
	values := url.Values{}
	f.Find("input, textarea, select").Each(func(_ int, in *goquery.Selection) {
		name, _ := in.Attr("name")
		value, _ := in.Attr("value")
		if in.Is("textarea") {
			value = in.Text()
		}
		if in.Is("select") {
			value = in.Find("option[selected]").AttrOr("value", "")
		}
		values.Set(name, value)
	})
	return action, values
}

// press sends a verb's form as the page has it, with more values put in.
func (c *client) press(page answer, key string, pairs ...string) answer {
	c.t.Helper()
	action, values := form(c.t, doc(c.t, page), key)
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return c.do(post, action, values)
}
