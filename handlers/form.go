package handlers

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"donewhen/models"
)

// parseForm reads the posted form before the handler does, so that one that is
// broken or too large is refused and not taken for an empty one.
func parseForm(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		err := c.Request().ParseForm()
		if _, ok := errors.AsType[*echo.HTTPError](err); ok {
			return err // too large
		}
		if err != nil {
			return echo.NewHTTPError(http.StatusBadRequest).SetInternal(err)
		}
		return next(c)
	}
}

// field is a value of the posted form as it was typed, with Unix line breaks
// and without bytes that are no text; "" when it is missing. Values of the
// address do not count.
func field(c echo.Context, name string) string {
	v := c.Request().PostFormValue(name)
	return strings.ReplaceAll(strings.ToValidUTF8(v, "\uFFFD"), "\r\n", "\n")
}

// secret is a password of the posted form, byte for byte.
func secret(c echo.Context, name string) string { return c.Request().PostFormValue(name) }

// idParam is a number in the address; anything else is not found.
func idParam(c echo.Context, name string) (int64, error) {
	id, err := strconv.ParseInt(c.Param(name), 10, 64)
	if err != nil || id < 1 {
		return 0, models.Errorf(models.CodeNotFound, "There is nothing at this address. It may have been typed wrongly.")
	}
	return id, nil
}

// numberParam is a number of the address's query; what is none is 0.
func numberParam(c echo.Context, name string) int64 {
	n, _ := strconv.ParseInt(c.QueryParam(name), 10, 64)
	return n
}

// seeOther leads to a page after a form was taken.
func seeOther(c echo.Context, path string) error { return c.Redirect(http.StatusSeeOther, path) }
