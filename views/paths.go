package views

import (
	"net/url"
	"strconv"
)

// Every URL of the pages is built here, noun by noun, so that a route and the
// links to it change together. A path that takes something ends in it escaped.

// Start page.
func HomePath() string { return "/" }

// Getting in and out.
func LoginPath() string              { return "/login" }
func LogoutPath() string             { return "/logout" }
func SetupPath(token string) string  { return "/setup/" + url.PathEscape(token) }
func InvitePath(token string) string { return "/invite/" + url.PathEscape(token) }
func ResetPath(token string) string  { return "/reset/" + url.PathEscape(token) }

// LoginNextPath is the login page that leads on to a path of this server.
func LoginNextPath(next string) string {
	if next == "" || next == HomePath() {
		return LoginPath()
	}
	return LoginPath() + "?" + url.Values{"next": {next}}.Encode()
}

// LoginEndedPath is the login page after a form that came too late.
func LoginEndedPath(next string) string {
	q := url.Values{"note": {"ended"}}
	if next != "" && next != HomePath() {
		q.Set("next", next)
	}
	return LoginPath() + "?" + q.Encode()
}

// The reader's own account.
func AccountPath() string         { return "/account" }
func AccountPasswordPath() string { return "/account/password" }
func AccountSessionsPath() string { return "/account/sessions/end" }

// Users.
func UsersPath() string                  { return "/users" }
func UsersInvitePath() string            { return "/users/invites" }
func InviteWithdrawPath(id int64) string { return "/users/invites/" + itoa(id) + "/withdraw" }
func UserRolePath(id int64) string       { return userPath(id) + "/role" }
func UserDisablePath(id int64) string    { return userPath(id) + "/disable" }
func UserEnablePath(id int64) string     { return userPath(id) + "/enable" }
func UserResetPath(id int64) string      { return userPath(id) + "/reset" }

func userPath(id int64) string { return UsersPath() + "/" + itoa(id) }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
