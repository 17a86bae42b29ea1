package engine

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"donewhen/models"
	"donewhen/models/store"
)

// Kinds of one-time links.
const (
	LinkSetup  = "setup"  // makes the first admin
	LinkInvite = "invite" // makes a user
	LinkReset  = "reset"  // gives a user a new password
)

// How long a one-time link can be used.
const (
	SetupLinkLife  = 24 * time.Hour
	InviteLinkLife = 7 * 24 * time.Hour
	ResetLinkLife  = 24 * time.Hour
)

// maxUserName is the longest user name, in letters.
const maxUserName = 64

// Accounts are the people who can log in: users, one-time links, logins. Only
// hashes of tokens, session ids and passwords are stored. Every change is a
// line of the audit log.
type Accounts struct {
	st       *store.Store
	now      func() time.Time
	throttle *throttle
	pass     passwords

	mu      sync.Mutex
	watches map[string]map[*watch]struct{} // by session hash
	swept   time.Time                      // when old sessions were last removed
}

// NewAccounts makes Accounts over a store. now is the clock, nil for the real one.
func NewAccounts(st *store.Store, now func() time.Time) *Accounts {
	if now == nil {
		now = func() time.Time { return time.Now().UTC() }
	}
	return &Accounts{
		st: st, now: now,
		throttle: newThrottle(now),
		pass:     newPasswords(passwordCost),
		watches:  map[string]map[*watch]struct{}{},
	}
}

// ActorOf is the user as one who does something.
func ActorOf(u models.User) models.Actor { return models.Actor{ID: u.ID, Name: u.Name, Role: u.Role} }

// SetupToken makes the one-time link for the first admin while there is no
// user; needed is false when there is one. Links made before become unusable:
// the one printed last works.
func (a *Accounts) SetupToken(ctx context.Context) (token string, needed bool, err error) {
	token, hash := newToken()
	err = a.st.Decide(ctx, func(tx *store.Tx) error {
		if any, err := tx.AnyUser(ctx); err != nil || any {
			return err
		}
		needed = true
		if err := tx.VoidInvites(ctx, LinkSetup, nil); err != nil {
			return err
		}
		return tx.InsertInvite(ctx, &models.Invite{
			TokenHash: hash, Kind: LinkSetup, Role: models.RoleAdmin, ExpiresAt: a.now().Add(SetupLinkLife),
		})
	})
	if err != nil || !needed {
		return "", false, err
	}
	return token, true, nil
}

// Any says whether somebody has, or had, an account.
func (a *Accounts) Any(ctx context.Context) (bool, error) { return a.st.AnyUser(ctx) }

// Setup makes the first admin with the set-up link's token. Errors: not_found
// for a link that cannot be used, conflict when there is a user already,
// invalid with the field name or password.
func (a *Accounts) Setup(ctx context.Context, token, name, password string) (models.User, error) {
	return a.join(ctx, LinkSetup, token, name, password)
}

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

// join makes a user with the token of a set-up or invitation link.
func (a *Accounts) join(ctx context.Context, kind, token, name, password string) (models.User, error) {
	// Before the costly hash: a guessed token costs nothing.
	if _, err := a.Link(ctx, kind, token); err != nil {
		return models.User{}, err
	}
	name, nameErr := userName(name)
	if err := bothFields(nameErr, checkPassword(password, name)); err != nil {
		return models.User{}, err
	}
	if taken, err := a.st.UserByName(ctx, name); err != nil {
		return models.User{}, err
	} else if taken != nil {
		return models.User{}, models.Invalid("name", "The name %s is taken. Choose another one.", taken.Name)
	}
	hash, err := a.pass.hash(ctx, password)
	if err != nil {
		return models.User{}, err
	}
	user := models.User{Name: name, PasswordHash: hash}
	err = a.st.Decide(ctx, func(tx *store.Tx) error {
		invite, err := a.useLink(ctx, tx, kind, token)
		if err != nil {
			return err
		}
		if kind == LinkSetup {
			if any, err := tx.AnyUser(ctx); err != nil {
				return err
			} else if any {
				return models.Errorf(models.CodeConflict, "This server has been set up already. Log in, or ask an admin for an invitation.")
			}
		}
		user.Role = invite.Role
		if err := tx.InsertUser(ctx, &user); err != nil {
			return err
		}
		return tx.InsertEvent(ctx, userEvent("user.joined", ActorOf(user), "", string(user.Role), user.Name))
	})
	return user, err
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

// SetPassword sets a new password with the token of a reset link and ends all
// logins of the user.
func (a *Accounts) SetPassword(ctx context.Context, token, password string) (models.User, error) {
	link, err := a.Link(ctx, LinkReset, token)
	if err != nil {
		return models.User{}, err
	}
	user, err := a.st.User(ctx, *link.UserID)
	if err != nil {
		return models.User{}, err
	}
	if err := checkPassword(password, user.Name); err != nil {
		return models.User{}, err
	}
	hash, err := a.pass.hash(ctx, password)
	if err != nil {
		return models.User{}, err
	}
	var ended []string
	err = a.st.Decide(ctx, func(tx *store.Tx) error {
		if _, err := a.useLink(ctx, tx, LinkReset, token); err != nil {
			return err
		}
		if user, err = tx.User(ctx, *link.UserID); err != nil {
			return err
		}
		if user.DisabledAt != nil {
			return errDisabled
		}
		ended, err = a.newPassword(ctx, tx, user, hash, "")
		return err
	})
	if err != nil {
		return models.User{}, err
	}
	a.ended(ended)
	return user, nil
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

var errDisabled = models.Errorf(models.CodeForbidden, "This account is disabled. Ask an admin to enable it.")

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

// userName brings a typed name into the form that is stored: blanks at the ends
// taken off, signs that look the same made the same.
func userName(name string) (string, error) {
	name = norm.NFC.String(strings.TrimSpace(name))
	switch n := utf8.RuneCountInString(name); {
	case n == 0:
		return "", models.Invalid("name", "Type a name.")
	case n > maxUserName:
		return "", models.Invalid("name", "The name has %d characters: take at most %d.", n, maxUserName)
	case !utf8.ValidString(name):
		return "", models.Invalid("name", "The name is no valid text.")
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r) && !strings.ContainsRune(" .-_@+'", r) {
			return "", models.Invalid("name", "The character %q cannot be in a name: take letters, digits, blanks and . - _ @ + '.", r)
		}
	}
	return name, nil
}

// bothFields joins the errors of two form fields, so that one refusal shows both.
func bothFields(first, second error) error {
	a, aIs := first.(*models.Error)
	b, bIs := second.(*models.Error)
	if !aIs || !bIs {
		if first != nil {
			return first
		}
		return second
	}
	both := &models.Error{Code: a.Code, Message: a.Message + " " + b.Message, Fields: map[string]string{}}
	for _, e := range []*models.Error{a, b} {
		for field, m := range e.Fields {
			both.Fields[field] = m
		}
	}
	return both
}

func knownRole(r models.Role) bool { return r.Can(models.RoleViewer) }

func userEvent(kind string, actor models.Actor, from, to, about string) models.Event {
	return models.Event{Kind: kind, From: from, To: to, ActorID: actor.ID, Actor: actor.Name, Reason: about}
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
