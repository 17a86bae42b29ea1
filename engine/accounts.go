package engine

import (
	"context"
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

var errDisabled = models.Errorf(models.CodeForbidden, "This account is disabled. Ask an admin to enable it.")

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
