package handlers

import (
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"donewhen/dod"
	"donewhen/models"
)

// desk is works as somebody who writes plans and templates sees them.
type desk struct {
	*works
	ada     *client // the admin
	leaUser models.User
}

func newDesk(t *testing.T) *desk { return newDeskWith(t, nil) }

func newDeskWith(t *testing.T, judge dod.Asker) *desk {
	t.Helper()
	w := newWorks(t, judge)
	return &desk{works: w, ada: w.as(w.people[models.RoleAdmin]), leaUser: w.people[models.RoleLead]}
}

// value is what a form's field of this name holds.
func value(d *goquery.Document, name string) string {
	f := d.Find(`[name="` + name + `"]`)
	switch goquery.NodeName(f.First()) {
	case "textarea":
		return strings.TrimPrefix(f.First().Text(), "\n")
	case "select":
		return f.Find("option[selected]").AttrOr("value", "")
	}
	if f.AttrOr("type", "") == "checkbox" {
		if _, on := f.Attr("checked"); on {
			return "on"
		}
		return ""
	}
	return f.AttrOr("value", "")
}

// marked is the message at the field of this name, "" when it has none.
func marked(d *goquery.Document, name string) string {
	f := d.Find(`[name="` + name + `"]`).First()
	if f.AttrOr("aria-invalid", "") != "true" {
		return ""
	}
	for _, id := range strings.Fields(f.AttrOr("aria-describedby", "")) {
		if strings.HasSuffix(id, "-error") {
			return strings.TrimSpace(d.Find("#" + strings.ReplaceAll(id, ".", `\.`)).Text())
		}
	}
	return ""
}
