package engine

import (
	"context"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"golang.org/x/text/unicode/norm"

	"donewhen/models"
	"donewhen/models/store"
)

// Rules of a password: long enough to resist guessing, and any length that
// people or their password managers choose, all of it used.
const (
	MinPassword = 10    // signs
	MaxPassword = 1_000 // bytes
)

// passwordCost is argon2id with 64 MiB and one pass, more than the least that
// OWASP recommends (46 MiB and one pass), fixed so that it does not depend on
// the machine.
var passwordCost = argon2id.Params{Memory: 64 << 10, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// SetPasswordCost changes what hashing a new password costs, for machines with
// little memory and for tests. Stored passwords keep theirs. Call it before use.
func (a *Accounts) SetPasswordCost(memoryKiB, passes uint32) {
	cost := passwordCost
	cost.Memory, cost.Iterations = memoryKiB, passes
	a.pass = newPasswords(cost)
}

// passwords hashes and compares passwords, a bounded number at a time: each
// takes 64 MiB, and login is open to everybody.
type passwords struct {
	cost  argon2id.Params
	slots chan struct{}
	dummy func() string // what unknown names are compared with
}

func newPasswords(cost argon2id.Params) passwords {
	return passwords{cost: cost, slots: make(chan struct{}, 2), dummy: sync.OnceValue(func() string {
		_, random := newToken()
		dummy, err := argon2id.CreateHash(random, &cost)
		if err != nil {
			panic(fmt.Sprint("argon2id: ", err)) // only for want of random numbers
		}
		return dummy
	})}
}

// slot waits for a place.
func (p passwords) slot(ctx context.Context) (release func(), err error) {
	select {
	case p.slots <- struct{}{}:
		return func() { <-p.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p passwords) hash(ctx context.Context, password string) (string, error) {
	release, err := p.slot(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	h, err := argon2id.CreateHash(norm.NFC.String(password), &p.cost)
	if err != nil {
		return "", fmt.Errorf("hash a password: %w", err)
	}
	return h, nil
}

// matches compares a password with a user's hash. For a user that is not there
// it does the same work and says no.
func (p passwords) matches(ctx context.Context, password string, user *models.User) (bool, error) {
	release, err := p.slot(ctx)
	if err != nil {
		return false, err
	}
	defer release()
	stored := p.dummy()
	if user != nil {
		stored = user.PasswordHash
	}
	if len(password) > MaxPassword { // cannot be right; the work is the same
		password, user = "", nil
	}
	ok, err := argon2id.ComparePasswordAndHash(norm.NFC.String(password), stored)
	if err != nil {
		return false, fmt.Errorf("compare a password: %w", err)
	}
	return ok && user != nil, nil
}

// checkPassword says what is wrong with a new password, nil when nothing is.
func checkPassword(password, name string) error {
	switch n := utf8.RuneCountInString(password); {
	case len(password) > MaxPassword:
		return models.Invalid("password", "The password has %d bytes: take at most %d.", len(password), MaxPassword)
	case n < MinPassword:
		return models.Invalid("password", "The password has %d characters: take at least %d.", n, MinPassword)
	case sameRune(password):
		return models.Invalid("password", "The password is one character repeated. A few words in a row are good.")
	case store.NameKey(password) == store.NameKey(name):
		return models.Invalid("password", "The password is the name. A few words in a row are good.")
	}
	return nil
}

func sameRune(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	for _, r := range s {
		if r != first {
			return false
		}
	}
	return true
}

// ChangePassword sets a user's new password when the old one is right. The
// login with the given token stays, the user's other ones end. Wrong old
// passwords are throttled like logins.
func (a *Accounts) ChangePassword(ctx context.Context, userID int64, oldPassword, newPassword, remoteAddr, keepToken string) error {
	user, err := a.st.User(ctx, userID)
	if err != nil {
		return err
	}
	ok, err := a.verify(ctx, user.Name, oldPassword, remoteAddr, &user)
	if err != nil {
		return err
	}
	if !ok {
		return models.Invalid("old", "This is not your password. Type the one you log in with.")
	}
	if err := checkPassword(newPassword, user.Name); err != nil {
		return err
	}
	hash, err := a.pass.hash(ctx, newPassword)
	if err != nil {
		return err
	}
	var ended []string
	err = a.st.Decide(ctx, func(tx *store.Tx) error {
		ended, err = a.newPassword(ctx, tx, user, hash, hashToken(keepToken))
		return err
	})
	if err == nil {
		a.ended(ended)
	}
	return err
}

// newPassword stores a hash, ends the user's logins but one, and makes reset
// links that are still open unusable.
func (a *Accounts) newPassword(ctx context.Context, tx *store.Tx, user models.User, hash, keep string) (ended []string, err error) {
	if err := tx.SetUser(ctx, user.ID, store.UserSet{PasswordHash: &hash}); err != nil {
		return nil, err
	}
	if err := tx.VoidInvites(ctx, LinkReset, &user.ID); err != nil {
		return nil, err
	}
	if ended, err = tx.DeleteSessionsOf(ctx, user.ID, keep); err != nil {
		return nil, err
	}
	return ended, tx.InsertEvent(ctx, userEvent("user.password_changed", ActorOf(user), "", "", user.Name))
}
