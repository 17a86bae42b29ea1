package handlers

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/static"
	"donewhen/views"
)

// wantsFragment says whether a part of a page is asked for. Going back in the
// browser's history needs the whole page, whatever else the request says.
func wantsFragment(c echo.Context) bool {
	h := c.Request().Header
	return h.Get("HX-Request") == "true" && h.Get("HX-History-Restore-Request") != "true"
}

// page answers with a whole page.
func (s *Server) page(c echo.Context, status int, page templ.Component) error {
	h := c.Response().Header()
	h.Add("Vary", "HX-Request")
	h.Set("Cache-Control", "private, no-cache")
	return s.write(c, status, page)
}

// fragment answers with a part of a page that no cache keeps.
func (s *Server) fragment(c echo.Context, status int, part templ.Component) error {
	h := c.Response().Header()
	h.Add("Vary", "HX-Request")
	h.Set("Cache-Control", "no-store")
	return s.write(c, status, part)
}

// pageOrFragment answers with the part when that is asked for, otherwise with
// the page around it. Only what is needed is made.
func (s *Server) pageOrFragment(c echo.Context, page, part func() (templ.Component, error)) error {
	make, answer := page, s.page
	if wantsFragment(c) {
		make, answer = part, s.fragment
	}
	component, err := make()
	if err != nil {
		return err
	}
	return answer(c, http.StatusOK, component)
}

// versioned answers with a part of a page that is what it was as long as its
// version is: a browser that has it gets 304, and nothing is rendered. The
// version must change with everything the part shows but the reader's role.
func (s *Server) versioned(c echo.Context, version string, part func() (templ.Component, error)) error {
	h := c.Response().Header()
	h.Add("Vary", "HX-Request")
	h.Set("Cache-Control", "private, no-cache")
	tag := fmt.Sprintf(`W/"%s-%s-%s"`, version, s.user(c).Role, buildTag)
	h.Set("ETag", tag)
	for candidate := range strings.SplitSeq(c.Request().Header.Get("If-None-Match"), ",") {
		if strings.TrimSpace(candidate) == tag {
			return c.NoContent(http.StatusNotModified)
		}
	}
	component, err := part()
	if err != nil {
		h.Del("ETag")
		return err
	}
	return s.write(c, http.StatusOK, component)
}

// buildTag changes when the bundle does, so that parts of an older program are
// not kept.
var buildTag = func() string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(static.Asset("app.css") + static.Asset("app.js"))) // never fails
	return fmt.Sprintf("%x", sum.Sum32())
}()

// write renders into memory first: a component that fails leaves no half page.
func (s *Server) write(c echo.Context, status int, component templ.Component) error {
	var b bytes.Buffer
	if err := component.Render(c.Request().Context(), &b); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	return c.HTMLBlob(status, b.Bytes())
}

// meta is what the frame around a page shows. It takes the flashes, so it is
// called once, when the page is certain to be shown.
func (s *Server) meta(c echo.Context, title, active string) (views.PageMeta, error) {
	m := views.PageMeta{Title: title, Active: active, Now: s.Now()}
	in, ok, err := s.who(c)
	if err != nil || !ok {
		return m, err
	}
	m.User = views.UserBadge{Name: in.user.Name, Role: string(in.user.Role)}
	if m.Flash, err = s.takeFlashes(c); err != nil {
		return m, err
	}
	if s.Reader != nil && in.user.Role.Can(models.RoleLead) {
		if m.Inbox, err = s.Reader.InboxCount(c.Request().Context(), inboxCountMax); err != nil {
			return m, err
		}
	}
	return m, nil
}

// inboxCountMax bounds what the menu counts.
const inboxCountMax = 99
