// Package views has the pages: templ components, the values they show, and the
// URLs they link to. A page takes one struct shaped like the screen; it asks no
// clock, no database and no request.
package views

import (
	"strconv"
	"time"

	"donewhen/models"
	"donewhen/views/ui"
)

// PageMeta is what the frame around a page shows.
type PageMeta struct {
	Title  string    // of the browser's tab, without the product's name
	Active string    // the Nav… key of the page's menu entry, "" for none
	User   UserBadge // who is logged in; without a name the page has no live stream
	Flash  []Flash   // what the last request did
	Now    time.Time // the server's clock, from which relative times are counted
	Inbox  int       // how much waits on the reader, 0 shows no number
}

// counted is the title of the tab, with how much waits on the reader; the inbox
// counts in its own way.
func (p PageMeta) counted() string {
	if p.Inbox == 0 || p.Active == NavInbox {
		return p.Title
	}
	return "(" + strconv.Itoa(p.Inbox) + ") " + p.Title
}

// UserBadge is the logged-in user, by the role's stored word.
type UserBadge struct{ Name, Role string }

// can reports whether the user's role reaches want.
func (u UserBadge) can(want models.Role) bool { return models.Role(u.Role).Can(want) }

// Flash is one message about what the last request did.
type Flash struct {
	Kind string // FlashDone, FlashInfo, FlashWarn or FlashError
	Text string
}

// The kinds of a Flash.
const (
	FlashDone  = "done"
	FlashInfo  = "info"
	FlashWarn  = "warn"
	FlashError = "error"
)

func (f Flash) tone() ui.Tone {
	switch f.Kind {
	case FlashDone:
		return ui.ToneOK
	case FlashWarn:
		return ui.ToneWarn
	case FlashError:
		return ui.ToneBad
	default:
		return ui.ToneIdle
	}
}

// The menu's entries, for PageMeta.Active.
const (
	NavInbox     = "inbox"
	NavPlans     = "plans"
	NavNewPlan   = "new"
	NavTemplates = "templates"
	NavProjects  = "projects"
	NavInsight   = "insight"
	NavUsers     = "users"
	NavAudit     = "audit"
	NavSettings  = "settings"
)

type navItem struct {
	key, label, icon, href string
	role                   models.Role // who sees it
}

var navItems = []navItem{
	{NavInbox, "Inbox", "inbox", "/", models.RoleViewer},
	{NavPlans, "Plans", "list-checks", "/plans", models.RoleViewer},
	{NavNewPlan, "New plan", "plus", "/plans/new", models.RoleLead},
	{NavTemplates, "Templates", "clipboard-check", "/templates", models.RoleViewer},
	{NavProjects, "Projects", "folder-git-2", "/projects", models.RoleViewer},
	{NavInsight, "Insight", "chart-column", InsightPath, models.RoleViewer},
	{NavUsers, "Users", "users", "/users", models.RoleAdmin},
	{NavAudit, "Audit", "scroll-text", "/audit", models.RoleViewer},
	{NavSettings, "Settings", "settings", "/settings", models.RoleViewer},
}

// htmxConfig keeps htmx within the content security policy: no injected style,
// no evaluated code. Back never asks for fragments: it loads the page.
const htmxConfig = `{"includeIndicatorStyles":false,"allowEval":false,"allowScriptTags":false,"selfRequestsOnly":true,"historyCacheSize":0,"refreshOnHistoryMiss":true,"attributesToSettle":["class","width","height"]}`
