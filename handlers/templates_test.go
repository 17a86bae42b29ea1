package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"donewhen/models"
)

func TestTemplatePages(t *testing.T) {
	w := newDesk(t)
	a := w.vic.get("/templates")
	want(t, a, http.StatusOK)
	shows(t, a, "No template yet")
	if strings.Contains(a.body, "/templates/new") {
		t.Error("a viewer is offered a new template")
	}
	if err := w.eng.SeedTemplates(t.Context()); err != nil {
		t.Fatal(err)
	}
	a = w.vic.get("/templates")
	shows(t, a, "Bug fix", "Documentation", "by donewhen")
	d := doc(t, a)
	href := d.Find(`main table a`).First().AttrOr("href", "")
	a = w.vic.get(href)
	want(t, a, http.StatusOK)
	shows(t, a, "version 1", "{test_script}", "required", "Run as a command")
	if strings.Contains(a.body, "Use this template") {
		t.Error("a viewer is offered to use it")
	}
	if text := doc(t, a).Find("[data-criteria]").Text(); strings.Contains(text, "Still open") || strings.Contains(text, "no line uses") {
		t.Errorf("a built-in template has open ends: %s", text)
	}
	for _, path := range []string{"/templates/999", "/templates/x", href + "?version=9", href + "?version=x", href + "?version=1&against=7", "/templates/0"} {
		want(t, w.vic.get(path), http.StatusNotFound)
	}
	want(t, w.vic.get("/templates/new"), http.StatusForbidden)
	want(t, w.vic.get(href+"/edit"), http.StatusForbidden)
	want(t, w.vic.do(post, "/templates", nil), http.StatusForbidden)
	want(t, w.vic.do(post, href+"/versions", nil), http.StatusForbidden)
}

func TestPublishAndCompareTemplates(t *testing.T) {
	w := newDesk(t)
	want(t, w.lea.get("/templates/new"), http.StatusOK)
	f := url.Values{"name": {"Release"}, "description": {"For releases."}, "text": {"# Release\n- {what} is out -> file: {what}\n- green -> run: true"}, "why": {""},
		"arg": {"0", "1"}, "args.0.name": {"what"}, "args.0.description": {"The file."}, "args.0.required": {"on"}, "args.1.name": {""}, "base": {"0"}, "op": {"publish"}}
	a := w.lea.do(post, "/templates", f)
	want(t, a, http.StatusSeeOther)
	at := a.location()
	a = w.lea.do(post, "/templates", f) // sent twice
	want(t, a, http.StatusUnprocessableEntity)
	if got := marked(doc(t, a), "name"); !strings.Contains(got, "already") {
		t.Errorf("a taken name is marked %q", got)
	}

	a = w.lea.get(at + "/edit")
	want(t, a, http.StatusOK)
	d := doc(t, a)
	if value(d, "text") != f.Get("text") || value(d, "base") != "1" || value(d, "args.0.name") != "what" || value(d, "args.0.required") != "on" {
		t.Errorf("the editor begins with %q, base %q", value(d, "text"), value(d, "base"))
	}
	next := url.Values{"base": {"1"}, "text": {"# Release\n- {what} is really out -> file: {what}\n- green -> run: true\n- ok -> human"}, "why": {"A person looks."},
		"arg": {"0"}, "args.0.name": {"what"}, "args.0.default": {"a.md"}, "op": {"publish"}}
	want(t, w.lea.do(post, at+"/versions", next), http.StatusSeeOther, at)

	// Two at once: one is published, the other is told and loses nothing.
	late := url.Values{"base": {"1"}, "text": {"- mine -> run: true"}, "why": {"My own."}, "op": {"publish"}}
	a = w.lea.do(post, at+"/versions", late)
	want(t, a, http.StatusConflict)
	d = doc(t, a)
	shows(t, a, "Version 2 was published by lea meanwhile")
	if value(d, "text") != "- mine -> run: true" || value(d, "why") != "My own." || value(d, "base") != "2" {
		t.Errorf("kept: %q, %q, base %q", value(d, "text"), value(d, "why"), value(d, "base"))
	}

	a = w.vic.get(at)
	shows(t, a, "version 2", "is really out", "A person looks.")
	a = w.vic.get(at + "?version=1")
	shows(t, a, "This is an earlier version", "{what} is out")
	a = w.vic.get(at + "?version=2&against=1")
	want(t, a, http.StatusOK)
	d = doc(t, a)
	if add, gone, same := d.Find(`#difference [data-diff="+"]`).Length(), d.Find(`#difference [data-diff="-"]`).Length(), d.Find(`#difference [data-diff=" "]`).Length(); add != 3 || gone != 2 || same != 2 {
		t.Errorf("%d added, %d removed, %d kept lines (arguments among them)", add, gone, same)
	}
	// What was published stays as it was.
	detail, err := w.st.TemplateDetail(t.Context(), 1)
	if err != nil || detail.Versions[1].Text != f.Get("text") || detail.Versions[1].Version != 1 {
		t.Errorf("version 1 is now %+v, %v", detail.Versions[1], err)
	}
	// Without a why, and without a change.
	for field, f := range map[string]url.Values{
		"why":  {"base": {"2"}, "text": {"- other -> run: true"}},
		"text": {"base": {"2"}, "text": {"# nothing"}, "why": {"x"}},
	} {
		a := w.lea.do(post, at+"/versions", f)
		want(t, a, http.StatusUnprocessableEntity)
		if marked(doc(t, a), field) == "" || value(doc(t, a), "text") != f.Get("text") {
			t.Errorf("%s is not marked, or the text is lost", field)
		}
	}
	// The oldest has none before it: it is offered for comparison with the newest.
	want(t, w.lea.do(post, at+"/versions", url.Values{"base": {"2"}, "text": {"- other -> run: true"}, "why": {"x"}, "op": {"publish"}}), http.StatusSeeOther)
	d = doc(t, w.vic.get(at+"?version=1"))
	if from, to := d.Find("#compare-from [selected]").Text(), d.Find("#compare-to [selected]").Text(); from != "1" || to != "3" {
		t.Errorf("offered: %q with %q", from, to)
	}
}

func TestBadTemplateIsMarkedAndKept(t *testing.T) {
	w := newDesk(t)
	f := url.Values{"name": {" "}, "description": {"kept"}, "text": {"- x -> match: /a*/\n- {y}"}, "why": {"kept too"},
		"arg": {"a", "b", "c"}, "args.a.name": {"1x"}, "args.b.name": {"y"}, "args.b.default": {"kept default"}, "args.c.name": {"y"}, "args.c.required": {"on"}, "op": {"publish"}}
	a := w.lea.do(post, "/templates", f)
	want(t, a, http.StatusUnprocessableEntity)
	d := doc(t, a)
	for name, part := range map[string]string{"name": "name", "text": "Line 1", "args.a.name": "letter", "args.c.name": "already"} {
		if got := marked(d, name); !strings.Contains(got, part) {
			t.Errorf("%s is marked %q", name, got)
		}
	}
	for _, name := range []string{"description", "text", "why", "args.a.name", "args.b.default", "args.c.required"} {
		if got := value(d, name); got != f.Get(name) {
			t.Errorf("%s is shown as %q", name, got)
		}
	}
	rows, err := w.st.Templates(t.Context())
	if err != nil || len(rows) != 0 {
		t.Errorf("templates %+v, %v", rows, err)
	}
}

func TestArgumentsOfTheTemplateEditor(t *testing.T) {
	w := newDesk(t)
	f := url.Values{"text": {"- {a} and {b} -> file: {c}"}, "arg": {"4", "2"}, "args.4.name": {"a"}, "args.2.name": {"z"}, "args.2.description": {"kept"}}
	for op, want := range map[string]string{
		"update": "a z", "arg.add": "a z ", "arg.remove:4": "z", "arg.remove:9": "a z", "arg.declare": "a z b c",
	} {
		f.Set("op", op)
		for _, headers := range [][]string{nil, {"HX-Request", "true"}} {
			a := w.lea.do(post, "/templates", f, headers...)
			if a.StatusCode != http.StatusOK || strings.Contains(a.body, "<html") == (headers != nil) {
				t.Errorf("%s: status %d", op, a.StatusCode)
			}
			var names []string
			d := doc(t, a)
			for _, n := range d.Find(`[name="arg"]`).EachIter() {
				names = append(names, value(d, "args."+n.AttrOr("value", "")+".name"))
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%s: %q, want %q", op, got, want)
			}
			if value(d, "text") != f.Get("text") {
				t.Errorf("%s: the text is lost", op)
			}
		}
	}
	a := w.lea.do(post, "/templates/preview", f, "HX-Request", "true")
	want(t, a, http.StatusOK)
	shows(t, a, `id="template-preview"`, "Still open: {b}, {c}.", "Declared, but no line uses it: z.")
}

func TestA8_04_TemplatesShowSignsAsText(t *testing.T) {
	w := newDesk(t)
	const evil = `<img src=x onerror=alert(1)><b>hi</b>`
	v := w.publish(evil, "- "+evil+" -> human: "+evil, models.TemplateArg{Name: "a", Description: evil, Default: evil})
	for _, path := range []string{"/templates", fmt.Sprintf("/templates/%d", v.TemplateID), fmt.Sprintf("/templates/%d/edit", v.TemplateID), fmt.Sprintf("/plans/new?template=%d", v.TemplateID)} {
		a := w.lea.get(path)
		want(t, a, http.StatusOK)
		d := doc(t, a)
		if n := d.Find("img, b").Length(); n != 0 || !strings.Contains(d.Find("main").Text()+d.Find("option").Text(), evil) {
			t.Errorf("%s: %d elements were made of a text", path, n)
		}
	}
}
