package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
	"gorm.io/gorm"

	"donewhen/models"
)

// UserSet says what SetUser changes: nil leaves a column alone.
type UserSet struct {
	Role         *models.Role
	PasswordHash *string
	DisabledAt   *time.Time
	Enable       bool // disabled_at = NULL
	LastSeenAt   *time.Time
}

// NameKey is what makes two user names the same: letters' case and the way
// accents are encoded do not count.
func NameKey(name string) string { return strings.ToLower(norm.NFKC.String(name)) }

// userRow is a user as stored.
type userRow struct {
	models.User
	NameKey string
}

func (userRow) TableName() string { return "users" }

// User reads one user.
func (r Reader) User(ctx context.Context, id int64) (models.User, error) {
	var u models.User
	if err := r.q(ctx).Where("id = ?", id).Take(&u).Error; err != nil {
		return models.User{}, notFound(err, "user", id)
	}
	return u, nil
}

// UserByName reads a user by name, whatever its case; nil when there is none.
func (r Reader) UserByName(ctx context.Context, name string) (*models.User, error) {
	return one[models.User](r.q(ctx).Where("name_key = ?", NameKey(name)), "user")
}

// Users reads all users by name, disabled ones too.
func (r Reader) Users(ctx context.Context) ([]models.User, error) {
	var us []models.User
	if err := r.q(ctx).Order("name_key").Find(&us).Error; err != nil {
		return nil, fmt.Errorf("read the users: %w", err)
	}
	return us, nil
}

// AnyUser says whether somebody can log in or ever could.
func (r Reader) AnyUser(ctx context.Context) (bool, error) {
	u, err := one[models.User](r.q(ctx).Limit(1), "user")
	return u != nil, err
}

// OtherAdmin says whether there is an enabled admin besides the given user.
func (r Reader) OtherAdmin(ctx context.Context, id int64) (bool, error) {
	u, err := one[models.User](r.q(ctx).Where("id <> ? AND role = ? AND disabled_at IS NULL", id, models.RoleAdmin).Limit(1), "user")
	return u != nil, err
}

// InviteByHash reads a one-time link by its token's hash; nil when there is none.
func (r Reader) InviteByHash(ctx context.Context, hash string) (*models.Invite, error) {
	return one[models.Invite](r.q(ctx).Where("token_hash = ?", hash), "link")
}

// OpenInvites reads the invitations that can still be used, newest first.
func (r Reader) OpenInvites(ctx context.Context, now time.Time) ([]models.Invite, error) {
	var is []models.Invite
	err := r.q(ctx).Where("kind = 'invite' AND used_at IS NULL AND expires_at > ?", stamp(now)).Order("id DESC").Find(&is).Error
	if err != nil {
		return nil, fmt.Errorf("read the invitations: %w", err)
	}
	return is, nil
}

// SessionByHash reads a session, expired or not; nil when there is none.
func (r Reader) SessionByHash(ctx context.Context, hash string) (*models.Session, error) {
	return one[models.Session](r.q(ctx).Where("id_hash = ?", hash), "session")
}

// InsertUser adds a user and fills its id and time. A name that is taken is a
// CodeInvalid error of the field "name".
func (tx *Tx) InsertUser(ctx context.Context, u *models.User) error {
	u.CreatedAt = tx.now
	row := userRow{User: *u, NameKey: NameKey(u.Name)}
	taken, err := tx.UserByName(ctx, u.Name)
	if err != nil {
		return err
	}
	if taken != nil {
		return models.Invalid("name", "The name %s is taken. Choose another one.", taken.Name)
	}
	if err := tx.q(ctx).Create(&row).Error; err != nil {
		return fmt.Errorf("insert the user %s: %w", u.Name, err)
	}
	u.ID = row.ID
	return nil
}

// SetUser changes a user's columns; a user that is not there is CodeNotFound.
func (tx *Tx) SetUser(ctx context.Context, id int64, set UserSet) error {
	cols := map[string]any{}
	if set.Role != nil {
		cols["role"] = *set.Role
	}
	if set.PasswordHash != nil {
		cols["password_hash"] = *set.PasswordHash
	}
	if set.DisabledAt != nil {
		cols["disabled_at"] = stamp(*set.DisabledAt)
	}
	if set.Enable {
		cols["disabled_at"] = nil
	}
	if set.LastSeenAt != nil {
		cols["last_seen_at"] = stamp(*set.LastSeenAt)
	}
	res := tx.q(ctx).Table("users").Where("id = ?", id).Updates(cols)
	if res.Error == nil && res.RowsAffected == 0 {
		return notFound(gorm.ErrRecordNotFound, "user", id)
	}
	return wrap(res.Error, "change user %d", id)
}

// InsertInvite adds a one-time link and fills its id and time.
func (tx *Tx) InsertInvite(ctx context.Context, i *models.Invite) error {
	i.CreatedAt, i.ExpiresAt = tx.now, stamp(i.ExpiresAt)
	return wrap(tx.q(ctx).Create(i).Error, "insert a link of kind %s", i.Kind)
}

// UseInvite marks a link as used. Only one caller can: any other gets false.
func (tx *Tx) UseInvite(ctx context.Context, id int64) (bool, error) {
	res := tx.q(ctx).Table("invites").Where("id = ? AND used_at IS NULL", id).Update("used_at", tx.now)
	return res.RowsAffected == 1, wrap(res.Error, "use link %d", id)
}

// VoidInvites makes the unused links of a kind unusable: those of one user, or
// those that belong to no user when userID is nil.
func (tx *Tx) VoidInvites(ctx context.Context, kind string, userID *int64) error {
	q := tx.q(ctx).Table("invites").Where("kind = ? AND used_at IS NULL", kind)
	if userID == nil {
		q = q.Where("user_id IS NULL")
	} else {
		q = q.Where("user_id = ?", *userID)
	}
	return wrap(q.Update("used_at", tx.now).Error, "void links of kind %s", kind)
}

// InsertSession adds a login; all its times are the caller's.
func (tx *Tx) InsertSession(ctx context.Context, s *models.Session) error {
	s.CreatedAt, s.SeenAt, s.ExpiresAt = stamp(s.CreatedAt), stamp(s.SeenAt), stamp(s.ExpiresAt)
	return wrap(tx.q(ctx).Create(s).Error, "insert a session")
}

// TouchSession notes that a session and its user were seen.
func (tx *Tx) TouchSession(ctx context.Context, hash string, userID int64, at time.Time) error {
	err := tx.q(ctx).Table("sessions").Where("id_hash = ?", hash).Update("seen_at", stamp(at)).Error
	if err != nil {
		return wrap(err, "touch a session")
	}
	return tx.SetUser(ctx, userID, UserSet{LastSeenAt: &at})
}

// SetSessionData replaces what a session carries; for one that has ended it
// does nothing.
func (tx *Tx) SetSessionData(ctx context.Context, hash, data string) error {
	return wrap(tx.q(ctx).Table("sessions").Where("id_hash = ?", hash).Update("data", data).Error, "save a session")
}

// DeleteSession ends one login.
func (tx *Tx) DeleteSession(ctx context.Context, hash string) error {
	return wrap(tx.q(ctx).Where("id_hash = ?", hash).Delete(&models.Session{}).Error, "end a session")
}

// DeleteSessionsOf ends a user's logins but the one with the hash keep ("" =
// all) and returns the hashes of those that were ended.
func (tx *Tx) DeleteSessionsOf(ctx context.Context, userID int64, keep string) ([]string, error) {
	var hashes []string
	q := tx.q(ctx).Table("sessions").Where("user_id = ? AND id_hash <> ?", userID, keep)
	if err := q.Pluck("id_hash", &hashes).Error; err != nil {
		return nil, wrap(err, "read the sessions of user %d", userID)
	}
	err := tx.q(ctx).Where("user_id = ? AND id_hash <> ?", userID, keep).Delete(&models.Session{}).Error
	return hashes, wrap(err, "end the sessions of user %d", userID)
}

// DeleteSessionsBefore removes sessions that were last seen before seen or
// expired before now.
func (tx *Tx) DeleteSessionsBefore(ctx context.Context, seen, now time.Time) error {
	return wrap(tx.q(ctx).Where("seen_at < ? OR expires_at <= ?", stamp(seen), stamp(now)).Delete(&models.Session{}).Error, "remove old sessions")
}

// one reads the row that a query finds, nil when it finds none.
func one[T any](q *gorm.DB, what string) (*T, error) {
	var row T
	switch err := q.Take(&row).Error; {
	case errors.Is(err, gorm.ErrRecordNotFound):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read a %s: %w", what, err)
	}
	return &row, nil
}

// wrap says what was being done when err happened; nil stays nil.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
