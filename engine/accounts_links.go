package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"donewhen/models"
	"donewhen/models/store"
)

// Invite makes a one-time link for a new user with the given role; the token
// is shown once. Admins only.
func (a *Accounts) Invite(ctx context.Context, actor models.Actor, role models.Role) (token string, err error) {
	if err := require(actor, models.RoleAdmin); err != nil {
		return "", err
	}
	if !knownRole(role) {
		return "", models.Invalid("role", "Choose a role: viewer, lead or admin.")
	}
	token, hash := newToken()
	err = a.st.Decide(ctx, func(tx *store.Tx) error {
		invite := models.Invite{TokenHash: hash, Kind: LinkInvite, Role: role, CreatedBy: actor.ID, ExpiresAt: a.now().Add(InviteLinkLife)}
		if err := tx.InsertInvite(ctx, &invite); err != nil {
			return err
		}
		return tx.InsertEvent(ctx, userEvent("user.invited", actor, "", string(role), ""))
	})
	return token, err
}

// WithdrawInvite makes an invitation unusable. Admins only; conflict when it
// was used meanwhile.
func (a *Accounts) WithdrawInvite(ctx context.Context, actor models.Actor, id int64) error {
	if err := require(actor, models.RoleAdmin); err != nil {
		return err
	}
	return a.st.Decide(ctx, func(tx *store.Tx) error {
		switch ok, err := tx.UseInvite(ctx, id); {
		case err != nil:
			return err
		case !ok:
			return models.Errorf(models.CodeConflict, "This invitation was used or withdrawn meanwhile. Look at the list of users.")
		}
		return tx.InsertEvent(ctx, userEvent("user.invite_withdrawn", actor, "", "", ""))
	})
}

// AcceptInvite makes the user whom a one-time link invites. Errors as of Setup.
func (a *Accounts) AcceptInvite(ctx context.Context, token, name, password string) (models.User, error) {
	return a.join(ctx, LinkInvite, token, name, password)
}

// ResetLink makes a one-time link with which a user sets a new password; older
// ones become unusable. For admins, and for models.Server on the command line.
func (a *Accounts) ResetLink(ctx context.Context, actor models.Actor, name string) (token string, err error) {
	if actor != models.Server {
		if err := require(actor, models.RoleAdmin); err != nil {
			return "", err
		}
	}
	token, hash := newToken()
	err = a.st.Decide(ctx, func(tx *store.Tx) error {
		user, err := tx.UserByName(ctx, name)
		switch {
		case err != nil:
			return err
		case user == nil:
			return models.Errorf(models.CodeNotFound, "There is no user %q. Look for the name on the page of users.", name)
		case user.DisabledAt != nil:
			return models.Errorf(models.CodeConflict, "%s is disabled. Enable the account first.", user.Name)
		}
		if err := tx.VoidInvites(ctx, LinkReset, &user.ID); err != nil {
			return err
		}
		err = tx.InsertInvite(ctx, &models.Invite{
			TokenHash: hash, Kind: LinkReset, Role: user.Role, UserID: &user.ID, CreatedBy: actor.ID, ExpiresAt: a.now().Add(ResetLinkLife),
		})
		if err != nil {
			return err
		}
		return tx.InsertEvent(ctx, userEvent("user.reset_link", actor, "", "", user.Name))
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// ResetLinkOf is ResetLink for a user by id; it returns the name too.
func (a *Accounts) ResetLinkOf(ctx context.Context, actor models.Actor, userID int64) (name, token string, err error) {
	if err := require(actor, models.RoleAdmin); err != nil {
		return "", "", err
	}
	user, err := a.st.User(ctx, userID)
	if err != nil {
		return "", "", err
	}
	token, err = a.ResetLink(ctx, actor, user.Name)
	return user.Name, token, err
}

// ResetName is the name of the user whom a reset link is for. Errors as of Link.
func (a *Accounts) ResetName(ctx context.Context, token string) (string, error) {
	link, err := a.Link(ctx, LinkReset, token)
	if err != nil {
		return "", err
	}
	user, err := a.st.User(ctx, *link.UserID)
	return user.Name, err
}

// Link returns the one-time link that a token belongs to. A link of another
// kind, one that was used and one that has expired are not_found.
func (a *Accounts) Link(ctx context.Context, kind, token string) (models.Invite, error) {
	link, err := a.st.InviteByHash(ctx, hashToken(token))
	return a.usable(link, err, kind)
}

func (a *Accounts) usable(link *models.Invite, err error, kind string) (models.Invite, error) {
	if err != nil {
		return models.Invite{}, err
	}
	if link == nil || link.Kind != kind || link.UsedAt != nil || !link.ExpiresAt.After(a.now()) {
		how := "Ask an admin for a new one."
		if kind == LinkSetup {
			how = "Start the server again: it prints a new one as long as there is no user."
		}
		return models.Invite{}, models.Errorf(models.CodeNotFound, "This link was used already, has expired or is incomplete. %s", how)
	}
	return *link, nil
}

// useLink uses up a link inside the transaction that does what it is for.
func (a *Accounts) useLink(ctx context.Context, tx *store.Tx, kind, token string) (models.Invite, error) {
	found, err := tx.InviteByHash(ctx, hashToken(token))
	link, err := a.usable(found, err, kind)
	if err != nil {
		return link, err
	}
	if ok, err := tx.UseInvite(ctx, link.ID); err != nil {
		return link, err
	} else if !ok {
		return a.usable(nil, nil, kind)
	}
	return link, nil
}

// newToken makes a token of 256 random bits, for a link or a cookie, and the
// hash of it that is stored.
func newToken() (token, hash string) {
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(fmt.Sprint("the system gives no random numbers: ", err)) // documented never to happen
	}
	token = base64.RawURLEncoding.EncodeToString(b[:])
	return token, hashToken(token)
}

// hashToken is what is stored of a token. The token is random, so a plain hash
// cannot be turned back.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
