package models

import "time"

// Project is a git repository that an admin has registered.
type Project struct {
	ID           int64
	Name         string
	Path         string // absolute path of the repository's top level
	TargetBranch string // default for its plans
	RequireDoD   bool   // plans without a definition of done cannot be applied
	Example      bool   // the ready-made example of the first start
	CreatedAt    time.Time
}

// Template is a named, versioned DoD text with {placeholders}.
type Template struct {
	ID          int64
	Name        string
	Description string
	CreatedAt   time.Time
	ArchivedAt  *time.Time
}

// TemplateArg describes one {placeholder} of a template version.
type TemplateArg struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Default     string `json:"default,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// TemplateVersion is one published text of a template. It never changes.
type TemplateVersion struct {
	ID            int64
	TemplateID    int64
	Version       int // 1-based, goes up by one
	Text          string
	Args          []TemplateArg `gorm:"serializer:json"`
	Opinions      int           // 1..3 judges have to say met of its judge lines
	Why           string        // what the publisher wrote about the change
	PublishedBy   int64
	PublisherName string
	CreatedAt     time.Time
}

// Role is what a user may do: viewers read, leads decide, admins also manage
// users and projects.
type Role string

const (
	RoleViewer Role = "viewer"
	RoleLead   Role = "lead"
	RoleAdmin  Role = "admin"
)

// Can says whether the role includes what the wanted role may do.
func (r Role) Can(want Role) bool {
	rank := map[Role]int{RoleViewer: 1, RoleLead: 2, RoleAdmin: 3}
	return rank[r] > 0 && rank[r] >= rank[want] && rank[want] > 0
}

// User is a person who can log in.
type User struct {
	ID           int64
	Name         string // unique without regard to case
	Role         Role
	PasswordHash string // argon2id, encoded
	DisabledAt   *time.Time
	CreatedAt    time.Time
	LastSeenAt   *time.Time
}

// Invite is a one-time link: for the first admin (set-up), a new user, or a
// user who is locked out. Only the token's hash is stored.
type Invite struct {
	ID        int64
	TokenHash string
	Kind      string // "setup", "invite", "reset"
	Role      Role
	UserID    *int64 // for "reset"
	CreatedBy int64
	CreatedAt time.Time
	ExpiresAt time.Time
	UsedAt    *time.Time
}

// Session is one login. The id in the cookie is random; only its hash is stored.
type Session struct {
	IDHash    string `gorm:"primaryKey"`
	UserID    int64
	Data      string // what gorilla/sessions keeps: flashes
	CreatedAt time.Time
	SeenAt    time.Time
	ExpiresAt time.Time // absolute
}
