package handlers

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/models"
	"donewhen/views"
)

// statusOf is the HTTP status of each kind of refusal.
var statusOf = map[models.Code]int{
	models.CodeInvalid:     http.StatusUnprocessableEntity,
	models.CodeNotFound:    http.StatusNotFound,
	models.CodeConflict:    http.StatusConflict,
	models.CodeForbidden:   http.StatusForbidden,
	models.CodeUnavailable: http.StatusServiceUnavailable,
	models.CodeTooMany:     http.StatusTooManyRequests,
	models.CodeInternal:    http.StatusInternalServerError,
}

var titleOf = map[int]string{
	http.StatusUnprocessableEntity:   "That cannot be taken",
	http.StatusNotFound:              "Not found",
	http.StatusConflict:              "Something changed meanwhile",
	http.StatusForbidden:             "Not allowed",
	http.StatusServiceUnavailable:    "Not possible now",
	http.StatusTooManyRequests:       "Too many tries",
	http.StatusRequestEntityTooLarge: "Too large",
	http.StatusMethodNotAllowed:      "Not found",
	http.StatusInternalServerError:   "Something went wrong",
}

// handleError is the only place that turns an error into an answer. A refusal
// is shown with its sentence. Anything else is a fault: it goes to the log, and
// the reader gets a reference to it instead of its text.
func (s *Server) handleError(err error, c echo.Context) {
	r := c.Request()
	if c.Response().Committed {
		if r.Context().Err() == nil {
			s.Log.Error("answer broke off", "method", r.Method, "route", c.Path(), "err", err)
		}
		return
	}
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return // the reader has gone away
	}
	status, v := s.errorView(c, err)
	setRetryAfter(c, refusalOf(err))
	if err := s.showError(c, status, v); err != nil {
		s.Log.Error("error page", "route", c.Path(), "err", err)
		_ = c.String(http.StatusInternalServerError, "Something went wrong. The log says more.\n") // nothing is left to try
	}
}

func (s *Server) showError(c echo.Context, status int, v views.ErrorView) error {
	c.Response().Header().Set("Cache-Control", "no-store")
	switch r := c.Request(); {
	case wantsStream(r):
		return c.String(status, v.Text+"\n")
	case r.Header.Get("HX-Request") == "true":
		return s.fragment(c, status, views.ErrorFragment(v))
	}
	meta, err := s.meta(c, v.Title, "")
	if err != nil { // the database may be what is broken
		meta = views.PageMeta{Title: v.Title, Now: s.Now()}
	}
	v.Meta = meta
	return s.page(c, status, views.ErrorPage(v))
}

// errorView says an error to a person, and logs it when it is a fault.
func (s *Server) errorView(c echo.Context, err error) (int, views.ErrorView) {
	if refusal := refusalOf(err); refusal.Code != models.CodeInternal {
		status := statusOf[refusal.Code]
		return status, views.ErrorView{Title: titleOf[status], Text: refusal.Message, Details: refusal.Details}
	}
	if e, ok := errors.AsType[*echo.HTTPError](err); ok && e.Code < 500 {
		text := "This request cannot be answered: " + strings.ToLower(http.StatusText(e.Code)) + "."
		switch e.Code {
		case http.StatusNotFound, http.StatusMethodNotAllowed:
			text = "There is nothing at this address. It may have been typed wrongly."
		case http.StatusRequestEntityTooLarge:
			text = "That is more than " + maxBody + "B, which is as much as a form may hold. Shorten it."
		}
		return e.Code, views.ErrorView{Title: cmp.Or(titleOf[e.Code], http.StatusText(e.Code)), Text: text}
	}
	reference := rand.Text()[:8]
	s.Log.Error("fault", "reference", reference, "method", c.Request().Method, "route", c.Path(), "err", err)
	return http.StatusInternalServerError, views.ErrorView{
		Title:     titleOf[http.StatusInternalServerError],
		Text:      "The server made a mistake. Nothing of yours is lost: try again, and tell an admin if it stays.",
		Reference: reference,
	}
}

// refusalOf is the refusal in err's chain; any other error is an internal one.
func refusalOf(err error) *models.Error {
	if e, ok := errors.AsType[*models.Error](err); ok {
		return e
	}
	return &models.Error{Code: models.CodeInternal}
}

// invalid returns the refusal when err is one that belongs to a form's fields:
// the form is shown again with it.
func invalid(err error) (*models.Error, bool) {
	e, ok := errors.AsType[*models.Error](err)
	return e, ok && e.Code == models.CodeInvalid
}

// refusal returns the refusal when err is one of any kind, with its status; for
// a fault ok is false.
func refusal(err error) (e *models.Error, status int, ok bool) {
	e, ok = errors.AsType[*models.Error](err)
	if !ok || e.Code == models.CodeInternal {
		return nil, 0, false
	}
	return e, statusOf[e.Code], true
}

// logPanic makes a panic an error with its stack in the log.
func (s *Server) logPanic(c echo.Context, err error, stack []byte) error {
	s.Log.Error("panic", "route", c.Path(), "err", err, "stack", string(stack))
	return err
}

// setRetryAfter says how many seconds to wait, where the refusal knows.
func setRetryAfter(c echo.Context, e *models.Error) {
	if e.RetryAfter > 0 {
		c.Response().Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
}
