package handlers

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/sessions"
	"github.com/labstack/echo/v4"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// cookieName is the session's cookie. Its value is a random token and says nothing.
const cookieName = "donewhen"

// loggedIn is who makes a request, kept in the session's values for the time of
// the request only.
type loggedIn struct {
	user    models.User
	session models.Session
}

type loggedInKey struct{}

// sessionStore is a sessions.Store whose sessions are the accounts' logins. The
// only thing it keeps in a session are flashes; there is no session without a
// login.
type sessionStore struct {
	accounts *engine.Accounts
	secure   func(*http.Request) bool
}

// Get returns the request's session; one that is not logged in is new and empty.
func (st *sessionStore) Get(r *http.Request, name string) (*sessions.Session, error) {
	return sessions.GetRegistry(r).Get(st, name)
}

// New reads the session that the request's cookie names. A cookie that names
// none is no error.
func (st *sessionStore) New(r *http.Request, name string) (*sessions.Session, error) {
	sess := sessions.NewSession(st, name)
	sess.IsNew = true
	sess.Options = &sessions.Options{Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: st.secure(r)}
	cookie, err := r.Cookie(name)
	if err != nil {
		return sess, nil
	}
	// What a page asks for by itself is no use of the session.
	byItself := r.Header.Get("HX-Request") == "true" || wantsStream(r)
	s, user, ok, err := st.accounts.FindSession(r.Context(), cookie.Value, !byItself)
	if err != nil || !ok {
		return sess, err
	}
	st.fill(sess, cookie.Value, s, user)
	return sess, nil
}

func (st *sessionStore) fill(sess *sessions.Session, token string, s models.Session, user models.User) {
	sess.ID, sess.IsNew = token, false
	sess.Values[loggedInKey{}] = loggedIn{user: user, session: s}
	var flashes []views.Flash
	if s.Data != "" && json.Unmarshal([]byte(s.Data), &flashes) == nil {
		for _, f := range flashes {
			sess.AddFlash(f)
		}
	}
}

// Save stores the flashes. With a negative MaxAge it ends the session and takes
// the cookie away.
func (st *sessionStore) Save(r *http.Request, w http.ResponseWriter, sess *sessions.Session) error {
	if sess.Options.MaxAge < 0 {
		if sess.ID != "" {
			if err := st.accounts.EndSession(r.Context(), sess.ID); err != nil {
				return err
			}
		}
		http.SetCookie(w, sessions.NewCookie(sess.Name(), "", sess.Options))
		return nil
	}
	if sess.ID == "" {
		return nil // nobody is logged in: there is nothing to keep
	}
	data := ""
	if kept, _ := sess.Values["_flash"].([]any); len(kept) > 0 {
		b, err := json.Marshal(kept)
		if err != nil {
			return fmt.Errorf("save the session: %w", err)
		}
		data = string(b)
	}
	return st.accounts.SaveSession(r.Context(), sess.ID, data)
}

// start logs a user in: the session gets a new id, the one that the browser had
// before ends.
func (st *sessionStore) start(c echo.Context, user models.User, now time.Time) error {
	r := c.Request()
	sess, err := st.Get(r, cookieName)
	if err != nil {
		return err
	}
	former := sess.ID
	token, s, err := st.accounts.StartSession(r.Context(), user.ID, former)
	if err != nil {
		return err
	}
	clear(sess.Values)
	st.fill(sess, token, s, user)
	options := *sess.Options
	options.MaxAge = int(s.ExpiresAt.Sub(now).Seconds())
	http.SetCookie(c.Response(), sessions.NewCookie(cookieName, token, &options))
	return nil
}

// end logs this browser out.
func (st *sessionStore) end(c echo.Context) error {
	sess, err := st.Get(c.Request(), cookieName)
	if err != nil {
		return err
	}
	sess.Options.MaxAge = -1
	return st.Save(c.Request(), c.Response(), sess)
}

// session is the request's session.
func (s *Server) session(c echo.Context) (*sessions.Session, error) {
	return s.sessions.Get(c.Request(), cookieName)
}

// who makes the request; ok is false when nobody is logged in.
func (s *Server) who(c echo.Context) (in loggedIn, ok bool, err error) {
	sess, err := s.session(c)
	if err != nil {
		return loggedIn{}, false, err
	}
	in, ok = sess.Values[loggedInKey{}].(loggedIn)
	return in, ok, nil
}

// user is the logged-in user, the zero User on open routes.
func (s *Server) user(c echo.Context) models.User {
	in, _, _ := s.who(c) // an error was met by requireLogin before
	return in.user
}

// actor is the logged-in user as one who does something.
func (s *Server) actor(c echo.Context) models.Actor { return engine.ActorOf(s.user(c)) }

// flash shows a message on the next page.
func (s *Server) flash(c echo.Context, kind, format string, args ...any) error {
	sess, err := s.session(c)
	if err != nil {
		return err
	}
	sess.AddFlash(views.Flash{Kind: kind, Text: fmt.Sprintf(format, args...)})
	return sess.Save(c.Request(), c.Response())
}

// takeFlashes returns the messages to show and forgets them.
func (s *Server) takeFlashes(c echo.Context) ([]views.Flash, error) {
	sess, err := s.session(c)
	if err != nil || sess.IsNew && len(sess.Values) == 0 {
		return nil, err
	}
	var out []views.Flash
	for _, f := range sess.Flashes() {
		if f, ok := f.(views.Flash); ok {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	return out, sess.Save(c.Request(), c.Response())
}
