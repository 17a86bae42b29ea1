package engine

import (
	"context"

	"donewhen/models"
	"donewhen/models/store"
)

var errLastAdmin = models.Errorf(models.CodeConflict, "This is the last admin: nobody could manage users any more. Make somebody else an admin first.")

// Users lists all users by name. Admins only.
func (a *Accounts) Users(ctx context.Context, actor models.Actor) ([]models.User, error) {
	if err := require(actor, models.RoleAdmin); err != nil {
		return nil, err
	}
	return a.st.Users(ctx)
}

// OpenInvites lists the invitations that can still be used, newest first.
// Admins only.
func (a *Accounts) OpenInvites(ctx context.Context, actor models.Actor) ([]models.Invite, error) {
	if err := require(actor, models.RoleAdmin); err != nil {
		return nil, err
	}
	return a.st.OpenInvites(ctx, a.now())
}

// ChangeRole gives a user another role, never the last admin. It is in force
// with the user's next request. Admins only.
func (a *Accounts) ChangeRole(ctx context.Context, actor models.Actor, userID int64, role models.Role) error {
	if !knownRole(role) {
		return models.Invalid("role", "Choose a role: viewer, lead or admin.")
	}
	return a.changeUser(ctx, actor, userID, func(tx *store.Tx, u models.User) ([]string, error) {
		if u.Role == role {
			return nil, nil
		}
		if err := keepAdmin(ctx, tx, u); err != nil {
			return nil, err
		}
		if err := tx.SetUser(ctx, u.ID, store.UserSet{Role: &role}); err != nil {
			return nil, err
		}
		return nil, tx.InsertEvent(ctx, userEvent("user.role_changed", actor, string(u.Role), string(role), u.Name))
	})
}

// Disable keeps a user from logging in and ends all logins, never those of the
// last admin. What the user did stays. Admins only.
func (a *Accounts) Disable(ctx context.Context, actor models.Actor, userID int64) error {
	return a.changeUser(ctx, actor, userID, func(tx *store.Tx, u models.User) ([]string, error) {
		if u.DisabledAt != nil {
			return nil, nil
		}
		if err := keepAdmin(ctx, tx, u); err != nil {
			return nil, err
		}
		now := a.now()
		if err := tx.SetUser(ctx, u.ID, store.UserSet{DisabledAt: &now}); err != nil {
			return nil, err
		}
		if err := tx.VoidInvites(ctx, LinkReset, &u.ID); err != nil {
			return nil, err
		}
		ended, err := tx.DeleteSessionsOf(ctx, u.ID, "")
		if err != nil {
			return nil, err
		}
		return ended, tx.InsertEvent(ctx, userEvent("user.disabled", actor, "", "", u.Name))
	})
}

// Enable lets a disabled user log in again. Admins only.
func (a *Accounts) Enable(ctx context.Context, actor models.Actor, userID int64) error {
	return a.changeUser(ctx, actor, userID, func(tx *store.Tx, u models.User) ([]string, error) {
		if u.DisabledAt == nil {
			return nil, nil
		}
		if err := tx.SetUser(ctx, u.ID, store.UserSet{Enable: true}); err != nil {
			return nil, err
		}
		return nil, tx.InsertEvent(ctx, userEvent("user.enabled", actor, "", "", u.Name))
	})
}

func (a *Accounts) changeUser(ctx context.Context, actor models.Actor, userID int64, change func(*store.Tx, models.User) (ended []string, err error)) error {
	if err := require(actor, models.RoleAdmin); err != nil {
		return err
	}
	var ended []string
	err := a.st.Decide(ctx, func(tx *store.Tx) error {
		u, err := tx.User(ctx, userID)
		if err != nil {
			return err
		}
		ended, err = change(tx, u)
		return err
	})
	if err == nil {
		a.ended(ended)
	}
	return err
}

// keepAdmin refuses to take away the last enabled admin.
func keepAdmin(ctx context.Context, tx *store.Tx, u models.User) error {
	if u.Role != models.RoleAdmin || u.DisabledAt != nil {
		return nil
	}
	if other, err := tx.OtherAdmin(ctx, u.ID); err != nil || other {
		return err
	}
	return errLastAdmin
}
