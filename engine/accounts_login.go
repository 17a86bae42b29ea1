package engine

import (
	"context"
	"unicode/utf8"

	"donewhen/models"
	"donewhen/models/store"
)

// errLogin does not say which of the two is wrong.
var errLogin = models.Errorf(models.CodeInvalid, "Name or password is wrong. If you cannot log in, ask an admin for a reset link.")

// Login checks a name and a password that came from an address. Errors: invalid
// (the same for every reason), forbidden when the account is disabled and the
// password right, too_many with the time to wait. An unknown name costs the
// same work as a known one.
func (a *Accounts) Login(ctx context.Context, name, password, remoteAddr string) (models.User, error) {
	var user *models.User
	if typed, err := userName(name); err == nil {
		if user, err = a.st.UserByName(ctx, typed); err != nil {
			return models.User{}, err
		}
	}
	ok, err := a.verify(ctx, name, password, remoteAddr, user)
	switch {
	case err != nil:
		return models.User{}, err
	case !ok:
		return models.User{}, errLogin
	case user.DisabledAt != nil:
		return models.User{}, errDisabled
	}
	return *user, nil
}

// verify compares a password unless it was tried too often. A try counts as
// wrong until it was found right, so that tries at the same time count too.
func (a *Accounts) verify(ctx context.Context, name, password, remoteAddr string, user *models.User) (bool, error) {
	if utf8.RuneCountInString(name) > maxUserName {
		name = "" // all impossible names share one count
	}
	try, wait := a.throttle.begin(store.NameKey(name), remoteAddr)
	if wait > 0 {
		return false, &models.Error{
			Code: models.CodeTooMany, RetryAfter: wait,
			Message: "Too many wrong tries. Wait " + inWords(wait) + ", then try again.",
		}
	}
	ok, err := a.pass.matches(ctx, password, user)
	if ok || err != nil {
		try.undo()
	}
	if ok {
		try.succeed()
	}
	return ok, err
}
