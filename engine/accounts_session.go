package engine

import (
	"context"
	"time"

	"donewhen/models"
	"donewhen/models/store"
)

// How long a login lasts.
const (
	SessionIdle     = 12 * time.Hour     // without the user doing anything
	SessionAbsolute = 7 * 24 * time.Hour // in any case
	sessionTouch    = time.Minute        // how exactly the last use is known
)

// StartSession logs a user in: a new session with a new random id, which is
// the token for the cookie. A session that the browser had before ends; "" for
// none. Old sessions of everybody are removed now and then.
func (a *Accounts) StartSession(ctx context.Context, userID int64, former string) (token string, s models.Session, err error) {
	token, hash := newToken()
	now := a.now()
	s = models.Session{IDHash: hash, UserID: userID, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(SessionAbsolute)}
	sweep := a.sweepDue(now)
	err = a.st.InTx(ctx, func(tx *store.Tx) error {
		user, err := tx.User(ctx, userID)
		if err != nil {
			return err
		}
		if user.DisabledAt != nil {
			return errDisabled
		}
		if former != "" {
			if err := tx.DeleteSession(ctx, hashToken(former)); err != nil {
				return err
			}
		}
		if sweep {
			if err := tx.DeleteSessionsBefore(ctx, now.Add(-SessionIdle), now); err != nil {
				return err
			}
		}
		if err := tx.InsertSession(ctx, &s); err != nil {
			return err
		}
		if err := tx.SetUser(ctx, userID, store.UserSet{LastSeenAt: &now}); err != nil {
			return err
		}
		return tx.InsertEvent(ctx, userEvent("user.logged_in", ActorOf(user), "", "", ""))
	})
	if err != nil {
		return "", models.Session{}, err
	}
	if former != "" {
		a.ended([]string{hashToken(former)})
	}
	return token, s, nil
}

func (a *Accounts) sweepDue(now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.swept) < time.Hour {
		return false
	}
	a.swept = now
	return true
}

// FindSession returns the session of a cookie's token and its user; ok is false
// when it has ended, has expired, or its user is disabled. used says that the
// user did something: it keeps the session from being idle. A page that
// refreshes itself does not.
func (a *Accounts) FindSession(ctx context.Context, token string, used bool) (s models.Session, u models.User, ok bool, err error) {
	if token == "" {
		return s, u, false, nil
	}
	found, err := a.st.SessionByHash(ctx, hashToken(token))
	if err != nil || found == nil {
		return s, u, false, err
	}
	now := a.now()
	if !now.Before(found.ExpiresAt) || now.Sub(found.SeenAt) >= SessionIdle {
		return s, u, false, nil
	}
	u, err = a.st.User(ctx, found.UserID)
	if err != nil {
		return s, u, false, err
	}
	if u.DisabledAt != nil {
		return s, models.User{}, false, nil
	}
	if used && now.Sub(found.SeenAt) >= sessionTouch {
		err := a.st.InTx(ctx, func(tx *store.Tx) error { return tx.TouchSession(ctx, found.IDHash, u.ID, now) })
		if err != nil {
			return s, u, false, err
		}
		found.SeenAt = now
	}
	return *found, u, true, nil
}

// SaveSession replaces what a session carries along.
func (a *Accounts) SaveSession(ctx context.Context, token, data string) error {
	return a.st.InTx(ctx, func(tx *store.Tx) error { return tx.SetSessionData(ctx, hashToken(token), data) })
}

// EndSession logs one browser out.
func (a *Accounts) EndSession(ctx context.Context, token string) error {
	hash := hashToken(token)
	if err := a.st.InTx(ctx, func(tx *store.Tx) error { return tx.DeleteSession(ctx, hash) }); err != nil {
		return err
	}
	a.ended([]string{hash})
	return nil
}

// EndSessionsOf logs a user out everywhere.
func (a *Accounts) EndSessionsOf(ctx context.Context, userID int64) error {
	var ended []string
	err := a.st.Decide(ctx, func(tx *store.Tx) error {
		user, err := tx.User(ctx, userID)
		if err != nil {
			return err
		}
		if ended, err = tx.DeleteSessionsOf(ctx, userID, ""); err != nil {
			return err
		}
		return tx.InsertEvent(ctx, userEvent("user.logged_out_everywhere", ActorOf(user), "", "", ""))
	})
	if err == nil {
		a.ended(ended)
	}
	return err
}

// watch is an open event stream of a session.
type watch struct{ cancel context.CancelFunc }

// Watch returns a context that ends when the session of the token ends, for
// event streams: they are asked once, when they open, and stay open for long.
// stop must be called.
func (a *Accounts) Watch(ctx context.Context, token string, s models.Session) (watched context.Context, stop func()) {
	ctx, cancel := context.WithTimeout(ctx, s.ExpiresAt.Sub(a.now()))
	w, hash := &watch{cancel}, hashToken(token)
	a.mu.Lock()
	if a.watches[hash] == nil {
		a.watches[hash] = map[*watch]struct{}{}
	}
	a.watches[hash][w] = struct{}{}
	a.mu.Unlock()
	// It may have ended between the check and the registration.
	if _, _, ok, err := a.FindSession(ctx, token, false); err == nil && !ok {
		cancel()
	}
	return ctx, func() {
		cancel()
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.watches[hash], w)
		if len(a.watches[hash]) == 0 {
			delete(a.watches, hash)
		}
	}
}

// ended closes the event streams of sessions that have ended.
func (a *Accounts) ended(hashes []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, hash := range hashes {
		for w := range a.watches[hash] {
			w.cancel()
		}
	}
}
