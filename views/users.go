package views

import (
	"time"

	"donewhen/models"
	"donewhen/views/ui"
)

// UsersView is the page of users.
type UsersView struct {
	Meta    PageMeta
	Users   []UserRow
	Invites []InviteRow // that can still be used
	Link    *NewLink    // made by this request, nil otherwise
	Role    string      // chosen in the invitation form
	Error   string      // why the last action was refused
}

// UserRow is one user.
type UserRow struct {
	ID       int64
	Name     string
	Role     string
	Self     bool // the reader
	Disabled bool
	LastSeen time.Time // zero for never
}

// InviteRow is one open invitation.
type InviteRow struct {
	ID      int64
	Role    string
	By      string
	Made    time.Time
	Expires time.Time
}

// NewLink is a one-time link, which is shown once only.
type NewLink struct {
	URL     string
	For     string // "a new lead", "Ada: set a new password"
	Expires time.Time
}

var roleOptions = []ui.Option{
	{Value: string(models.RoleViewer), Label: "viewer"},
	{Value: string(models.RoleLead), Label: "lead"},
	{Value: string(models.RoleAdmin), Label: "admin"},
}

var userColumns = []ui.Column{
	{Label: "Name"},
	{Label: "Role"},
	{Label: "Last seen", Class: ui.CellWide},
	{Label: "Actions", Quiet: true},
}

var inviteColumns = []ui.Column{
	{Label: "Role"},
	{Label: "Made"},
	{Label: "Ends", Class: ui.CellWide},
	{Label: "Actions", Quiet: true},
}

func disableID(id int64) string { return "disable-" + itoa(id) }
